"""Checks of fix_09."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.checks.models import classification, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, run


@exercise("fix_09")
def test_fix_09(learner, reference, rng):
    """The model as it is used: in eval mode. And the next epoch in train mode."""
    for n, n_val, count in [(4, 5, 2), (8, 12, 4), (6, 1, 3)]:
        data, ((X, y),) = classification(rng, n, 3, 3, 3), classification(rng, n_val, 3, 3, 1)
        settings = count, rate(rng, 0.2)
        arguments = int(rng.integers(2**31)), layers(rng, 3, 8, 3), 0.4, data, [X, y], *settings
        points = f"{n_val} point{'s' * (n_val > 1)} in the validation set"
        run("epochs", learner, reference, *arguments, case=f"{count} epochs, {points}")
