"""Checks of fix_05."""

from __future__ import annotations

from autograder.judging import F32, exercise, random
from autograder.lessons.ch12_debugging.checks.models import classification
from autograder.lessons.ch12_debugging.checks.programs import rate, run


@exercise("fix_05")
def test_fix_05(learner, reference, rng):
    """All layers learn, and all are saved."""
    for n_in, width, depth, steps in [(2, 4, 1, 6), (3, 8, 3, 20)]:
        data = classification(rng, 12, n_in, 3, steps)
        X = random(rng, (5, n_in), F32)
        arguments = int(rng.integers(2**31)), (n_in, 3, width, depth), data, X, rate(rng, 0.4)
        case = f"{depth} hidden layer{'s' * (depth > 1)}, {steps} batches"
        run("built", learner, reference, *arguments, case=case)
