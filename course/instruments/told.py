"""Measures how much information a program passes to the operations that it calls, besides its tensors' contents."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from torch import Tensor, UntypedStorage

from course.instruments.live import storage_of

BEFORE = 8
"""Operations of context: a call is compared with the last one that came after the same eight operations."""


class Told:
    """A log of calls: which operation, on which tensors, with which numbers. `size` is its compressed length.

    A program can smuggle in numbers that it computed elsewhere, for example by the indices that it takes from a table,
    or by the order in which it stacks tensors. All of these appear in the calls, so the log has to grow with them.
    Loops add little: a number is logged as its difference from the same argument in the previous call with the same
    context, and a tensor by its offset and by how many operations ago its memory was first written.
    """

    def __init__(self) -> None:
        self._said: list[str] = []
        self._words: dict[Any, int] = {}
        self._path: tuple[int, ...] = ()
        self._before: dict[tuple[int, ...], list[float]] = {}
        self._operations = 0
        self._made: dict[int, int] = {}

    @property
    def size(self) -> int:
        """Bytes of the log, compressed twice: one pass of zlib cannot shrink anything below a thousandth."""
        return len(zlib.compress(zlib.compress("\n".join(self._said).encode())))

    def made(self, address: int) -> None:
        """Record that an operation has written into the storage at `address`."""
        self._made.setdefault(address, self._operations)

    def freed(self, address: int) -> None:
        """Forget the storage at `address`, which was freed."""
        self._made.pop(address, None)

    def tell(self, operation: Any, values: Iterable[Any]) -> None:
        """Log a call of an operation with these arguments."""
        self._operations += 1
        now: list[float] = []
        self._add(now, values)
        self._path = *self._path[-BEFORE:], self._word(operation)
        before = self._before.get(self._path, ())
        self._before[self._path] = now
        differences = [number - last for number, last in zip_longest(now, before, fillvalue=0)]
        self._said.append(f"{self._path[-1]} {' '.join(map(str, differences))}")

    def _add(self, now: list[float], values: Iterable[Any]) -> None:
        for value in values:
            if isinstance(value, Tensor):
                now += [
                    self._operations - self._made.get(storage_of(value)._cdata, 0),
                    int(Tensor.storage_offset(value)),
                ]
            elif isinstance(value, int | float):
                now.append(value)
            elif isinstance(value, complex):
                now += [value.real, value.imag]
            elif isinstance(value, list | tuple):
                items: list[float] = []
                self._add(items, value)
                step = 2 if value and isinstance(value[0], Tensor) else 1
                now += items[:step] + [item - last for item, last in zip(items[step:], items, strict=False)]
            else:
                now.append(self._word(value))

    def _word(self, value: Any) -> int:
        # `str` would print all bytes of a storage, and a log of arguments does not contain the contents
        said = f"a storage of {len(value)} bytes" if isinstance(value, UntypedStorage) else str(value)
        return self._words.setdefault(said, len(self._words))
