"""Whether all numbers come from operations that were seen: nothing is computed in NumPy, in Python, or out of sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor

from course.instruments.live import Known, LiveStorages, is_mutable, tensors_in

FROM_PYTHON = 1_000
"""How many numbers may come from Python: constants, and what `torch.tensor` is given."""


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
        for tensor in given:
            self._notice(tensor, counts=False)
            self._remember(tensor)

    def is_traced(self, *results: Tensor) -> bool:
        """Whether the numbers in these tensors, and all that were used, come from operations that were seen."""
        return not self.untraced and all(self._holds_what_it_should(result.untyped_storage()) for result in results)

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        values = (*args, *kwargs.values())
        used = list(tensors_in(values))
        fresh = func is torch.ops.aten.lift_fresh.default  # `torch.tensor`, `torch.from_numpy`
        if fresh:  # all that is behind it: a view of a few numbers leads to a large array
            self._data += sum(tensor.untyped_storage().nbytes() // tensor.element_size() for tensor in used)
        elif not _is_view(func):
            given = [value for value in values if isinstance(value, torch.UntypedStorage)]  # to `set_`
            self.untraced |= not all(map(self._may_be_used, used)) or not all(map(self._holds_what_it_should, given))
        self.untraced |= func.overloadpacket in _FROM_ELSEWHERE  # type: ignore[attr-defined]
        self._from_python.update(_numbers_in(values))
        self.untraced |= len(self._from_python) + self._data > FROM_PYTHON
        out = super().__torch_dispatch__(func, types, args, kwargs)
        if fresh or not _is_view(func):
            made = list(tensors_in((out,)))
            if func.overloadpacket in _UNWRITTEN:  # type: ignore[attr-defined]
                for tensor in made:
                    self._overwrite(tensor)
            for tensor in made + used if is_mutable(func) else made:
                self._remember(tensor)
        return out

    def _holds_what_it_should(self, storage: torch.UntypedStorage) -> bool:
        known = self._known_contents(storage)
        return known is not None and torch.equal(known, _bytes_of(storage))

    def _may_be_used(self, tensor: Tensor) -> bool:
        storage = tensor.untyped_storage()
        known = self._contents.get(storage._cdata)
        if known is not None and (known.nbytes != storage.nbytes() or storage._cdata in self._left):
            # its size has changed, and not by an operation
            self._notice(tensor, counts=False)
            known = self._known_contents(storage)
            if known is None or not torch.equal(known.view(torch.uint8), _memory(storage)[: known.nbytes]):
                return False
            self._overwrite(tensor)
            self._remember(tensor)
        return self._holds_what_it_should(storage)

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


@cache
def _is_view(func: Any) -> bool:
    """Whether an operation gives another view of the same memory, and computes nothing."""
    returns = func._schema.returns
    return bool(returns) and all(of.alias_info and not of.alias_info.is_write for of in returns)


def _numbers_in(values: Iterable[Any]) -> Iterator[Any]:
    """The numbers of Python among an operation's arguments, those in lists too."""
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
