"""Scenarios of ch11_checkpointing: run what the submission checkpoints, offloads and reverses; count and measure it.

They return dicts. A bool stands under the sentence that a learner is told if it is True: what is wrong.
Each runs with gradients switched on, whatever a cell of the submission did to them.
"""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course.instruments.live import LiveStorages, storage_bytes
from course.llama import Block, LlamaConfig

NO_GRAPH = "The result has no graph, so no gradient flows back"
NO_TENSOR = "The result is no tensor"
NO_PAIR = "The result is no tuple of two tensors"
GRAPH_WITHOUT_GRADIENTS = "Under torch.no_grad() the result has a graph"
KEPT_ALL_THE_SAME = "What {} in the forward pass was kept, and used again: the backward pass is to run {} once more"
NOT_USED = "The gradients do not come from the second run of {}"
CHANGED_UNNOTICED = (
    "{} was changed in place between the passes, and the backward pass went on with the new values. Saved by "
    "ctx.save_for_backward, it is watched: autograd refuses"
)


def _data(value: Any) -> Any:
    """A tensor as an array, so that it can be compared; anything else as it is."""
    return value.numpy(force=True).copy() if isinstance(value, Tensor) else value


def _leaf(array: np.ndarray, wanted: bool = True) -> Tensor:
    return torch.tensor(array, requires_grad=wanted)


def _parameter(array: np.ndarray) -> nn.Parameter:
    return nn.Parameter(torch.tensor(array))


def _backward(output: Any, g: Any) -> None:
    """Run backward where there is something to run through; what is missing then shows as a gradient of None."""
    upstream = torch.as_tensor(g)
    if isinstance(output, Tensor) and output.requires_grad and output.shape == upstream.shape:
        output.backward(upstream)


def _of_result(y: Any) -> dict[str, bool]:
    return {NO_TENSOR: not isinstance(y, Tensor), NO_GRAPH: isinstance(y, Tensor) and not y.requires_grad}


class _Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *args: Any) -> Tensor:
        self.calls += 1
        return self.function(*args)


class Layer(nn.Module):
    """tanh(x W + b), perhaps with dropout; notes its number in `log` when it is called."""

    def __init__(self, W: np.ndarray, b: np.ndarray, dropout: float = 0.0, number: int = 0, log: Any = None) -> None:
        super().__init__()
        self.W, self.b = _parameter(W), _parameter(b)
        self.dropout, self.number, self.log = dropout, number, log

    def forward(self, x: Tensor) -> Tensor:
        if self.log is not None:
            self.log.append(self.number)
        out = torch.tanh(x @ self.W + self.b)
        return F.dropout(out, self.dropout) if self.dropout else out


class _Steered:
    """A function whose gradient is multiplied by `slope`, and its value moved by `shift`, as they are when it runs.

    So gradients tell which run of the function they come from.
    """

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self.function, self.slope, self.shift = function, 1.0, 0.0

    def __call__(self, *args: Any) -> Tensor:
        return _sloped(self.function(*args), self.slope) + self.shift


def _sloped(out: Tensor, slope: float) -> Tensor:
    """The values as they are, their gradient multiplied by `slope`: a tensor, so that autograd saves it."""
    return out.detach() + torch.full_like(out, slope) * (out - out.detach())


def _gradients(leaves: Iterable[Tensor]) -> list[Tensor]:
    return [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad.clone() for leaf in leaves]


def _alike(some: list[Tensor], others: list[Tensor]) -> bool:
    return all(torch.allclose(one, other, rtol=1e-7, atol=1e-12) for one, other in zip(some, others, strict=True))


# checkpoint


@torch.enable_grad()
def of_arguments(submission: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """fn(x, w) = sin(x w) w."""
    x_leaf, w_leaf = _leaf(x), _leaf(w)
    y = submission.checkpoint(lambda x, w: torch.sin(x * w) * w, x_leaf, w_leaf)
    _backward(y, g)
    return {
        **_of_result(y),
        "y": _data(y),
        "dx": _data(x_leaf.grad),
        "dw": _data(w_leaf.grad),
        "x afterwards": _data(x_leaf),
    }


@torch.enable_grad()
def of_parameters(
    submission: Any, x: np.ndarray, W: np.ndarray, b: np.ndarray, g: np.ndarray, wants_x: bool
) -> dict[str, Any]:
    """fn is a layer with parameters; x may require a gradient, or not."""
    layer, x_leaf = Layer(W, b), _leaf(x, wants_x)
    y = submission.checkpoint(layer, x_leaf)
    _backward(y, g)
    return {
        **_of_result(y),
        "x requires a gradient afterwards, which it did not before": x_leaf.requires_grad and not wants_x,
        "y": _data(y),
        "dW": _data(layer.W.grad),
        "db": _data(layer.b.grad),
        "dx": _data(x_leaf.grad),
    }


@torch.enable_grad()
def of_a_graph(
    submission: Any, a: np.ndarray, c: np.ndarray, layers: list[dict[str, Any]], g: np.ndarray
) -> dict[str, Any]:
    """x = a c in the middle of a graph, one checkpoint after the other, the result squared; two backward passes."""
    a_leaf, c_leaf = _leaf(a), _leaf(c)
    modules = [Layer(**layer) for layer in layers]
    for _ in range(2):
        y = a_leaf * c_leaf
        for module in modules:
            y = submission.checkpoint(module, y)
        _backward(y**2 if isinstance(y, Tensor) else y, g)
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {**_of_result(y), "y": _data(y), "da": _data(a_leaf.grad), "dc": _data(c_leaf.grad), **gradients}


@torch.enable_grad()
def of_mixed_arguments(
    submission: Any, table: np.ndarray, ids: np.ndarray, mask: np.ndarray, shift: np.ndarray, power: int, g: np.ndarray
) -> dict[str, Any]:
    """fn(table, ids, mask, shift, power, name): indices, a mask, a constant, a number, a string; table wants dtable."""

    def fn(table: Tensor, ids: Tensor, mask: Tensor, shift: Tensor, power: int, name: str) -> Tensor:
        assert name == "relu"
        return torch.where(mask, table[ids] + shift, 0.0) ** power

    leaf, constants = _leaf(table), [torch.tensor(array) for array in (ids, mask, shift)]
    y = submission.checkpoint(fn, leaf, *constants, power, "relu")
    _backward(y, g)
    return {
        **_of_result(y),
        "An argument that requires no gradient requires one afterwards": any(t.requires_grad for t in constants),
        "An argument that requires no gradient has one afterwards": any(t.grad is not None for t in constants),
        "y": _data(y),
        "dtable": _data(leaf.grad),
    }


@torch.enable_grad()
def of_one_tensor_twice(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """fn(x, x, 3) with fn(u, v, k) = k u² v."""
    leaf = _leaf(x)
    y = submission.checkpoint(lambda u, v, k: k * u**2 * v, leaf, leaf, 3)
    _backward(y, g)
    return {**_of_result(y), "y": _data(y), "dx": _data(leaf.grad)}


@torch.enable_grad()
def nested(submission: Any, x: np.ndarray, layers: list[dict[str, Any]], g: np.ndarray) -> dict[str, Any]:
    """A checkpoint of layer 1, then one of layers 2 and 3, in which layer 2 is checkpointed once more."""
    one, two, three = (Layer(**layer) for layer in layers)
    leaf = _leaf(x)

    def outer(x: Tensor) -> Tensor:
        return three(submission.checkpoint(two, x))

    y = submission.checkpoint(outer, submission.checkpoint(one, leaf))
    _backward(y, g)
    gradients = {f"dW of layer {i}": _data(layer.W.grad) for i, layer in enumerate((one, two, three), start=1)}
    return {**_of_result(y), "y": _data(y), "dx": _data(leaf.grad), **gradients}


@torch.enable_grad()
def with_dropout(submission: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray, seed: int) -> dict[str, Any]:
    """fn is random; others draw random numbers before it, between the passes and afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        torch.rand(3)
        leaf, weight = _leaf(x), _parameter(w)
        y = submission.checkpoint(lambda x: F.dropout(torch.sin(x) * weight, 0.5), leaf)
        between = torch.rand(2)
        _backward(y, g)
        after = torch.rand(2)
    return {
        **_of_result(y),
        "y": _data(y),
        "dx": _data(leaf.grad),
        "dw": _data(weight.grad),
        "numbers drawn after the forward pass": _data(between),
        "numbers drawn after the backward pass": _data(after),
    }


@torch.enable_grad()
def calls(submission: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """How often fn runs in the forward pass, and in all; the gradient."""
    leaf = _leaf(x)
    weight = _parameter(w)
    fn = _Counted(lambda x: torch.sin(x * weight))
    y = submission.checkpoint(fn, leaf)
    first = fn.calls
    _backward(y, g)
    return {**_of_result(y), "forward": first, "backward": fn.calls - first, "dx": _data(leaf.grad)}


@torch.enable_grad()
def without_gradients(submission: Any, x: np.ndarray, w: np.ndarray) -> dict[str, Any]:
    """Under no_grad."""
    fn = _Counted(Layer(w, np.zeros_like(w[0])))
    with torch.no_grad():
        y = submission.checkpoint(fn, _leaf(x))
        still_off = not torch.is_grad_enabled()
    return {
        NO_TENSOR: not isinstance(y, Tensor),
        GRAPH_WITHOUT_GRADIENTS: isinstance(y, Tensor) and y.requires_grad,
        "checkpoint switched gradients on, and left them on": not still_off,
        "y": _data(y),
        "calls": fn.calls,
    }


@torch.enable_grad()
def kept(submission: Any, x: np.ndarray, W: np.ndarray) -> dict[str, Any]:
    """Bytes of what was made, the result aside, that are alive between the passes."""
    layer, leaf = Layer(W, np.zeros_like(W[0])), _leaf(x)

    def fn(x: Tensor, scale: Tensor) -> Tensor:
        return torch.exp(torch.sin(layer(x) * scale) ** 2)

    scale = torch.tensor(0.5, dtype=leaf.dtype)
    with LiveStorages() as live:
        y = submission.checkpoint(fn, leaf, scale)
        gc.collect()
        made = live.bytes
    made -= storage_bytes([y] if isinstance(y, Tensor) else [])
    return {**_of_result(y), "y": _data(y), "made": made, "x": leaf.nbytes}


@torch.enable_grad()
def computed_again(submission: Any, x: np.ndarray, w: np.ndarray, g: np.ndarray, slopes: list[float]) -> dict[str, Any]:
    """Which run of fn the gradients come from, and whether as much is kept as without a checkpoint."""

    def gradients(first: float, second: float) -> list[Tensor]:
        leaf, weight = _leaf(x), _parameter(w)
        fn = _Steered(lambda x: torch.exp(torch.sin(x * weight)))
        fn.slope = first
        y = submission.checkpoint(fn, leaf)
        fn.slope = second
        _backward(y, g)
        return _gradients([leaf, weight])

    one, two, three = slopes
    here = gradients(one, three)
    return {
        KEPT_ALL_THE_SAME.format("fn computed", "it"): not _alike(here, gradients(two, three)),
        NOT_USED.format("fn"): _alike(here, gradients(one, two)),
        "Between the passes as much is kept as without a checkpoint": _keeps_as_much(submission.checkpoint, x, w),
    }


def _keeps_as_much(checkpoint: Callable[..., Any], x: np.ndarray, w: np.ndarray) -> bool:
    """Whether as many bytes are alive after fn through a checkpoint as after fn itself."""
    leaf, weight = _leaf(np.tile(x, 4096)), _parameter(np.tile(w, 4096))

    def fn(x: Tensor) -> Tensor:
        return torch.exp(torch.sin(x * weight))

    found = []
    for run in (fn, lambda x: checkpoint(fn, x)):
        with LiveStorages() as live:
            y = run(leaf)
            gc.collect()
            found.append(live.bytes)
        del y
    return found[1] >= found[0]


@torch.enable_grad()
def changed_in_between(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """The gradient; and whether autograd notices when an argument is changed in place between the passes."""
    leaf = _leaf(x)
    _backward(submission.checkpoint(torch.sin, leaf), g)
    middle = leaf * 1
    y = submission.checkpoint(torch.sin, middle)
    middle.detach().mul_(2)
    return {
        **_of_result(y),
        "dx": _data(leaf.grad),
        CHANGED_UNNOTICED.format("An argument"): not _refuses(lambda: _backward(y, g)),
    }


def _refuses(backward: Callable[[], None]) -> bool:
    """Whether autograd refuses a backward pass because of a change in place."""
    try:
        backward()
    except RuntimeError as error:
        if not re.search("modified (by an )?inplace", str(error)):  # the latter at once, in a view of a Function's
            raise
        return True
    return False


# checkpoint_sequential


@torch.enable_grad()
def in_segments(
    submission: Any,
    x: np.ndarray,
    layers: list[dict[str, Any]],
    segments: int,
    g: np.ndarray,
    wants_x: bool,
    dropout: float,
    seed: int,
) -> dict[str, Any]:
    """The result and all gradients."""
    modules, leaf = [Layer(**layer, dropout=dropout) for layer in layers], _leaf(x, wants_x)
    given = list(modules)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        y = submission.checkpoint_sequential(given, leaf, segments)
        torch.rand(2)
        _backward(y, g)
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {
        **_of_result(y),
        "checkpoint_sequential changed the list of layers": given != modules,
        "y": _data(y),
        "dx": _data(leaf.grad),
        **gradients,
    }


@torch.enable_grad()
def order_of_calls(
    submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int, g: np.ndarray
) -> dict[str, Any]:
    """The numbers of the layers as they are called in each pass."""
    log: list[int] = []
    modules = [Layer(**layer, number=i, log=log) for i, layer in enumerate(layers)]
    y = submission.checkpoint_sequential(modules, _leaf(x), segments)
    n = len(log)
    _backward(y, g)
    return {**_of_result(y), "y": _data(y), "forward": log[:n], "backward": log[n:]}


@torch.enable_grad()
def kept_by_segments(submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int) -> dict[str, Any]:
    """Bytes of what was made, the result aside, that are alive between the passes."""
    modules, leaf = [Layer(**layer) for layer in layers], _leaf(x)
    with LiveStorages() as live:
        y = submission.checkpoint_sequential(modules, leaf, segments)
        gc.collect()
        made = live.bytes
    made -= storage_bytes([y] if isinstance(y, Tensor) else [])
    return {**_of_result(y), "y": _data(y), "made": made, "x": leaf.nbytes}


@torch.enable_grad()
def segments_computed_again(
    submission: Any, x: np.ndarray, layers: list[dict[str, Any]], segments: int, g: np.ndarray, slopes: list[float]
) -> dict[str, Any]:
    """Which runs of the first half of the layers the gradients come from."""

    def gradients(first: float, second: float) -> list[Tensor]:
        modules = [_SteeredLayer(**layer) for layer in layers]
        half = modules[: len(modules) // 2]
        for module in half:
            module.slope = first
        y = submission.checkpoint_sequential(list(modules), _leaf(x), segments)
        for module in half:
            module.slope = second
        _backward(y, g)
        return _gradients(module.W for module in modules)

    one, two, three = slopes
    here = gradients(one, three)
    return {
        KEPT_ALL_THE_SAME.format("the first layers computed", "them"): not _alike(here, gradients(two, three)),
        NOT_USED.format("the layers"): _alike(here, gradients(one, two)),
    }


class _SteeredLayer(Layer):
    """A layer whose gradient is multiplied by `slope`, as it is when the layer runs."""

    slope = 1.0

    def forward(self, x: Tensor) -> Tensor:
        return _sloped(super().forward(x), self.slope)


# offload_to_cpu


@contextmanager
def _no_hooks_left() -> Iterator[None]:
    """Remove what the submission left behind: it must not change what is looked at next."""
    try:
        yield
    finally:
        while torch._C._autograd._top_saved_tensors_default_hooks(False) is not None:
            torch._C._autograd._pop_saved_tensors_default_hooks()


@_no_hooks_left()
@torch.enable_grad()
def offloaded(
    submission: Any, x: np.ndarray, layers: list[dict[str, Any]], g: np.ndarray, backward_inside: bool
) -> dict[str, Any]:
    """Layers on x, the result and all gradients."""
    modules, leaf = [Layer(**layer) for layer in layers], _leaf(x)
    with submission.offload_to_cpu():
        y = leaf
        for module in modules:
            y = module(torch.sin(y) * y)
        if backward_inside:
            _backward(y, g)
    if not backward_inside:
        _backward(y, g)
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {"y": _data(y), "dx": _data(leaf.grad), **gradients}


@_no_hooks_left()
@torch.enable_grad()
def kinds_of_saved_tensors(
    submission: Any, x: np.ndarray, ids: np.ndarray, mask: np.ndarray, g: np.ndarray
) -> dict[str, Any]:
    """Indices, a mask, views and another precision are saved."""
    leaf = _leaf(x)
    with submission.offload_to_cpu():
        rows = leaf.gather(1, torch.tensor(ids))
        y = torch.where(torch.tensor(mask), rows, rows**2)
        y = y.T @ y * y[:1, :1].expand(y.shape[1], y.shape[1])
        y = (y.float() ** 2).double()
    _backward(y, g)
    return {"y": _data(y), "dx": _data(leaf.grad)}


@_no_hooks_left()
@torch.enable_grad()
def changed_later(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """h = 2 x, y = h sin(h); then h is overwritten, and then comes the backward pass."""
    leaf = _leaf(x)
    h = leaf * 2
    with submission.offload_to_cpu():
        y = h * torch.sin(h)
    h.detach().fill_(0)
    _backward(y, g)
    return {"y": _data(y), "dx, where h = 2 x was overwritten after y = h sin(h)": _data(leaf.grad)}


@_no_hooks_left()
@torch.enable_grad()
def originals(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """Whether what was saved is alive after the block; the gradient."""
    leaf = _leaf(x)
    with submission.offload_to_cpu():
        h = torch.exp(leaf)
        y = torch.sin(h)
        storage = weakref.ref(h.untyped_storage())
        del h
        gc.collect()
    alive = storage() is not None
    _backward(y, g)
    return {
        "The original of a saved tensor is still in memory after the block: no copy was made, or something holds the "
        "original as well": alive,
        "dx": _data(leaf.grad),
    }


@_no_hooks_left()
@torch.enable_grad()
def parameters_stay(submission: Any, x: np.ndarray, W: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """Whether a parameter far larger than all else is copied, as it is and transposed."""
    found: dict[str, Any] = {}
    for sentence, transposed in [
        ("A parameter was copied. It is on the device anyway: leave it", False),
        ("A view of a parameter, its transpose, was copied. It is the parameter's own memory: leave it", True),
    ]:
        weight, leaf = _parameter(W.T.copy() if transposed else W), _leaf(x)
        with LiveStorages() as live, submission.offload_to_cpu():
            y = torch.sin(leaf @ (weight.T if transposed else weight))
            gc.collect()
            made = live.bytes
        _backward(y, g)
        found |= {sentence: made >= W.nbytes, "y": _data(y), "dx": _data(leaf.grad)}
    return found


@_no_hooks_left()
@torch.enable_grad()
def after_the_block(submission: Any, x: np.ndarray, g: np.ndarray, how: str) -> dict[str, Any]:
    """Whether what is saved is copied: inside and after a block that ends, or raises, or has another one inside.

    Also the gradient of what was computed in the block.
    """
    leaf = _leaf(x)
    inside: list[bool] = []
    came_out = how != "raises"
    try:
        with submission.offload_to_cpu():
            y = torch.sin(leaf * 2)
            inside.append(_copies(leaf))
            if how == "raises":
                raise KeyError("the block's own")
            if how == "nested":
                with submission.offload_to_cpu():
                    inside.append(_copies(leaf))
                inside.append(_copies(leaf))
    except KeyError:
        came_out = True
    after = _copies(leaf)
    _backward(y, g)
    return {
        "dx": _data(leaf.grad),
        "What is saved inside of the block is no copy": not all(inside),
        "What is saved after the block is still copied: the hooks were not removed": after,
        "An exception of the block did not come out of it": not came_out,
    }


def _copies(x: Tensor) -> bool:
    """Whether what autograd saves now is in other memory than what it was given."""
    h = x * 2
    saved = torch.sin(h).grad_fn._saved_self  # type: ignore[union-attr]
    return saved.data_ptr() != h.data_ptr()


class Elsewhere(Tensor):
    """A tensor that says it is on the device `meta`, has its numbers all the same, and gives them to the CPU."""

    numbers: Any

    @staticmethod
    def __new__(cls, inner: Tensor) -> Elsewhere:
        made: Elsewhere = Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), dtype=inner.dtype, device=torch.device("meta")
        )
        made.numbers = inner
        return made

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        device = torch.device(kwargs.get("device") or "meta")
        inner = {**kwargs, "device": "cpu"} if "device" in kwargs else kwargs
        out = func(*torch.utils._pytree.tree_map(_inner, args), **inner)
        stays = device.type == "meta" and func is not torch.ops.aten.copy_.default
        return cls(out) if stays and isinstance(out, Tensor) else out


def _inner(value: Any) -> Any:
    return value.numbers if isinstance(value, Elsewhere) else value


class _Look(torch.autograd.Function):
    """x, and what the device of a saved tensor is when the backward pass gets it back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, saved: Tensor, seen: list[Any]) -> Tensor:
        ctx.save_for_backward(saved)
        ctx.seen = seen
        return x * 1

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        ctx.seen += ctx.saved_tensors
        return gs[0], None, None


@_no_hooks_left()
@torch.enable_grad()
def from_another_device(submission: Any, x: np.ndarray, g: np.ndarray) -> dict[str, Any]:
    """A saved tensor of another device, and one of the CPU: where they come back to."""
    leaf, seen = _leaf(x), []  # type: ignore[var-annotated]
    there = Elsewhere(torch.tensor(x, dtype=torch.float32))
    with submission.offload_to_cpu():
        y = _Look.apply(_Look.apply(leaf, there, seen), torch.tensor(x), seen)
    _backward(y, g)
    here, back = seen if len(seen) == 2 else (None, None)
    return {
        "A tensor that was saved on another device does not come back to it: remember tensor.device": not (
            isinstance(back, Tensor) and back.device.type == "meta" and back.dtype == torch.float32
        ),
        "A tensor that was saved on the CPU does not come back to it": not (
            isinstance(here, Tensor) and here.device.type == "cpu"
        ),
        "dx": _data(leaf.grad),
    }


# reversible_block


def _block(submission: Any, f: Any, g: Any, x1: Tensor, x2: Tensor) -> tuple[Any, Any]:
    """The pair that the submission returns; (None, None) if it is none."""
    result = submission.reversible_block(f, g, x1, x2)
    pair = isinstance(result, tuple | list) and len(result) == 2 and all(isinstance(y, Tensor) for y in result)
    return (result[0], result[1]) if pair else (None, None)


def _of_pair(*ys: Any) -> dict[str, bool]:
    there = all(isinstance(y, Tensor) for y in ys)
    return {NO_PAIR: not there, NO_GRAPH: there and not all(y.requires_grad for y in ys)}


def _backward_of_pair(ys: tuple[Any, Any], dys: tuple[Any, Any]) -> None:
    """Both at once, or one of them where the other is not used: its upstream gradient is None."""
    used = [(y, torch.as_tensor(dy)) for y, dy in zip(ys, dys, strict=True) if y is not None and dy is not None]
    if used and all(y.requires_grad and y.shape == dy.shape for y, dy in used):
        torch.autograd.backward([y for y, _ in used], [dy for _, dy in used])


@torch.enable_grad()
def reversed_block(
    submission: Any,
    x1: np.ndarray,
    x2: np.ndarray,
    f: dict[str, Any],
    g: dict[str, Any],
    dy1: Any,
    dy2: Any,
    wants: tuple[bool, bool],
) -> dict[str, Any]:
    """Results and all gradients."""
    x1_leaf, x2_leaf = _leaf(x1, wants[0]), _leaf(x2, wants[1])
    F_, G_ = Layer(**f), Layer(**g)
    ys = _block(submission, F_, G_, x1_leaf, x2_leaf)
    values = [_data(y) for y in ys]
    _backward_of_pair(ys, (dy1, dy2))
    if dy2 is None:  # then g makes no difference, and None says so as well
        for parameter in G_.parameters():
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    return {
        **_of_pair(*ys),
        "y1": values[0],
        "y2": values[1],
        "dx1": _data(x1_leaf.grad),
        "dx2": _data(x2_leaf.grad),
        "dW of f": _data(F_.W.grad),
        "dW of g": _data(G_.W.grad),
        "db of g": _data(G_.b.grad),
        "x1 afterwards": _data(x1_leaf),
        "x2 afterwards": _data(x2_leaf),
    }


@torch.enable_grad()
def reversed_stack(
    submission: Any, a: np.ndarray, c: np.ndarray, layers: list[dict[str, Any]], dy1: np.ndarray, dy2: np.ndarray
) -> dict[str, Any]:
    """Blocks one after the other, in the middle of a graph: x1 = a c, x2 = sin(a); two backward passes."""
    a_leaf, c_leaf = _leaf(a), _leaf(c)
    modules = [Layer(**layer) for layer in layers]
    for _ in range(2):
        ys: tuple[Any, Any] = a_leaf * c_leaf, torch.sin(a_leaf)
        for f, g in zip(modules[::2], modules[1::2], strict=True):
            if ys[0] is not None:
                ys = _block(submission, f, g, *ys)
        _backward_of_pair(tuple(y if y is None else y**2 for y in ys), (dy1, dy2))  # type: ignore[arg-type]
    gradients = {f"dW of layer {i}": _data(module.W.grad) for i, module in enumerate(modules, start=1)}
    return {
        **_of_pair(*ys),
        "y1": _data(ys[0]),
        "y2": _data(ys[1]),
        "da": _data(a_leaf.grad),
        "dc": _data(c_leaf.grad),
        **gradients,
    }


@torch.enable_grad()
def kept_of_block(submission: Any, x: np.ndarray, W: np.ndarray) -> dict[str, Any]:
    """Bytes of what was made, y1 and y2 aside, that are alive between the passes when x1 and x2 are let go."""
    f, g, leaf = Layer(W, np.zeros_like(W[0])), Layer(W, np.zeros_like(W[0])), _leaf(x)
    with LiveStorages() as live:
        inputs = [leaf * 1, leaf * 2]
        ys = _block(submission, f, g, *inputs)
        inputs.clear()
        gc.collect()
        made = live.bytes
    made -= storage_bytes(y for y in ys if y is not None)
    return {**_of_pair(*ys), "y1": _data(ys[0]), "made": made, "x": leaf.nbytes}


@torch.enable_grad()
def computed_back(
    submission: Any,
    x1: np.ndarray,
    x2: np.ndarray,
    W: np.ndarray,
    dy1: np.ndarray,
    dy2: np.ndarray,
    slopes: list[float],
) -> dict[str, Any]:
    """Which runs of f and g the gradients come from, and whether x2 is computed back: then g's second run moves it."""

    def gradients(first: float, second: float, shift: float) -> list[Tensor]:
        F_, G_ = (Layer(W, np.zeros_like(W[0])) for _ in range(2))
        f, g = _Steered(F_), _Steered(G_)
        leaves = [_leaf(x1), _leaf(x2), F_.W, G_.W]
        f.slope = g.slope = first
        ys = _block(submission, f, g, leaves[0], leaves[1])
        f.slope = g.slope = second
        g.shift = shift
        _backward_of_pair(ys, (dy1, dy2))
        return _gradients(leaves)

    one, two, three = slopes
    here = gradients(one, three, 0.0)
    return {
        KEPT_ALL_THE_SAME.format("f and g computed", "them"): not _alike(here, gradients(two, three, 0.0)),
        NOT_USED.format("f and g"): _alike(here, gradients(one, two, 0.0)),
        "x2 was kept: the backward pass is to compute it back, y2 − g(y1)": _alike(here, gradients(one, three, 0.5)),
    }


@torch.enable_grad()
def calls_of_block(
    submission: Any, x1: np.ndarray, x2: np.ndarray, W: np.ndarray, dy1: np.ndarray, dy2: np.ndarray
) -> dict[str, Any]:
    """How often f and g run in each pass."""
    f, g = (_Counted(Layer(W, np.zeros_like(W[0]))) for _ in range(2))
    x1_leaf, x2_leaf = _leaf(x1), _leaf(x2)
    ys = _block(submission, f, g, x1_leaf, x2_leaf)
    forward = {"f": f.calls, "g": g.calls}
    _backward_of_pair(ys, (dy1, dy2))
    return {
        **_of_pair(*ys),
        "forward": forward,
        "backward": {"f": f.calls - forward["f"], "g": g.calls - forward["g"]},
        "dx1": _data(x1_leaf.grad),
    }


@torch.enable_grad()
def block_changed_in_between(
    submission: Any, x1: np.ndarray, x2: np.ndarray, W: np.ndarray, dy1: np.ndarray, dy2: np.ndarray
) -> dict[str, Any]:
    """Whether autograd notices when y1 or y2 is changed in place between the passes."""
    noticed, ys = {}, (None, None)
    for i, name in enumerate(("y1", "y2")):
        f, g = (Layer(W, np.zeros_like(W[0])) for _ in range(2))
        ys = _block(submission, f, g, _leaf(x1), _leaf(x2))

        def change_and_go_back(ys: Any = ys, i: int = i) -> None:
            ys[i].detach().mul_(2)
            _backward_of_pair(ys, (dy1, dy2))

        noticed[name] = ys[i] is None or _refuses(change_and_go_back)
    unnoticed = {CHANGED_UNNOTICED.format(name): not refused for name, refused in noticed.items()}
    return {**_of_pair(*ys), **unnoticed, "y1": _data(ys[0])}  # it is y2 that was changed last


# measure

KEYS = ("saved_bytes", "flops", "seconds", "peak_bytes")


class _Slope(torch.autograd.Function):
    """x; its gradient is multiplied by `slope`, a tensor: autograd saves it, and a second run puts its own there."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: Tensor) -> Tensor:
        ctx.save_for_backward(slope)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        return grad_outputs[0] * ctx.saved_tensors[0], None


class _Runs:
    """The slopes of the runs of a stack's parts: gradients tell which run they come from.

    One slope in the forward pass, whose memory is overwritten when that is over: what was copied before is as it was.
    In the backward pass the next of `again` for every run.
    """

    def __init__(self, first: float, afterwards: float, again: list[float], tokens: int) -> None:
        self.first, self.afterwards, self.tokens = torch.tensor(first), afterwards, tokens
        self.memory = self.first.numpy()  # autograd does not see what is written there
        self.again, self.count = [torch.tensor(slope) for slope in again], 0
        self.layers: list[int] = []
        """Whose MLP runs in the backward pass, in order."""

    def slope(self) -> Tensor:
        if not self.in_backward():
            return self.first
        self.count += 1
        return self.again[self.count % len(self.again)]

    def forward_is_over(self) -> None:
        if not self.in_backward():
            self.memory[...] = self.afterwards

    @staticmethod
    def in_backward() -> bool:
        return bool(torch._C._current_graph_task_id() != -1)


class _OfSomeTokens(Block):
    """A block whose MLP passes all but the first tokens by, whose cost is therefore no formula of the stack's sizes."""

    runs: _Runs
    number: int
    last: bool

    def attention_core(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return super().attention_core(q, k, _Slope.apply(v, self.runs.slope()))

    def attention_branch(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        return super().attention_branch(_Slope.apply(x, self.runs.slope()), cos, sin)

    def mlp_branch(self, x: Tensor) -> Tensor:
        some = self.runs.tokens
        if self.runs.in_backward():
            self.runs.layers.append(self.number)
        out = super().mlp_branch(_Slope.apply(x[:, :some], self.runs.slope()))
        if self.last:
            self.runs.forward_is_over()
        return F.pad(out, (0, 0, 0, x.shape[1] - some))


@_no_hooks_left()
@torch.enable_grad()
def measured(
    submission: Any,
    policy: str,
    sizes: dict[str, int],
    seq: int,
    tokens: int,
    slopes: tuple[float, float, list[float]],
) -> dict[str, Any]:
    """What `measure` says of a stack of other sizes, and the gradient that the input of its first step has then."""
    inputs: list[Tensor] = []
    runs: list[_Runs] = []

    def new_runs() -> _Runs:
        runs.append(_Runs(*slopes, tokens))
        return runs[-1]

    with _sizes(submission, LlamaConfig(vocab=1, **sizes), seq, inputs, new_runs):
        got = submission.measure(policy, "cpu")
    is_dict = isinstance(got, dict) and all(isinstance(key, str) for key in got)
    missing = [key for key in KEYS if not is_dict or key not in got]
    numbers = {key: got[key] for key in KEYS if key not in missing}
    gradients = [x.grad for x in inputs if x.grad is not None]
    return {
        "missing": missing,
        **{
            key: value if isinstance(value, int | float) else str(type(value).__name__)
            for key, value in numbers.items()
        },
        "x.grad": _data(gradients[0]) if gradients else None,
        "steps": len(inputs),
        "layers again": runs[0].layers if runs else [],
    }


@contextmanager
def _sizes(
    submission: Any, config: LlamaConfig, seq: int, inputs: list[Tensor], new_runs: Callable[[], _Runs]
) -> Iterator[None]:
    """CONFIG and SEQ of the notebook as they are here, and `fresh` one that notes each x and changes the blocks.

    As they were, afterwards.
    """
    fresh = getattr(submission, "fresh", None)
    if fresh is None:
        raise NameError("name 'fresh' is not defined: run the cell below the text of measure, which defines it")

    def noting(device: str) -> Any:
        stack, x, g = fresh(device)
        inputs.append(x)
        runs = new_runs()
        for number, block in enumerate(stack.blocks):
            block.__class__, block.runs, block.number = _OfSomeTokens, runs, number
            block.last = block is stack.blocks[-1]
        return stack, x, g

    function = submission.measure
    places = [vars(submission), getattr(function, "__globals__", {}), getattr(fresh, "__globals__", {})]
    before = [{name: place[name] for name in ("CONFIG", "SEQ", "fresh") if name in place} for place in places]
    try:
        for place in places:
            place.update(CONFIG=config, SEQ=seq, fresh=noting)
        yield
    finally:
        for place, names in zip(places, before, strict=True):
            for name in ("CONFIG", "SEQ", "fresh"):
                place.pop(name, None)
            place.update(names)
