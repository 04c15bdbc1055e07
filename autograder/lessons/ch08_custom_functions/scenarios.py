"""Scenarios of ch08_custom_functions: apply the submission's Functions, run backward once and twice.

They return dicts. A bool stands under the sentence that a learner is told if it is True: what is wrong.
`apply` is PyTorch's own here, whatever the class has under that name.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import gc
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from course.instruments.live import LiveStorages
from course.instruments.saved import SavedTensorMeter

Function = torch.autograd.Function
_apply = Function.apply.__func__  # type: ignore[attr-defined]  # bound to no class
_gradcheck, _gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck
_grad = torch.autograd.grad
_Node = torch.autograd.function.BackwardCFunction
"""What the nodes of Functions are, and no others."""

NO_GRAPH = "The result has no graph, so no gradient flows back"
NO_SECOND = "The gradient has no graph: it cannot be differentiated again"
MARKED = "The gradient cannot be differentiated again: backward is marked once_differentiable"
RECORDED = "Autograd records operations inside of forward or backward: write the rule yourself, and leave gradients off"
ATTRIBUTE = "A tensor is kept in an attribute of ctx: what backward needs goes through ctx.save_for_backward"


MAY_CALL = ("torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward")
"""What the exercises forbid and scenarios call."""


def _watched(scenario: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The scenario with gradients switched on, whatever a cell did to them."""

    @functools.wraps(scenario)
    def run(*args: Any) -> dict[str, Any]:
        with torch.enable_grad():
            return scenario(*args)

    return run


def _data(value: Any) -> Any:
    """A tensor as an array, so that it can be compared; anything else as it is."""
    return value.numpy(force=True).copy() if isinstance(value, torch.Tensor) else value


def _class(submission: Any, name: str) -> Any:
    """The submission's Function; `TypeError` if it is none, or has an `apply` of its own."""
    function = getattr(submission, name)
    if not isinstance(function, type) or not issubclass(function, Function):
        raise TypeError(f"{name} is no class derived from torch.autograd.Function")
    if next(cls for cls in function.__mro__ if "apply" in vars(cls)) is not Function:
        raise TypeError(f"{name} defines apply; write forward and backward, and leave apply as it is inherited")
    return function


def _applied(function: Any, *inputs: Any) -> torch.Tensor:
    """The result of `function.apply`; `TypeError` if it is no tensor."""
    return _tensor(_apply(function, *inputs), function)


def _tensor(result: Any, function: Any) -> torch.Tensor:
    if not isinstance(result, torch.Tensor):
        raise TypeError(f"{function.__name__}.apply returned {type(result).__name__}: forward must return one tensor")
    return result


def _leaf(array: np.ndarray, dtype: Any = None) -> torch.Tensor:
    return torch.tensor(array, dtype=dtype, requires_grad=True)


def _first(y: torch.Tensor, x: Any, g: torch.Tensor, **options: Any) -> Any:
    """The gradient of x (or several), None where there is no graph or g does not fit y."""
    inputs = x if isinstance(x, tuple) else (x,)
    if not y.requires_grad or y.shape != g.shape:
        return None if inputs is not x else (None,) * len(inputs)
    try:
        gradients = _grad(y, inputs, g, allow_unused=True, **options)
    except (AttributeError, TypeError) as error:
        error.args = (f"{error}{_made_plain(str(error))}",)
        raise
    return gradients if inputs is x else gradients[0]


def _made_plain(error: str) -> str:
    """What lies behind an error of backward that does not say it."""
    if re.search(r"to an index|multiply sequence|not tuple|'tuple'", error):
        return ". Is it x = ctx.saved_tensors? That is a tuple, even for one tensor: (x,) = ctx.saved_tensors"
    if "expected np.ndarray" in error:
        return ". NumPy makes a number of a 0-d result. Write backward with tensor operations: autograd records them"
    return ""


def _second(dx: Any, inputs: tuple[torch.Tensor, ...], h: torch.Tensor) -> dict[str, Any]:
    """dx, differentiated once more; what it does not depend on gets zeros. With sentences, where that cannot be."""
    gradients: Sequence[Any] = [None] * len(inputs)
    bare = not isinstance(dx, torch.Tensor) or not dx.requires_grad
    node = None if bare else dx.grad_fn
    marked = node is not None and "Error" in node.name()  # what once_differentiable leaves in place of a graph
    if not bare and not marked and dx.shape == h.shape:
        gradients = _grad(dx, inputs, h, allow_unused=True, materialize_grads=True)
    return {NO_SECOND: bare, MARKED: marked, "of": gradients}


# Square, GELU, GELUTanh, RoundSTE


@_watched
def once(submission: Any, function: str, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The result and the gradient; x and g afterwards."""
    cls = _class(submission, function)
    leaf, upstream = _leaf(x), torch.tensor(g)
    y = _applied(cls, leaf)
    dx = _first(y, leaf, upstream)
    return {
        "y": _data(y),
        NO_GRAPH: not y.requires_grad,
        "dx": _data(dx),
        "x afterwards": _data(leaf),
        "g afterwards": _data(upstream),
    }


@_watched
def twice(submission: Any, function: str, x: np.ndarray, g: np.ndarray, h: np.ndarray) -> dict[str, Any]:
    """The gradient, and what becomes of h when it is sent back through the gradient."""
    cls = _class(submission, function)
    leaf, upstream = _leaf(x), _leaf(g)
    y = _applied(cls, leaf)
    dx = _first(y, leaf, upstream, create_graph=True)
    second = _second(dx, (leaf, upstream), torch.tensor(h))
    by_x, by_g = second.pop("of")
    return {
        "dx": _data(dx),
        **second,
        "dx differentiated by x": _data(by_x),
        "dx differentiated by g": _data(by_g),
    }


@_watched
def in_a_graph(
    submission: Any, function: str, a: np.ndarray, b: np.ndarray, g: np.ndarray, h: np.ndarray
) -> dict[str, Any]:
    """The same for x = a · b in the middle of a graph, and the result squared: gradients of a and b, and again."""
    cls = _class(submission, function)
    a_leaf, b_leaf = _leaf(a), _leaf(b)
    y = _applied(cls, a_leaf * b_leaf)
    da, db = _first(y * y, (a_leaf, b_leaf), torch.tensor(g), create_graph=True)
    second = _second(da, (a_leaf, b_leaf), torch.tensor(h))
    by_a, by_b = second.pop("of")
    return {
        "da": _data(da),
        "db": _data(db),
        **second,
        "da differentiated by a": _data(by_a),
        "da differentiated by b": _data(by_b),
    }


@_watched
def other_layouts(submission: Any, function: str, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """x and g as transposed views, and each as one row or column that is expanded."""
    cls = _class(submission, function)
    found = {}
    for name, (of_x, of_g) in {
        "x transposed": (torch.tensor(x).T.contiguous().T, torch.tensor(g)),
        "g transposed": (torch.tensor(x), torch.tensor(g).T.contiguous().T),
        "x expanded": (torch.tensor(x[:1]).expand(x.shape), torch.tensor(g)),
        "g expanded": (torch.tensor(x), torch.tensor(g[:1]).expand(g.shape)),
    }.items():
        leaf = of_x.requires_grad_()
        y = _applied(cls, leaf)
        found[f"y, {name}"] = _data(y)
        found[f"dx, {name}"] = _data(_first(y, leaf, of_g))
    return found


@_watched
def two_at_once(
    submission: Any, function: str, x: np.ndarray, other_x: np.ndarray, g: np.ndarray, other_g: np.ndarray
) -> dict[str, Any]:
    """Two forward passes, then the backward pass of the first, then that of the second."""
    cls = _class(submission, function)
    leaf, other = _leaf(x), _leaf(other_x)
    y, other_y = _applied(cls, leaf), _applied(cls, other)
    return {
        "dx": _data(_first(y, leaf, torch.tensor(g))),
        "d other_x": _data(_first(other_y, other, torch.tensor(other_g))),
    }


@_watched
def constant(submission: Any, function: str, x: np.ndarray) -> dict[str, Any]:
    """The result for an x that requires no gradient."""
    fixed = torch.tensor(x)
    y = _applied(_class(submission, function), fixed)
    return {
        "y": _data(y),
        "The result requires a gradient, and x does not": y.requires_grad,
        "x requires a gradient afterwards": fixed.requires_grad,
    }


@_watched
def changed_in_between(submission: Any, function: str, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The gradient; and whether autograd notices when x is changed in place between forward and backward."""
    cls = _class(submission, function)
    leaf = _leaf(x)
    dx = _first(_applied(cls, leaf), leaf, torch.tensor(g))
    middle = leaf * 1
    y = _applied(cls, middle)
    middle.detach().mul_(2)
    noticed = False
    try:
        _first(y, leaf, torch.tensor(g))
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        noticed = True
    return {
        "dx": _data(dx),
        "x was changed in place after forward, and backward went on with the new values. Saved by "
        "ctx.save_for_backward, x is watched: autograd refuses": not noticed,
    }


@_watched
def kept(submission: Any, function: str, x: np.ndarray) -> dict[str, Any]:
    """The bytes that are kept between the passes, the result and the gradient for a g of ones."""
    cls = _class(submission, function)
    leaf = _leaf(x)
    with LiveStorages() as live, SavedTensorMeter() as meter:
        y = _applied(cls, leaf)
        made = _still_alive(live, y)
    attribute = _has_attributes(y)
    return {
        NO_GRAPH: not y.requires_grad,
        ATTRIBUTE: attribute,
        "y": _data(y),
        "dx": _data(_first(y, leaf, torch.ones_like(y))),
        "bytes saved for backward": meter.bytes,
        "bytes of new tensors still alive, the result's aside": made,
    }


def _still_alive(live: LiveStorages, result: torch.Tensor) -> int:
    """The bytes that are alive beside the result's; a cycle that is only waiting to be collected does not count."""
    of_result = result.untyped_storage().nbytes()
    if live.bytes > of_result:
        gc.collect()
    return live.bytes - of_result


def _has_attributes(y: torch.Tensor) -> bool:
    """Whether the ctx of a result, its grad_fn, has tensors or arrays among its attributes, or in lists of them."""
    values = list(vars(y.grad_fn).values()) if y.grad_fn is not None else []
    for value in values:
        if isinstance(value, torch.Tensor | np.ndarray):
            return True
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list | tuple | set):
            values += value
    return False


@_watched
def calls(submission: Any, function: str, inputs: tuple[np.ndarray, ...], g: np.ndarray, factor: float) -> dict:
    """Whether the class's own `apply` makes its result by forward, and a backward pass its gradient by backward.

    What backward returns is multiplied by a factor on the way, and then the gradient must be, too.
    """
    cls = _class(submission, function)
    right = _of_apply(cls, inputs, g, 1.0)
    multiplied = _of_apply(cls, inputs, g, factor)
    dx, of_backward = right.pop("dx"), multiplied.pop("dx")
    followed = of_backward is None if dx is None else torch.allclose(of_backward, factor * dx, equal_nan=True)
    return {**right, "The gradient is not what backward returns": not followed}


def _of_apply(cls: Any, inputs: tuple[np.ndarray, ...], g: np.ndarray, factor: float) -> dict[str, Any]:
    """What one forward and one backward pass call, and the gradient, where backward's is multiplied by a factor."""
    counts = {"forward": 0, "backward": 0}
    recorded: list[torch.Tensor] = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        recorded.append(tensor)
        return tensor

    def unrecorded(original: Any, *args: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            return original(*args)

    def forward(original: Any, *args: Any) -> Any:
        counts["forward"] += 1
        return unrecorded(original, *args)

    def backward(original: Any, *args: Any) -> Any:
        counts["backward"] += 1
        returned = unrecorded(original, *args)
        several = isinstance(returned, tuple | list)
        first, *others = returned if several and returned else (returned,)
        return factor * first if isinstance(first, torch.Tensor) else first, *others

    with contextlib.ExitStack() as stack:
        stack.enter_context(_through(cls, "forward", forward))
        stack.enter_context(_through(cls, "backward", backward))
        if cls.setup_context is not Function.setup_context:  # else PyTorch takes the other one for the class's own
            stack.enter_context(_through(cls, "setup_context", unrecorded))
        x = _leaf(inputs[0])
        y = _tensor(cls.apply(x, *map(torch.tensor, inputs[1:])), cls)
        before = counts["backward"]
        dx = _first(y, x, torch.tensor(g))
    node = y.grad_fn
    return {
        "apply did not call forward": not counts["forward"],
        "apply called backward; only a backward pass does": before > 0,
        NO_GRAPH: node is None,
        "The result is not what forward returned: other operations made its graph": node is not None
        and not (isinstance(node, _Node) and node._forward_cls is cls),
        "The backward pass did not call backward": not counts["backward"],
        RECORDED: bool(recorded),
        "dx": dx,
    }


@contextlib.contextmanager
def _through(cls: Any, name: str, around: Callable[..., Any]) -> Iterator[None]:
    """Let the calls of a static method go through `around`, which gets the method first."""
    owner = next(owner for owner in cls.__mro__ if name in vars(owner))
    if name == "backward" and owner is Function:  # the class may have its other name, vjp
        name, owner = "vjp", next(owner for owner in cls.__mro__ if "vjp" in vars(owner))
    original, inherited = getattr(cls, name), owner is not cls
    own = None if inherited else vars(cls)[name]
    setattr(cls, name, staticmethod(functools.partial(around, original)))
    try:
        yield
    finally:
        if inherited:
            delattr(cls, name)
        else:
            setattr(cls, name, own)


@_watched
def checked(submission: Any, function: str, x: np.ndarray, g: np.ndarray, h: np.ndarray) -> dict[str, Any]:
    """What PyTorch's gradcheck and gradgradcheck say, beside the numbers themselves."""
    cls = _class(submission, function)

    def apply(tensor: torch.Tensor) -> torch.Tensor:
        return _applied(cls, tensor)

    values = once(submission, function, x, g)
    first = _says_yes(_gradcheck, apply, x)
    second = _says_yes(_gradgradcheck, apply, x)
    numbers = twice(submission, function, x, g, h)
    return {"y": values["y"], "gradcheck": first, "gradgradcheck": second, **numbers}


def _says_yes(check: Callable[..., bool], apply: Any, x: np.ndarray) -> str:
    try:
        return "accepted" if check(apply, (_leaf(x),), raise_exception=False) else "rejected"
    except RuntimeError:
        return "rejected"


# FusedCrossEntropy


@_watched
def cross_entropy(
    submission: Any, logits: np.ndarray, targets: np.ndarray, g: float, dtype: str = "float64"
) -> dict[str, Any]:
    """The loss, the gradient of the logits for an upstream gradient g, and the arguments afterwards."""
    cls = _class(submission, "FusedCrossEntropy")
    leaf, rows = _leaf(logits, getattr(torch, dtype)), torch.tensor(targets)
    loss = _applied(cls, leaf, rows)
    dlogits = _first(loss, leaf, torch.tensor(g, dtype=leaf.dtype))
    return {
        "loss": _data(loss),
        NO_GRAPH: not loss.requires_grad,
        "dlogits": _data(dlogits),
        "logits afterwards": _data(leaf),
        "targets afterwards": _data(rows),
    }


@_watched
def linear_classifier(submission: Any, X: np.ndarray, W: np.ndarray, targets: np.ndarray, g: float) -> dict[str, Any]:
    """The same for logits = (X @ W).T.T, no leaf and not contiguous, and a loss times g: the gradients of X and W."""
    cls = _class(submission, "FusedCrossEntropy")
    X_leaf, W_leaf = _leaf(X), _leaf(W)
    logits = (W_leaf.T @ X_leaf.T).T
    loss = _applied(cls, logits, torch.tensor(targets))
    upstream = torch.tensor(1.0, dtype=torch.float64)
    dX, dW = _first(g * loss, (X_leaf, W_leaf), upstream)
    return {"loss": _data(loss), NO_GRAPH: not loss.requires_grad, "dX": _data(dX), "dW": _data(dW)}


@_watched
def second_backward(submission: Any, logits: np.ndarray, targets: np.ndarray, g: float, other_g: float) -> dict:
    """Two backward passes through one graph, and then two more that add up in `.grad`."""
    cls = _class(submission, "FusedCrossEntropy")
    leaf = _leaf(logits)
    loss = _applied(cls, leaf, torch.tensor(targets))
    upstream, other = (torch.tensor(value, dtype=torch.float64) for value in (g, other_g))
    refused, first, second = False, None, None
    try:
        first = _first(loss, leaf, upstream, retain_graph=True)
        first = _data(first)
        second = _data(_first(loss, leaf, other, retain_graph=True))
        for _ in range(2 if loss.requires_grad else 0):
            loss.backward(upstream, retain_graph=True)
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        refused = True
    return {
        "dlogits": first,
        "The second backward pass failed: backward wrote into a tensor that it had saved": refused,
        "dlogits of a second backward pass, with other_g": second,
        "logits.grad after two more passes with g": _data(leaf.grad),
    }


@_watched
def two_losses(
    submission: Any, logits: np.ndarray, other_logits: np.ndarray, targets: np.ndarray, other_targets: np.ndarray
) -> dict[str, Any]:
    """Two forward passes, then the backward pass of the first, then that of the second; g is 2, then 3."""
    cls = _class(submission, "FusedCrossEntropy")
    leaf, other = _leaf(logits), _leaf(other_logits)
    loss = _applied(cls, leaf, torch.tensor(targets))
    other_loss = _applied(cls, other, torch.tensor(other_targets))
    two, three = (torch.tensor(value, dtype=torch.float64) for value in (2.0, 3.0))
    return {
        "dlogits": _data(_first(loss, leaf, two)),
        "d other_logits": _data(_first(other_loss, other, three)),
    }


@_watched
def kept_of_logits(submission: Any, logits: np.ndarray, targets: np.ndarray) -> dict[str, Any]:
    """The bytes that are kept between the passes, and the loss; targets, which were there before, do not count."""
    cls = _class(submission, "FusedCrossEntropy")
    leaf, rows = _leaf(logits), torch.tensor(targets)
    with LiveStorages() as live, SavedTensorMeter(exclude=[rows]) as meter:
        loss = _applied(cls, leaf, rows)
        made = _still_alive(live, loss)
    _first(loss, leaf, torch.ones_like(loss))  # that it can be used, too
    return {
        "saved": meter.bytes,
        "made": made,
        "loss": _data(loss),
        NO_GRAPH: not loss.requires_grad,
        ATTRIBUTE: _has_attributes(loss),
    }


class _Context(torch.autograd.function.FunctionCtx):
    """A ctx as `forward` and `backward` see it, with a `needs_input_grad` of ours."""

    to_save: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, bool] = (False, False)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.to_save


@_watched
def frozen_logits(submission: Any, logits: np.ndarray, targets: np.ndarray, g: float) -> dict[str, Any]:
    """What forward saves and backward returns where `ctx.needs_input_grad` says that no gradient is needed."""
    cls = _class(submission, "FusedCrossEntropy")
    fixed, rows, upstream = torch.tensor(logits), torch.tensor(targets), torch.tensor(g, dtype=torch.float64)
    loss = _applied(cls, fixed, rows)
    saved, gradients = _by_hand(cls, (False, False), fixed, rows, upstream)
    _, wanted = _by_hand(cls, (True, False), fixed, rows, upstream)
    return {
        "loss": _data(loss),
        "The loss requires a gradient, and the logits do not": loss.requires_grad,
        "forward saves tensors although ctx.needs_input_grad[0] is False": bool(saved),
        "backward returns a gradient although ctx.needs_input_grad[0] is False": any(
            gradient is not None for gradient in gradients
        ),
        "backward returns a gradient for targets; return None": any(gradient is not None for gradient in wanted[1:]),
    }


def _by_hand(cls: Any, needs: tuple[bool, bool], logits: Any, targets: Any, g: Any) -> tuple[list[Any], Sequence[Any]]:
    """What forward saves and backward returns, called without PyTorch; no backward where what it saves is too much."""
    ctx = _Context()
    ctx.needs_input_grad = needs
    with torch.no_grad():
        if cls.setup_context is not Function.setup_context:
            cls.setup_context(ctx, (logits, targets), cls.forward(logits, targets))
        else:
            cls.forward(ctx, logits, targets)
        saved = [value for value in (*ctx.to_save, *vars(ctx).values()) if isinstance(value, torch.Tensor)]
        returned = () if saved and not needs[0] else cls.backward(ctx, g)
    return saved, returned if isinstance(returned, tuple) else (returned,)


# run_gradcheck


class _Asking(Function):
    """An operation whose values and rules are asked for, one call at a time: `ask(what, arrays)`.

    What is right or wrong about it is known to the one who answers, and to nobody here.
    """

    @staticmethod
    def forward(ctx: Any, ask: Callable[..., Any], *tensors: torch.Tensor) -> Any:
        answer = ask("forward", [_data(tensor) for tensor in tensors])
        if answer["inputs"] is not None:  # what the operation writes into its arguments
            for tensor, array in zip(tensors, answer["inputs"], strict=True):
                tensor.copy_(torch.tensor(array))
        outputs = tuple(torch.tensor(array) for array in answer["outputs"])
        ctx.ask = ask
        ctx.save_for_backward(*(tensor.clone() if answer["inputs"] is not None else tensor for tensor in tensors))
        hidden = [y for y, visible in zip(outputs, answer["differentiable"], strict=True) if not visible]
        ctx.mark_non_differentiable(*hidden)
        ctx.visible = answer["differentiable"]
        return outputs if len(outputs) > 1 else outputs[0]

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        tensors = ctx.saved_tensors
        gs = tuple(g for g, visible in zip(gs, ctx.visible, strict=True) if visible)
        gradients = iter(_AskingBack.apply(ctx.ask, len(gs), *gs, *tensors))
        return None, *(next(gradients) if tensor.is_floating_point() else None for tensor in tensors)


class _AskingBack(Function):
    """The backward pass of `_Asking`, an operation in its turn."""

    @staticmethod
    def forward(ctx: Any, ask: Callable[..., Any], count: int, *tensors: torch.Tensor) -> Any:
        ctx.ask, ctx.count = ask, count
        ctx.save_for_backward(*tensors)
        return tuple(torch.tensor(array) for array in ask("backward", count, [_data(tensor) for tensor in tensors]))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *hs: torch.Tensor) -> Any:
        tensors = ctx.saved_tensors
        answer = ctx.ask("again", ctx.count, [_data(h) for h in hs], [_data(tensor) for tensor in tensors])
        gradients = iter(torch.tensor(array) for array in answer)
        return None, None, *(next(gradients) if tensor.is_floating_point() else None for tensor in tensors)


class _Answers:
    """The answers of an operation: those that are known beforehand, and those that are asked for."""

    def __init__(self, known: dict[str, Any], ask: Callable[..., Any] | None) -> None:
        self.unknown = False
        """Whether there was a question to which no answer is known, and nobody to ask."""
        self._known, self._ask = known, ask
        self._points = {_bytes(arrays): number for number, arrays in enumerate(zip(*known["points"], strict=True))}
        self._asked = dict.fromkeys(("forward", "backward", "again"), 0)

    def __call__(self, what: str, *arguments: Any) -> Any:
        count = arguments[0] if what != "forward" else 0
        gs, arrays = arguments[-1][:count], arguments[-1][count:]
        point = self._points.get(_bytes(arrays))
        if point is None or (what == "again" and point):
            if self._ask is not None:
                return self._ask(what, *arguments)
            self.unknown = True
            raise LookupError("no answer is known")
        if what in self._known["raises"]:
            kind, message = self._known["raises"][what]
            raise getattr(builtins, kind)(message)
        rounds = self._known[what]
        answers = rounds[self._asked[what] % len(rounds)]
        self._asked[what] += 1
        if what == "forward":
            after = answers["inputs"] and [of[point] for of in answers["inputs"]]
            return {**answers, "outputs": [of[point] for of in answers["outputs"]], "inputs": after}
        if what == "backward":
            return [np.tensordot(_flat(gs), of[point], 1) for of in answers]
        h = _flat(arguments[1])
        of_x = (np.tensordot(_flat(gs), np.tensordot(h, of, 1), 1) for of in answers["x"])
        return [*(np.tensordot(h, of, 1) for of in answers["g"]), *of_x]


def _bytes(arrays: Sequence[Any]) -> bytes:
    return b"".join(array.dtype.char.encode() + array.tobytes() for array in arrays)


def _flat(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])


@torch.enable_grad()
def verdict(
    submission: Any,
    known: dict[str, Any],
    ask: Callable[..., Any] | None,
    arrays: list[np.ndarray],
    wants: list[bool],
    rows: int,
) -> dict[str, Any] | None:
    """What `run_gradcheck` says of an operation, and what it left of the tensors.

    None where it wants to know more of the operation than is known, and there is nobody to `ask`.

    gradgradcheck draws its own g from PyTorch's generator, which is seeded here: near the tolerances the answer depends
    on the draw, and the same mistake has to show the same way each time.

    Args:
        known: the answers that are known beforehand, as `Operation.known` has them.
        wants: which of the tensors require a gradient.
        rows: if not 0, the tensors are expanded to so many rows.
    """
    torch.default_generator.manual_seed(0)  # torch.manual_seed notes a stack for each kind of device that is not there
    tensors = [torch.tensor(array) for array in arrays]
    for tensor, want in zip(tensors, wants, strict=True):
        tensor.requires_grad_(want)
        if want:
            tensor.grad = torch.full_like(tensor, 0.5)
    passed = [tensor.detach().expand(rows, *tensor.shape) for tensor in tensors] if rows else tensors

    answers = _Answers(known, ask)

    def fn(*inputs: torch.Tensor) -> Any:
        return _Asking.apply(answers, *inputs)

    try:
        said = submission.run_gradcheck(fn, *passed)
    except LookupError:
        if not answers.unknown:
            raise
    if answers.unknown:
        return None
    after = [tensor.grad for tensor, want in zip(tensors, wants, strict=True) if want]
    return {
        "verdict": said,
        "run_gradcheck changed a tensor of the caller's": any(
            not np.array_equal(_data(tensor), array) for tensor, array in zip(tensors, arrays, strict=True)
        ),
        "run_gradcheck changed requires_grad of a tensor of the caller's": [t.requires_grad for t in tensors] != wants,
        "run_gradcheck changed the .grad of a tensor of the caller's": any(
            grad is None or not bool((grad == 0.5).all()) for grad in after
        ),
    }
