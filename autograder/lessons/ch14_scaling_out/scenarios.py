"""Scenarios of ch14_scaling_out: ranks side by side in threads, messages that are counted, memory; numbers come back.

They return dicts. A bool stands under the sentence that a learner is told if it is True: what is wrong.
Each runs with gradients switched on, whatever a cell of the submission did to them.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course.instruments.traced import TracedStorages
from course.process_groups import Call, Group, GroupError, in_threads

Arrays = list[np.ndarray]

GRAPH = "A result has a graph behind it: it requires a gradient"


def _data(value: Any) -> Any:
    """A tensor as an array, so that it can be compared; anything else as it is."""
    return value.detach().numpy().copy() if isinstance(value, Tensor) and value.dtype != torch.bfloat16 else value


def _side_by_side(step: Callable[[Group], Any], size: int) -> list[Any]:
    """What each rank returns; what one of them raises is raised as it is."""
    try:
        return in_threads(step, size)
    except GroupError as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise


def _requires_grad(*values: Any) -> bool:
    return any(isinstance(value, Tensor) and value.requires_grad for value in values)


def _told(calls: list[Call]) -> str:
    """Collectives in words."""
    return ", ".join(f"{call.name} of {call.shape}" for call in calls) or "nothing"


# all_reduce_gradients


class _Network(nn.Module):
    """tanh(x W1 + b) W2 and a factor of the loss; a parameter that no loss reaches and one that is frozen, or none."""

    def __init__(self, weights: Arrays, spare: bool) -> None:
        super().__init__()
        W1, b, W2 = map(torch.tensor, weights)
        self.W1, self.b = nn.Parameter(W1), nn.Parameter(b)
        if spare:
            self.frozen = nn.Parameter(torch.ones_like(self.b), requires_grad=False)
            self.unused = nn.Parameter(torch.ones_like(self.b))
        self.W2 = nn.Parameter(W2)
        self.factor = nn.Parameter(torch.tensor(1.5, dtype=self.b.dtype))

    def loss(self, X: Tensor, y: Tensor) -> Tensor:
        """A mean over the rows; of none it is nan, and so is the gradient of the factor."""
        return self.factor * (torch.tanh(X @ self.W1 + self.b) @ self.W2 - y).square().mean()


@torch.enable_grad()
def gradients(
    submission: Any, weights: Arrays, shards: list[Arrays], backward_without_rows: bool, spare_parameters: bool
) -> dict[str, Any]:
    """Every rank's gradients; a rank without rows has called backward on an empty mean, or not."""
    model = _Network(weights, spare_parameters)

    def step(group: Group) -> _Network:
        mine = copy.deepcopy(model)
        X, y = map(torch.tensor, shards[group.rank])
        if len(X) or backward_without_rows:
            mine.loss(X, y).backward()
        submission.all_reduce_gradients(mine, group, len(X))
        return mine

    models = _side_by_side(step, len(shards))
    return {
        "The parameters are others afterwards: only their .grad is to change": not all(
            torch.equal(mine, theirs)
            for of in models
            for mine, theirs in zip(model.parameters(), of.parameters(), strict=True)
        ),
        "A .grad has a graph behind it: it requires a gradient": any(
            _requires_grad(parameter.grad) for of in models for parameter in of.parameters()
        ),
        "A parameter that requires no gradient has one afterwards": any(
            not parameter.requires_grad and parameter.grad is not None for of in models for parameter in of.parameters()
        ),
        **{
            f"{name}.grad on rank {rank}": _data(parameter.grad)
            for rank, of in enumerate(models)
            for name, parameter in of.named_parameters()
            if parameter.requires_grad
        },
    }


# bucketed_all_reduce


@torch.enable_grad()
def buckets(
    submission: Any, grads: Arrays, bucket_bytes: int, multiplied_by: list[float], size_times: float, layout: str
) -> dict[str, Any]:
    """Results of a reduction that is another one for each message, and for each size of a message.

    The k-th message is multiplied by the k-th number, and `size_times` its number of entries is added.
    `layout` says how the entries of a tensor lie: "rows first", "every other entry", "columns first".
    """
    tensors = [torch.tensor(grad) for grad in grads]
    if layout == "every other entry":
        tensors = [torch.stack([tensor, tensor + 1], dim=-1)[..., 0] for tensor in tensors]
    if layout == "columns first":
        tensors = [
            tensor.permute(*reversed(range(tensor.ndim))).contiguous().permute(*reversed(range(tensor.ndim)))
            for tensor in tensors
        ]
    before = [tensor.clone() for tensor in tensors]
    messages: list[tuple[tuple[int, ...], int, str]] = []

    def all_reduce(tensor: Tensor) -> None:
        factor = multiplied_by[len(messages) % len(multiplied_by)]
        messages.append((tuple(tensor.shape), tensor.numel(), str(tensor.dtype).removeprefix("torch.")))
        tensor.mul_(factor).add_(size_times * tensor.numel())

    reduced = submission.bucketed_all_reduce(tensors, bucket_bytes, all_reduce)
    several = isinstance(reduced, tuple | list)
    fits = several and len(reduced) == len(tensors)
    of = f" of {len(reduced)}" if several else ""
    return {
        "The tensors in grads are others afterwards: reduce a copy": not all(map(torch.equal, tensors, before)),
        "A message is not flat: send tensors of one axis": any(len(shape) != 1 for shape, _, _ in messages),
        "the result": "None" if reduced is None else f"a {'list' if several else type(reduced).__name__}{of}",
        "messages": ", ".join(f"{n} {dtype}" for _, n, dtype in messages) or "none",
        **{f"result {i}": _data(reduced[i]) if fits else None for i in range(len(tensors))},
    }


# ColumnParallelLinear, RowParallelLinear


def _whole(array: np.ndarray | None) -> Tensor | None:
    return None if array is None else torch.tensor(array)


def _part(array: np.ndarray, group: Group) -> Tensor:
    """This rank's part of the last axis."""
    return torch.tensor(np.split(array, group.size, axis=-1)[group.rank])


def _layer(submission: Any, name: str, W: np.ndarray, b: np.ndarray | None, group: Group) -> tuple[Any, list[Any]]:
    """A layer, and the tensors that it was made from."""
    made_from = [_whole(W), _whole(b)]
    layer = getattr(submission, name)(*made_from, group)
    if not isinstance(layer, nn.Module) or "_parameters" not in vars(layer):
        raise TypeError(f"{name} is no torch.nn.Module, or its __init__ does not begin with super().__init__()")
    return layer, made_from


@torch.enable_grad()
def parallel_layer(
    submission: Any,
    name: str,
    W: np.ndarray,
    b: np.ndarray | None,
    x: np.ndarray,
    g: np.ndarray,
    size: int,
    in_the_middle: bool,
    beside: bool,
) -> dict[str, Any]:
    """The result of a layer, and all gradients, on every rank; x may be the sine of a leaf, and y go on to a sine.

    Or x goes past the layer as well, into a cosine: what comes back from there is not summed.
    """
    around = torch.sin if in_the_middle else lambda tensor: tensor

    def step(group: Group) -> dict[str, Any]:
        layer, _ = _layer(submission, name, W, b, group)
        leaf, upstream = _given(name, x, g, group)
        given = around(leaf)
        y = layer(given)
        found = {"y": _data(y), "dx": None, "layer.weight.grad": None, "layer.bias.grad": None}
        if _requires_grad(y) and y.shape == upstream.shape:
            loss = (around(y) * upstream).sum()
            (loss + given.cos().sum() if beside else loss).backward()
            found |= {"dx": _data(leaf.grad), "layer.weight.grad": _data(layer.weight.grad)}
            found["layer.bias.grad"] = None if layer.bias is None else _data(layer.bias.grad)
        return found

    return _of_ranks(_side_by_side(step, size))


def _given(name: str, x: np.ndarray, g: np.ndarray, group: Group) -> tuple[Tensor, Tensor]:
    """What a rank's layer is given: x, a leaf, and the gradient of its result, one of them in part."""
    whole = name == "ColumnParallelLinear"
    x_, g_ = (torch.tensor(x), _part(g, group)) if whole else (_part(x, group), torch.tensor(g))
    return x_.requires_grad_(), g_


@torch.enable_grad()
def values_of_layer(
    submission: Any, name: str, W: np.ndarray, b: np.ndarray | None, x: np.ndarray, size: int
) -> dict[str, Any]:
    """The result of a layer on every rank, with gradients and without."""

    def step(group: Group) -> dict[str, Any]:
        layer, _ = _layer(submission, name, W, b, group)
        leaf, _ = _given(name, x, x, group)
        with torch.no_grad():
            without = layer(leaf)
        return {"y": _data(layer(leaf)), "y under torch.no_grad()": _data(without)}

    return _of_ranks(_side_by_side(step, size))


def _of_ranks(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{key} on rank {rank}": value for rank, of in enumerate(found) for key, value in of.items()}


def _parameters(layer: torch.nn.Module) -> dict[str, torch.Tensor]:
    """The parameters of a layer, those first that it has as `weight` and `bias`, wherever it keeps them."""
    registered = dict(layer.named_parameters())
    found: dict[str, torch.Tensor] = {}
    for name in ("weight", "bias"):
        own: Any = getattr(layer, name, None)
        if any(own is parameter for parameter in registered.values()):
            found[name] = own
    others = {name: one for name, one in registered.items() if not any(one is mine for mine in found.values())}
    return {**found, **others}


SHARED = "A parameter shares memory with the weight or the bias that the layer is made from: clone the part"
WHOLE = "A parameter looks into memory of more than its own entries, as a view of the whole does: clone the part"


@torch.enable_grad()
def parts_of_layer(submission: Any, name: str, W: np.ndarray, b: np.ndarray | None, size: int) -> dict[str, Any]:
    """What each rank keeps."""

    def step(group: Group) -> tuple[dict[str, bool], dict[str, Any]]:
        layer, made_from = _layer(submission, name, W, b, group)
        parameters = _parameters(layer)
        storages = {of.untyped_storage()._cdata: of.untyped_storage().nbytes() for of in parameters.values()}
        given = {of.untyped_storage()._cdata for of in made_from if of is not None}
        sentences = {
            SHARED: bool(given & storages.keys()),
            WHOLE: sum(storages.values()) > sum(of.nbytes for of in parameters.values()),
        }
        values = {
            "names of the parameters": ", ".join(sorted(parameters)),
            "layer.weight": _data(parameters.get("weight")),
            "layer.bias": _data(parameters.get("bias")),
        }
        return sentences, values

    found = _side_by_side(step, size)
    sentences = {key: any(of[key] for of, _ in found) for key in found[0][0]}
    return {**sentences, **_of_ranks([values for _, values in found])}


@torch.enable_grad()
def layer_of_data(
    submission: Any, name: str, W: np.ndarray, b: np.ndarray | None, x: np.ndarray, g: np.ndarray, size: int
) -> dict[str, Any]:
    """The gradients of the parameters where x requires none, as the input of a network."""

    def step(group: Group) -> dict[str, Any]:
        layer, _ = _layer(submission, name, W, b, group)
        leaf, upstream = _given(name, x, g, group)
        y = layer(leaf.detach())
        if _requires_grad(y) and y.shape == upstream.shape:
            y.backward(upstream)
        return {"y": _data(y), "layer.weight.grad": _data(layer.weight.grad)}

    return _of_ranks(_side_by_side(step, size))


@torch.enable_grad()
def uneven_layer(submission: Any, name: str, W: np.ndarray, b: np.ndarray, size: int) -> None:
    """A layer that cannot be cut evenly."""

    def step(group: Group) -> None:
        _layer(submission, name, W, b, group)

    _side_by_side(step, size)


NO_COPY = (
    "A step on the parameters changes the weight or the bias that the layer was made from: clone both (.contiguous() "
)
NO_COPY += "copies nothing that is contiguous already)"
CHANGED = "x, or the gradient that arrives, is another one afterwards: reduce a clone of it"


@torch.enable_grad()
def sent_by_layer(
    submission: Any, name: str, W: np.ndarray, b: np.ndarray, x: np.ndarray, g: np.ndarray, size: int
) -> dict[str, Any]:
    """The collectives of each direction, and what has become of the arguments."""

    def step(group: Group) -> tuple[dict[str, bool], dict[str, Any]]:
        layer, made_from = _layer(submission, name, W, b, group)
        leaf, upstream = _given(name, x, g, group)
        middle = leaf * 1
        used = dict(zip(("weight", "bias", "x", "the gradient"), (*made_from, middle, upstream), strict=True))
        before = {what: tensor.detach().clone() for what, tensor in used.items()}
        made = len(group.calls)
        y = layer(middle)
        passed = len(group.calls)
        if _requires_grad(y) and y.shape == upstream.shape:
            y.backward(upstream)
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter += 1
        others = {what: not torch.equal(used[what], before[what]) for what in used}
        values = {
            "sent to make the layer": _told(group.calls[:made]),
            "sent forward": _told(group.calls[made:passed]),
            "sent backward": _told(group.calls[passed:]),
            "y": _data(y),
        }
        return {NO_COPY: others["weight"] or others["bias"], CHANGED: others["x"] or others["the gradient"]}, values

    found = _side_by_side(step, size)
    sentences = {key: any(of[key] for of, _ in found) for key in found[0][0]}
    return {**sentences, **_of_ranks([values for _, values in found])}


# zero_step


@torch.enable_grad()
def zero_steps(
    submission: Any,
    params: Arrays,
    steps: list[list[Arrays]],
    lr: float,
    beta: float,
    max_norm: float,
    as_parameters: bool,
    strided: bool,
) -> dict[str, Any]:
    """Parameters and momentum of every rank after steps whose gradients are given, for each step and rank."""
    size, n = len(steps[0]), sum(value.size for value in params)
    length = -(-n // size)

    def step(group: Group) -> dict[str, Any]:
        own = [torch.tensor(value) for value in params]
        if strided:
            own = [torch.stack([value, value + 1], dim=-1)[..., 0] for value in own]
        if as_parameters:
            own = [nn.Parameter(value) for value in own]
        momentum = torch.zeros(length, dtype=own[0].dtype)
        changed, given = False, [*own, momentum]
        for of_ranks in steps:
            grads = [torch.tensor(value) for value in of_ranks[group.rank]]
            before = [grad.clone() for grad in grads]
            submission.zero_step(own, grads, momentum, group, lr, beta, max_norm)
            changed |= not all(map(torch.equal, grads, before))
        return {
            "The tensors in grads are others afterwards": changed,
            "A parameter or the momentum has a graph behind it": any(value.grad_fn is not None for value in given),
            "momentum": _data(momentum),
            **{f"params[{i}]": _data(value) for i, value in enumerate(own)},
        }

    found = _side_by_side(step, size)
    sentences = {key: any(of[key] for of in found) for key, value in found[0].items() if isinstance(value, bool)}
    values = [{key: value for key, value in of.items() if key not in sentences} for of in found]
    return {**sentences, **_of_ranks(values)}


@torch.enable_grad()
def sent_by_zero_step(submission: Any, params: Arrays, grads: list[Arrays], max_norm: float) -> dict[str, Any]:
    """The collectives of one step on every rank, each with the entries of its tensor."""
    size, n = len(grads), sum(value.size for value in params)

    def step(group: Group) -> dict[str, Any]:
        own, mine = ([torch.tensor(value) for value in of] for of in (params, grads[group.rank]))
        momentum = torch.zeros(-(-n // size), dtype=own[0].dtype)
        submission.zero_step(own, mine, momentum, group, 0.1, 0.9, max_norm)
        sent = [f"{call.name} of {int(np.prod(call.shape, dtype=int))}" for call in group.calls]
        return {"sent": ", ".join(sent) or "nothing", "params[0]": _data(own[0])}

    return _of_ranks(_side_by_side(step, size))


# chunked_attention, chunked_attention_vjp


@torch.enable_grad()
def attention(submission: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int) -> dict[str, Any]:
    """The result alone, and the result with the log-sum-exp."""
    tensors = dict(zip("qkv", map(torch.tensor, (q, k, v)), strict=True))
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    alone = submission.chunked_attention(*tensors.values(), block)
    pair = submission.chunked_attention(*tensors.values(), block, return_lse=True)
    fits = isinstance(pair, tuple | list) and len(pair) == 2
    out, lse = pair if fits else (None, None)
    return {
        "The result is no tensor, out": not isinstance(alone, Tensor),
        "With return_lse=True the result is no pair, out and lse": not fits,
        **_changes(tensors, before),
        GRAPH: _requires_grad(alone, out, lse),
        "out": _data(alone),
        "out, beside lse": _data(out),
        "lse": _data(lse),
    }


@torch.enable_grad()
def attention_vjp(submission: Any, g: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int) -> Any:
    """The three gradients."""
    q_, k_, v_, g_ = map(torch.tensor, (q, k, v, g))
    out, lse = _attention(q_, k_, v_)
    tensors = {"g": g_, "q": q_, "k": k_, "v": v_, "out": out, "lse": lse}
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    results = submission.chunked_attention_vjp(*tensors.values(), block)
    fits = isinstance(results, tuple | list) and len(results) == 3
    dq, dk, dv = results if fits else (None, None, None)
    return {
        "The result is no triple: dq, dk and dv": not fits,
        **_changes(tensors, before),
        GRAPH: _requires_grad(dq, dk, dv),
        "dq": _data(dq),
        "dk": _data(dk),
        "dv": _data(dv),
    }


def _changes(tensors: dict[str, Tensor], before: dict[str, Tensor]) -> dict[str, bool]:
    return {f"{name} is another one afterwards": not torch.equal(tensors[name], before[name]) for name in tensors}


def _attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Attention with its matrix of scores, and their log-sum-exp."""
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ v, torch.logsumexp(scores, dim=-1)


class _TooMuch(Exception):
    """Raised inside of a submission's call to end it."""


class _Limited(TracedStorages):
    """Ends a run that keeps more bytes alive than it may, and counts the exponentials that are taken."""

    def __init__(self, limit: int, given: Iterable[Tensor]) -> None:
        super().__init__(given)
        self.limit = limit
        self.exponentials = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func._schema.name.removeprefix("aten::").rstrip("_") in EXPONENTIALS:
            self.exponentials += sum(tensor.numel() for tensor in args if isinstance(tensor, Tensor))
        out = super().__torch_dispatch__(func, types, args, kwargs)
        if self.peak > self.limit:
            raise _TooMuch
        return out


EXPONENTIALS = ("exp", "exp2", "expm1", "pow", "_softmax", "_log_softmax", "_safe_softmax", "logsumexp", "sigmoid")
"""Operations that take the exponential of a score."""
ALIVE = "More than n_q · n_k / 4 numbers were alive at one time"
UNSEEN = (
    "The result, or something on the way to it, was not computed by PyTorch's operations on q, k and v, one after the "
    "other: what NumPy or a loop of Python computes has memory, too"
)
RECORDED = "Autograd records operations: the gradients are to be computed by their formulas, block by block"
NO_SCORES = "Not every query's score of every key was computed, block by block: fewer exponentials were taken"


def _within(
    limit: int, pairs: int, call: Callable[..., Any], given: Sequence[Tensor], shapes: dict[str, tuple[int, ...]]
) -> dict[str, Any]:
    """Whether a call keeps to a number of bytes, returns tensors of these shapes, and has computed them from the pairs.

    What it returns must come from what it was given, by operations that were seen; with the exponential of each pair's
    score among them. It comes back too, each tensor by its name in `shapes`: only right values count as measured,
    since a submission can tell this call from others by its sizes.
    """
    results: Any = None
    with _Limited(limit, given) as live, contextlib.suppress(_TooMuch):
        results = call(*given)
    ended = live.peak > limit
    several = list(results) if isinstance(results, tuple | list) else []
    found = [tuple(value.shape) if isinstance(value, Tensor) else None for value in several]
    fits = found == list(shapes.values())
    return {
        ALIVE: ended,
        f"The results are not {len(shapes)} tensors of the right shapes": not ended and not fits,
        UNSEEN: fits and not live.is_traced(*several),
        NO_SCORES: fits and live.exponentials < pairs,
        **{name: _data(several[i]) if fits else None for i, name in enumerate(shapes)},
    }


@torch.enable_grad()
def memory_of_attention(submission: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int) -> dict[str, Any]:
    """Whether the numbers that are alive at one time come to a quarter of the matrix of scores."""
    tensors = [torch.tensor(value) for value in (q, k, v)]
    limit = len(q) * len(k) * q.itemsize // 4
    shapes = {"out": (len(q), v.shape[-1]), "lse": (len(q),)}
    pairs = len(q) * len(k)
    return _within(limit, pairs, lambda *x: submission.chunked_attention(*x, block, return_lse=True), tensors, shapes)


@torch.enable_grad()
def memory_of_the_gradients(
    submission: Any, g: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int
) -> dict[str, Any]:
    """The same of the backward pass."""
    q_, k_, v_, g_ = map(torch.tensor, (q, k, v, g))
    out, lse = _attention(q_, k_, v_)
    limit = len(q) * len(k) * q.itemsize // 4
    shapes = {"dq": q.shape, "dk": k.shape, "dv": v.shape}
    given, pairs = (g_, q_, k_, v_, out, lse), len(q) * len(k)
    recorded: list[Tensor] = []

    def note(tensor: Tensor) -> Tensor:
        recorded.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        found = _within(limit, pairs, lambda *x: submission.chunked_attention_vjp(*x, block), given, shapes)
    return {**found, RECORDED: bool(recorded)}
