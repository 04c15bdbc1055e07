"""Scenarios of fix_06."""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import _batches, _changed, _has_graph, _pair, _series
from course.instruments.live import LiveStorages
from course.instruments.out_of_reach import out_of_reach


class _Alive(LiveStorages):
    """Live storages, of which those do not count that only a reference cycle keeps.

    The program is given decoys, and operations get the data that are `behind` them. So right numbers come from
    operations that were counted: whoever computes in another thread, or in NumPy, has the numbers of the decoys.
    """

    def __init__(self, enough: int, behind: dict[torch.Tensor, torch.Tensor]) -> None:
        super().__init__()
        self.enough = enough
        self.most = 0
        self.cycles = True  # whether cycles may be all that keeps more than enough alive
        self.decoys = list(behind)  # held, so that no other storage can take the address of one of these
        self.behind = {decoy.untyped_storage()._cdata: tensor.untyped_storage() for decoy, tensor in behind.items()}

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
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

    def _behind(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(self._behind, value))
        if not isinstance(value, torch.Tensor) or value.untyped_storage()._cdata not in self.behind:
            return value
        storage = self.behind[value.untyped_storage()._cdata]
        return torch.empty(0, dtype=value.dtype).set_(storage, value.storage_offset(), value.size(), value.stride())


def history(submission: Any, layers: list[dict], data: list, validation: list, lr: float) -> dict[str, Any]:
    """fix_06: the losses, those of the validation set, and the parameters."""
    return _history(submission, layers, [*data, validation], lr, lambda batches: nullcontext())


def memory_of_history(
    submission: Any, layers: list[dict], data: list, validation: list, lr: float, enough: int
) -> dict[str, Any]:
    """The same, and the most bytes that were alive at one time beside the model and the data.

    How the model was called, and what keeps a graph, does not matter: all memory that operations make counts.
    Where it is more than `enough`, cycles of references are collected first.
    """
    watching: list[_Alive] = []

    def watched(batches: list[tuple[torch.Tensor, ...]]) -> AbstractContextManager[Any]:
        arrays = [array for batch in (*data, validation) for array in batch]
        tensors = [tensor for batch in batches for tensor in batch]
        watching.append(_Alive(enough, dict(zip(tensors, map(torch.tensor, arrays), strict=True))))
        return out_of_reach(watching[0])

    decoys = [[array + 1 for array in batch] for batch in (*data, validation)]
    found = _history(submission, layers, decoys, lr, watched)
    return {**found, "bytes": watching[0].most}


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
            result = submission.fix_06(model, batches[:-1], batches[-1], lr)
        (losses, others), returned = _pair(result)
        return {
            **returned,
            **_changed(batches, data),
            "losses": _series(losses),
            "validation losses": _series(others),
            "parameters": _state(model),
            "returned graphs": _has_graph(losses, others),
        }
