"""Keys that identify equal calls by their data, as precisely as the wire format does."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.worker import wire

Key = tuple[Any, ...]
"""Hashable; only equal data has equal keys. 1, 1.0 and True differ, and so do 0.0 and -0.0; nan equals itself."""


def key_of(value: Any) -> Key:
    """The key of data: numbers, text, arrays, tensors, and tuples, lists and dicts of them.

    Raises:
        wire.WireError: the value contains something that is not data, such as a function.
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
    """Approximate size of a key's data, in bytes."""
    return sum(
        len(part) if isinstance(part, bytes | str) else size_of(part) if isinstance(part, tuple) else 8 for part in key
    )
