"""Which storages are alive, and how many bytes they have: now, and at the peak."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


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
    """

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0
        """Bytes alive now."""
        self.peak = 0
        """The most bytes that were alive at once; set it to `bytes` to begin anew."""
        self.timeline: list[int] = [0]
        """`bytes` after every change, in order."""
        self._known: dict[int, int] = {}
        """Bytes that count, by what tells storages apart as long as they live: `data_ptr` is 0 for fake ones."""
        self._counting = True

    @contextmanager
    def not_counting(self) -> Iterator[None]:
        """Leave out what is made inside: what stands for memory of another device."""
        before, self._counting = self._counting, False
        try:
            yield
        finally:
            self._counting = before

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # to ask PyTorch's compiler to skip this imports it: two seconds, and nothing here is compiled

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func is not torch.ops.aten.lift_fresh.default:  # `torch.tensor`: its argument is what it has just made
            for tensor in tensors_in((*args, *(kwargs or {}).values())):
                self._notice(tensor, counts=False)
        out = func(*args, **(kwargs or {}))
        for tensor in tensors_in((out,)):
            self._notice(tensor, counts=self._counting)
        return out

    def _notice(self, tensor: Tensor, *, counts: bool) -> None:
        storage = tensor.untyped_storage()
        address = storage._cdata
        if address not in self._known:
            self._known[address] = storage.nbytes() if counts else 0
            self._change(self._known[address])
            # this Python object lives as long as the storage; a bound method would lead anybody to this instrument
            weakref.finalize(storage, lambda: self._free(address))

    def _free(self, address: int) -> None:
        self._change(-self._known.pop(address))

    def _change(self, n_bytes: int) -> None:
        if n_bytes:
            self.bytes += n_bytes
            self.peak = max(self.peak, self.bytes)
            self.timeline.append(self.bytes)


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
