"""Checks of fix_04."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.checks.models import classification, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, run


@exercise("fix_04")
def test_fix_04(learner, reference, rng):
    """The model learns, and the validation loss is noted after each step."""
    for widths, steps in [((2, 3), 4), ((3, 8, 3), 15)]:
        *data, validation = classification(rng, 10, widths[0], 3, steps + 1)
        arguments = layers(rng, *widths), data, list(validation), rate(rng, 0.5)
        case = f"{len(widths) - 1} layer{'s' * (len(widths) > 2)}, {steps} batches"
        run("validated", learner, reference, *arguments, case=case)
