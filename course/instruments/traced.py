"""Detects results that were computed outside of PyTorch's dispatcher: in NumPy, in Python, or with modes disabled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from course.instruments.live import Known, LiveStorages, is_mutable, storage_of, tensors_in
from course.instruments.told import Told

FROM_PYTHON = 500
"""How many numbers may come from Python: distinct constants of operations, and the entries given to `torch.tensor`."""
TOLD = 6000
"""Most bytes, compressed, Python may tell operations: which ones, on which tensors, with which numbers and indices.
Attention tells up to 3,300 of them, entry by entry or in blocks, and 500 numbers 4,500. A result of 1,800 numbers that
was computed elsewhere has 14,000."""


class TracedStorages(LiveStorages):
    """Tracks live storages, and whether their contents come from operations that were seen.

        with TracedStorages(given=[q, k, v]) as live:
            out = attention(q, k, v)
        live.is_traced(out)

    Each tensor that an operation uses must be one of those `given`, or the result of an operation that was seen, with
    unchanged contents. So numbers computed elsewhere are noticed when they are used or returned: from NumPy, from
    operations run with dispatch modes disabled, or brought in one by one from Python.
    """

    def __init__(self, given: Iterable[Tensor]) -> None:
        super().__init__()
        self.untraced = False
        """Whether an operation has used numbers of another origin."""
        self._contents: dict[int, Tensor] = {}
        self._least_bytes: dict[int, int] = {}
        """The least bytes that a storage had, if it was cut since an operation last wrote into it."""
        self._from_python: set[Any] = set()
        self._data = 0
        self._told = Told()
        for tensor in given:
            self._notice(tensor, counts=False)
            self._remember(tensor)

    def is_traced(self, *results: Tensor) -> bool:
        """Whether the contents of these tensors, and of all that were used, come from operations that were seen."""
        traced = not self.untraced and self._told.size <= TOLD
        return traced and all(self._is_unchanged(storage_of(result)) for result in results)

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        values = (*args, *kwargs.values())
        used = list(tensors_in(values))
        self._told.tell(func, values)
        kind = _kind(func)
        if kind.fresh:
            for tensor in used:
                self._count_from_python(tensor)
        elif not kind.view:
            given = [value for value in values if isinstance(value, torch.UntypedStorage)]  # to `set_`
            self.untraced |= not all(map(self._is_traced, used)) or not all(map(self._is_unchanged, given))
        self.untraced |= kind.elsewhere
        if kind.numbers:
            self._from_python.update(_numbers_in(args[i] for i in kind.places if i < len(args)))
            self._from_python.update(_numbers_in(kwargs[name] for name in kind.numbers if name in kwargs))
        self.untraced |= len(self._from_python) + self._data > FROM_PYTHON
        out = super().__torch_dispatch__(func, types, args, kwargs)
        if not kind.view:
            made = list(tensors_in((out,)))
            if kind.unwritten:
                for tensor in made:
                    self._fill_uninitialized(tensor)
            for tensor in made + used if is_mutable(func) else made:
                self._remember(tensor)
        return out

    def _count_from_python(self, tensor: Tensor) -> None:
        """Count the numbers brought in by `torch.tensor`: a single one as a constant, otherwise the whole storage."""
        size = (
            torch.UntypedStorage.nbytes(storage_of(tensor)) // tensor.dtype.itemsize
        )  # the tensor may be a view of a large array
        if size == 1 and math.prod(tensor.shape) == 1:
            self._from_python.add(Tensor.item(tensor))
            self._told.tell(torch.tensor, [Tensor.item(tensor)])
        else:
            self._data += size

    def _is_unchanged(self, storage: torch.UntypedStorage) -> bool:
        known = self._known_contents(storage)
        return known is not None and torch.equal(known, _bytes_of(storage))

    def _is_traced(self, tensor: Tensor) -> bool:
        storage = storage_of(tensor)
        known = self._contents.get(storage._cdata)
        if known is None:
            return False
        if known.nbytes == torch.UntypedStorage.nbytes(storage) and storage._cdata not in self._least_bytes:
            return torch.equal(known, _bytes_of(storage))
        # the size was changed, but not by an operation
        self._notice(tensor, counts=False)
        known = self._known_contents(storage)
        if known is None or not torch.equal(known.view(torch.uint8), _memory(storage)[: known.nbytes]):
            return False
        self._fill_uninitialized(tensor)
        self._remember(tensor)
        return True

    def _fill_uninitialized(self, tensor: Tensor) -> None:
        """Fill memory that no operation has written with values that are not results (NaN, -1 or true).

        Reused memory may contain the right result by chance, and writing it there unseen would change no byte.
        """
        storage = storage_of(tensor)
        known = self._known_contents(storage)
        before = 0 if known is None else known.nbytes  # a resized storage keeps its old contents
        _memory(storage)[before:] = 1 if tensor.dtype == torch.bool else 255

    def _remember(self, tensor: Tensor) -> None:
        storage = storage_of(tensor)
        self._least_bytes.pop(storage._cdata, None)
        self._contents[storage._cdata] = _bytes_of(storage).clone()
        self._told.made(storage._cdata)

    def _measure(self, known: Known, storage: torch.UntypedStorage) -> None:
        super()._measure(known, storage)
        address, size = storage._cdata, torch.UntypedStorage.nbytes(storage)
        if address in self._contents and size < self._least_bytes.get(address, self._contents[address].nbytes):
            self._least_bytes[address] = size

    def _known_contents(self, storage: torch.UntypedStorage) -> Tensor | None:
        """The contents that the last operation left in a storage, without bytes that were cut off since."""
        contents = self._contents.get(storage._cdata)
        left = self._least_bytes.pop(storage._cdata, None)
        if contents is not None and left is not None:
            kept = contents.view(torch.uint8)[:left].clone()
            contents = self._contents[storage._cdata] = kept if left % 8 else kept.view(torch.int64)
        return contents

    def _free(self, address: int) -> None:
        super()._free(address)
        self._contents.pop(address, None)
        self._least_bytes.pop(address, None)
        self._told.freed(address)


_UNWRITTEN = frozenset(
    getattr(torch.ops.aten, name)
    for name in (
        *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"),
        *("resize", "resize_", "resize_as_"),
    )
)
"""Operations that return uninitialized memory."""


_FROM_ELSEWHERE = frozenset({torch.ops.aten.from_file})
"""Operations whose results come from neither their arguments nor a formula."""


@dataclass(frozen=True, slots=True)
class _Kind:
    view: bool
    """Whether it only returns a view of the same memory."""
    fresh: bool
    """Whether `torch.tensor` and `torch.from_numpy` call it with new data."""
    unwritten: bool
    """Whether it is in `_UNWRITTEN`."""
    elsewhere: bool
    """Whether it is in `_FROM_ELSEWHERE`."""
    numbers: tuple[str, ...]
    """The names of arguments that are numbers to compute with, unlike indices, axes, sizes and offsets."""
    places: tuple[int, ...]
    """The positions of these arguments."""


@cache
def _kind(func: Any) -> _Kind:
    schema, packet = func._schema, func.overloadpacket
    view = bool(schema.returns) and all(of.alias_info and not of.alias_info.is_write for of in schema.returns)
    fresh = func is torch.ops.aten.lift_fresh.default
    counted = ("number", "float", "complex", *(["int"] if "rand" in schema.name else []))  # the ints are bounds there
    numbers = {
        arg.name: i for i, arg in enumerate(schema.arguments) if not view and any(of in str(arg.type) for of in counted)
    }
    return _Kind(
        view and not fresh,
        fresh,
        packet in _UNWRITTEN,
        packet in _FROM_ELSEWHERE,
        tuple(numbers),
        tuple(numbers.values()),
    )


def _numbers_in(values: Iterable[Any]) -> Iterator[Any]:
    """The Python numbers among these values, also in nested lists and tuples."""
    for value in values:
        if isinstance(value, int | float | complex):
            yield value
        elif isinstance(value, list | tuple):
            yield from _numbers_in(value)


def _memory(storage: torch.UntypedStorage) -> Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _bytes_of(storage: torch.UntypedStorage) -> Tensor:
    """The bytes of a storage as int64, if their number allows, because that is compared faster; else as uint8."""
    return torch.empty(0, dtype=torch.uint8 if torch.UntypedStorage.nbytes(storage) % 8 else torch.int64).set_(storage)
