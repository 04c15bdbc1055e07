"""Checks of fix_02."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.checks.models import classification, layer, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, run


@exercise("fix_02")
def test_fix_02(learner, reference, rng):
    """The residual network with all of its gradients."""
    for d, depth, steps in [(2, 1, 4), (3, 3, 15)]:
        stack, head = layers(rng, *[d] * (depth + 1)), layer(rng, d, 3)
        arguments = stack, head, classification(rng, 8, d, 3, steps), rate(rng, 0.5)
        case = f"{depth} residual layer{'s' * (depth > 1)}, {steps} batches"
        run("residual", learner, reference, *arguments, case=case)
