"""Checks of cross_entropy_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE, agree_on
from autograder.lessons.ch06_vjps.checks.along_an_axis import extreme_logits
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


def agree_cross_entropy(learner, reference, g, logits, targets, case, **tolerance):
    arguments = (learner.cross_entropy_vjp, reference.cross_entropy_vjp, g, logits, targets)
    agree_on(*arguments, names=("dlogits",), case=case, **tolerance)


def scalar(rng):
    """An upstream gradient that is one number, not close to 1 or -1."""
    return float(rng.choice([-1, 1]) * rng.uniform(1.5, 3.0))


@exercise("cross_entropy_vjp")
def test_cross_entropy_of_one_row(learner, reference, rng):
    """g (p − y), where y is 1 at the target and 0 elsewhere."""
    for case, c in {"two classes": 2, "three classes": 3, "many classes": 7}.items():
        for target in (0, c - 1):
            logits = random(rng, (1, c))
            agree_cross_entropy(learner, reference, scalar(rng), logits, np.array([target]), f"one row, {case}")


@exercise("cross_entropy_vjp")
def test_cross_entropy_of_a_batch(learner, reference, rng):
    """The mean over n rows divides every gradient by n."""
    for case, (n, c, targets) in {
        "two rows": (2, 2, [1, 0]),
        "as many rows as classes": (3, 3, [2, 0, 0]),
        "every row of one class": (4, 3, [1, 1, 1, 1]),
        "more rows than classes": (6, 3, [0, 2, 1, 2, 2, 0]),
        "more classes than rows": (2, 5, [4, 3]),
        "one class": (3, 1, [0, 0, 0]),
    }.items():
        logits, targets = random(rng, (n, c)), np.array(targets)
        agree_cross_entropy(learner, reference, scalar(rng), logits, targets, case)
    g, logits, targets = np.asarray(scalar(rng)), random(rng, (5, 4)), rng.integers(4, size=5)
    agree_cross_entropy(learner, reference, g, logits, targets, "g a 0-d array")


@exercise("cross_entropy_vjp")
def test_cross_entropy_of_extreme_logits(learner, reference, rng):
    """Right, not nan, where a probability underflows to 0, the target's own included."""
    for case, logits in extreme_logits(rng).items():
        n, c = logits.shape
        for target in range(c):
            targets = (target + np.arange(n)) % c
            agree_cross_entropy(learner, reference, scalar(rng), logits, targets, case)


@exercise("cross_entropy_vjp")
def test_cross_entropy_dtypes(learner, reference, rng):
    """dlogits has the dtype of the logits, whatever g and the targets have."""
    targets = rng.integers(3, size=4)
    for case, g_dtype in {"float32 logits, g a float64 array": F64, "float32 logits, g a float32 array": F32}.items():
        g, logits = np.asarray(scalar(rng), g_dtype), random(rng, (4, 3), F32)
        agree_cross_entropy(learner, reference, g, logits, targets, case, **SINGLE)
    logits = random(rng, (4, 3), F32)
    agree_cross_entropy(learner, reference, scalar(rng), logits, targets, "float32 logits, g a float", **SINGLE)
    logits, targets = random(rng, (4, 3)), targets.astype(np.int32)
    agree_cross_entropy(learner, reference, scalar(rng), logits, targets, "int32 targets")


@exercise("cross_entropy_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "cross_entropy_vjp", names=("dlogits",))


@exercise("cross_entropy_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "cross_entropy_vjp")
