"""Counts the bytes that autograd saves for backward."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import TracebackType

import torch
from torch import Tensor

from course.instruments.saved import is_of_parameter


class SavedTensorMeter:
    """Counts the bytes that autograd saves for backward while it is active.

        with SavedTensorMeter() as meter:
            loss = model(x)
        meter.bytes

    Whole storages count, each once, because a view keeps the whole storage alive. `nn.Parameter`s, their views, and
    tensors that share memory with one in `exclude` do not count. Storages are identified by `_cdata`, not by
    `data_ptr`, which is 0 for all fake and meta tensors.

    It sees tensors saved by `save_for_backward`, as PyTorch's operations do. It does not see what a `Function` keeps in
    an attribute of `ctx`, or selective checkpointing in its cache; `LiveStorages` does.

    Saved-tensor hooks disable PyTorch's check for in-place changes of saved tensors. The meter makes this check itself,
    so backward raises a `RuntimeError` in the same cases as without the meter.
    """

    def __init__(self, exclude: Iterable[Tensor] = ()) -> None:
        self._excluded = list(exclude)  # kept alive, so that no other storage can get the address of one of these
        self._known = {_address(tensor) for tensor in self._excluded}
        self._entries: list[tuple[int, tuple[int, ...], torch.dtype]] = []
        # a lambda, because any program can look up the hooks, and a bound method would expose the meter
        self._hooks = torch.autograd.graph.saved_tensors_hooks(lambda tensor: self._pack(tensor), _unpack)

    @property
    def bytes(self) -> int:
        """Bytes of the storages saved so far."""
        return sum(n_bytes for n_bytes, _, _ in self._entries)

    @property
    def entries(self) -> list[tuple[int, tuple[int, ...], torch.dtype]]:
        """`(bytes, shape, dtype)` of each storage, in the order in which they were saved.

        Shape and dtype are those of the first tensor saved with that storage, which may be larger.
        """
        return list(self._entries)

    def __enter__(self) -> SavedTensorMeter:
        self._hooks.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._hooks.__exit__(kind, error, trace)

    def _pack(self, tensor: Tensor) -> tuple[Tensor, int]:
        if _address(tensor) not in self._known and not is_of_parameter(tensor):
            storage = tensor.untyped_storage()
            self._entries.append((storage.nbytes(), tuple(tensor.shape), tensor.dtype))
            address = storage._cdata
            self._known.add(address)
            weakref.finalize(storage, lambda: self._known.discard(address))  # the address may be reused
        # Detached: an output in its own graph would never be freed. The version counter is shared all the same.
        return tensor.detach(), tensor._version


def _unpack(packed: tuple[Tensor, int]) -> Tensor:
    tensor, version = packed
    if tensor._version != version:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"{tuple(tensor.shape)}, at version {tensor._version}; expected version {version} instead"
        )
    return tensor


def _address(tensor: Tensor) -> int:
    """Identifies a tensor's storage as long as it lives, also for fake tensors."""
    return tensor.untyped_storage()._cdata
