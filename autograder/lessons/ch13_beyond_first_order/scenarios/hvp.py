"""Scenarios of hvp."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.lessons.ch13_beyond_first_order.scenarios.tensors import _data


class _NoForwardMode(torch.autograd.Function):
    """x³ with a differentiable backward rule and no forward-mode rule; it also works with torch.func."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gs[0] * 3 * x**2


@torch.enable_grad()
def without_forward_mode(submission: Any, x: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, Any]:
    """H·v of a function that only supports reverse mode."""
    constants = torch.tensor(a)
    f = lambda x: (constants * _NoForwardMode.apply(x)).sum() + (constants * x).sum() ** 2  # noqa: E731
    return {"H·v": _data(submission.hvp(f, torch.tensor(x), torch.tensor(v)))}
