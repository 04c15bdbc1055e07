"""The copy of a small value that crossing the wire would give, without a frame being written and read.

Known mistakes and variants answer hundreds of thousands of small calls in the judge's own process, where encoding and
decoding cost more than most calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_ITEMS = 1_000
MOST_BYTES = 2**18
"""Of arrays and text together; both limits lie below all of `worker.wire.ANSWER`."""
MOST_DEPTH = 16
MOST_KEYS = 100
SMALL = 2**31
_NUMERIC = "iufc"


class NotPlain(Exception):
    """The value is large, or of a kind that only the wire format deals with."""


def plain_copy(value: Any) -> Any:
    """What `wire.decode(wire.encode(value))` returns; NumPy's numbers become 0-d arrays, as they do there.

    Raises:
        NotPlain: anything but small numbers, ASCII text, numeric arrays, and tuples, lists and dicts of them.
    """
    return _Copier().copy(value, 0)


class _Copier:
    def __init__(self) -> None:
        self._items = MOST_ITEMS
        self._bytes = MOST_BYTES

    def copy(self, value: Any, depth: int) -> Any:
        kind = type(value)
        self._items -= 1
        if self._items < 0 or depth > MOST_DEPTH:
            raise NotPlain
        if value is None or kind is float or kind is bool:
            return value
        if kind is np.ndarray:
            return self._array(value)
        if kind is int and -SMALL < value < SMALL:
            return value
        if kind is str and value.isascii():
            self._spend(len(value))
            return value
        if kind is list:
            return [self.copy(item, depth + 1) for item in value]
        if kind is tuple:
            return tuple([self.copy(item, depth + 1) for item in value])
        if kind is dict and len(value) <= MOST_KEYS and all(type(key) is str for key in value):
            return {self.copy(key, depth): self.copy(item, depth + 1) for key, item in value.items()}
        if kind is np.bool_:
            return bool(value)
        if isinstance(value, np.number):
            return self._array(np.asarray(value))
        raise NotPlain

    def _array(self, array: np.ndarray) -> np.ndarray:
        if array.dtype.kind not in _NUMERIC:
            raise NotPlain
        self._spend(array.nbytes)
        return np.array(array, order="C")

    def _spend(self, size: int) -> None:
        self._bytes -= size
        if self._bytes < 0:
            raise NotPlain
