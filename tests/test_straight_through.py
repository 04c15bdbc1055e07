"""Descents through a quantizer against PyTorch's autograd and the lesson's own `RoundSTE`."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.judging.checking.reference import load_module
from course.experiments.straight_through import BACKWARDS, QUANTIZERS, best, descend, verdict

LESSON = load_module(Path(__file__).parents[1] / "solutions" / "ch08_custom_functions.py")


class SignSTE(torch.autograd.Function):
    """Sign in forward, identity in backward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.sign(x)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0]


class ClampSTE(torch.autograd.Function):
    """Clamp to [-2, 2] in forward, identity in backward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(-2, 2)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads[0]


def quantized(name: str, backward: str, w: torch.Tensor) -> torch.Tensor:
    """The quantizer as a program that PyTorch differentiates; `clipped` adds a clamp before the identity."""
    if name == "sign":
        passed = {"true": w, "straight": w, "clipped": w.clamp(-1, 1)}[backward]
        return torch.sign(passed) if backward == "true" else SignSTE.apply(passed)
    inside = ClampSTE.apply(w) if backward == "straight" else w.clamp(-2, 2)
    return torch.round(inside) if backward == "true" else LESSON.RoundSTE.apply(inside)


@pytest.mark.parametrize("backward", BACKWARDS)
@pytest.mark.parametrize("name", QUANTIZERS)
def test_steps_are_pytorchs(name: str, backward: str) -> None:
    for start, target, rate in product((-2.7, -2.0, -0.5, 0.0, 1.0, 1.3, 2.5), (-3.0, 0.4, 1.0, 2.6), (0.05, 0.5)):
        w = torch.tensor(start, dtype=torch.float64, requires_grad=True)
        for point in descend(name, backward, start, target, rate, 30):
            value = quantized(name, backward, w)
            loss = (value - target) ** 2
            (gradient,) = torch.autograd.grad(loss, w)
            assert (w.item(), value.item(), gradient.item()) == (point.w, point.q, point.gradient), (start, target)
            assert loss.item() == pytest.approx(point.loss, rel=1e-15)
            with torch.no_grad():
                w -= rate * gradient


def test_the_true_slope_never_moves_and_the_best_level_is_the_best() -> None:
    for name, of in QUANTIZERS.items():
        for target in (-3.0, -0.6, 0.4, 1.2, 2.9):
            points = descend(name, "true", 1.3, target, 0.1, 60)
            assert {point.w for point in points} == {1.3}
            level, loss = best(name, target)
            assert loss == min((of.forward(w / 10) - target) ** 2 for w in range(-30, 31) if w or name == "round")
            assert level in of.levels


@pytest.mark.parametrize(
    ("name", "backward", "w", "target", "rate", "stands"),
    [
        ("round", "true", 1.3, 0.4, 0.1, "stuck"),
        ("round", "straight", 1.3, 0.4, 0.1, "jumps"),
        ("round", "clipped", 1.3, 0.4, 0.1, "jumps"),
        ("round", "straight", 1.7, 1.0, 0.1, "arrived"),
        ("round", "straight", 1.0, 3.0, 0.1, "runs"),
        ("round", "clipped", 1.0, 3.0, 0.1, "stuck"),
        ("round", "clipped", 2.7, -1.0, 0.1, "stuck"),
        ("round", "straight", 2.9, 1.9, 0.02, "on its way"),
        ("sign", "straight", 0.5, -0.4, 0.1, "jumps"),
    ],
)
def test_where_a_descent_stands(name: str, backward: str, w: float, target: float, rate: float, stands: str) -> None:
    points = descend(name, backward, w, target, rate, 60)
    assert verdict(name, points) == stands
    far = {"runs": abs(points[-1].w) > 2, "jumps": len({point.q for point in points[-20:]}) == 2}
    assert far.get(stands, True)
    assert math.isfinite(points[-1].w)
