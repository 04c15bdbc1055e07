"""Scenarios of fix_06."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import torch

from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _network, _state
from autograder.lessons.ch12_debugging.scenarios.programs import _batches, _changed, _has_graph, _pair, _series


class _Same(torch.autograd.Function):
    """The identity. Its node in the graph is an object of Python that can be watched."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g


class _Graphs:
    """Counts how many graphs of a model's earlier passes are alive, whenever it runs."""

    def __init__(self) -> None:
        self.nodes: list[weakref.ref[Any]] = []
        self.most = 0
        self.cycles = True  # whether what is alive may be so by reference cycles alone

    def run(self, model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
        alive = self.alive()
        if alive > 3 and self.cycles:
            gc.collect()  # what only a reference cycle keeps is as good as gone
            alive = self.alive()
            self.cycles = alive <= 3
        self.most = max(self.most, alive)
        result: torch.Tensor = _Same.apply(model(x))
        if result.grad_fn is not None:  # under no_grad there is no graph
            self.nodes.append(weakref.ref(result.grad_fn))
        return result

    def alive(self) -> int:
        return sum(node() is not None for node in self.nodes)


def _watching() -> tuple[type[torch.nn.Module], Callable[[torch.nn.Module], tuple[torch.nn.Module, _Graphs]]]:
    counted: weakref.WeakKeyDictionary[torch.nn.Module, _Graphs] = weakref.WeakKeyDictionary()

    class Watched(torch.nn.Module):
        """A model that is watched by what is no attribute of it."""

        def __init__(self, model: torch.nn.Module) -> None:
            super().__init__()
            self.model = model

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return counted[self].run(self.model, x) if self in counted else self.model(x)  # a copy is not watched

    def watched(model: torch.nn.Module) -> tuple[torch.nn.Module, _Graphs]:
        made = Watched(model)
        counted[made] = _Graphs()
        return made, counted[made]

    return Watched, watched


_Watched, _watched = _watching()


def history(submission: Any, layers: list[dict], data: list, validation: list, lr: float) -> dict[str, Any]:
    """fix_06: also the most graphs that were alive during the run."""
    with _fresh():
        (model, graphs), batches, held_out = _watched(_network(layers)), _batches(data), _batches([validation])
        (losses, others), returned = _pair(submission.fix_06(model, batches, held_out[0], lr))
        return {
            **returned,
            **_changed([*batches, *held_out], [*data, validation]),
            "losses": _series(losses),
            "validation losses": _series(others),
            "parameters": _state(model),
            "graphs": graphs.most,
            "passes with a graph": len(graphs.nodes),
            "returned graphs": _has_graph(losses, others),
        }
