"""Whether all numbers come from operations that were seen: nothing is computed in NumPy, in Python, or out of sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from course.instruments.live import Known, LiveStorages, is_mutable, tensors_in
from course.instruments.told import Told

FROM_PYTHON = 500
"""How many numbers may come from Python: the constants of operations, each once, and what `torch.tensor` is given."""
TOLD = 6000
"""How many bytes Python may tell operations, compressed: which ones, on which tensors, with which numbers and indices.
Attention tells up to 3,300 of them, entry by entry or in blocks, and 500 numbers 4,500. A result of 1,800 numbers that
was computed elsewhere has 14,000."""


class TracedStorages(LiveStorages):
    """Live storages, of which it is known where their numbers come from.

        with TracedStorages(given=[q, k, v]) as live:
            out = attention(q, k, v)
        live.is_traced(out)

    Each tensor that an operation uses must be one of those `given`, or be made by an operation that was seen, and hold
    what that has put into it. So what is computed elsewhere, and brought in, is noticed when it is used or returned:
    from NumPy, from an operation with the modes of dispatch switched off, number by number from Python.
    """

    def __init__(self, given: Iterable[Tensor]) -> None:
        super().__init__()
        self.untraced = False
        """Whether an operation has used numbers that come from elsewhere."""
        self._contents: dict[int, Tensor] = {}
        self._left: dict[int, int] = {}
        """Bytes to which a storage was cut since an operation wrote into it."""
        self._from_python: set[Any] = set()
        self._data = 0
        self._told = Told()
        for tensor in given:
            self._notice(tensor, counts=False)
            self._remember(tensor)

    def is_traced(self, *results: Tensor) -> bool:
        """Whether the numbers in these tensors, and all that were used, come from operations that were seen."""
        traced = not self.untraced and self._told.size <= TOLD
        return traced and all(self._holds_what_it_should(result.untyped_storage()) for result in results)

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
                self._bring_in(tensor)
        elif not kind.view:
            given = [value for value in values if isinstance(value, torch.UntypedStorage)]  # to `set_`
            self.untraced |= not all(map(self._may_be_used, used)) or not all(map(self._holds_what_it_should, given))
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
                    self._overwrite(tensor)
            for tensor in made + used if is_mutable(func) else made:
                self._remember(tensor)
        return out

    def _bring_in(self, tensor: Tensor) -> None:
        """Count what `torch.tensor` has made: a number as other constants, of more all that is behind the tensor."""
        size = tensor.untyped_storage().nbytes() // tensor.element_size()  # a view of a few may lead to a large array
        if size == 1 and tensor.numel() == 1:
            self._from_python.add(tensor.item())
            self._told.tell(torch.tensor, [tensor.item()])
        else:
            self._data += size

    def _holds_what_it_should(self, storage: torch.UntypedStorage) -> bool:
        known = self._known_contents(storage)
        return known is not None and torch.equal(known, _bytes_of(storage))

    def _may_be_used(self, tensor: Tensor) -> bool:
        storage = tensor.untyped_storage()
        known = self._contents.get(storage._cdata)
        if known is None:
            return False
        if known.nbytes == storage.nbytes() and storage._cdata not in self._left:
            return torch.equal(known, _bytes_of(storage))
        # its size has changed, and not by an operation
        self._notice(tensor, counts=False)
        known = self._known_contents(storage)
        if known is None or not torch.equal(known.view(torch.uint8), _memory(storage)[: known.nbytes]):
            return False
        self._overwrite(tensor)
        self._remember(tensor)
        return True

    def _overwrite(self, tensor: Tensor) -> None:
        """Give memory that no operation has written numbers that nobody computes (NaN, -1 or true).

        Freed memory may hold the very result: who then writes it there, out of sight, would not change a byte.
        """
        storage = tensor.untyped_storage()
        known = self._known_contents(storage)
        before = 0 if known is None else known.nbytes  # what was resized keeps what it had
        _memory(storage)[before:] = 1 if tensor.dtype == torch.bool else 255

    def _remember(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        self._left.pop(storage._cdata, None)
        self._contents[storage._cdata] = _bytes_of(storage).clone()
        self._told.made(storage._cdata)

    def _measure(self, known: Known, storage: torch.UntypedStorage) -> None:
        super()._measure(known, storage)
        address, size = storage._cdata, storage.nbytes()
        if address in self._contents and size < self._left.get(address, self._contents[address].nbytes):
            self._left[address] = size

    def _known_contents(self, storage: torch.UntypedStorage) -> Tensor | None:
        """What a storage was left with, as far as none of it was cut off since."""
        contents = self._contents.get(storage._cdata)
        left = self._left.pop(storage._cdata, None)
        if contents is not None and left is not None:
            kept = contents.view(torch.uint8)[:left].clone()
            contents = self._contents[storage._cdata] = kept if left % 8 else kept.view(torch.int64)
        return contents

    def _free(self, address: int) -> None:
        super()._free(address)
        self._contents.pop(address, None)
        self._left.pop(address, None)
        self._told.freed(address)


_UNWRITTEN = frozenset(
    getattr(torch.ops.aten, name)
    for name in (
        *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"),
        *("resize", "resize_", "resize_as_"),
    )
)
"""Operations that give memory with whatever it holds."""


_FROM_ELSEWHERE = frozenset({torch.ops.aten.from_file})
"""Operations whose numbers come from neither their arguments nor a formula."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """What there is to know of an operation."""

    view: bool
    """Whether it gives another view of the same memory, and computes nothing."""
    fresh: bool
    """Whether it is behind `torch.tensor` and `torch.from_numpy`."""
    unwritten: bool
    elsewhere: bool
    numbers: tuple[str, ...]
    """Its arguments that are numbers to compute with: indices, axes, sizes and offsets are not."""
    places: tuple[int, ...]


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
    """The numbers of Python among these, those in lists too."""
    for value in values:
        if isinstance(value, int | float | complex):
            yield value
        elif isinstance(value, list | tuple):
            yield from _numbers_in(value)


def _memory(storage: torch.UntypedStorage) -> Tensor:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _bytes_of(storage: torch.UntypedStorage) -> Tensor:
    """The memory of a storage, whatever it holds: as numbers of eight bytes, which are compared faster."""
    return torch.empty(0, dtype=torch.uint8 if storage.nbytes() % 8 else torch.int64).set_(storage)
