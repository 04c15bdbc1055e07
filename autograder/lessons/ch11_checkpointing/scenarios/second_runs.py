"""Functions that change between the passes, which shows from which run gradients come; memory kept between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from re import search
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch11_checkpointing.scenarios.tensors import (
    Layer,
    _backward,
    _data,
    _in_backward,
    _leaf,
    _of_result,
)
from autograder.worker.returned import plain

Function = Callable[..., Tensor]
_top_hooks = torch._C._autograd._top_saved_tensors_default_hooks
_pop_hooks = torch._C._autograd._pop_saved_tensors_default_hooks

KEPT_ALL_THE_SAME = "What {} in the forward pass was kept, and used again: the backward pass is to run {} once more"
NOT_USED = "The gradients do not come from the second run of {}"
CHANGED_UNNOTICED = (
    "{} was changed in place between the passes, and the backward pass went on with the new values. Saved by "
    "ctx.save_for_backward, it is watched: autograd refuses"
)


def _by_pass(function: Function, first: np.ndarray, second: np.ndarray) -> Function:
    """`function`, with the gradient of function(second · x) in the scenario's backward pass, else function(first · x).

    So gradients show which run they come from. The second run's cannot be computed from what the first kept, because
    a factor inside a nonlinear function does not scale the gradient. The value is always that of `function`.
    """
    factors = torch.tensor(first), torch.tensor(second)

    def run(x: Tensor) -> Tensor:
        with torch.no_grad():
            value = function(x)
        bent = function(x * factors[_in_backward()])  # a tensor, so that autograd saves it
        return value + (bent - bent.detach())

    return run


def _counted(function: Function) -> tuple[Function, Callable[[], tuple[int, int]]]:
    """`function`, and a function that tells how often it ran before and in the backward pass; call that only once.

    The counters cannot be set back. `_by_pass` shows that counted runs really computed the gradients.
    """
    counters = count(), count()

    def run(*args: Any) -> Tensor:
        next(counters[_in_backward()])
        return function(*args)

    return run, lambda: (next(counters[0]), next(counters[1]))


def _alike(some: list[Tensor], others: list[Tensor]) -> bool:
    return all(torch.allclose(one, other, rtol=1e-7, atol=1e-12) for one, other in zip(some, others, strict=True))


@torch.enable_grad()
def nested(submission: Any, x: np.ndarray, layers: list[dict[str, Any]], g: np.ndarray) -> dict[str, Any]:
    """A checkpoint of layer 1, then one of layers 2 and 3, with a nested checkpoint of layer 2."""
    one, two, three = (Layer(**layer) for layer in layers)
    leaf = _leaf(x)

    def outer(x: Tensor) -> Tensor:
        return three(plain(submission.checkpoint(two, x)))

    y = plain(submission.checkpoint(outer, plain(submission.checkpoint(one, leaf))))
    _backward(y, g)
    gradients = {f"dW of layer {i}": _data(layer.W.grad) for i, layer in enumerate((one, two, three), start=1)}
    return {**_of_result(y), "y": _data(y), "dx": _data(leaf.grad), **gradients}


def _refuses(backward: Callable[[], None]) -> bool:
    """Whether autograd refuses a backward pass because of an in-place change."""
    try:
        backward()
    except RuntimeError as error:
        if not search("modified (by an )?inplace", str(error)):  # "by an" is raised at once, for a Function's view
            raise
        return True
    return False


@contextmanager
def _no_hooks_left() -> Iterator[None]:
    """Remove saved-tensor hooks that the submission left, which would affect later measurements."""
    try:
        yield
    finally:
        while _top_hooks(False) is not None:
            _pop_hooks()
