"""The reference of plan_by_seconds against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


def least_times(reads, needed, sizes, times):
    """For each of the 2ⁿ plans, as a bit mask: its bytes, and the time that it adds.

    What is missing is spread from readers to what they read until nothing changes, for all plans at once.
    """
    n = len(reads)
    keep = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    uses = np.zeros((n, n), dtype=int)
    for i, sources in enumerate(reads):
        uses[i, sources] = 1
    missing = ~keep & np.asarray(needed, dtype=bool)
    for _ in range(n):
        missing |= ~keep & (missing.astype(int) @ uses > 0)
    return keep @ np.asarray(sizes, dtype=int), missing @ np.asarray(times, dtype=int)


@exercise("plan_by_seconds")
def test_plan_by_seconds_against_all_plans(reference, rng):
    """The plan fits, and no other that fits adds less."""
    beyond_needed = 0
    for _ in range(300):
        n = int(rng.integers(0, 9))
        reads = [[j for j in range(i) if rng.random() < 0.4] for i in range(n)]
        needed = (rng.random(n) < 0.6).tolist()
        sizes, times = (rng.integers(0, int(rng.integers(2, 20)), size=n).tolist() for _ in range(2))
        budget = int(rng.integers(0, sum(sizes) + 2))
        plan = reference.plan_by_seconds(reads, needed, sizes, times, budget)
        held, added = least_times(reads, needed, sizes, times)
        mask = sum(1 << i for i in plan)
        assert plan == sorted(set(plan))
        assert held[mask] <= budget
        assert added[mask] == added[held <= budget].min()
        only_needed = [not any(mask >> i & 1 and not needed[i] for i in range(n)) for mask in range(2**n)]
        beyond_needed += added[mask] < added[(held <= budget) & only_needed].min()
    assert beyond_needed > 5
