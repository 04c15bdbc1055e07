"""Lays arrays and tensors out in memory in other ways than row by row; their values stay the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def _columns(array: np.ndarray) -> np.ndarray:
    return np.asfortranarray(array)


def _strided(array: np.ndarray) -> np.ndarray:
    return np.stack((array, np.zeros_like(array)), axis=-1)[..., 0]


def _reversed(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.flip(array))[(slice(None, None, -1),) * array.ndim]


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "columns": _columns,
    "strided": _strided,
    "reversed": _reversed,
}
"""By name: column by column, as a transpose is; every second entry of a larger array; backwards."""


def laid_out(value: Any, layout: str) -> Any:
    """`value` with each array and tensor in it, also in lists, tuples and dicts, in another layout.

    Tensors have no negative strides: in place of "reversed" they are "columns".
    """
    if type(value) in (tuple, list):
        return type(value)(laid_out(item, layout) for item in value)
    if type(value) is dict:
        return {key: laid_out(item, layout) for key, item in value.items()}
    if type(value) is np.ndarray:
        return LAYOUTS[layout](value) if value.ndim else value
    torch = sys.modules.get("torch")
    if torch is None or type(value) is not torch.Tensor or not value.ndim:
        return value
    if layout == "strided":
        return torch.stack((value, torch.zeros_like(value)), dim=-1)[..., 0]
    backwards = tuple(reversed(range(value.ndim)))
    return value.permute(backwards).contiguous().permute(backwards)
