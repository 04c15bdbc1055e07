"""Checks of fix_07."""

from __future__ import annotations

from autograder.judging import F32, exercise, random
from autograder.lessons.ch12_debugging.checks.models import classification, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, run


@exercise("fix_07")
def test_fix_07(learner, reference, rng):
    """The cross-entropy of the logits; probabilities for new points."""
    for d, classes, steps in [(2, 2, 5), (3, 4, 20)]:
        data = classification(rng, 12, d, classes, steps)
        arguments = layers(rng, d, 8, classes), data, random(rng, (4, d), F32), rate(rng, 0.5)
        run("probabilities", learner, reference, *arguments, case=f"{classes} classes, {steps} batches")
