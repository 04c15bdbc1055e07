"""Whether all numbers come from operations that were seen: nothing is computed in NumPy, in Python, or out of sight."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from course.instruments.live import LiveStorages, tensors_in

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
        self._from_python: set[Any] = set()
        self._data = 0
        for tensor in given:
            self._notice(tensor, counts=False)
            self._remember(tensor)

    def is_traced(self, *results: Tensor) -> bool:
        """Whether the numbers in these tensors, and all that were used, come from operations that were seen."""
        return not self.untraced and all(map(self._holds_what_it_should, results))

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        values = (*args, *kwargs.values())
        used = list(tensors_in(values))
        fresh = func is torch.ops.aten.lift_fresh.default  # `torch.tensor`
        if fresh:
            self._data += sum(tensor.numel() for tensor in used)
        elif not _is_view(func):
            self.untraced |= not all(map(self._holds_what_it_should, used))
        self._from_python.update(value for value in values if isinstance(value, int | float))
        self.untraced |= len(self._from_python) + self._data > FROM_PYTHON
        out = super().__torch_dispatch__(func, types, args, kwargs)
        if fresh or not _is_view(func):
            made = list(tensors_in((out,)))
            if func.overloadpacket in _UNWRITTEN:  # type: ignore[attr-defined]
                for tensor in made:
                    self._overwrite(tensor)
            for tensor in made + used if func._schema.is_mutable else made:  # type: ignore[attr-defined]
                self._remember(tensor)
        return out

    def _holds_what_it_should(self, tensor: Tensor) -> bool:
        known = self._contents.get(tensor.untyped_storage()._cdata)
        return known is not None and torch.equal(known, _bytes_of(tensor))

    def _overwrite(self, tensor: Tensor) -> None:
        """Give memory that no operation has written numbers that nobody computes (NaN, -1 or true).

        Freed memory may hold the very result: who then writes it there, out of sight, would not change a byte.
        """
        storage = tensor.untyped_storage()
        known = self._contents.get(storage._cdata)
        before = 0 if known is None else known.untyped_storage().nbytes()  # what was resized keeps what it had
        memory = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
        memory[before:] = 1 if tensor.dtype == torch.bool else 255

    def _remember(self, tensor: Tensor) -> None:
        self._contents[tensor.untyped_storage()._cdata] = _bytes_of(tensor).clone()

    def _free(self, address: int) -> None:
        super()._free(address)
        self._contents.pop(address, None)


_UNWRITTEN = frozenset(
    getattr(torch.ops.aten, name)
    for name in (
        *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"),
        *("resize", "resize_", "resize_as_"),
    )
)
"""Operations that give memory with whatever it holds."""


@cache
def _is_view(func: Any) -> bool:
    """Whether an operation gives another view of the same memory, and computes nothing."""
    returns = func._schema.returns
    return bool(returns) and all(of.alias_info and not of.alias_info.is_write for of in returns)


def _bytes_of(tensor: Tensor) -> Tensor:
    """The memory behind a tensor, whatever its dtype: as numbers of eight bytes, which are compared faster."""
    storage = tensor.untyped_storage()
    return torch.empty(0, dtype=torch.uint8 if storage.nbytes() % 8 else torch.int64).set_(storage)
