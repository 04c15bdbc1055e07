"""Reads what a submission returns without calling any code of the submission.

A tensor accepts attributes: with `out.numpy = work`, the submission would compute only when a scenario reads `out`,
after the measurement. A subclass of `torch.Tensor` can override every PyTorch function that it is passed to,
`torch.autograd.grad` included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

PLAIN = (Tensor, torch.nn.Parameter)
"""The classes of tensors that are accepted."""
OWN_ATTRIBUTES = "returned a tensor with attributes of its own ({}): return a plain tensor"
OWN_CLASS = "returned a tensor of a class of its own ({}): return a plain tensor"

own_functions = torch._C.DisableTorchFunction
"""A context manager in which neither subclasses nor modes override PyTorch's functions."""
_numpy, _backward = Tensor.numpy, Tensor.backward


def plain(value: Any) -> Any:
    """Return the value if it holds plain tensors only. Subclasses of list, tuple and dict become the builtin class.

    Raises:
        TypeError: a tensor is neither a `torch.Tensor` nor a `torch.nn.Parameter`, or has attributes of its own.
    """
    kind = type(value)
    if kind in PLAIN:
        if vars(value):
            raise TypeError(OWN_ATTRIBUTES.format(", ".join(sorted(map(str, vars(value))))[:80]))
    elif issubclass(kind, list):
        items = [plain(item) for item in list.__iter__(value)]
        return value if kind is list else items
    elif issubclass(kind, tuple):
        items = [plain(item) for item in tuple.__iter__(value)]
        return value if kind is tuple else tuple(items)
    elif issubclass(kind, dict):
        by_key = {key: plain(item) for key, item in dict.items(value)}
        return value if kind is dict else by_key
    elif isinstance(value, Tensor):
        raise TypeError(OWN_CLASS.format(kind.__name__[:80]))
    return value


def array(value: Any) -> Any:
    """Copy a tensor into a NumPy array; return anything else as `plain` does.

    Raises:
        TypeError: as `plain` does, and for a dtype that NumPy lacks.
    """
    value = plain(value)
    if type(value) not in PLAIN:
        return value
    with own_functions():
        copied: np.ndarray = _numpy(value, force=True).copy()
    return copied


def backward(value: Any, gradient: Any = None, **options: Any) -> None:
    """PyTorch's own backward pass from a tensor. Raises `TypeError` as `plain` does."""
    with own_functions():
        _backward(plain(value), gradient, **options)
