"""The reference of minimal_forwards against something independent."""

from __future__ import annotations

import heapq
import math
from functools import cache
from typing import Any

from autograder.judging import exercise


@cache
def by_recurrence(n: int, s: int) -> int:
    """Advance j steps and store; then the right part with one slot less, then the left part with all slots."""
    if s == 1:
        return n * (n - 1) // 2
    return min((j + by_recurrence(n - j, s - 1) + by_recurrence(j, s) for j in range(1, n)), default=0)


def by_search(n_steps: int, slots: int) -> int:
    """Dijkstra's algorithm over all schedules; a node is (steps left to reverse, current state, stored states)."""
    start: Any = (n_steps, 0, frozenset([0]))
    spent, queue, count = {start: 0}, [(0, 0, start)], 0  # `count` keeps heapq from comparing positions
    while queue:
        cost, _, position = heapq.heappop(queue)
        left, hand, stored = position
        if left == 0:
            return cost
        if cost > spent[position]:
            continue
        moves: list[Any] = [(0, (left, state, stored)) for state in stored]  # load
        if hand is not None:
            if hand + 1 < left:
                moves.append((1, (left, hand + 1, stored)))  # advance without taping
            if hand + 1 == left:
                moves.append((0, (left - 1, None, stored)))  # tape the step and take it back
            if len(stored) < slots:
                moves.append((0, (left, hand, stored | {hand})))
            moves += [(0, (left, hand, stored - {state})) for state in stored]
        for more, following in moves:
            if cost + more < spent.get(following, math.inf):
                spent[following] = cost + more
                count += 1
                heapq.heappush(queue, (cost + more, count, following))
    raise AssertionError("no schedule")


@exercise("minimal_forwards")
def test_forwards_against_the_recurrence(reference):
    """The formula is what the recurrence gives, up to 60 steps and 10 slots, and for the longest chains."""
    for slots in range(1, 11):
        for n_steps in [*range(1, 61), 100, 200]:
            got = reference.minimal_forwards(n_steps, slots)
            assert type(got) is int
            assert got == by_recurrence(n_steps, slots)


@exercise("minimal_forwards")
def test_forwards_against_every_schedule(reference):
    """No schedule whatever does with less, also one that loads, stores and drops states as it likes."""
    for slots in (1, 2, 3, 4):
        for n_steps in range(1, 10):
            assert reference.minimal_forwards(n_steps, slots) == by_search(n_steps, slots)


@exercise("minimal_forwards")
def test_forwards_of_a_million_steps(reference):
    """Exact far beyond what is asked: the bound, met where n is a binomial (Griewank and Walther 2000)."""
    assert reference.minimal_forwards(3, 1) == 3
    for slots, sweeps in [(3, 100), (10, 12), (20, 8)]:
        n_steps = math.comb(slots + sweeps, slots)
        # C(s + r, s) steps: r n − C(s + r, s + 1) is n s r / (s + 1)
        assert reference.minimal_forwards(n_steps, slots) * (slots + 1) == n_steps * slots * sweeps
    assert reference.minimal_forwards(10**6, 10**6) == 10**6 - 1
