"""Scenarios of fix_06."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import _batches, _changed, _has_graph, _pair, _series
from course.instruments.live import LiveStorages
from course.instruments.out_of_reach import out_of_reach


class _Alive(LiveStorages):
    """Live storages, of which those do not count that only a reference cycle keeps."""

    def __init__(self, enough: int) -> None:
        super().__init__()
        self.enough = enough
        self.most = 0
        self.cycles = True  # whether cycles may be all that keeps more than enough alive

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        out = super().__torch_dispatch__(func, types, args, kwargs)
        if self._bytes > self.most:
            if self._bytes > self.enough and self.cycles:
                gc.collect()
                self.cycles = self._bytes <= self.enough
            self.most = max(self.most, self._bytes)
        return out


def history(submission: Any, layers: list[dict], data: list, validation: list, lr: float) -> dict[str, Any]:
    """fix_06: the losses, those of the validation set, and the parameters."""
    return _history(submission, layers, data, validation, lr, nullcontext())


def memory_of_history(
    submission: Any, layers: list[dict], data: list, validation: list, lr: float, enough: int
) -> dict[str, Any]:
    """The same, and the most bytes that were alive at one time beside the model and the data.

    How the model was called, and what keeps a graph, does not matter: all memory that operations make counts.
    Where it is more than `enough`, cycles of references are collected first.
    """
    live = _Alive(enough)
    found = _history(submission, layers, data, validation, lr, out_of_reach(live))
    return {**found, "bytes": live.most}


def _history(
    submission: Any,
    layers: list[dict],
    data: list,
    validation: list,
    lr: float,
    watching: AbstractContextManager[Any],
) -> dict[str, Any]:
    with _fresh():
        model, batches, held_out = _network(layers), _batches(data), _batches([validation])
        with watching:
            result = submission.fix_06(model, batches, held_out[0], lr)
        (losses, others), returned = _pair(result)
        return {
            **returned,
            **_changed([*batches, *held_out], [*data, validation]),
            "losses": _series(losses),
            "validation losses": _series(others),
            "parameters": _state(model),
            "returned graphs": _has_graph(losses, others),
        }
