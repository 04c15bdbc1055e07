"""What a submission returns, as the value that it is: no method or attribute of the submission's is asked.

A tensor takes attributes: with `out.numpy = work` it would be computed when it is looked at, after the measurement. And
a subclass of `torch.Tensor` takes the functions over that it is given to, `torch.autograd.grad` among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

PLAIN = (Tensor, torch.nn.Parameter)
"""The classes of tensors that are taken."""
OWN_ATTRIBUTES = "returned a tensor with attributes of its own ({}): return a plain tensor"
OWN_CLASS = "returned a tensor of a class of its own ({}): return a plain tensor"

own_functions = torch._C.DisableTorchFunction
"""In such a block PyTorch's functions are its own, whatever subclasses and modes there are."""
_detach, _numpy, _backward = Tensor.detach, Tensor.numpy, Tensor.backward


def plain(value: Any) -> Any:
    """The value itself. Lists, tuples and dicts of other classes become builtin ones; their items are looked at, too.

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
    """A tensor as an array of its own, so that it can be compared; anything else as `plain` has it.

    Raises:
        TypeError: as `plain` does, and for a dtype that NumPy lacks.
    """
    value = plain(value)
    if type(value) not in PLAIN:
        return value
    with own_functions():
        copied: np.ndarray = _numpy(_detach(value), force=True).copy()
    return copied


def backward(value: Any, gradient: Any = None, **options: Any) -> None:
    """PyTorch's own backward pass from a tensor. Raises `TypeError` as `plain` does."""
    with own_functions():
        _backward(plain(value), gradient, **options)
