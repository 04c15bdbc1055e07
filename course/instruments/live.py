"""Tracks which storages are alive, and their bytes now and at the peak."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

_LIFT_FRESH = torch.ops.aten.lift_fresh.default
_NESTED = (list, tuple)
"""A constant, because every operation asks for it twice, and `list | tuple` would be made anew each time."""


@dataclass(slots=True)
class Known:
    """A storage that an operation has used or made."""

    storage: weakref.ref[torch.UntypedStorage]
    size: int = 0
    """Its bytes at the last measurement."""
    apart: int = 0
    """Bytes of it that do not count."""
    counted: int = 0
    """Bytes of it that count."""


class LiveStorages(TorchDispatchMode):
    """Tracks the storages that operations create while it is active, until they are freed.

        with LiveStorages() as live:
            loss = model(x)
            kept = live.bytes
            loss.backward()
        live.peak

    All results of operations count: activations, temporaries and gradients, and also what `checkpoint` and selective
    policies save, which saved-tensor hooks do not see. A storage counts once, in full, until the last tensor that
    shares it is gone. Storages that existed before, such as inputs and parameters, do not count. Memory that a kernel
    allocates and frees internally is not seen.

    A storage may change its size, as by `out=` and `resize_`. So each operation measures the storages of its arguments
    and results; and `bytes`, `peak` and `timeline` measure all storages, because `tensor.untyped_storage().resize_()`
    is not an operation. If a storage that existed before grows, only the growth counts.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bytes = self._peak = 0
        self._timeline = [0]
        self._known: dict[int, Known] = {}
        """By `_cdata`, which identifies a storage as long as it lives; `data_ptr` is 0 for all fake ones."""
        self._counting = True

    @property
    def bytes(self) -> int:
        """Bytes that are alive now."""
        self._measure_all()
        return self._bytes

    @property
    def peak(self) -> int:
        """The maximum of `bytes` so far; set it to `bytes` to start a new measurement."""
        self._measure_all()
        return self._peak

    @peak.setter
    def peak(self, n_bytes: int) -> None:
        self._peak = n_bytes

    @property
    def timeline(self) -> list[int]:
        """The values of `bytes` after each change, in order."""
        self._measure_all()
        return self._timeline

    @contextmanager
    def not_counting(self) -> Iterator[None]:
        """Do not count storages created inside the block, which represent another device's memory."""
        self._measure_all()
        before, self._counting = self._counting, False
        try:
            yield
        finally:
            self._measure_all()
            self._counting = before

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # True would import PyTorch's compiler, which takes two seconds; nothing here is compiled

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        used: list[Tensor] = []
        if func is not _LIFT_FRESH:  # from `torch.tensor`, whose argument is new, so it counts
            used = tensors_in((*args, *kwargs.values()) if kwargs else args)
            for tensor in used:
                self._notice(tensor, counts=False)
        out = func(*args, **(kwargs or {}))
        for tensor in tensors_in((out,)):
            self._notice(tensor, counts=self._counting)
        if is_mutable(func):
            for tensor in used:
                self._notice(tensor, counts=self._counting)
        return out

    def _notice(self, tensor: Tensor, *, counts: bool) -> None:
        storage = storage_of(tensor)
        address = storage._cdata
        known = self._known.get(address)
        if known is None:
            known = self._known[address] = Known(weakref.ref(storage))
            if not counts:
                known.size = known.apart = torch.UntypedStorage.nbytes(storage)
            # this Python object lives as long as the storage; a lambda, as a bound method would expose the instrument
            weakref.finalize(storage, lambda: self._free(address))
        if torch.UntypedStorage.nbytes(storage) != known.size:
            self._measure(known, storage)

    def _measure(self, known: Known, storage: torch.UntypedStorage) -> None:
        size = torch.UntypedStorage.nbytes(storage)
        if size == known.size:
            return
        if not self._counting:
            known.apart += max(0, size - known.size)
        before, known.size, known.counted = known.counted, size, max(0, size - known.apart)
        self._change(known.counted - before)

    def _measure_all(self) -> None:
        for known in list(self._known.values()):
            storage = known.storage()
            if storage is not None:
                self._measure(known, storage)

    def _free(self, address: int) -> None:
        self._change(-self._known.pop(address).counted)

    def _change(self, n_bytes: int) -> None:
        if n_bytes:
            self._bytes += n_bytes
            self._peak = max(self._peak, self._bytes)
            self._timeline.append(self._bytes)


def is_mutable(func: Any) -> bool:
    """Whether an operation writes into one of its arguments."""
    schema = getattr(func, "_schema", None)
    return schema is not None and bool(schema.is_mutable)


def tensors_in(values: Iterable[Any]) -> list[Tensor]:
    """The tensors among an operation's arguments or results, which may be nested in lists and tuples."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, _NESTED):
            found += tensors_in(value)
    return found


def storage_bytes(tensors: Iterable[Tensor]) -> int:
    """The bytes of these tensors' storages, counting each storage once."""
    storages = [storage_of(tensor) for tensor in tensors]
    return sum({storage._cdata: torch.UntypedStorage.nbytes(storage) for storage in storages}.values())


def storage_of(tensor: Tensor) -> torch.UntypedStorage:
    """A tensor's storage by PyTorch's own function: a program can give a tensor an attribute of that name."""
    if type(tensor) is Tensor:
        return Tensor.untyped_storage(tensor)
    with torch._C.DisableTorchFunctionSubclass():
        return Tensor.untyped_storage(tensor)
