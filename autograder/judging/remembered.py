"""Values that are kept within bounds: what was not asked for the longest makes room, and nothing takes it all."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
SHARE = 64
"""One value has at most a 64th of the room: a hand-in of a few large answers leaves that of the others alone."""


class Remembered(Generic[K, V]):
    """Values by key, at most `most` of them, and of at most so many bytes together."""

    def __init__(self, most: int, most_bytes: int = 0) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._kept: dict[K, tuple[V, int]] = {}
        """The ones that were asked for last stand last."""
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K) -> V | None:
        """The value, if it is still known."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        self._kept[key] = found
        return found[0]

    def keep(self, key: K, value: V, size: int = 0) -> None:
        """Remember a value of so many bytes, unless it takes more than its share of the room."""
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
