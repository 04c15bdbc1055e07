"""Ranks as threads of one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor

from course.process_groups.group import Call, Group, GroupError, raised
from course.process_groups.ledger import Ledger

Result = TypeVar("Result")


class _Stopped(BaseException):
    """Ends a rank that waits in vain. A `BaseException`, so that no `except Exception` in its code catches it."""


class _Meeting:
    """Where the threads exchange tensors, call by call."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.ledger = Ledger(size)
        self.problem: str | None = None
        """Why no rank may go on: None while they may, "" if the ranks' exceptions explain it."""
        self._changed = threading.Condition()
        self._brought: dict[int, list[list[Tensor]]] = {}

    def exchange(self, rank: int, call: Call, tensors: list[Tensor]) -> list[list[Tensor]]:
        """Contribute tensors to this rank's current call, wait for the other ranks, and return all contributions."""
        with self._changed:
            number = len(self.ledger.calls[rank])
            self.ledger.enter(rank, call)
            brought = self._brought.setdefault(number, [[] for _ in range(self.size)])
            brought[rank] = tensors
            self._look()
            while self.problem is None and not all(brought):
                self._changed.wait()
            if self.problem is not None:
                raise _Stopped
            self.ledger.leave(rank)
            self._brought.pop(number, None)  # ranks that have not returned yet hold the list
            return brought

    def end(self, rank: int) -> None:
        """Record that a rank has returned."""
        with self._changed:
            self.ledger.ended[rank] = True
            self._look()

    def stop(self) -> None:
        """Stop all ranks that wait or will wait."""
        with self._changed:
            if self.problem is None:
                self.problem = ""
            self._changed.notify_all()

    def _look(self) -> None:
        if self.problem is None:
            self.problem = self.ledger.problem()
        self._changed.notify_all()


class _ThreadGroup(Group):
    def __init__(self, rank: int, meeting: _Meeting) -> None:
        super().__init__(rank, meeting.size)
        self._meeting = meeting

    def _enter(self, call: Call) -> None:
        """The meeting records the call."""

    def _leave(self) -> None:
        """The meeting records the call."""

    def _all_reduce(self, tensor: Tensor) -> Tensor:
        brought = self._meeting.exchange(self.rank, self.calls[-1], [tensor])
        return _sum([one for (one,) in brought])

    def _all_gather(self, tensor: Tensor) -> list[Tensor]:
        brought = self._meeting.exchange(self.rank, self.calls[-1], [tensor])
        return [one.clone() for (one,) in brought]

    def _reduce_scatter(self, tensors: list[Tensor]) -> Tensor:
        brought = self._meeting.exchange(self.rank, self.calls[-1], tensors)
        return _sum([theirs[self.rank] for theirs in brought])


def _sum(tensors: list[Tensor]) -> Tensor:
    """The sum, added in rank order, so that all ranks get the same bits."""
    total = tensors[0].clone()
    for tensor in tensors[1:]:
        total += tensor
    return total


def in_threads(function: Callable[[Group], Result], size: int = 2, *, timeout: float = 60.0) -> list[Result]:
    """Run `function(group)` for each of `size` ranks in threads of this process; return the results in rank order.

    Sums are deterministic, added in rank order. Gradients are enabled in the ranks if they are enabled here. The ranks
    share memory, so they see each other's in-place changes. They also share PyTorch's random state, in which the order
    of draws is not deterministic: give each rank its own `torch.Generator`.

    Raises:
        GroupError: a rank raised (its exception is the cause), the ranks' calls do not match, or `timeout` seconds are
            over. A rank that is still computing then goes on in its thread, because Python cannot stop it.
    """
    meeting = _Meeting(size)
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}
    with_gradients = torch.is_grad_enabled()

    def run(rank: int) -> None:
        torch.set_grad_enabled(with_gradients)  # the mode is per thread
        try:
            results[rank] = function(_ThreadGroup(rank, meeting))
        except _Stopped:
            pass
        except BaseException as error:
            errors[rank] = error
            meeting.stop()
        else:
            meeting.end(rank)

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    deadline = time.monotonic() + timeout
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            raise GroupError(f"After {timeout:g} seconds {meeting.ledger.all_told()}.")
    finally:
        meeting.stop()
    for rank in sorted(errors):
        raise GroupError(raised(rank, errors[rank])) from errors[rank]
    if meeting.problem:
        raise GroupError(meeting.problem)
    return [results[rank] for rank in range(size)]
