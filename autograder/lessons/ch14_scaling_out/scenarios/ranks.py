"""Ranks side by side in threads.

Scenarios return dicts. A bool stands under the sentence that a learner is told if it is True: what is wrong.
Each runs with gradients switched on, whatever a cell of the submission did to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course.process_groups import Group, GroupError, in_threads

Arrays = list[np.ndarray]


def _data(value: Any) -> Any:
    """A tensor as an array, so that it can be compared; anything else as it is."""
    return value.detach().numpy().copy() if isinstance(value, Tensor) and value.dtype != torch.bfloat16 else value


def _side_by_side(step: Callable[[Group], Any], size: int) -> list[Any]:
    """What each rank returns; what one of them raises is raised as it is."""
    try:
        return in_threads(step, size)
    except GroupError as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise


def _requires_grad(*values: Any) -> bool:
    return any(isinstance(value, Tensor) and value.requires_grad for value in values)


def _of_ranks(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{key} on rank {rank}": value for rank, of in enumerate(found) for key, value in of.items()}
