"""Checks of unbroadcast."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise, expect_close


def check_unbroadcast(learner, reference, rng, cases, dtype=np.float64, **tolerance):
    for case, of_g, shape in cases:
        g = rng.normal(size=of_g).astype(dtype)
        got = learner.unbroadcast(g, shape)
        expect_close(got, reference.unbroadcast(g, shape), names=("the gradient",), case=case, **tolerance)


@exercise("unbroadcast")
def test_added_axes(learner, reference, rng):
    """Axes that broadcasting added in front are summed away; where nothing was broadcast, nothing is."""
    cases = [
        ("a number became a vector", (2,), ()),
        ("a vector became a matrix", (2, 3), (3,)),
        ("a square", (3, 3), (3,)),
        ("two axes added", (2, 3, 4), (4,)),
        ("one axis added", (2, 3, 4), (3, 4)),
        ("a number became a matrix", (2, 3), ()),
        ("an axis of size 1 added", (1, 3), (3,)),
        ("nothing broadcast", (2, 3), (2, 3)),
        ("a number", (), ()),
    ]
    check_unbroadcast(learner, reference, rng, cases, **EXACT)


@exercise("unbroadcast")
def test_stretched_axes(learner, reference, rng):
    """Axes that were stretched from size 1 are summed and stay, with size 1."""
    cases = [
        ("one entry stretched", (2,), (1,)),
        ("a row stretched", (2, 3), (1, 3)),
        ("a column stretched", (2, 3), (2, 1)),
        ("a square", (3, 3), (3, 1)),
        ("the middle axis stretched", (2, 3, 4), (2, 1, 4)),
        ("both axes stretched", (2, 3), (1, 1)),
        ("size 1 on both sides", (1, 3), (1, 1)),
        ("nothing stretched", (2, 1), (2, 1)),
    ]
    check_unbroadcast(learner, reference, rng, cases, **EXACT)


@exercise("unbroadcast")
def test_both_at_once(learner, reference, rng):
    """Axes added and axes stretched, and arrays without entries."""
    cases = [
        ("added and stretched", (2, 3), (1,)),
        ("a column in a stack", (2, 3, 4), (3, 1)),
        ("a row in a stack", (2, 3, 4), (1, 4)),
        ("one entry in a stack", (2, 3, 2), (1, 1)),
        ("sizes that repeat", (2, 2, 2, 2), (2, 1)),
        ("stretched to no rows", (0, 3), (1, 3)),
        ("added, no rows", (0, 3), (3,)),
        ("no entries at all", (2, 0), (0,)),
    ]
    check_unbroadcast(learner, reference, rng, cases, **EXACT)


@exercise("unbroadcast")
def test_unbroadcast_in_float32(learner, reference, rng):
    """The gradient has the dtype of g."""
    cases = [("float32", (2, 3), (3,)), ("float32", (2, 3), (2, 1)), ("float32", (2, 3), ())]
    check_unbroadcast(learner, reference, rng, cases, dtype=np.float32, **SINGLE)


@exercise("unbroadcast")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries."""
    for kind in kinds:
        g, shape = kind.drawn["g"], tuple(kind.options["shape"])
        expected, got = (
            reference.unbroadcast(g, shape),
            learner.in_layout(kind.layout_of("g", "")).unbroadcast(g, shape),
        )
        tolerance = kind.tolerance(expected, g)
        expect_close(got, expected, names=("the gradient",), case=kind.label, **tolerance)
