"""The reference against PyTorch's autograd in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from autograder.judging import EXACT


def autograd(f: Callable[..., torch.Tensor], g: Any, *inputs: np.ndarray) -> list[np.ndarray]:
    """The gradients that PyTorch finds for each input, with g as the upstream gradient."""
    tensors = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in inputs]
    y = f(*tensors)
    gradients = torch.autograd.grad(y, tensors, grad_outputs=torch.tensor(g, dtype=torch.float64).reshape(y.shape))
    return [gradient.numpy() for gradient in gradients]


def assert_agree(ours: Any, theirs: list[np.ndarray]) -> None:
    ours = ours if isinstance(ours, tuple) else (ours,)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == other.shape
        np.testing.assert_allclose(mine, other, **EXACT)


BROADCAST = [
    ((), ()),
    ((3,), ()),
    ((3,), (4, 3)),
    ((2, 1), (1, 3)),
    ((4, 1, 3), (2, 1)),
    ((5, 1, 4, 1), (3, 1, 2)),
    ((2, 3), (1, 1, 1)),
    ((0, 3), (1, 3)),
]


EXTREME = np.array([[1000.0, 999.0, -1000.0], [-1000.0, -1000.5, -1001.0], [0.5, 0.0, -1000.0]])
