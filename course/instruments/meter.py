"""What autograd saves for backward, counted in bytes."""

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

    Whole storages count, each once: a view keeps all of the memory that it looks into. `nn.Parameter`s and their
    views do not count, nor does what shares memory with a tensor of `exclude`. Storages are told apart by identity,
    not by `data_ptr`, which is 0 for all fake and meta tensors.

    It sees what goes through `save_for_backward`, as the operations of PyTorch do. What a `Function` keeps in an
    attribute of `ctx`, or selective checkpointing in its cache, is for `LiveStorages` to see.

    Hooks switch off PyTorch's check that nobody has written into what is saved; this one makes it in their place.
    Backward raises a `RuntimeError` where it would raise one without the meter.
    """

    def __init__(self, exclude: Iterable[Tensor] = ()) -> None:
        self._excluded = list(exclude)  # held, so that no other storage can take the address of one of these
        self._known = {_address(tensor) for tensor in self._excluded}
        self._entries: list[tuple[int, tuple[int, ...], torch.dtype]] = []
        # PyTorch tells anybody which hooks there are, and a bound method would lead to this meter
        self._hooks = torch.autograd.graph.saved_tensors_hooks(lambda tensor: self._pack(tensor), _unpack)

    @property
    def bytes(self) -> int:
        """Bytes of the storages saved so far."""
        return sum(n_bytes for n_bytes, _, _ in self._entries)

    @property
    def entries(self) -> list[tuple[int, tuple[int, ...], torch.dtype]]:
        """One `(bytes, shape, dtype)` for each storage, in the order in which they were saved.

        Shape and dtype are those of the tensor that was saved first; the storage may be larger.
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
            weakref.finalize(storage, lambda: self._known.discard(address))  # it may be used again
        # An output that its own graph refers to would never be freed. What is detached shares the count of writes.
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
    """What tells storages apart as long as they live, under fake tensors too."""
    return tensor.untyped_storage()._cdata
