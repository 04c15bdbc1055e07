"""Packs values as plain data, each array once, and restores them with the types that checks compare."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from autograder.judging.records.keys import Key, key_of
from autograder.worker.wire import WireError


class NotData(ValueError):
    """The value cannot be packed: it is an object or a function."""


class Pool:
    """The arrays of a book, each stored once.

    Args:
        arrays: those of a book that was read.
    """

    def __init__(self, arrays: list[Any] | None = None) -> None:
        self.arrays = arrays or []
        self._numbers: dict[Key, int] = {}

    def packed(self, value: Any) -> Any:
        """Pack a value: itself, or a list of a letter for its type and its parts. Raises `NotData` for objects."""
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if kind in (tuple, list):
            return ["t" if kind is tuple else "l", *map(self.packed, value)]
        if kind is dict:
            return ["d", *([self.packed(key), self.packed(item)] for key, item in value.items())]
        if kind is complex:
            return ["c", value.real, value.imag]
        if isinstance(value, np.generic):
            return ["g", self._kept(np.asarray(value))]
        torch = sys.modules.get("torch")
        if kind is np.ndarray or (torch is not None and isinstance(value, torch.Tensor)):
            return ["a", self._kept(value)]
        raise NotData(f"a value of type {kind.__name__}")

    def value(self, body: Any) -> Any:
        """Restore a packed value."""
        if not isinstance(body, list):
            return body
        kind, *parts = body
        if kind in "tl":
            items = map(self.value, parts)
            return tuple(items) if kind == "t" else list(items)
        if kind == "d":
            return {self.value(key): self.value(item) for key, item in parts}
        if kind == "c":
            return complex(*parts)
        return self.arrays[parts[0]][()] if kind == "g" else self.arrays[parts[0]]

    def _kept(self, value: Any) -> int:
        try:
            key = key_of(value)
        except WireError as error:
            raise NotData(str(error)) from None
        if key not in self._numbers:
            self._numbers[key] = len(self.arrays)
            self.arrays.append(value)
        return self._numbers[key]
