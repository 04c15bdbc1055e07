"""Checks of fix_03."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.checks.models import classification, layer, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, run


@exercise("fix_03")
def test_fix_03(learner, reference, rng):
    """Encoder and head learn, both."""
    for widths, steps in [((2, 3), 5), ((4, 8, 6), 20)]:
        encoder, head = layers(rng, *widths), layer(rng, widths[-1], 3)
        arguments = encoder, head, classification(rng, 12, widths[0], 3, steps), rate(rng, 0.5)
        case = f"an encoder of {len(encoder)} layer{'s' * (len(encoder) > 1)}, {steps} batches"
        run("encoder_and_head", learner, reference, *arguments, case=case)
