"""Checks of fix_08."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise
from autograder.lessons.ch12_debugging.checks.models import classification, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, run


def with_forbidden(rng, data, classes, share):
    """(X, allowed, y): the right action of each row is allowed, others with this probability not."""
    found = []
    for i, (X, y) in enumerate(data):
        allowed = rng.random((len(X), classes)) >= (share if i else 0.0)
        if i:
            allowed[0] = np.arange(classes) == y[0]  # one action is left: its probability is 1
        allowed[np.arange(len(X)), y] = True
        found.append((X, allowed, y))
    return found


@exercise("fix_08")
def test_fix_08(learner, reference, rng):
    """Batches with and without forbidden actions."""
    for d, classes, steps, scale in [(2, 3, 4, 1), (3, 5, 15, 1), (3, 6, 6, 5)]:
        data = with_forbidden(rng, classification(rng, 8, d, classes, steps), classes, 0.4)
        settings = float(rng.uniform(0.2, 0.6)), rate(rng, 0.3)
        first, last = layers(rng, d, 6, classes)
        last["W"] *= scale  # decided: probabilities of allowed actions are small, too
        case = f"{classes} actions, {steps} batches"
        run("one_model", learner, reference, "fix_08", [first, last], data, settings, case=case)
