"""Leaves, layers and results.

Scenarios return dicts. The key of a bool is the sentence that a learner is told if it is True. Each scenario runs with
gradients switched on, whatever a cell of the submission has set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.worker.returned import array, backward

NO_GRAPH = "The result has no graph, so no gradient flows back"
NO_TENSOR = "The result is no tensor"


def _data(value: Any) -> Any:
    """A tensor as an array, which can be compared; anything else unchanged."""
    return array(value)


def _leaf(array: np.ndarray, wanted: bool = True) -> Tensor:
    return torch.tensor(array, requires_grad=wanted)


def _parameter(array: np.ndarray) -> nn.Parameter:
    return nn.Parameter(torch.tensor(array))


def _passes() -> tuple[Callable[[], AbstractContextManager[None]], Callable[[], bool]]:
    running = 0

    @contextmanager
    def backward_pass() -> Iterator[None]:
        """What runs inside runs in a backward pass of the scenario."""
        nonlocal running
        running += 1
        try:
            yield
        finally:
            running -= 1

    return backward_pass, lambda: running > 0


_backward_pass, _in_backward = _passes()
"""Marks a scenario's backward passes, and tells whether one is running.

PyTorch's engine cannot tell: a submission can start a backward pass of its own in the forward pass.
"""


def _backward(output: Any, g: Any) -> None:
    """Run backward if there is a graph; if not, gradients stay None, which checks report."""
    upstream = torch.as_tensor(g)
    if isinstance(output, Tensor) and output.requires_grad and output.shape == upstream.shape:
        with _backward_pass():
            backward(output, upstream)


def _of_result(y: Any) -> dict[str, bool]:
    return {NO_TENSOR: not isinstance(y, Tensor), NO_GRAPH: isinstance(y, Tensor) and not y.requires_grad}


class Layer(nn.Module):
    """tanh(x W + b), perhaps with dropout."""

    def __init__(self, W: np.ndarray, b: np.ndarray, dropout: float = 0.0) -> None:
        super().__init__()
        self.W, self.b = _parameter(W), _parameter(b)
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        out = torch.tanh(x @ self.W + self.b)
        return F.dropout(out, self.dropout, self.training) if self.dropout else out


def _gradients(leaves: Iterable[Tensor]) -> list[Tensor]:
    return [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad.clone() for leaf in leaves]
