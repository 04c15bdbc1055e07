"""Lays arrays and tensors out in memory in other ways than row by row; their values stay the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

ROWS = "rows"
SAME = "="
"""Before a number: the argument is the same object as the argument of that number."""


def _columns(array: np.ndarray) -> np.ndarray:
    return np.asfortranarray(array)


def _strided(array: np.ndarray) -> np.ndarray:
    return np.stack((array, np.zeros_like(array)), axis=-1)[..., 0]


def _reversed(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.flip(array))[(slice(None, None, -1),) * array.ndim]


def _sliced(array: np.ndarray) -> np.ndarray:
    return _strided(np.flip(array))[(slice(None, None, -1),) * array.ndim]


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "columns": _columns,
    "strided": _strided,
    "reversed": _reversed,
    "sliced": _sliced,
}
"""By name: column by column, as a transpose is; every second entry of a larger array; backwards; both of these."""
REPEATED = "repeated"
"""The layout of `np.broadcast_to`, for arrays that repeat one entry along an axis: a read-only view with stride 0."""


def arranged(args: list[Any], kwargs: dict[str, Any], layout: str) -> tuple[list[Any], dict[str, Any]]:
    """Arguments in another layout.

    Args:
        layout: one for all arguments, as for `laid_out`; or one for each, separated by commas. There `rows` leaves an
            argument as it is, and `=0` makes it the same object as the first one.
    """
    if "," not in layout and not layout.startswith(SAME):
        return laid_out(args, layout), laid_out(kwargs, layout)
    found: list[Any] = []
    for value, one in zip((*args, *kwargs.values()), layout.split(","), strict=True):
        found.append(found[int(one.removeprefix(SAME))] if one.startswith(SAME) else laid_out(value, one))
    return found[: len(args)], dict(zip(kwargs, found[len(args) :], strict=True))


def laid_out(value: Any, layout: str) -> Any:
    """`value` with each array and tensor in it, also in lists, tuples and dicts, in another layout.

    Tensors have no negative strides: in place of "reversed" they are "columns", and "sliced"
    are "strided". An array without repeated entries is
    left as it is in place of "repeated".
    """
    if layout == ROWS:
        return value
    if type(value) in (tuple, list):
        return type(value)(laid_out(item, layout) for item in value)
    if type(value) is dict:
        return {key: laid_out(item, layout) for key, item in value.items()}
    torch = sys.modules.get("torch")
    is_array = type(value) is np.ndarray
    if (not is_array and (torch is None or type(value) is not torch.Tensor)) or not value.ndim:
        return value
    if layout == REPEATED:
        return _repeated(value)
    if is_array:
        return LAYOUTS[layout](value)
    assert torch is not None
    if layout in ("strided", "sliced"):
        return torch.stack((value, torch.zeros_like(value)), dim=-1)[..., 0]
    backwards = tuple(reversed(range(value.ndim)))
    return value.permute(backwards).contiguous().permute(backwards)


def _repeated(value: Any) -> Any:
    """A view of one entry along the first axis that has several, if all of them are equal."""
    axis = next((axis for axis, length in enumerate(value.shape) if length > 1), None)
    if axis is None:
        return value
    one = value[(slice(None),) * axis + (slice(0, 1),)]
    signs: Any = _signs if type(value) is np.ndarray else type(value).signbit
    if not bool(((value == one) & (signs(value) == signs(one))).all()):  # 0 is equal to -0, with another sign
        return value
    return np.broadcast_to(one, value.shape) if type(value) is np.ndarray else one.expand(value.shape)


def _signs(array: np.ndarray) -> np.ndarray:
    return np.signbit(array) if array.dtype.kind == "f" else array < 0
