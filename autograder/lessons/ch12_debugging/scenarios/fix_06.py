"""Scenarios of fix_06."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import _batches, _changed, _has_graph, _pair, _series
from autograder.worker.returned import plain
from course.instruments.live import Known, LiveStorages, storage_of, tensors_in
from course.instruments.out_of_reach import out_of_reach


class _Alive(LiveStorages):
    """Live storages, of which those do not count that only a reference cycle keeps.

    The program is given decoys, and operations get the data that are `behind` them. So right numbers come from
    operations that were counted: whoever computes in another thread, or in NumPy, has the numbers of the decoys.

    A step begins where an operation uses another of the `batches` than the one before. Storages of `large` bytes or
    more are activations: more than all parameters have. Those of a step may be there when the next one begins, where
    variables keep them. When the one after that begins, they must be gone; what was there before the first may stay.
    """

    def __init__(
        self,
        enough: int,
        behind: dict[torch.Tensor, torch.Tensor],
        batches: list[tuple[torch.Tensor, ...]],
        large: int,
    ) -> None:
        super().__init__()
        self.enough = enough
        self.most = 0
        self.cycles = True  # whether cycles may be all that keeps more than enough alive
        self.decoys = list(behind)  # held, so that no other storage can take the address of one of these
        self.behind = {storage_of(decoy)._cdata: storage_of(tensor) for decoy, tensor in behind.items()}
        self.large = large
        self.batch_of = {storage_of(tensor)._cdata: i for i, batch in enumerate(batches) for tensor in batch}
        self.batch: int | None = None
        self.at_step_before: list[Known] | None = None
        """Activations that were alive when the last step began; None before the first."""
        self.before_all: list[Known] = []
        self.outlived = False
        """Whether activations of a step were alive when the next but one began."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        used = {self.batch_of.get(storage_of(tensor)._cdata) for tensor in tensors_in(args)} - {None}
        if len(used) == 1 and used != {self.batch}:
            (self.batch,) = used
            self._begin_step()
        if not any(of.alias_info for of in func._schema.returns):  # else a view, or what is written into
            args = self._behind(args)
            kwargs = {name: self._behind(value) for name, value in (kwargs or {}).items()}
        out = super().__torch_dispatch__(func, types, args, kwargs)
        if self._bytes > self.most:
            if self._bytes > self.enough and self.cycles:
                gc.collect()
                self.cycles = self._bytes <= self.enough
            self.most = max(self.most, self._bytes)
        return out

    def _begin_step(self) -> None:
        before, alive = self.at_step_before, self._activations()
        if before is None:
            self.before_all, alive = alive, []
        elif _shared(before, alive):
            gc.collect()
            alive = self._activations()
            self.outlived |= _shared(before, alive)
        self.at_step_before = alive

    def _activations(self) -> list[Known]:
        known = [one for one in self._known.values() if one.counted >= self.large]
        return [one for one in known if not _shared(self.before_all, [one])]

    def _behind(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(self._behind, value))
        if not isinstance(value, torch.Tensor) or storage_of(value)._cdata not in self.behind:
            return value
        storage = self.behind[storage_of(value)._cdata]
        return torch.empty(0, dtype=value.dtype).set_(storage, value.storage_offset(), value.size(), value.stride())


def _shared(some: list[Known], others: list[Known]) -> bool:
    return any(one is other for one in some for other in others)


def history(submission: Any, layers: list[dict], data: list, validation: list, lr: float) -> dict[str, Any]:
    """fix_06: the losses, those of the validation set, and the parameters."""
    return _history(submission, layers, [*data, validation], lr, lambda batches: nullcontext())


def memory_of_history(
    submission: Any, layers: list[dict], data: list, validation: list, lr: float, enough: int
) -> dict[str, Any]:
    """The same, and the most bytes that were alive at one time beside the model and the data.

    Also whether activations of a step `outlived` the next one. How the model was called, and what keeps a graph, does
    not matter: all memory that operations make counts. Where it is more than `enough`, or outlives, cycles of
    references are collected first.
    """
    watching: list[_Alive] = []
    width = len(layers[0]["b"])

    def watched(batches: list[tuple[torch.Tensor, ...]]) -> AbstractContextManager[Any]:
        arrays = [array for batch in (*data, validation) for array in batch]
        tensors = [tensor for batch in batches for tensor in batch]
        behind = dict(zip(tensors, map(torch.tensor, arrays), strict=True))
        half = len(validation[0]) * width * validation[0].itemsize // 2
        watching.append(_Alive(enough, behind, batches[:-1], half))
        return out_of_reach(watching[0])

    decoys = [[array + 1 for array in batch] for batch in (*data, validation)]
    found = _history(submission, layers, decoys, lr, watched)
    return {**found, "bytes": watching[0].most, "outlived": watching[0].outlived}


def _history(
    submission: Any,
    layers: list[dict],
    data: list,
    lr: float,
    watched: Callable[[list[tuple[torch.Tensor, ...]]], AbstractContextManager[Any]],
) -> dict[str, Any]:
    """What comes of a run on `data`, the last of which are the validation set."""
    with _fresh():
        model, batches = _network(layers), _batches(data)
        with watched(batches):
            result = plain(submission.fix_06(model, batches[:-1], batches[-1], lr))
        (losses, others), returned = _pair(result)
        return {
            **returned,
            **_changed(batches, data),
            "losses": _series(losses),
            "validation losses": _series(others),
            "parameters": _state(model),
            "returned graphs": _has_graph(losses, others),
        }
