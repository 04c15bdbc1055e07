"""Recognises parameters among the tensors that autograd saves."""

from __future__ import annotations

from torch import Tensor, nn


def is_of_parameter(tensor: Tensor) -> bool:
    """Whether a tensor is an `nn.Parameter` or a view of one."""
    return isinstance(tensor, nn.Parameter) or isinstance(tensor._base, nn.Parameter)
