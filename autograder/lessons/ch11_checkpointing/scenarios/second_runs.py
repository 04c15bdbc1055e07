"""Functions that change between the passes, to tell whose gradients come back; what is kept until then."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch11_checkpointing.scenarios.tensors import Layer, _backward, _data, _leaf, _of_result

KEPT_ALL_THE_SAME = "What {} in the forward pass was kept, and used again: the backward pass is to run {} once more"
NOT_USED = "The gradients do not come from the second run of {}"
CHANGED_UNNOTICED = (
    "{} was changed in place between the passes, and the backward pass went on with the new values. Saved by "
    "ctx.save_for_backward, it is watched: autograd refuses"
)


class _Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *args: Any) -> Tensor:
        self.calls += 1
        return self.function(*args)


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


def _alike(some: list[Tensor], others: list[Tensor]) -> bool:
    return all(torch.allclose(one, other, rtol=1e-7, atol=1e-12) for one, other in zip(some, others, strict=True))


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


def _refuses(backward: Callable[[], None]) -> bool:
    """Whether autograd refuses a backward pass because of a change in place."""
    try:
        backward()
    except RuntimeError as error:
        if not re.search("modified (by an )?inplace", str(error)):  # the latter at once, in a view of a Function's
            raise
        return True
    return False


@contextmanager
def _no_hooks_left() -> Iterator[None]:
    """Remove what the submission left behind: it must not change what is looked at next."""
    try:
        yield
    finally:
        while torch._C._autograd._top_saved_tensors_default_hooks(False) is not None:
            torch._C._autograd._pop_saved_tensors_default_hooks()
