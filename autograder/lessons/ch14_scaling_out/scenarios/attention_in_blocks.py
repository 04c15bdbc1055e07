"""Scenarios of attention in blocks: values, gradients, memory."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch14_scaling_out.scenarios.ranks import _data, _requires_grad, _tensor
from autograder.worker.layout import ROWS, laid_out
from autograder.worker.returned import plain
from course.instruments.out_of_reach import out_of_reach
from course.instruments.traced import TracedStorages

GRAPH = "A result has a graph behind it: it requires a gradient"


@torch.enable_grad()
def attention(
    submission: Any, q: np.ndarray, k: np.ndarray, v: np.ndarray, block: int, states: dict[str, str] | None = None
) -> dict[str, Any]:
    """The result alone, and the result with the log-sum-exp; `states` says how the arguments lie in memory."""
    tensors = _tensors_in_states({"q": q, "k": k, "v": v}, states)
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    alone = plain(submission.chunked_attention(*tensors.values(), block))
    pair = plain(submission.chunked_attention(*tensors.values(), block, return_lse=True))
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
def attention_vjp(
    submission: Any,
    g: np.ndarray,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    block: int,
    states: dict[str, str] | None = None,
) -> dict[str, Any]:
    """The three gradients; `states` says how the arguments lie in memory, `out` and `lse` lie as q does."""
    tensors = _tensors_in_states({"g": g, "q": q, "k": k, "v": v}, states)
    layout = (states or {}).get("q layout", ROWS)
    results_of = _attention(*(tensors[name] for name in "qkv"))
    tensors |= {name: laid_out(of, layout) for name, of in zip(("out", "lse"), results_of, strict=True)}
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    results = plain(submission.chunked_attention_vjp(*tensors.values(), block))
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


def _tensors_in_states(arrays: dict[str, np.ndarray], states: dict[str, str] | None) -> dict[str, Tensor]:
    """Tensors that lie in memory as `states` says; one object is k and v if it says so."""
    states = states or {}
    found = {name: _tensor(array, states.get(f"{name} layout", ROWS)) for name, array in arrays.items()}
    return found | ({"v": found["k"]} if states.get("same object") == "twice" else {})


def _changes(tensors: dict[str, Tensor], before: dict[str, Tensor]) -> dict[str, bool]:
    return {f"{name} is another one afterwards": not torch.equal(tensors[name], before[name]) for name in tensors}


def _attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Attention with its matrix of scores, and their log-sum-exp."""
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ v, torch.logsumexp(scores, dim=-1)


class _TooMuch(Exception):
    """Raised inside a submission's call to end it."""


class _Limited(TracedStorages):
    """Ends a run that keeps more than `limit` bytes alive, and counts the exponentials, in all and along one axis."""

    def __init__(self, limit: int, given: Iterable[Tensor]) -> None:
        super().__init__(given)
        self.limit = limit
        self.exponentials = self.longest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func._schema.name.removeprefix("aten::").rstrip("_") in EXPONENTIALS:
            shapes = [tensor.shape for tensor in args if isinstance(tensor, Tensor)]
            self.exponentials += sum(map(math.prod, shapes))
            self.longest = max(self.longest, *(max(shape, default=1) for shape in shapes), 0)
        out = super().__torch_dispatch__(func, types, args, kwargs)
        if self._peak > self.limit:  # the property `peak` would measure all live storages again
            raise _TooMuch
        return out


EXPONENTIALS = ("exp", "exp2", "expm1", "pow", "_softmax", "_log_softmax", "_safe_softmax", "logsumexp", "sigmoid")
"""Operations that compute an exponential of scores."""
ALIVE = "More than n_q · n_k / 4 numbers were alive at one time"
UNSEEN = (
    "The result, or something on the way to it, was not computed by PyTorch's operations on q, k and v, one after the "
    "other: what NumPy or a loop of Python computes has memory, too"
)
NO_BLOCKS = (
    "Exponentials of a query's scores of many keys were taken at once: go through the keys in blocks of `block` rows"
)
NO_SCORES = "Not every query's score of every key was computed, block by block: fewer exponentials were taken"


def _within(
    counts: tuple[int, int, int], call: Callable[..., Any], given: Sequence[Tensor], shapes: dict[str, tuple[int, ...]]
) -> dict[str, Any]:
    """Sentences for a call that keeps too much alive, returns other shapes, or did not compute the scores in blocks.

    The results must be computed from the arguments by observed operations, including an exponential of each pair's
    score. No tensor of exponentials may be longer than a block of keys, unless all queries are. The results are
    returned too, by their names in `shapes`: a measurement only counts if they are right, as a submission can recognise
    this call by its sizes.

    Args:
        counts: the numbers of queries, of keys, and of keys in a block.
    """
    n_q, n_k, block = counts
    limit = n_q * n_k * given[0].itemsize // 4
    results: Any = None
    live = _Limited(limit, given)
    with out_of_reach(live), contextlib.suppress(_TooMuch):
        results = plain(call(*given))
    ended = live.peak > limit
    several = list(results) if isinstance(results, tuple | list) else []
    found = [tuple(value.shape) if isinstance(value, Tensor) else None for value in several]
    fits = found == list(shapes.values())
    return {
        ALIVE: ended,
        f"The results are not {len(shapes)} tensors of the right shapes": not ended and not fits,
        UNSEEN: fits and not live.is_traced(*several),
        NO_SCORES: fits and live.exponentials < n_q * n_k,
        NO_BLOCKS: fits and live.longest > max(n_q, block),
        **{name: _data(several[i]) if fits else None for i, name in enumerate(shapes)},
    }
