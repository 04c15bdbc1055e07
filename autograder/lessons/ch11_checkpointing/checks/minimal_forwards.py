"""Checks of minimal_forwards."""

from __future__ import annotations

from math import comb

from autograder.judging import (
    exercise,
)
from autograder.lessons.ch11_checkpointing.checks.integers import check_equal

MOST_STEPS, MOST_SLOTS = 200, 10


@exercise("minimal_forwards")
def test_one_slot(learner, reference, rng):
    """The only slot holds state 0: every step back starts again from there."""
    for n_steps in [3, 2, 1, 4, *rng.integers(5, 60, size=3).tolist()]:
        check_equal("minimal_forwards", learner, reference, n_steps, 1, case="one slot")


@exercise("minimal_forwards")
def test_slots_enough(learner, reference, rng):
    """A slot for each state that is needed, or more: no step is advanced over twice."""
    for n_steps in [2, 3, 1, *rng.integers(4, MOST_SLOTS, size=3).tolist()]:
        for slots, case in [(n_steps, "as many slots as steps"), (n_steps + 1, "more slots than steps")]:
            check_equal("minimal_forwards", learner, reference, n_steps, slots, case=case)


@exercise("minimal_forwards")
def test_two_slots(learner, reference, rng):
    """Where to put the second state, and what to do with its slot afterwards."""
    for n_steps in [3, 4, 5, 6, 7, *rng.integers(8, 17, size=2).tolist(), int(rng.integers(30, 40))]:
        check_equal("minimal_forwards", learner, reference, n_steps, 2, case="two slots")


@exercise("minimal_forwards")
def test_several_slots(learner, reference, rng):
    """3 slots and more, too few for all states."""
    for slots in (3, 4, 5):
        for n_steps in [slots + 1, slots + 2, int(rng.integers(slots + 3, 12)), *rng.integers(30, 50, size=2).tolist()]:
            check_equal("minimal_forwards", learner, reference, n_steps, slots, case=f"{slots} slots")


@exercise("minimal_forwards")
def test_around_the_binomials(learner, reference, rng):
    """C(s + r, s) steps, one less and one more: from there on a step is advanced over once more often."""
    pairs = [(s, r) for s in range(2, MOST_SLOTS) for r in range(2, 18) if 10 < comb(s + r, s) < MOST_STEPS]
    drawn = rng.choice(pairs, size=3, replace=False).tolist()
    for slots, sweeps in [(2, 2), (2, 3), (3, 2), *drawn]:
        middle = comb(slots + sweeps, slots)
        for n_steps in (middle - 1, middle, middle + 1):
            check_equal("minimal_forwards", learner, reference, n_steps, slots, case="near a binomial")


@exercise("minimal_forwards")
def test_long_chains(learner, reference, rng):
    """Up to 200 steps and 10 slots."""
    for slots in (1, 2, int(rng.integers(3, MOST_SLOTS)), MOST_SLOTS):
        n_steps = int(rng.integers(100, MOST_STEPS))
        check_equal("minimal_forwards", learner, reference, n_steps, slots, case="a long chain")
    slots = int(rng.integers(3, MOST_SLOTS))
    check_equal("minimal_forwards", learner, reference, MOST_STEPS, slots, case="the longest chain")
