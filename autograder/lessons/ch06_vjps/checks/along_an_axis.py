"""Checks that softmax and similar rules along an axis share."""

from __future__ import annotations

import numpy as np

from autograder.judging import F64, random
from autograder.lessons.ch06_vjps.checks.agreement import DTYPES, SINGLE, agree_on

OTHER_AXES = {
    "the first axis": ((3, 2), 0),
    "the first axis of a square x": ((3, 3), 0),
    "the first axis, counted from the end": ((3, 3), -2),
    "the last axis by its number": ((3, 3), 1),
    "the middle axis": ((2, 3, 4), 1),
    "the middle axis of a cube": ((3, 3, 3), -2),
    "the first of three axes": ((4, 2, 3), 0),
}


def extreme_logits(rng):
    """Logits around ±1000 for which more than one entry still has a nonzero probability."""
    near = rng.uniform(0.2, 1.5, size=8)
    return {
        "two logits near 1000": np.array([[1000.0, 1000.0 - near[0]]]),
        "logits near -1000": np.array([[-1000.0, -1000.0 - near[1], -1000.0 + near[2]]]),
        "logits of ±1000": np.array([[1000.0, -1000.0, 1000.0 + near[3]], [-1000.0, 0.0, near[4]]]),
        "rows that are 2000 apart": np.array([[1000.0, 1000.0 + near[5]], [-1000.0, -1000.0 - near[6]]]),
        "a row where one logit wins, and a plain one": np.array([[1000.0, -1000.0, 0.0], [near[6], -near[7], 0.0]]),
    }


def agree_along(learner, reference, rng, name, x, case, axis=None, dtype=F64, **tolerance):
    """Expect the reference's dx along `axis`; None: do not pass it, so that the default, -1, is used.

    For logsumexp, g lacks the axis.
    """
    shape = x.sum(axis=-1 if axis is None else axis).shape if name == "logsumexp_vjp" else x.shape
    arguments = (random(rng, shape, dtype), x) if axis is None else (random(rng, shape, dtype), x, axis)
    agree_on(getattr(learner, name), getattr(reference, name), *arguments, names=("dx",), case=case, **tolerance)


def check_rows(learner, reference, rng, name):
    """Along the last axis by default."""
    for case, shape in {
        "two entries": (2,),
        "one row": (1, 3),
        "a square x": (3, 3),
        "rows": (4, 5),
        "an axis of size 1": (3, 1),
    }.items():
        agree_along(learner, reference, rng, name, random(rng, shape), case)
    agree_along(learner, reference, rng, name, np.full((2, 4), rng.normal()), "equal entries")


def check_other_axes(learner, reference, rng, name):
    """Along the axis that was given, wherever it is."""
    for case, (shape, axis) in OTHER_AXES.items():
        agree_along(learner, reference, rng, name, random(rng, shape), case, axis)


def check_extreme_entries(learner, reference, rng, name):
    """Right, not nan, for entries of ±1000."""
    for case, x in extreme_logits(rng).items():
        agree_along(learner, reference, rng, name, x, case, -1)


def check_dtypes_along_an_axis(learner, reference, rng, name):
    """dx has the dtype of x."""
    for case, (g_dtype, x_dtype) in DTYPES.items():
        agree_along(learner, reference, rng, name, random(rng, (2, 3), x_dtype), case, -1, g_dtype, **SINGLE)
