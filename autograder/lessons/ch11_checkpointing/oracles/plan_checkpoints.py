"""The reference of plan_checkpoints against something independent."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.judging import exercise


def least_cost(costs, sizes, budget):
    """The minimal cost of all plans that fit, enumerated as bit masks in NumPy; inf if none fits."""
    n = len(costs)
    keep = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    run = largest = np.zeros(2**n)
    for kept, size in zip(keep.T, sizes, strict=True):
        run = np.where(kept, 0, run + size)
        largest = np.maximum(largest, run)
    memory = keep @ np.asarray(sizes, dtype=float) + largest
    return np.where(memory <= budget, ~keep @ np.asarray(costs, dtype=float), np.inf).min()


def needs(plan, sizes):
    """The memory of a plan, computed by splitting a text of kept and other layers."""
    marks = "".join("|" if i in plan else chr(ord("a") + i) for i in range(len(sizes)))
    runs = [sum(sizes[ord(letter) - ord("a")] for letter in run) for run in marks.split("|")]
    return sum(sizes[i] for i in plan) + max(runs)


@exercise("plan_checkpoints")
def test_plan_against_brute_force(reference, rng):
    """The plan fits, and none of the 2ⁿ costs less; where none fits a ValueError is raised."""
    seen = {"fits": 0, "nothing fits": 0}
    for _ in range(300):
        n = int(rng.integers(0, 10))
        costs, sizes = (rng.integers(0, int(rng.integers(2, 20)), size=n) for _ in range(2))
        scale = 1 if rng.random() < 0.7 else 8
        costs, sizes = (costs / scale).tolist(), (sizes / scale).tolist()
        budget = float(rng.integers(0, 8 * sum(sizes) + 9)) / 8
        least = least_cost(costs, sizes, budget)
        if np.isinf(least):
            seen["nothing fits"] += 1
            with pytest.raises(ValueError, match="fits"):
                reference.implementations["plan_checkpoints"](costs, sizes, budget)
            continue
        seen["fits"] += 1
        plan = reference.plan_checkpoints(costs, sizes, budget)
        assert plan == sorted(set(plan))
        assert all(0 <= i < n for i in plan)
        assert needs(plan, sizes) <= budget
        assert sum(cost for i, cost in enumerate(costs) if i not in plan) == least
    assert min(seen.values()) > 30


@exercise("plan_checkpoints")
def test_plan_of_twelve_layers(reference, rng):
    for _ in range(10):
        costs, sizes = (rng.integers(1, 30, size=12).tolist() for _ in range(2))
        budget = int(rng.integers(sum(sizes) // 2, sum(sizes)))
        plan = reference.plan_checkpoints(costs, sizes, budget)
        assert needs(plan, sizes) <= budget
        assert sum(cost for i, cost in enumerate(costs) if i not in plan) == least_cost(costs, sizes, budget)


@exercise("plan_checkpoints")
def test_plan_of_equal_layers_against_the_segment_model(reference):
    """32 equal layers: k kept leave runs of ⌈(32 − k) / (k + 1)⌉, so the least room is that of k kept, minimised."""
    n = 32
    rooms = [k + -(-(n - k) // (k + 1)) for k in range(n + 1)]
    plan = reference.plan_checkpoints([1] * n, [1] * n, min(rooms))
    assert needs(plan, [1] * n) == min(rooms)
    assert len(plan) == max(k for k, room in enumerate(rooms) if room == min(rooms))
    with pytest.raises(ValueError, match="fits"):
        reference.implementations["plan_checkpoints"]([1] * n, [1] * n, min(rooms) - 1)
