"""Tensors as arguments, and their state after a call.

Scenarios return dicts. The key of a bool is the sentence that a learner is told if it is True. Each scenario runs with
gradients switched on, whatever a cell of the submission has set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.worker.layout import laid_out
from autograder.worker.returned import array, plain


def _data(value: Any) -> Any:
    """A tensor as an array, which can be compared; anything else unchanged."""
    value = plain(value)
    return value if isinstance(value, Tensor) and value.dtype == torch.bfloat16 else array(value)


_detach = Tensor.detach


def _requires_grad(*values: Any) -> bool:
    return any(isinstance(value, Tensor) and value.requires_grad for value in values)


def _as(kind: str, value: np.ndarray) -> Tensor:
    """A tensor with these values, by `kind`: a constant, a leaf with a .grad, an inner node, or with other strides."""
    tensor = torch.tensor(value)
    if kind == "strided":
        twice = torch.stack([tensor, tensor + 1], dim=-1)  # every other entry belongs to another tensor
        return twice[..., 0]
    if kind == "constant":
        return tensor
    tensor.requires_grad_()
    if kind == "leaf":
        tensor.grad = torch.full_like(tensor, 0.5)
        return tensor
    return tensor * 1  # in the middle


def _in_states(name: str, value: np.ndarray, states: dict[str, str]) -> Tensor:
    """The argument `name` of these values, of the origin and the layout that `states` says."""
    tensor, origin = laid_out(torch.tensor(np.array(value)), states[f"{name} layout"]), states.get(f"{name} origin")
    if origin == "a leaf with a grad":
        tensor.requires_grad_().grad = torch.full(tensor.shape, 0.5, dtype=tensor.dtype)
    if origin == "in the middle of a graph":
        return tensor.requires_grad_().view_as(tensor)
    return tensor


class _Before:
    """Records tensors before a call, and reports changes after it."""

    def __init__(self, **tensors: Tensor) -> None:
        self.tensors = tensors
        self.values = {name: tensor.detach().clone() for name, tensor in tensors.items()}
        self.flags = {name: tensor.requires_grad for name, tensor in tensors.items()}
        self.grads = {name: _grad_of(tensor) for name, tensor in tensors.items()}

    def changes(self) -> dict[str, bool]:
        found = {}
        for name, tensor in self.tensors.items():
            found[f"The values of {name} were changed"] = not torch.equal(_detach(tensor), self.values[name])
            found[f"{name}.requires_grad is another one afterwards: work on {name}.detach()"] = (
                tensor.requires_grad != self.flags[name]
            )
            found[f"{name}.grad is another one afterwards; torch.autograd.grad leaves every .grad alone"] = not _same(
                _grad_of(tensor), self.grads[name]
            )
        return found


def _grad_of(tensor: Tensor) -> Tensor | None:
    """A copy of a leaf's .grad; None for other tensors, for which PyTorch would warn."""
    return tensor.grad.clone() if tensor.is_leaf and tensor.grad is not None else None


def _same(a: Tensor | None, b: Tensor | None) -> bool:
    return a is b if a is None or b is None else torch.equal(a, b)
