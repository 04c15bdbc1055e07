"""Scenarios whose arguments are in the states that a row of factors says: see factors.toml."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.lessons.ch12_debugging.scenarios.anomaly_op import OPERATIONS, _anomaly_of
from autograder.lessons.ch12_debugging.scenarios.gradient_report import _report
from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _named
from autograder.worker.layout import laid_out
from autograder.worker.returned import plain

FAULTS = {"with a nan": float("nan"), "with an inf": float("inf"), "with a −inf": -float("inf")}
"""The entry that a layer's output gets, by the level of `fault`."""


def _frozen(parameters: Iterable[nn.Parameter], level: str) -> list[nn.Parameter]:
    """Freeze all parameters, or every second one, if the row says so; those that are trained still."""
    listed = list(parameters)
    frozen = {"frozen": listed, "frozen in part": listed[1::2]}.get(level, [])
    for parameter in frozen:
        parameter.requires_grad_(False)
    return [one for one in listed if all(one is not other for other in frozen)]


def report_in_states(submission: Any, grads: list[np.ndarray], states: dict[str, str]) -> Any:
    """The report on a model with these gradients, and whether the model is unchanged."""
    with _fresh():
        model = nn.Module()
        for i, grad in enumerate(grads):
            parameter = nn.Parameter(torch.zeros(grad.shape, dtype=torch.tensor(np.array(grad)).dtype))
            parameter.grad = laid_out(torch.tensor(np.array(grad)), states["grads layout"])
            block = nn.Module()
            block.register_parameter("weight", parameter)
            model.add_module(f"block{i}", block)
        first = model.get_parameter("block0.weight")
        if states["model names"] == "with a tied parameter":
            model.register_parameter("tied", first)
        if states["model buffers"] == "with a buffer":
            model.register_buffer("mean", torch.ones(2))
        if states["model grads"] == "with one None among its grads":
            model.get_parameter("block1.weight").grad = None
        trained = _frozen(model.parameters(), states["model parameters"])
        model.train(states["model mode"] == "plain")
        before = {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}
        found = _report(submission, model)
        now = {name: one.grad for name, one in model.named_parameters() if one.grad is not None}
        found["A .grad of the model was changed"] = before.keys() != now.keys() or not all(
            torch.equal(now[name], grad) for name, grad in before.items()
        )
        found["A parameter of the model was changed"] = any(
            bool(one.any()) or one.requires_grad is not any(one is other for other in trained)
            for one in model.parameters()
        )
        found["The mode of the model was changed"] = model.training is not (states["model mode"] == "plain")
        return found


class _Shifts(nn.Module):
    """x + w, with a number w; one entry of its output may be another one."""

    def __init__(self, like: Tensor, value: float | None = None) -> None:
        super().__init__()
        self.w, self.value = nn.Parameter(torch.tensor(1.5, dtype=like.dtype)), value

    def forward(self, x: Tensor) -> Tensor:
        y = x + self.w
        if self.value is not None and y.numel():
            y = torch.where(torch.arange(y.numel()).reshape(y.shape) == y.numel() - 1, self.value, y)
        return y


class _Passes(nn.Module):
    """Its argument, as it lies in memory."""

    def forward(self, x: Tensor) -> Tensor:
        return x


class _InTurn(nn.Module):
    """Layers one after the other; the one before the last may run at the end once more."""

    def __init__(self, layers: dict[str, nn.Module], again: bool) -> None:
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)
        self.order = [*layers.values(), *([list(layers.values())[-2]] if again else [])]

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.order:
            x = layer(x)
        return x


def nonfinite_in_states(submission: Any, x: np.ndarray, names: list[str], states: dict[str, str]) -> dict[str, Any]:
    """The layer that is named for a model and an x in these states, and what has changed."""
    with _fresh():
        origin, grads = states["x origin"], states["model grads"]
        leaf = laid_out(torch.tensor(np.array(x)), states["x layout"]).requires_grad_(origin != "plain")
        given = leaf.view_as(leaf) if origin == "in the middle of a graph" else leaf
        bad = _Shifts(leaf, FAULTS.get(states["model fault"]))
        layers = [_Passes(), _Shifts(leaf), bad, nn.Tanh()]
        model = _InTurn(dict(zip(names, layers, strict=True)), states["model places"] == "with a layer that runs twice")
        if states["model buffers"] == "with a buffer":
            bad.register_buffer("mean", torch.tensor(float("nan")))
        training = states["model mode"] == "plain"
        trained = _frozen(model.train(training).parameters(), states["model parameters"])
        for one in [*model.parameters(), leaf] if grads == "with grads" else ():
            one.grad = torch.full(one.shape, 0.5, dtype=one.dtype)
        had = {id(one): one.grad for one in [*model.parameters(), leaf]}
        name = submission.first_nonfinite(model, given)
        return {
            "requires_grad of a parameter is another afterwards": any(
                one.requires_grad is not any(one is other for other in trained) for one in model.parameters()
            ),
            "A .grad was changed": any(
                one.grad is not had[id(one)] or (one.grad is not None and not bool((one.grad == 0.5).all()))
                for one in [*model.parameters(), leaf]
            ),
            "The model is in another mode afterwards": any(one.training is not training for one in model.modules()),
            "requires_grad of x is another afterwards": given.requires_grad is not (origin != "plain"),
            "x was cut from its graph": origin == "in the middle of a graph" and given.grad_fn is None,
            "x was changed": not np.array_equal(given.detach().numpy(), x),
            "the name": _named(name),
        }


def anomaly_in_states(
    submission: Any, x: np.ndarray, shape: list[int], kind: str, states: dict[str, str]
) -> dict[str, Any]:
    """The node that is named for a loss with an operation that makes a nan at an entry of 0, unless 0.1 is added."""
    dtype = torch.float32 if states["fn precision"] == "in float32" else torch.float64
    values = torch.tensor(x, dtype=dtype)
    operand = states["fn operand"]
    leaf = nn.Parameter(values) if operand == "of a parameter" else values.requires_grad_()
    if states["fn grads"] == "with grads":
        leaf.grad = torch.full(leaf.shape, 0.5, dtype=leaf.dtype)
    already = states["fn anomaly"] == "in anomaly mode"

    def fn() -> Tensor:
        h = leaf * 1 if operand == "of a tensor in the middle of a graph" else leaf
        far = states["fn result"] == "without a nan"
        y = OPERATIONS[kind](h + 0.1 if far else h)
        return torch.where(h == 0, torch.zeros_like(y), y).sum().reshape(tuple(shape))

    found = _anomaly_of(submission, fn, already)
    found["A .grad from before the call is gone"] = states["fn grads"] == "with grads" and leaf.grad is None
    return found


def pairs_in_states(submission: Any, batches: list[np.ndarray], order: list[int], states: dict[str, str]) -> Any:
    """The pairs among each batch, the same in another layout, and one with an entry that is the next float.

    Args:
        order: in which these come, three of each batch.
    """
    form, layout = states["batches form"], states["batches layout"]
    with _fresh():
        given: list[Any] = []
        for i, values in enumerate(batches):
            rows = torch.tensor(np.array(values))
            laid = laid_out(rows, layout)
            near = rows.clone()
            if near.numel():
                largest = torch.tensor(torch.inf, dtype=near.dtype)
                near.view(-1)[-1] = torch.nextafter(near.view(-1)[-1], largest)
            again = laid if states["batches identity"] == "one object for equal batches" else rows
            tensors = [laid, near, again]
            paired = form == "of tuples" or (form == "of tensors and tuples" and i % 2 == 0)
            given += [(one, laid) for one in tensors] if paired else tensors
        pairs = submission.repeated_batches([given[i] for i in order])
        return [plain(pair) for pair in list.__iter__(pairs)] if isinstance(pairs, list) else plain(pairs)
