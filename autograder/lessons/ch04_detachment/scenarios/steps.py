"""Steps of programs, and the values and gradients of a run.

Scenarios return dicts. The key of a bool is the sentence that a learner is told if it is True. Each scenario runs with
gradients switched on, whatever a cell of the submission has set.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from autograder.worker.returned import array, backward, plain

GRADIENTS_OFF = "Gradients were switched off, and still are for all that follows"


def _data(value: Any) -> Any:
    """A tensor as an array, which can be compared; anything else unchanged."""
    value = plain(value)
    return value if isinstance(value, torch.Tensor) and value.dtype == torch.bfloat16 else array(value)


def _backward(output: Any, g: torch.Tensor | None = None) -> None:
    """Run backward if there is a graph; if not, gradients stay None, which checks report."""
    output = plain(output)
    if isinstance(output, torch.Tensor) and output.requires_grad:
        if g is None and math.prod(output.shape) == 1:
            backward(output, torch.ones_like(output))
        elif g is not None and output.shape == g.shape:
            backward(output, g)
