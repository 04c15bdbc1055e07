"""Checks of fix_08."""

from __future__ import annotations

import numpy as np

from autograder.judging import F64, exercise
from autograder.lessons.ch12_debugging.checks.models import classification, layers
from autograder.lessons.ch12_debugging.checks.programs import rate, run

NO_FLOOR = {"rtol": 0.0, "atol": 3e-6}
"""A floor adds beta times itself per action to the loss, with 1e-6 at least 1.2e-5. Right programs in float32 differ by
less than 1e-6, and log(p + 1e-8) is off by 5e-7."""


def with_forbidden(rng, data, classes, share):
    """(X, allowed, y): each row's right action is allowed, others are forbidden with probability `share`."""
    found = []
    for i, (X, y) in enumerate(data):
        allowed = rng.random((len(X), classes)) >= (share if i else 0.0)
        if i:
            allowed[0] = np.arange(classes) == y[0]  # only one action is allowed, so its probability is 1
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
        last["W"] *= scale  # a confident policy: even some allowed actions have small probabilities
        case = f"{classes} actions, {steps} batches"
        run("one_model", learner, reference, "fix_08", [first, last], data, settings, case=case)


@exercise("fix_08")
def test_no_floor(learner, reference, rng):
    """In float64, where most of the loss is the entropy: a number added to all probabilities shows, a tiny one not."""
    for d, classes, steps in [(2, 3, 1), (3, 8, 6)]:
        data = with_forbidden(rng, classification(rng, 8, d, classes, steps), classes, 0.4)
        data = [(X.astype(F64), allowed, y) for X, allowed, y in data]
        network = [{name: array.astype(F64) for name, array in one.items()} for one in layers(rng, d, 6, classes)]
        settings = float(rng.uniform(4, 6)), rate(rng, 0.05)
        case = f"{classes} actions, {steps} batch{'es' if steps > 1 else ''}, float64"
        run("one_model", learner, reference, "fix_08", network, data, settings, case=case, **NO_FLOOR)
