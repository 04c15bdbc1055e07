"""Scenarios whose arguments are in the states that a row of factors says: see factors.toml."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.lessons.ch11_checkpointing.scenarios.offload_to_cpu import _copies, _Look
from autograder.lessons.ch11_checkpointing.scenarios.reversible_block import NO_PAIR
from autograder.lessons.ch11_checkpointing.scenarios.second_runs import CHANGED_UNNOTICED, _no_hooks_left, _refuses
from autograder.lessons.ch11_checkpointing.scenarios.tensors import Layer, _backward_pass, _data, _leaf, _of_result
from autograder.worker.layout import laid_out
from autograder.worker.returned import backward, plain
from course.instruments.live import LiveStorages, storage_bytes
from course.instruments.out_of_reach import out_of_reach

REQUIRES_NONE, IN_A_GRAPH = "that requires no gradient", "in the middle of a graph"
NO_ARGUMENT = "that knows x and does not take it"
A_COPY = "A copy of an argument is kept between the passes: save the arguments as they are"
SLACK = 16_384
"""Bytes allowed for random states and numbers."""
LARGE = 2048
"""How often an array is repeated where bytes are counted."""


class _Scaled(nn.Module):
    """w sin(x), with a number w."""

    def __init__(self, x: Tensor) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor(0.75, dtype=x.dtype))

    def forward(self, x: Tensor) -> Tensor:
        return self.w * torch.sin(x)


def _made(values: np.ndarray, layout: str, wanted: bool = True) -> Tensor:
    """A leaf that lies in memory as `layout` says."""
    return laid_out(torch.tensor(np.array(values)), layout).requires_grad_(wanted)


def _with_grads(leaves: Iterable[Tensor], grads: str) -> None:
    """Put a gradient into each leaf's `.grad`, if the row says so."""
    for leaf in leaves if grads == "with grads" else ():
        leaf.grad = torch.full(leaf.shape, 0.5, dtype=leaf.dtype)


def _backward_passes(ys: list[Any], gs: list[Tensor], passes: str) -> None:
    """One backward pass from the results, or two, of which the first retains the graph."""
    if not all(isinstance(y, Tensor) and y.requires_grad and y.shape == g.shape for y, g in zip(ys, gs, strict=True)):
        return
    twice = passes == "with two backward passes"
    for last in [False, True] if twice else [True]:
        with _backward_pass():
            if len(ys) == 1:
                backward(ys[0], gs[0], retain_graph=not last)
            else:
                torch.autograd.backward([plain(y) for y in ys], gs, retain_graph=not last)


INDICES, CONSTANT = "that takes indices as well", "that takes a constant as well"


def _other(kind: str, like: Tensor) -> Any:
    """The argument beside x."""
    if kind == INDICES:
        return torch.tensor([1, 0])
    return torch.tensor([1.5, 0.5], dtype=like.dtype) if kind == CONSTANT else None


def _factor(kind: str, other: Any) -> Any:
    """The number that fn multiplies with, from the argument beside x as fn gets it."""
    if kind in (INDICES, CONSTANT):
        return [0.5, 1.75][int(other[0])] if kind == INDICES else other[0]
    return 1.25 if other is None else 0.25


@torch.enable_grad()
def checkpointed_in_states(submission: Any, x: np.ndarray, g: np.ndarray, states: dict[str, str]) -> dict[str, Any]:
    """Value and gradients of a checkpoint of fn(x), of fn(x, another argument), or of an fn that knows x."""
    origin, result, kind = states["fn operand"], states["fn result"], states["fn other"]
    leaf = _made(x, states["x layout"], origin != "of an x that requires no gradient")
    scaled, other = _Scaled(leaf), _other(kind, leaf)
    _with_grads([leaf, scaled.w], states["fn grads"])
    names = ["x"] * (origin != NO_ARGUMENT) + ["other"] * (kind != "plain")
    names = names[::-1] if states["fn place"] == "takes x last" else names

    def fn(*arguments: Any) -> Tensor:
        given = dict(zip(names, arguments, strict=True))
        of_x = given.get("x", leaf)
        if result == "that returns its argument":
            return of_x
        return (
            of_x.view_as(of_x) if result == "that returns a view" else scaled(of_x) * _factor(kind, given.get("other"))
        )

    def checkpoint() -> Any:
        of = {"x": leaf * 1 if origin == "of a result x" else leaf, "other": other}
        return plain(submission.checkpoint(fn, *(of[name] for name in names)))

    y, upstream = checkpoint(), _made(g, states["g layout"], False)
    found = {**_of_result(y), "y": _data(y)}
    _backward_passes([y], [upstream], states["fn passes"])
    found |= {"dx": _data(leaf.grad), "dw": _data(scaled.w.grad), "x afterwards": _data(leaf)}
    if kind in (INDICES, CONSTANT) and result == "plain":
        y = checkpoint()
        other.zero_()
        found[CHANGED_UNNOTICED.format("An argument")] = not _refuses(
            lambda: _backward_passes([y], [upstream], "plain")
        )
    if states["x layout"] == "columns" and x.size > 1:
        found[A_COPY] = _keeps_copies(submission, x, states["x layout"])
    return found


def _keeps_copies(submission: Any, x: np.ndarray, layout: str) -> bool:
    """Whether a checkpoint of a large x in this layout keeps more than its result."""
    leaf, live = _made(np.stack([x] * LARGE, axis=-1), layout), LiveStorages()
    with out_of_reach(live):
        y = plain(submission.checkpoint(torch.sin, leaf))
        of_y = storage_bytes([y] if isinstance(y, Tensor) else [])
        made = live.bytes
        if made > of_y + SLACK:
            gc.collect()
            made = live.bytes
    return made > of_y + SLACK


@torch.enable_grad()
def segments_in_states(
    submission: Any,
    layers: list[np.ndarray],
    x: np.ndarray,
    g: np.ndarray,
    segments: int,
    tokens: bool,
    states: dict[str, str],
) -> dict[str, Any]:
    """Value and gradients of a stack; for tokens, the first layer is an embedding of whole numbers."""
    modules: list[nn.Module] = [Layer(W, W[0], dropout=0.25) for W in layers]
    if tokens:
        modules[0] = nn.Embedding.from_pretrained(torch.tensor(layers[0]), freeze=False)
    parameters = list(nn.ModuleList(modules).parameters())
    for parameter in {"frozen": parameters, "frozen in part": parameters[1::2]}.get(states["layers parameters"], []):
        parameter.requires_grad_(False)
    if states["layers places"] == "one of them twice":
        modules = [*modules, modules[-1]]
    for module in modules:
        module.train(states["layers mode"] == "plain")
    origin = states["x origin"]
    leaf = _made(x, states["x layout"], not tokens and origin != REQUIRES_NONE)
    _with_grads([*parameters, leaf], states["layers grads"])
    given = (leaf > 0).long() if tokens else leaf * 1 if origin == IN_A_GRAPH else leaf
    flags = [parameter.requires_grad for parameter in parameters]
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(11)
        y = plain(submission.checkpoint_sequential(list(modules), given, segments))
        found = {**_of_result(y), "y": _data(y)}
        _backward_passes([y], [_made(g, states["g layout"], False)], states["layers passes"])
    return {
        **found,
        "requires_grad of a parameter is another afterwards": flags != [one.requires_grad for one in parameters],
        "A layer is in another mode afterwards": any(
            module.training is not (states["layers mode"] == "plain") for module in modules
        ),
        "dx": _data(leaf.grad),
        **{f"the gradient of parameter {i}": _data(one.grad) for i, one in enumerate(parameters, start=1)},
        "x afterwards": _data(leaf),
    }


@torch.enable_grad()
def block_in_states(
    submission: Any,
    x1: np.ndarray,
    x2: np.ndarray,
    dy1: np.ndarray,
    dy2: np.ndarray,
    states: dict[str, str],
) -> dict[str, Any]:
    """Results and gradients of a reversible block of w sin(x); x1 and x2 may be one tensor, f and g one module."""
    first = _made(x1, states["x1 layout"])
    second = first if states["same object"] == "twice" else _made(x2, states["x2 layout"])
    f = _Scaled(first)
    g = f if states["halves identity"] == "that are one module" else _Scaled(first)
    _with_grads([first, second, f.w, g.w], states["halves grads"])
    for module in [f, g] if states["halves parameters"] == "frozen" else []:
        module.requires_grad_(False)
    ys = plain(submission.reversible_block(f, g, first, second))
    pair = isinstance(ys, tuple | list) and len(ys) == 2 and all(isinstance(y, Tensor) for y in ys)
    found: dict[str, Any] = {NO_PAIR: not pair}
    if pair:
        found |= {"y1": _data(ys[0]), "y2": _data(ys[1])}
        upstream = [_made(dy, states[f"{name} layout"], False) for name, dy in {"dy1": dy1, "dy2": dy2}.items()]
        _backward_passes(list(ys), upstream, states["halves passes"])
    return {
        **found,
        "dx1": _data(first.grad),
        "dx2": _data(second.grad),
        "dw of f": _data(f.w.grad),
        "dw of g": _data(g.w.grad),
        "x1 afterwards": _data(first),
    }


ENDS: dict[str, type[BaseException]] = {
    "left by an exception": KeyError,
    "left by KeyboardInterrupt": KeyboardInterrupt,
}


@_no_hooks_left()
@torch.enable_grad()
def offloaded_in_states(submission: Any, x: np.ndarray, states: dict[str, str]) -> dict[str, Any]:
    """What comes back of one saved tensor, whose memory is overwritten after the block, unless it is a parameter's."""
    origin, precision = states["x origin"], states["x precision"]
    dtype = torch.tensor(np.array(x)).dtype if precision == "plain" else getattr(torch, precision.removeprefix("in "))
    leaf = laid_out(torch.tensor(np.array(x)).to(dtype), states["x layout"])
    leaf.requires_grad_(origin in ("plain", IN_A_GRAPH))
    parameter = nn.Parameter(leaf.detach(), requires_grad=origin == "that is a parameter")
    saved = parameter if "parameter" in origin else leaf * 1 if origin == IN_A_GRAPH else leaf
    before, through, seen = saved.detach().clone(), _leaf(np.ones(1)), []  # type: ignore[var-annotated]
    block = submission.offload_to_cpu() if states["block made"] == "made before" else None
    end, came_out = ENDS.get(states["block end"]), False
    try:
        with block or submission.offload_to_cpu():
            y = _Look.apply(through, saved, seen)
            if end:
                raise end("the block's own")
    except (KeyError, KeyboardInterrupt):
        came_out = True
    after = _copies(through)
    if "parameter" not in origin:
        saved.detach().untyped_storage().fill_(1)  # type: ignore[union-attr]
    _backward_passes([y], [torch.ones(1, dtype=torch.float64)], states["block passes"])
    found = {
        "What is saved after the block is still copied: the hooks were not removed": after,
        "An exception of the block did not come out of it": bool(end) and not came_out,
        "A saved tensor comes back in another dtype": any(one.dtype != dtype for one in seen),
        "A saved tensor comes back in another shape": any(one.shape != before.shape for one in seen),
        "gradient": _data(through.grad),
    }
    if "parameter" in origin:
        copied = any(one.untyped_storage().data_ptr() != parameter.untyped_storage().data_ptr() for one in seen)
        found["A parameter was copied. It is on the device anyway: leave it"] = copied and bool(x.size)
    same = all(one.shape == before.shape and bool((one == before).all()) for one in seen)
    found["What comes back for the backward pass is not what was saved"] = not same
    return found
