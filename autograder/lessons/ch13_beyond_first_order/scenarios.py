"""Scenarios of ch13_beyond_first_order: functions to differentiate twice, losses, choices; numbers come back.

They return dicts. A bool stands under the sentence that a learner is told if it is True: what is wrong.
Each runs with gradients switched on, whatever a cell of the submission did to them.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from course.instruments.flops import FlopCounter

_grad = torch.autograd.grad

GRAPH = "The result has a graph behind it: it requires a gradient"


def _data(value: Any) -> Any:
    """A tensor as an array, so that it can be compared; anything else as it is."""
    if not isinstance(value, Tensor) or value.dtype == torch.bfloat16:
        return value
    return value.numpy(force=True).copy()


def _requires_grad(*values: Any) -> bool:
    return any(isinstance(value, Tensor) and value.requires_grad for value in values)


def _as(kind: str, value: np.ndarray) -> Tensor:
    """A tensor with these values: a constant, a leaf with a .grad, in the middle of a graph, or with other strides."""
    tensor = torch.tensor(value)
    if kind == "strided":
        twice = torch.stack([tensor, tensor + 1], dim=-1)  # every other entry is somebody else's
        return twice[..., 0]
    if kind == "constant":
        return tensor
    tensor.requires_grad_()
    if kind == "leaf":
        tensor.grad = torch.full_like(tensor, 0.5)
        return tensor
    return tensor * 1  # in the middle


class _Before:
    """What tensors are like before a call, and whether they are the same after it."""

    def __init__(self, **tensors: Tensor) -> None:
        self.tensors = tensors
        self.values = {name: tensor.detach().clone() for name, tensor in tensors.items()}
        self.flags = {name: tensor.requires_grad for name, tensor in tensors.items()}
        self.grads = {name: _grad_of(tensor) for name, tensor in tensors.items()}

    def changes(self) -> dict[str, bool]:
        found = {}
        for name, tensor in self.tensors.items():
            found[f"The values of {name} were changed"] = not torch.equal(tensor.detach(), self.values[name])
            found[f"{name}.requires_grad is another one afterwards: work on {name}.detach()"] = (
                tensor.requires_grad != self.flags[name]
            )
            found[f"{name}.grad is another one afterwards; torch.autograd.grad leaves every .grad alone"] = not _same(
                _grad_of(tensor), self.grads[name]
            )
        return found


def _grad_of(tensor: Tensor) -> Tensor | None:
    """A copy of a leaf's .grad; PyTorch warns of those of other tensors, which have none."""
    return tensor.grad.clone() if tensor.is_leaf and tensor.grad is not None else None


def _same(a: Tensor | None, b: Tensor | None) -> bool:
    return a is b if a is None or b is None else torch.equal(a, b)


# hvp, hvp_forward_over_reverse

FUNCTIONS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "polynomial": lambda x, a, p: (a * x**3).sum() + (a * x).sum() ** 2,
    "product of neighbours": lambda x, a, p: (x.reshape(-1)[1:] * x.reshape(-1)[:-1]).prod() + (a * x**2).sum(),
    "network": lambda x, a, p: (torch.tanh(p * x + (a * x).sum()) ** 2).sum(),
    "diagonal": lambda x, a, p: (a * x**4 + x**2).sum(),
    "linear": lambda x, a, p: (a * x).sum(),
    "linear with parameters": lambda x, a, p: (p * x).sum(),
    "piecewise linear": lambda x, a, p: torch.relu(a * x).sum(),
    "constant": lambda x, a, p: a.sum(),
    "parameters alone": lambda x, a, p: (p**2).sum(),
    "linear and a term of parameters alone": lambda x, a, p: (a * x).sum() + (p**3).sum(),
}
"""Functions of x with constants `a` and parameters `p` like x."""


def _product(submission: Any, name: str, f: Any, x: Tensor, v: Tensor) -> Any:
    return getattr(submission, name)(f, x, v)


@torch.enable_grad()
def product(
    submission: Any, name: str, function: str, a: np.ndarray, p: np.ndarray, x: np.ndarray, v: np.ndarray, kind: str
) -> dict[str, Any]:
    """H·v, for x and v of a kind."""
    constants, parameters = torch.tensor(a), torch.tensor(p, requires_grad=True)
    where, direction = _as(kind, x), _as("strided" if kind == "strided" else "constant", v)
    result = _product(submission, name, lambda x: FUNCTIONS[function](x, constants, parameters), where, direction)
    return {"H·v": _data(result)}


@torch.enable_grad()
def beside_product(
    submission: Any, name: str, a: np.ndarray, p: np.ndarray, x: np.ndarray, v: np.ndarray, kinds: tuple[str, str]
) -> dict[str, Any]:
    """H·v, and what else has changed."""
    constants, parameters = torch.tensor(a), _as("leaf", p)
    where, direction = (_as(kind, values) for kind, values in zip(kinds, (x, v), strict=True))
    before = _Before(x=where, v=direction, parameter=parameters)
    result = _product(submission, name, lambda x: FUNCTIONS["network"](x, constants, parameters), where, direction)
    return {
        **before.changes(),
        GRAPH: _requires_grad(result),
        "H·v": _data(result),
    }


class _TooMuch(Exception):
    """Raised inside of a submission's call to end it."""


class _Limits(TorchDispatchMode):
    """Ends a run that makes a tensor of many entries, or that goes on for long."""

    def __init__(self, entries: int, operations: int) -> None:
        super().__init__()
        self.entries, self.operations = entries, operations
        self.too_large = self.too_long = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # as the course's instruments: PyTorch's compiler would be imported

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        made = out if isinstance(out, tuple | list) else [out]
        self.too_large |= any(isinstance(tensor, Tensor) and tensor.numel() > self.entries for tensor in made)
        self.operations -= 1
        self.too_long |= self.operations < 0
        if self.too_large or self.too_long:
            raise _TooMuch
        return out


class _Here(torch.autograd.Function):
    """x; it notes in which threads f and its derivatives of any order are computed.

    What measures sees its own thread alone.
    """

    threads: ClassVar[set[int]] = set()

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        _Here.threads.add(threading.get_ident())
        return x * 1

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        _Here.threads.add(threading.get_ident())
        return _Here.apply(gs[0])

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        _Here.threads.add(threading.get_ident())
        return tangents[0] * 1


@torch.enable_grad()
def cost(submission: Any, name: str, W: np.ndarray, x: np.ndarray, v: np.ndarray) -> dict[str, Any]:
    """H·v of Σ tanh(W x)² for a large x, and what it costs."""
    calls: list[int] = []
    weights, where = torch.tensor(W), torch.tensor(x)

    def f(x: Tensor) -> Tensor:
        calls.append(1)
        return (torch.tanh(weights @ _Here.apply(x)) ** 2).sum()

    with FlopCounter() as once:
        f(where)
    calls.clear()
    _Here.threads.clear()
    result = None
    limits = _Limits(entries=where.numel() ** 2 // 10, operations=400)
    with FlopCounter() as counter, limits, contextlib.suppress(_TooMuch):
        result = _product(submission, name, f, where, torch.tensor(v))
    return {
        "f, or its derivatives, are computed in another thread, where nothing is measured: start none": bool(
            _Here.threads - {threading.get_ident()}
        ),
        "A tensor of n² entries, or nearly, was made: that is the Hessian, which is not to be formed": limits.too_large,
        "It goes on and on, as a loop over the entries of x does: two passes are enough, whatever n is": limits.too_long
        and len(calls) <= 1,
        "f is called again and again: one call is enough": len(calls) > 1,
        "All in all it takes more than 6 times the FLOPs of f": counter.total > 6 * once.total
        and not limits.too_large
        and not limits.too_long,
        "H·v": _data(result),
    }


class _Slopes(torch.autograd.Function):
    """x; its entries' derivatives are `back` for gradients that go back, and `ahead` for tangents that go forward."""

    forward_runs = 0

    @staticmethod
    def forward(x: Tensor, back: Tensor, ahead: Tensor) -> Tensor:
        return x * 1

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, ctx.back, ctx.ahead = inputs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        return gs[0] * ctx.back, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        _Slopes.forward_runs += 1
        return tangents[0] * ctx.ahead


class _NoForwardMode(torch.autograd.Function):
    """x³, with a rule that can be differentiated again, and none for tangents; torch.func takes it, too."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gs[0] * 3 * x**2


@torch.enable_grad()
def which_way(
    submission: Any, name: str, x: np.ndarray, v: np.ndarray, a: np.ndarray, back: np.ndarray, ahead: np.ndarray
) -> dict[str, Any]:
    """H·v of a function with one derivative for gradients and another one for tangents: it tells which way they went.

    Back twice is back², forward once and back once is ahead · back. Each entry of x has slopes of its own, so no one
    number makes the one from the other.
    """
    constants, slopes = torch.tensor(a), (torch.tensor(back), torch.tensor(ahead))

    def f(x: Tensor) -> Tensor:
        y = _Slopes.apply(x, *slopes)
        return (constants * y**3).sum() + (constants * y).sum() ** 2

    _Slopes.forward_runs = 0
    result = _product(submission, name, f, torch.tensor(x), torch.tensor(v))
    return {
        "No tangent goes forward through f: this goes back twice": _Slopes.forward_runs == 0,
        "H·v": _data(result),
    }


@torch.enable_grad()
def without_forward_mode(submission: Any, x: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, Any]:
    """H·v of a function that knows the way back alone."""
    constants = torch.tensor(a)
    f = lambda x: (constants * _NoForwardMode.apply(x)).sum() + (constants * x).sum() ** 2  # noqa: E731
    return {"H·v": _data(submission.hvp(f, torch.tensor(x), torch.tensor(v)))}


# hessian_trace


def _generator(seed: int) -> torch.Generator:
    """A generator of the caller's; the global one begins anew, so that whoever uses that one is recognised."""
    torch.default_generator.manual_seed(seed + 1)
    return torch.Generator().manual_seed(seed)


@torch.enable_grad()
def trace(
    submission: Any, function: str, a: np.ndarray, p: np.ndarray, x: np.ndarray, samples: int, seed: int, kind: str
) -> dict[str, Any]:
    """One estimate."""
    constants, parameters = torch.tensor(a), torch.tensor(p, requires_grad=True)
    f = lambda x: FUNCTIONS[function](x, constants, parameters)  # noqa: E731
    return {"the trace": _data(submission.hessian_trace(f, _as(kind, x), samples, _generator(seed)))}


def _quadratic(H: np.ndarray) -> Callable[[Tensor], Tensor]:
    matrix = torch.tensor(H)
    return lambda x: 0.5 * x.reshape(-1) @ matrix @ x.reshape(-1)


@torch.enable_grad()
def traces(submission: Any, H: np.ndarray, x: np.ndarray, samples: int, calls: int, seed: int) -> list[Any]:
    """Estimates of one generator, for a function with the Hessian H."""
    generator, f = _generator(seed), _quadratic(H)
    return [_estimate(submission.hessian_trace(f, torch.tensor(x), samples, generator)) for _ in range(calls)]


def _estimate(value: Any) -> Any:
    """A float as it is, NumPy's too, which is one; of a tensor what it holds."""
    return float(value) if isinstance(value, float) else _data(value)


@torch.enable_grad()
def traces_of_one_entry(submission: Any, shape: tuple[int, ...], entry: float, calls: int, seed: int) -> list[Any]:
    """Estimates of one generator from one sample each, for a function whose Hessian has the same entry everywhere.

    The first that is not it times a square is the last: whoever takes a product for each entry of x takes long.
    """
    generator, f = _generator(seed), lambda x: 0.5 * entry * x.sum() ** 2
    where = torch.zeros(shape, dtype=torch.float64)
    estimates = []
    for _ in range(calls):
        estimate = submission.hessian_trace(f, where, 1, generator)
        estimates.append(_estimate(estimate))
        if not isinstance(estimate, float) or not _is_square(estimate / entry):
            break
    return estimates


def _is_square(value: float) -> bool:
    """Whether a number is the square of a whole one, but for rounding."""
    if not math.isfinite(value):
        return False
    root = max(value, 0.0) ** 0.5
    return math.isclose(root, round(root), rel_tol=1e-6, abs_tol=1e-6)


@torch.enable_grad()
def randomness(submission: Any, H: np.ndarray, x: np.ndarray, samples: int, seed: int) -> dict[str, Any]:
    """Where the random numbers come from. The Hessian is diagonal but for the last entry's row and column."""
    f, where = _quadratic(H), torch.tensor(x)

    def estimates(seed: int, everybodys: int) -> list[Any]:
        generator = _generator(seed)
        torch.default_generator.manual_seed(everybodys)
        return [submission.hessian_trace(f, where, samples, generator) for _ in range(2)]

    one = estimates(seed, 1)
    found = {
        "The generator's state is the same, and the estimate is another one: PyTorch's global random state, or "
        "something else, is used": estimates(seed, 2) != one,
        "A second call with the same generator gives the same estimate: it does not go on where the first ended": (
            one[0] == one[1]
        ),
        "Another generator gives the same estimate: the numbers do not come from it": estimates(seed + 1, 1) == one,
    }
    generator, state = _generator(seed), torch.get_rng_state()
    submission.hessian_trace(f, where, samples, generator)
    found[
        "PyTorch's global random state is another one afterwards: pass generator=generator to whatever draws"
    ] = not torch.equal(torch.get_rng_state(), state)
    return found


@torch.enable_grad()
def beside_trace(
    submission: Any, a: np.ndarray, p: np.ndarray, x: np.ndarray, samples: int, seed: int, kind: str
) -> dict[str, Any]:
    """An estimate, and what else has changed."""
    constants, parameters, where = torch.tensor(a), _as("leaf", p), _as(kind, x)
    before = _Before(x=where, parameter=parameters)
    f = lambda x: FUNCTIONS["diagonal"](x, constants, parameters) + (parameters**2).sum()  # noqa: E731
    result = submission.hessian_trace(f, where, samples, _generator(seed))
    return {**before.changes(), "the trace": _data(result)}


# maml_gradient

Params = dict[str, Tensor]


def _regression(params: Params, data: dict[str, Tensor]) -> Tensor:
    return ((data["X"] @ params["w"] + params["b"] - data["y"]) ** 2).mean()


def _network(params: Params, data: dict[str, Tensor]) -> Tensor:
    h = torch.tanh(data["X"] @ params["W1"] + params["b1"])
    return ((h @ params["W2"] - data["y"]) ** 2).mean()


def _some(params: Params, data: dict[str, Tensor]) -> Tensor:
    """Uses the parameters that `data` has a factor for."""
    return sum((torch.sin(params[name] * factor).sum() ** 2 for name, factor in data.items()), torch.tensor(0.0))


def _straight(params: Params, data: dict[str, Tensor]) -> Tensor:
    """A loss whose gradient is a constant for the data `slope`."""
    if "slope" in data:
        return (params["w"] * data["slope"]).sum()
    return (params["w"] ** 3 * data["cubes"]).sum()


LOSSES: dict[str, Callable[[Params, dict[str, Tensor]], Tensor]] = {
    "regression": _regression,
    "network": _network,
    "some": _some,
    "straight": _straight,
}

Arrays = dict[str, np.ndarray]


def _gradients(result: Any, params: Params) -> dict[str, Any]:
    """A result, gradient by gradient."""
    fits = isinstance(result, dict)
    return {
        "The result is no dict": not fits,
        "The keys of the result are not those of params, in their order": fits and list(result) != list(params),
        **{f"d{name}": _data(result.get(name)) if fits else None for name in params},
    }


@torch.enable_grad()
def maml(
    submission: Any, loss: str, params: Arrays, support: Arrays, query: Arrays, inner_lr: float, kind: str
) -> dict[str, Any]:
    """The gradients of the query loss, for parameters of a kind."""
    tensors = {name: _as(kind, value) for name, value in params.items()}
    sets = ({name: torch.tensor(value) for name, value in data.items()} for data in (support, query))
    return _gradients(submission.maml_gradient(LOSSES[loss], tensors, *sets, inner_lr), tensors)


@torch.enable_grad()
def beside_maml(
    submission: Any, params: Arrays, support: Arrays, query: Arrays, inner_lr: float, kind: str
) -> dict[str, Any]:
    """The gradients, what else has changed, and what loss_fn was called with.

    Data sets are told apart by their sizes: torch.func hands on copies.
    """
    tensors = {name: _as(kind, value) for name, value in params.items()}
    sets = [{name: torch.tensor(value) for name, value in data.items()} for data in (support, query)]
    scale = torch.ones((), dtype=next(iter(tensors.values())).dtype, requires_grad=True)
    scale.grad = torch.full_like(scale, 7.0)
    before, keys, seen = _Before(**tensors), list(tensors), []

    def loss_fn(params: Params, data: Any) -> Tensor:
        seen.append(next((i for i, known in enumerate(sets) if len(data["X"]) == len(known["X"])), None))
        return scale * LOSSES["network"](params, data)

    held = list(tensors.values())
    result = submission.maml_gradient(loss_fn, tensors, *sets, inner_lr)
    return {
        **before.changes(),
        "The .grad of a parameter that loss_fn uses is another one": scale.grad is None or scale.grad.item() != 7.0,
        "params holds other tensors, or other keys, afterwards: make a new dict": list(tensors) != keys
        or any(tensor is not known for tensor, known in zip(tensors.values(), held, strict=False)),
        "A result has a graph behind it: it requires a gradient": isinstance(result, dict)
        and _requires_grad(*result.values()),
        "loss_fn is not called twice, with support and then with query": seen != [0, 1],
        **_gradients(result, before.tensors),
    }


# gumbel_softmax_st


def _draws_again() -> None:
    """Whoever draws noise draws the same each time, and is recognised."""
    torch.default_generator.manual_seed(0)


def _backward(output: Any, leaf: Tensor, g: np.ndarray) -> Any:
    """The gradient of a leaf, where there is a way to it."""
    if not _requires_grad(output) or output.shape != g.shape:
        return None
    return _data(_grad(output, leaf, torch.tensor(g, dtype=output.dtype), allow_unused=True)[0])


@torch.enable_grad()
def chosen(submission: Any, logits: np.ndarray, tau: float, gumbels: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The choice, and the gradient of the logits."""
    _draws_again()
    leaf = torch.tensor(logits, requires_grad=True)
    y = submission.gumbel_softmax_st(leaf, tau, torch.tensor(gumbels))
    return {"y": _data(y), "dlogits": _backward(y, leaf, g)}


@torch.enable_grad()
def only_chosen(submission: Any, logits: np.ndarray, tau: float, gumbels: np.ndarray) -> dict[str, Any]:
    """The choice alone: compared to the last bit."""
    _draws_again()
    leaf = torch.tensor(logits, requires_grad=True)
    return {"y": _data(submission.gumbel_softmax_st(leaf, tau, torch.tensor(gumbels)))}


@torch.enable_grad()
def chosen_on_the_way(
    submission: Any, a: np.ndarray, b: np.ndarray, tau: float, gumbels: np.ndarray, W: np.ndarray, kinds: Sequence[str]
) -> dict[str, Any]:
    """logits = a · b, and a loss that is no sum of the choices: the gradients of a and b."""
    _draws_again()
    leaves = [torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)]
    logits, noise = leaves[0] * leaves[1], _as(kinds[0], gumbels)
    y = submission.gumbel_softmax_st(logits, tau, noise)
    grads: Sequence[Any] = (None, None)
    if _requires_grad(y) and y.shape == logits.shape:
        grads = _grad((torch.tanh(y.to(logits.dtype) @ torch.tensor(W)) ** 2).sum(), leaves, allow_unused=True)
    return {"y": _data(y), "da": _data(grads[0]), "db": _data(grads[1])}


@torch.enable_grad()
def beside_choice(
    submission: Any, logits: np.ndarray, tau: float, gumbels: np.ndarray, kind: str, g: np.ndarray
) -> dict[str, Any]:
    """The choice, and what else has changed; logits that require no gradient."""
    _draws_again()
    tensor, noise = _as(kind, logits), torch.tensor(gumbels)
    before, state = _Before(logits=tensor, gumbels=noise), torch.get_rng_state()
    y = submission.gumbel_softmax_st(tensor, tau, noise)
    asked = tensor.requires_grad
    return {
        **before.changes(),
        "The result requires a gradient, and logits does not": not asked and _requires_grad(y),
        "Random numbers were drawn: the noise is given": not torch.equal(torch.get_rng_state(), state),
        "y": _data(y),
        "dlogits": _backward(y, tensor, g) if asked else None,
    }
