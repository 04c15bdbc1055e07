"""Scenarios of hvp_forward_over_reverse."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch13_beyond_first_order.scenarios.hessian_products import _product
from autograder.lessons.ch13_beyond_first_order.scenarios.tensors import _data


class _Slopes(torch.autograd.Function):
    """x; its entries' derivatives are `back` for gradients that go back, and `ahead` for tangents that go forward."""

    forward_runs = 0

    @staticmethod
    def forward(x: Tensor, back: Tensor, ahead: Tensor) -> Tensor:
        return x * 1

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _, ctx.back, ctx.ahead = inputs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        return gs[0] * ctx.back, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        _Slopes.forward_runs += 1
        return tangents[0] * ctx.ahead


@torch.enable_grad()
def which_way(
    submission: Any, name: str, x: np.ndarray, v: np.ndarray, a: np.ndarray, back: np.ndarray, ahead: np.ndarray
) -> dict[str, Any]:
    """H·v of a function with one derivative for gradients and another one for tangents: it tells which way they went.

    Back twice is back², forward once and back once is ahead · back. Each entry of x has slopes of its own, so no one
    number makes the one from the other.
    """
    constants, slopes = torch.tensor(a), (torch.tensor(back), torch.tensor(ahead))

    def f(x: Tensor) -> Tensor:
        y = _Slopes.apply(x, *slopes)
        return (constants * y**3).sum() + (constants * y).sum() ** 2

    _Slopes.forward_runs = 0
    result = _product(submission, name, f, torch.tensor(x), torch.tensor(v))
    return {
        "No tangent goes forward through f: this goes back twice": _Slopes.forward_runs == 0,
        "H·v": _data(result),
    }
