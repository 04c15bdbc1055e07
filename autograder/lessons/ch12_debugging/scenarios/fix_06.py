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
    """Live storages, except those that only a reference cycle keeps alive.

    The program gets decoys, which are replaced by the data `behind` them in every counted operation. So only counted
    operations give right numbers; computations in another thread or in NumPy use the decoys' numbers.

    A step begins when an operation uses another of the `batches`. Storages of at least `large` bytes, more than all
    parameters have, count as activations. A step's activations may be alive when the next step begins, as variables can
    keep them, but not when the one after that does. Storages from before the first step may stay.
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
        self.cycles = True  # whether only reference cycles may exceed `enough`
        self.decoys = list(behind)  # kept alive, so that no other storage can get their addresses
        self.behind = {storage_of(decoy)._cdata: storage_of(tensor) for decoy, tensor in behind.items()}
        self.large = large
        self.batch_of = {storage_of(tensor)._cdata: i for i, batch in enumerate(batches) for tensor in batch}
        self.batch: int | None = None
        self.at_step_before: list[Known] | None = None
        """Activations that were alive when the last step began; None before the first."""
        self.before_all: list[Known] = []
        self.outlived = False
        """Whether activations of a step were alive when the second step after it began."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        used = {self.batch_of.get(storage_of(tensor)._cdata) for tensor in tensors_in(args)} - {None}
        if len(used) == 1 and used != {self.batch}:
            (self.batch,) = used
            self._begin_step()
        if not any(of.alias_info for of in func._schema.returns):  # else it makes a view or writes in place
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
    """Like `history`, with the peak of live bytes besides the model and the data.

    Also whether activations of a step `outlived` the next one. All memory made by operations counts, no matter how the
    model was called or what keeps a graph. If it exceeds `enough`, or outlives a step, reference cycles are collected
    first.
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
    """The results of a run on `data`, whose last batch is the validation set."""
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
