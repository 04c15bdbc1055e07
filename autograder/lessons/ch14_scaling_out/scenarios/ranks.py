"""Ranks in parallel threads.

Scenarios return dicts. The key of a bool is the sentence that a learner is told if it is True. Each scenario runs with
gradients switched on, whatever a cell of the submission has set.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.worker.layout import ROWS, laid_out
from autograder.worker.returned import array, plain
from course.process_groups import Call, Group, GroupError, in_threads

Arrays = list[np.ndarray]


def _data(value: Any) -> Any:
    """A tensor as an array, which can be compared; anything else unchanged."""
    value = plain(value)
    return value if isinstance(value, Tensor) and value.dtype == torch.bfloat16 else array(value)


def _tensor(array: np.ndarray, layout: str = ROWS) -> Tensor:
    """A tensor of an array's values that lies in memory in this way."""
    values = torch.tensor(np.array(array))
    return laid_out(values.new_empty(values.shape).copy_(values), layout)  # NumPy's empty arrays have strides of 0


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


class _Through(Group):
    """A rank's group, and what a scenario does on the way to it."""

    def __init__(self, group: Group) -> None:
        super().__init__(group.rank, group.size)
        self._group = group

    def _enter(self, call: Call) -> None:
        """The group records the call."""

    def _leave(self) -> None:
        """The group records the call."""

    def _all_reduce(self, tensor: Tensor) -> Tensor:
        self._group.all_reduce(tensor)
        return tensor

    def _all_gather(self, tensor: Tensor) -> list[Tensor]:
        return self._group.all_gather(tensor)

    def _reduce_scatter(self, tensors: list[Tensor]) -> Tensor:
        return self._group.reduce_scatter(tensors)


class _Noticed(_Through):
    """Sets an event as soon as the rank calls a collective."""

    def __init__(self, group: Group, called: threading.Event) -> None:
        super().__init__(group)
        self._called = called

    def _enter(self, call: Call) -> None:
        self._called.set()


class _Weighing(_Through):
    """Multiplies what the rank sends, entry by entry, by numbers that `seed` draws.

    A result that did not come through the messages is then another one. What a rank sends itself by `all_gather` comes
    back as it was, since it may as well keep it.
    """

    def __init__(self, group: Group, seed: int) -> None:
        super().__init__(group)
        self._seed = seed

    def _weighed(self, tensors: list[Tensor]) -> list[Tensor]:
        draw = torch.Generator().manual_seed(self._seed + 1000 * self.rank + len(self.calls))
        return [
            tensor * (0.5 + torch.rand(tensor.shape, generator=draw)).to(tensor.dtype)
            if tensor.is_floating_point()
            else tensor
            for tensor in tensors
        ]

    def _all_reduce(self, tensor: Tensor) -> Tensor:
        return super()._all_reduce(*self._weighed([tensor]))

    def _all_gather(self, tensor: Tensor) -> list[Tensor]:
        gathered = super()._all_gather(*self._weighed([tensor]))
        gathered[self.rank] = tensor
        return gathered

    def _reduce_scatter(self, tensors: list[Tensor]) -> Tensor:
        return super()._reduce_scatter(self._weighed(tensors))


def _requires_grad(*values: Any) -> bool:
    return any(isinstance(value, Tensor) and value.requires_grad for value in values)


def _of_ranks(found: list[dict[str, Any]]) -> dict[str, Any]:
    return {f"{key} on rank {rank}": value for rank, of in enumerate(found) for key, value in of.items()}


def _of_ranks_with_sentences(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The same, with each sentence once: it is true where it is of a rank."""
    told = [key for key, value in found[0].items() if isinstance(value, bool)]
    values = [{key: value for key, value in of.items() if key not in told} for of in found]
    return {key: any(of[key] for of in found) for key in told} | _of_ranks(values)


def _at_once(step: Callable[[int, Group], Any], size: int) -> list[list[Any]]:
    """The ranks' results of two groups that run at the same time: `step` gets the group's number, 0 or 1, as well.

    One rank of each number begins, from the two groups in turn; the others follow when each of these waits in a
    collective or has ended. An answer that reads another rank's data from memory that the threads share then gets the
    data of the other group.
    """
    begun = [threading.Event() for _ in range(size)]

    def run(number: int, group: Group) -> Any:
        if group.rank % 2 != number:
            for event in begun:
                event.wait(10)
            return step(number, _shown(group))
        try:
            return step(number, _shown(_Noticed(group, begun[group.rank])))
        finally:
            begun[group.rank].set()

    with ThreadPoolExecutor(2) as both:
        return list(both.map(lambda number: _side_by_side(partial(run, number), size), range(2)))
