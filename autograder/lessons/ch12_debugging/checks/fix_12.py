"""Checks of fix_12."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.checks.models import layers, regression
from autograder.lessons.ch12_debugging.checks.programs import rate, run


def with_an_outlier(rng, data):
    """The data with one value of an early batch, in X or y, a thousand times too large."""
    i, which = int(rng.integers(1, len(data) - 1)), int(rng.integers(2))
    arrays = [array.copy() for array in data[i]]
    arrays[which][int(rng.integers(len(arrays[which]))), 0] = 1e3 * rng.choice([-3, 3])
    return [*data[:i], tuple(arrays), *data[i + 1 :]]


@exercise("fix_12")
def test_fix_12(learner, reference, rng):
    """Steps with the common norm of all gradients bounded, and the others as they were."""
    for n, d, steps in [(4, 2, 5), (12, 3, 20)]:
        data = with_an_outlier(rng, regression(rng, n, d, steps))
        settings = float(rng.uniform(0.3, 0.6)), rate(rng, 0.1)
        arguments = layers(rng, d, 6, 1), data, settings
        run("one_model", learner, reference, "fix_12", *arguments, case=f"{steps} batches of {n}")
