"""What makes two calls the same call: the data in them, told apart as exactly as the wire tells it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.worker import wire

Key = tuple[Any, ...]
"""Hashable, and equal for equal data only: 1, 1.0 and True differ, so do 0.0 and -0.0, and nan equals itself."""


def key_of(value: Any) -> Key:
    """The key of data: numbers, text, arrays, tensors, and tuples, lists and dicts of them.

    Raises:
        wire.WireError: it is no data (a function, an object): nothing to recognise it by.
    """
    kind = type(value)
    if kind is np.ndarray:
        if value.dtype.kind not in "biufc":
            raise wire.WireError(f"an array of dtype {value.dtype} is no data")
        return "array", value.dtype.str, value.shape, value.tobytes()
    if kind is float:
        return "float", value.hex()
    if value is None or kind in (int, bool, str):
        return kind.__name__, value
    if kind in (tuple, list):
        return kind.__name__, *map(key_of, value)
    if kind is dict:
        return "dict", *((key_of(name), key_of(item)) for name, item in value.items())
    return "other", wire.encode(value)


def size_of(key: Key) -> int:
    """Bytes of the data in a key, about: what its arrays and texts take."""
    return sum(
        len(part) if isinstance(part, bytes | str) else size_of(part) if isinstance(part, tuple) else 8 for part in key
    )
