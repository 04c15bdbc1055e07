"""The interface of a process group, as one rank sees it: three collectives, and a record of their calls."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

DTYPES = frozenset(
    {torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex128, torch.complex64}
    | {torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool}
)
"""The dtypes that gloo can send and add; the group of threads takes the same."""


class GroupError(RuntimeError):
    """A rank raised an exception, ended early or waits in vain; the message says which rank, and in which call."""


@dataclass(frozen=True)
class Call:
    """One rank's call to a collective."""

    name: str
    """`all_reduce`, `all_gather` or `reduce_scatter`."""
    shape: tuple[int, ...]
    """The shape of the tensor; for `reduce_scatter`, of each tensor in the list."""
    dtype: str
    n_bytes: int
    """Bytes of the rank's input: one tensor, or for `reduce_scatter` its whole list."""

    def sent_bytes(self, size: int) -> float:
        """Bytes that each of `size` ranks sends in a ring algorithm.

        With p ranks and n bytes: (p − 1)/p · n for `reduce_scatter`, (p − 1) · n for `all_gather`, and 2 (p − 1)/p · n
        for `all_reduce`, which combines both (Patarasuk and Yuan 2009). No algorithm sends less.
        """
        share = (size - 1) / size
        return self.n_bytes * {"all_reduce": 2 * share, "reduce_scatter": share, "all_gather": size - 1.0}[self.name]

    def __str__(self) -> str:
        return f"{self.name} of {self.shape} {self.dtype}"


class Group(ABC):
    """One rank's view of a process group, with three collectives.

    A collective waits until every rank has called it with tensors of the same shape and dtype. Tensors must be dense,
    on the CPU and of a dtype in `DTYPES`; they may require gradients, and their strides may differ between ranks.
    Autograd does not see collectives: a result has no graph, and a tensor that is changed in place keeps its graph.
    Results are contiguous.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank = rank
        """This rank's number, from 0."""
        self.size = size
        """The number of ranks."""
        self.calls: list[Call] = []
        """This rank's calls to collectives, in order."""

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace `tensor`, in place, by the sum of all ranks' tensors.

        Raises:
            ValueError: `tensor` is expanded, so that several of its entries share memory.
        """
        with self._calling("all_reduce", [tensor]):
            # gloo ignores strides and does not increase autograd's version counter, so give it a contiguous copy.
            total = self._all_reduce(_packed(tensor))
            tensor.detach().copy_(total)

    def all_gather(self, tensor: Tensor) -> list[Tensor]:
        """All ranks' tensors, in rank order; all are copies, including this rank's."""
        with self._calling("all_gather", [tensor]):
            return self._all_gather(_packed(tensor))

    def reduce_scatter(self, tensors: Sequence[Tensor]) -> Tensor:
        """The sum of all ranks' tensors for this rank: each rank's `tensors[r]` goes to rank r.

        Raises:
            ValueError: there is not one tensor for each rank, or their shapes or dtypes differ.
        """
        if len(tensors) != self.size:
            given = len(tensors)
            raise ValueError(f"reduce_scatter takes {self.size} tensors, one for each rank; it was given {given}")
        if len({(tensor.shape, tensor.dtype) for tensor in tensors}) > 1:
            raise ValueError("reduce_scatter takes tensors of one shape and dtype")
        with self._calling("reduce_scatter", tensors):
            return self._reduce_scatter([_packed(tensor) for tensor in tensors])

    @contextlib.contextmanager
    def _calling(self, name: str, tensors: Sequence[Tensor]) -> Iterator[None]:
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"{name} takes tensors; it was given {type(tensor).__name__}")
            if tensor.layout != torch.strided or tensor.device.type != "cpu":
                given = f"{str(tensor.layout).removeprefix('torch.')} on {tensor.device}"
                raise ValueError(f"{name} takes dense tensors on the CPU; it was given one that is {given}")
            if tensor.dtype not in DTYPES:
                raise TypeError(f"{name} takes no {_dtype_name(tensor.dtype)}, which gloo does not know")
            if name == "all_reduce" and any(
                n > 1 and not s for n, s in zip(tensor.shape, tensor.stride(), strict=True)
            ):
                raise ValueError(f"{name} writes into its tensor, and an expanded one has no room: clone it first")
        first = tensors[0]
        n_bytes = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        call = Call(name, tuple(first.shape), _dtype_name(first.dtype), n_bytes)
        self.calls.append(call)
        self._enter(call)
        with torch.no_grad():
            yield
        self._leave()

    @abstractmethod
    def _enter(self, call: Call) -> None: ...

    @abstractmethod
    def _leave(self) -> None: ...

    @abstractmethod
    def _all_reduce(self, tensor: Tensor) -> Tensor:
        """The sum, perhaps in `tensor` itself. Here and below, tensors are contiguous copies without a graph."""

    @abstractmethod
    def _all_gather(self, tensor: Tensor) -> list[Tensor]: ...

    @abstractmethod
    def _reduce_scatter(self, tensors: list[Tensor]) -> Tensor: ...


def _packed(tensor: Tensor) -> Tensor:
    """A contiguous copy without a graph."""
    return torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach())


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def raised(rank: int, error: BaseException) -> str:
    """The description of a rank's exception in a `GroupError`."""
    told = str(error)
    return f"rank {rank} raised {type(error).__name__}{': ' if told else ''}{told}"
