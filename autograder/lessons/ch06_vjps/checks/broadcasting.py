"""Checks that all rules for broadcasting operations share."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, random
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE, agree_on


def elementwise(rng, a_shape, b_shape, dtypes=(F64, F64, F64)):
    """g, a and b for a broadcasting operation."""
    shape = np.broadcast_shapes(a_shape, b_shape)
    return tuple(random(rng, s, dtype) for s, dtype in zip((shape, a_shape, b_shape), dtypes, strict=True))


STRETCHED = {
    "b stretched from one entry": ((3,), (1,)),
    "a stretched from one entry": ((1,), (3,)),
    "b a column": ((2, 3), (2, 1)),
    "a a row of shape (1, n)": ((1, 3), (2, 3)),
    "b a column, square a": ((3, 3), (3, 1)),
    "a a row, square b": ((1, 3), (3, 3)),
    "a stretched along its middle axis": ((2, 1, 4), (2, 3, 4)),
    "b stretched along its first and last axis": ((2, 3, 4), (1, 3, 1)),
    "size-1 axes on both sides": ((2, 1, 3), (1, 1, 3)),
}
LEADING = {
    "b a 0-d array": ((3,), ()),
    "a a 0-d array": ((), (2, 3)),
    "a lacks the leading axis": ((3,), (4, 3)),
    "b lacks the leading axis of a square a": ((3, 3), (3,)),
    "a lacks two leading axes": ((2,), (3, 4, 2)),
    "b has an extra leading axis of size 1": ((3,), (1, 3)),
    "a has extra leading axes of size 1": ((1, 1, 2), (3, 2)),
    "b lacks the leading axis and is stretched": ((2, 3, 4), (3, 1)),
}
BOTH = {
    "a column and a row": ((2, 1), (1, 3)),
    "a square column and row": ((3, 1), (1, 3)),
    "a column and a vector": ((2, 1), (3,)),
    "both stretched, on different axes": ((4, 1, 3), (2, 1)),
    "both stretched twice": ((5, 1, 4, 1), (3, 1, 2)),
    "an empty batch": ((0, 3), (1, 3)),
    "an empty axis and a vector": ((2, 0, 3), (3,)),
}
OPERAND_DTYPES = {
    "float32 throughout": (F32, F32, F32),
    "float32 operands and a float64 g": (F64, F32, F32),
    "a float32, b float64": (F64, F32, F64),
    "a float64, b float32": (F64, F64, F32),
}


def agree_elementwise(learner, reference, rng, name, shapes, dtypes=(F64, F64, F64), **tolerance):
    mine, theirs = getattr(learner, name), getattr(reference, name)
    for case, (a_shape, b_shape) in shapes.items():
        agree_on(mine, theirs, *elementwise(rng, a_shape, b_shape, dtypes), names=("da", "db"), case=case, **tolerance)


def check_stretched_axes(learner, reference, rng, name):
    """The gradient is summed over an axis of size 1 that was stretched, and the axis stays."""
    agree_elementwise(learner, reference, rng, name, STRETCHED)


def check_leading_axes(learner, reference, rng, name):
    """Axes that an operand lacks are summed away, scalars included."""
    agree_elementwise(learner, reference, rng, name, LEADING)


def check_both_broadcast(learner, reference, rng, name):
    """Both operands are stretched, each along its own axes; empty arrays."""
    agree_elementwise(learner, reference, rng, name, BOTH)


def check_operand_dtypes(learner, reference, rng, name):
    """Each gradient has the dtype of its operand."""
    for case, dtypes in OPERAND_DTYPES.items():
        agree_elementwise(learner, reference, rng, name, {case: ((3, 2), (2,))}, dtypes, **SINGLE)
