"""Records the calls of all ranks, and detects when they cannot go on."""

from __future__ import annotations

from course.process_groups.group import Call


class Ledger:
    """The calls of all ranks, and which ranks wait in a call or have ended."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.calls: list[list[Call]] = [[] for _ in range(size)]
        self.waiting = [False] * size
        self.ended = [False] * size
        self._agreed = 0
        """The number of calls, from the first on, that all ranks have made alike."""

    def enter(self, rank: int, call: Call) -> None:
        self.calls[rank].append(call)
        self.waiting[rank] = True

    def leave(self, rank: int) -> None:
        self.waiting[rank] = False

    def problem(self) -> str | None:
        """The first call in which ranks differ, or wait for a rank that has ended, in words; None if there is none."""
        for i in range(self._agreed, max(map(len, self.calls))):
            calls = {rank: calls[i] for rank, calls in enumerate(self.calls) if len(calls) > i}
            first, asked = next(iter(calls.items()))
            for rank, call in calls.items():
                if (call.name, call.shape, call.dtype) != (asked.name, asked.shape, asked.dtype):
                    return f"The ranks' calls number {i + 1} differ: rank {first} calls {asked}, rank {rank} {call}."
            gone = [rank for rank in range(self.size) if self.ended[rank] and rank not in calls]
            waiting = [rank for rank in calls if self.waiting[rank] and len(self.calls[rank]) == i + 1]
            if gone and waiting:
                return f"The ranks' calls do not fit: {self.told(waiting[0])}, and {self.told(gone[0])}."
            if len(calls) == self.size:
                self._agreed = i + 1
        return None

    def told(self, rank: int) -> str:
        """The state of a rank in words."""
        n_calls = len(self.calls[rank])
        if self.waiting[rank]:
            return f"rank {rank} waits in its call number {n_calls}, {self.calls[rank][-1]}"
        what = "has ended" if self.ended[rank] else "computes"
        return f"rank {rank} {what} after {n_calls} call{'s' * (n_calls != 1)}"

    def all_told(self) -> str:
        """The states of all ranks in words."""
        return "; ".join(map(self.told, range(self.size)))
