"""Ranks in parallel threads.

Scenarios return dicts. The key of a bool is the sentence that a learner is told if it is True. Each scenario runs with
gradients switched on, whatever a cell of the submission has set.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.worker.returned import array, plain
from course.process_groups import Call, Group, GroupError, in_threads

Arrays = list[np.ndarray]


def _data(value: Any) -> Any:
    """A tensor as an array, which can be compared; anything else unchanged."""
    value = plain(value)
    return value if isinstance(value, Tensor) and value.dtype == torch.bfloat16 else array(value)


def _side_by_side(step: Callable[[Group], Any], size: int) -> list[Any]:
    """Each rank's result; an exception of any rank is raised unchanged."""
    try:
        return in_threads(step, size)
    except GroupError as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise


def _showing() -> tuple[type, Callable[[Group], Any]]:
    groups: weakref.WeakKeyDictionary[Any, Group] = weakref.WeakKeyDictionary()

    class Shown:
        """A rank's group as a submission sees it; its `calls` are a copy, so that the group's own cannot be changed."""

        def __init__(self, group: Group) -> None:
            self.rank, self.size = group.rank, group.size

        @property
        def calls(self) -> list[Call]:
            return list(groups[self].calls)

        def all_reduce(self, tensor: Tensor) -> None:
            groups[self].all_reduce(tensor)

        def all_gather(self, tensor: Tensor) -> list[Tensor]:
            return groups[self].all_gather(tensor)

        def reduce_scatter(self, tensors: Sequence[Tensor]) -> Tensor:
            return groups[self].reduce_scatter(tensors)

    def shown(group: Group) -> Any:
        made = Shown(group)
        groups[made] = group
        return made

    return Shown, shown


_Shown, _shown = _showing()


def _requires_grad(*values: Any) -> bool:
    return any(isinstance(value, Tensor) and value.requires_grad for value in values)


def _of_ranks(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{key} on rank {rank}": value for rank, of in enumerate(found) for key, value in of.items()}
