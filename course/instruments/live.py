"""Which storages are alive, and how many bytes they have: now, and at the peak."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


@dataclass(slots=True)
class Known:
    """A storage that an operation has used or made, as `LiveStorages` counts it."""

    storage: weakref.ref[torch.UntypedStorage]
    size: int = 0
    """Its bytes when it was measured last."""
    apart: int = 0
    """Those of them that do not count."""
    counted: int = 0


class LiveStorages(TorchDispatchMode):
    """Tracks the storages that operations make while it is active, until they are freed.

        with LiveStorages() as live:
            loss = model(x)
            kept = live.bytes
            loss.backward()
        live.peak

    It counts what an operation returns: activations, temporaries and gradients alike, and also what `checkpoint`
    and selective policies keep, which saved-tensor hooks do not see. A storage counts once, whole, until the last
    tensor that shares it is gone. What existed before and is only used, such as inputs and parameters, does not count.
    What a kernel allocates and frees inside itself is not seen.

    A storage's size may change: `out=` and `resize_` make it larger. So each operation measures the storages of its
    arguments and results, and `bytes`, `peak` and `timeline` measure all storages before they answer, because
    `tensor.untyped_storage().resize_()` is no operation. Of a storage that existed before, only growth counts.
    """

    def __init__(self) -> None:
        super().__init__()
        self._bytes = self._peak = 0
        self._timeline = [0]
        self._known: dict[int, Known] = {}
        """By what tells storages apart as long as they live: `data_ptr` is 0 for fake ones."""
        self._counting = True

    @property
    def bytes(self) -> int:
        """Bytes alive now."""
        self._measure_all()
        return self._bytes

    @property
    def peak(self) -> int:
        """The most bytes that were alive at once; set it to `bytes` to begin anew."""
        self._measure_all()
        return self._peak

    @peak.setter
    def peak(self, n_bytes: int) -> None:
        self._peak = n_bytes

    @property
    def timeline(self) -> list[int]:
        """`bytes` after every change, in order."""
        self._measure_all()
        return self._timeline

    @contextmanager
    def not_counting(self) -> Iterator[None]:
        """Leave out what is made inside: what stands for memory of another device."""
        self._measure_all()
        before, self._counting = self._counting, False
        try:
            yield
        finally:
            self._measure_all()
            self._counting = before

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to ask PyTorch's compiler to skip this imports it: two seconds, and nothing here is compiled

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        used: list[Tensor] = []
        if func is not torch.ops.aten.lift_fresh.default:  # `torch.tensor`: its argument is what it has just made
            used += tensors_in((*args, *(kwargs or {}).values()))
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
        storage = tensor.untyped_storage()
        address = storage._cdata
        known = self._known.get(address)
        if known is None:
            known = self._known[address] = Known(weakref.ref(storage))
            if not counts:
                known.size = known.apart = storage.nbytes()
            # this Python object lives as long as the storage; a bound method would lead anybody to this instrument
            weakref.finalize(storage, lambda: self._free(address))
        if storage.nbytes() != known.size:
            self._measure(known, storage)

    def _measure(self, known: Known, storage: torch.UntypedStorage) -> None:
        size = storage.nbytes()
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


def tensors_in(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among an operation's arguments or results, which lie in lists and tuples and in nothing else."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_in(value)


def storage_bytes(tensors: Iterable[Tensor]) -> int:
    """Bytes of the storages behind these tensors, each storage once."""
    storages = [tensor.untyped_storage() for tensor in tensors]
    return sum({storage._cdata: storage.nbytes() for storage in storages}.values())
