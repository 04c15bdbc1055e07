"""What a program tells the operations that it calls: all that decides on their results beside the data."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from itertools import zip_longest
from typing import Any

from torch import Tensor

from course.instruments.live import storage_of

BEFORE = 8
"""So many operations that came before tell one in a loop from others of its kind."""


class Told:
    """Notes which operations were called, on which tensors, with which numbers; `size` bounds what that can say.

    Numbers that were computed elsewhere can be brought to tensors without any of them: by which entries of a table are
    taken, in which order a few tensors are stacked. But whatever the way, the calls have to tell it. Loops tell little:
    a number is noted as its difference from the one that the same operation had in the same place before, a tensor by
    how many operations ago its memory was first written and by its offset there.
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
        """Bytes that all of it has, compressed: twice, since one pass makes a thousandth of it at the least."""
        return len(zlib.compress(zlib.compress("\n".join(self._said).encode())))

    def made(self, address: int) -> None:
        """An operation has written into the storage at `address`."""
        self._made.setdefault(address, self._operations)

    def freed(self, address: int) -> None:
        """That storage is no more."""
        self._made.pop(address, None)

    def tell(self, operation: Any, values: Iterable[Any]) -> None:
        """An operation is called with these arguments."""
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
        return self._words.setdefault(str(value), len(self._words))
