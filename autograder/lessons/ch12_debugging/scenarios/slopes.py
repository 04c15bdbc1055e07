"""Scenarios of slopes: networks whose .grad is right, or wrong in a known way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from autograder.lessons.ch12_debugging.scenarios.in_states import _frozen
from autograder.lessons.ch12_debugging.scenarios.networks import _fresh, _linear
from autograder.worker.layout import laid_out
from autograder.worker.returned import array

OWN_ERROR = "the loss's own error"


class _TanhWithASlip(torch.autograd.Function):
    """tanh, with half of its slope in backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = x.tanh()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return g * (1 - y * y) / 2


class _Residual(nn.Module):
    """h + tanh(layer(h)) for each layer, then a head. `fault` is in one layer's forward, and changes no value."""

    def __init__(self, layers: Sequence[dict], head: dict, fault: str) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_linear(layer) for layer in layers)
        self.head, self.fault = _linear(head), fault

    def forward(self, h: Tensor) -> Tensor:
        for i, layer in enumerate(self.layers):
            fault = self.fault if i == len(self.layers) - 1 else ""
            z = layer(h.detach() if fault == "a branch is detached" else h)
            branch = _TanhWithASlip.apply(z) if fault == "an operation has a wrong backward" else z.tanh()
            if fault == "a write through .data":
                branch.data.mul_(0.5)
                branch = branch * 2
            h = h + branch
        return self.head(h)


def _fill(model: _Residual, X: Tensor, y: Tensor, fault: str) -> None:
    """Fill `.grad` as a program with this fault does."""

    def loss(X: Tensor, y: Tensor) -> Tensor:
        return nn.functional.cross_entropy(model(X), y)

    if fault == "the gradient of another batch was not cleared":
        loss(X.flip(0) + 0.5, y).backward()
    if fault == "micro-batches are not divided":
        for part in zip(X.split(2), y.split(2), strict=True):
            loss(*part).backward()
        return
    if fault == "the softmax is taken twice":
        nn.functional.cross_entropy(model(X).softmax(1), y).backward()
        return
    frozen = list(model.layers.parameters()) if fault == "the layers were frozen" else []
    for one in frozen:
        one.requires_grad_(False)
    loss(X, y).backward()
    for one in frozen:
        one.requires_grad_(True)
    if fault == "the gradient is clipped":
        norm = torch.stack([one.grad.norm() for one in model.parameters() if one.grad is not None]).norm()
        for one in model.parameters():
            if one.grad is not None:
                one.grad.mul_(0.25 / norm)


def _answer(result: Any) -> dict[str, Any]:
    """Both slopes, and whether they are a pair."""
    given = [array(one) for one in result] if isinstance(result, tuple | list) else []
    pair = len(given) == 2
    claimed, measured = given if pair else (0.0, 0.0)
    return {
        "slopes returned something other than a tuple of two floats": not pair,
        "the slope that .grad claims": claimed,
        "the slope of the loss": measured,
    }


def _unchanged(model: nn.Module, direction: Sequence[Tensor]) -> Callable[[], dict[str, bool]]:
    """Note the state of the model and the direction; a function that says what is different by then."""
    values = [one.detach().clone() for one in model.parameters()]
    grads = [None if one.grad is None else one.grad.clone() for one in model.parameters()]
    required = [one.requires_grad for one in model.parameters()]
    buffers, modes = [one.clone() for one in model.buffers()], [one.training for one in model.modules()]
    given = [one.clone() for one in direction]

    def same_bits(a: Tensor, b: Tensor) -> bool:
        return a.dtype == b.dtype and a.detach().numpy().tobytes() == b.numpy().tobytes()

    def changes() -> dict[str, bool]:
        now = list(model.parameters())
        return {
            "A parameter is not bit for bit what it was before the call": not all(map(same_bits, now, values)),
            "A .grad was changed": not all(
                (one.grad is None) is (before is None)
                and (one.grad is None or before is None or torch.equal(one.grad, before))
                for one, before in zip(now, grads, strict=True)
            ),
            "requires_grad of a parameter is another afterwards": [one.requires_grad for one in now] != required,
            "A buffer was changed": not all(map(torch.equal, model.buffers(), buffers)),
            "The model is in another mode afterwards": [one.training for one in model.modules()] != modes,
            "direction was changed": not all(map(torch.equal, direction, given)),
        }

    return changes


def slopes_of_network(
    submission: Any,
    fault: str,
    network: tuple[list[dict], dict],
    data: tuple[np.ndarray, np.ndarray],
    direction: list[np.ndarray],
    eps: float | None = None,
) -> dict[str, Any]:
    """Both slopes of a network whose `.grad` a program with this fault has filled; `eps` is left out if it is None."""
    with _fresh():
        model = _Residual(*network, fault)
        X, y = map(torch.tensor, data)
        _fill(model, X, y, fault)
        along = [torch.tensor(one) for one in direction]
        changes = _unchanged(model, along)
        options = {} if eps is None else {"eps": eps}
        result = submission.slopes(model, lambda: nn.functional.cross_entropy(model(X), y), along, **options)
        return _answer(result) | changes()


def slopes_when_it_raises(
    submission: Any, values: np.ndarray, direction: np.ndarray, call: int, eps: float
) -> dict[str, Any]:
    """What is left of the model when a call of the loss raises; and both slopes, from calls that do not raise."""
    with _fresh():
        model = nn.Module()
        model.register_parameter("w", nn.Parameter(torch.tensor(values)))
        w = model.get_parameter("w")
        w.sin().sum().backward()
        along, calls = [torch.tensor(direction)], 0
        changes = _unchanged(model, along)

        def loss_of() -> Tensor:
            nonlocal calls
            calls += 1
            if calls == call:
                raise ValueError(OWN_ERROR)
            return w.sin().sum()

        answer = _answer(submission.slopes(model, lambda: w.sin().sum(), along, eps))
        passed = False
        try:
            submission.slopes(model, loss_of, along, eps)
        except ValueError as error:
            passed = error.args == (OWN_ERROR,)
            if not passed:
                raise
        return {"The exception of loss_of was caught; let it pass": not passed} | answer | changes()


def slopes_in_states(
    submission: Any,
    direction: list[np.ndarray],
    start: list[np.ndarray],
    grads: list[np.ndarray],
    eps: float,
    states: dict[str, str],
) -> dict[str, Any]:
    """Both slopes of a model with these parameters and gradients, in the states of a row."""
    with _fresh():
        model = nn.Module()
        for i, (values, grad) in enumerate(zip(start, grads, strict=True)):
            parameter = nn.Parameter(torch.tensor(np.array(values)))
            parameter.grad = torch.tensor(np.array(grad))
            model.register_parameter(f"w{i}", parameter)
        first = model.get_parameter("w0")
        tied = states["model names"] == "with a tied parameter"
        if tied:
            model.register_parameter("tied", first)
        if states["model buffers"] == "with a buffer":
            model.register_buffer("shift", torch.ones(3))
        level = states["model grads"]
        for i, one in enumerate(model.parameters()):
            if level == "without grads" or (level == "with one None among its grads" and i == 0):
                one.grad = None
        _frozen(model.parameters(), states["model parameters"])
        model.train(states["model mode"] == "plain")
        listed = list(model.parameters())
        along = [laid_out(torch.tensor(np.array(one)), states["direction layout"]) for one in direction]
        changes = _unchanged(model, along)

        def loss_of() -> Tensor:
            waves = torch.stack([(one + i).sin().sum() for i, one in enumerate(listed)]).sum()
            return waves + first.cos().sum() if tied else waves

        return _answer(submission.slopes(model, loss_of, along, eps)) | changes()
