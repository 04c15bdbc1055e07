"""Scenarios of hvp_forward_over_reverse."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch13_beyond_first_order.scenarios.hessian_products import _product
from autograder.lessons.ch13_beyond_first_order.scenarios.tensors import _data


class _Slopes(torch.autograd.Function):
    """Identity whose derivatives are `back` in reverse mode and `ahead` in forward mode, by entry."""

    forward_runs: ClassVar[list[None]] = []

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
        _Slopes.forward_runs.append(None)
        return tangents[0] * ctx.ahead


@torch.enable_grad()
def which_way(
    submission: Any, name: str, x: np.ndarray, v: np.ndarray, a: np.ndarray, back: np.ndarray, ahead: np.ndarray
) -> dict[str, Any]:
    """H·v of a function with different derivatives in forward and reverse mode, which shows the modes that were used.

    Reverse mode twice gives back², forward over reverse gives ahead · back. Each entry of x has its own slopes, so no
    single factor turns one into the other.
    """
    constants, slopes = torch.tensor(a), (torch.tensor(back), torch.tensor(ahead))

    def f(x: Tensor) -> Tensor:
        y = _Slopes.apply(x, *slopes)
        return (constants * y**3).sum() + (constants * y).sum() ** 2

    _Slopes.forward_runs.clear()
    result = _product(submission, name, f, torch.tensor(x), torch.tensor(v))
    return {
        "No tangent goes forward through f: this goes back twice": not _Slopes.forward_runs,
        "H·v": _data(result),
    }
