"""A least-recently-used cache, bounded in the number of its values and in their total size."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
SHARE = 64
"""One value may use at most 1/64 of the space, so that one submission's huge answers do not evict the others'."""


class Remembered(Generic[K, V]):
    """A cache of at most `most` values that take at most `most_bytes` bytes together."""

    def __init__(self, most: int, most_bytes: int = 0) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._kept: dict[K, tuple[V, int]] = {}
        """Ordered by last use, the most recent last."""
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        """The value, or None if it is not cached; marks it as just used."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        self._kept[key] = found
        return found[0]

    def keep(self, key: K, value: V, size: int = 0) -> None:
        """Cache a value of `size` bytes, unless that exceeds its share of the space."""
        if size > self._most_bytes / SHARE:
            return
        self._forget(key)
        self._kept[key] = value, size
        self._bytes += size
        while len(self._kept) > self._most or self._bytes > self._most_bytes:
            self._forget(next(iter(self._kept)))

    def _forget(self, key: K) -> None:
        _, size = self._kept.pop(key, (None, 0))
        self._bytes -= size
