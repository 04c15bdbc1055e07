"""Checks of fix_10."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.checks.models import layers, regression
from autograder.lessons.ch12_debugging.checks.programs import rate, run


@exercise("fix_10")
def test_fix_10(learner, reference, rng):
    """One step for `accumulate` micro-batches is the step of one large batch."""
    for accumulate, steps in [(2, 2), (4, 6), (3, 4)]:
        data = regression(rng, 4, 3, accumulate * steps)
        arguments = layers(rng, 3, 6, 1), data, (accumulate, rate(rng, 0.2))
        run("one_model", learner, reference, "fix_10", *arguments, case=f"accumulate={accumulate}, {steps} steps")
