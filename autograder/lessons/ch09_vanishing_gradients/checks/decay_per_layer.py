"""Checks of decay_per_layer."""

from __future__ import annotations

import math
import sys

import numpy as np

from autograder.judging import exercise, expect_close, expect_raises
from autograder.lessons.ch09_vanishing_gradients.checks.tolerances import EXACT


def check_decay(learner, reference, norms, case):
    got, expected = (who.decay_per_layer(norms) for who in (learner, reference))
    expect_close(got, expected, names=("decay_per_layer",), case=case, **EXACT)


def some_norms(rng, n, factor=1.0, last=1.0):
    """n norms that change by about `factor` from each layer to the one before."""
    exponents = math.log10(last) + math.log10(factor) * np.arange(n)[::-1] + rng.uniform(-0.3, 0.3, size=n)
    return [10.0 ** float(exponent) for exponent in exponents]


@exercise("decay_per_layer")
def test_ratios(learner, reference, rng):
    """The geometric mean of norms[i] / norms[i + 1]."""
    for case, n, factor in [
        ("two layers, vanishing", 2, 0.1),
        ("three layers, vanishing", 3, 0.2),
        ("three layers, exploding", 3, 5.0),
        ("five layers", 5, 1.0),
        ("30 layers, 0.14 per layer", 30, 0.14),
        ("30 layers, 1.2 per layer", 30, 1.2),
    ]:
        check_decay(learner, reference, some_norms(rng, n, factor), case)


@exercise("decay_per_layer")
def test_equal_norms(learner, reference, rng):
    """Where nothing changes the factor is 1; a list that goes down and up is no other than its ends."""
    norm = float(rng.uniform(0.5, 5))
    check_decay(learner, reference, [norm, norm * float(rng.uniform(1.2, 3))], "two norms")
    check_decay(learner, reference, [norm] * 4, "four equal norms")
    check_decay(learner, reference, [norm, 1e-6, 1e6, norm], "equal ends, large and small norms between them")


@exercise("decay_per_layer")
def test_quotients_that_are_no_floats(learner, reference, rng):
    """The first norm over the last underflows to 0 or overflows; the factor per layer is an ordinary number."""
    for case, n, factor, last in [
        ("norms down to 1e-27", 31, 0.13, 0.05),
        ("from 1e-200 to 1e200, eleven layers", 11, 1e-40, 1e200),
        ("from 1e200 to 1e-200, eleven layers", 11, 1e40, 1e-200),
    ]:
        check_decay(learner, reference, some_norms(rng, n, factor, last), case)


@exercise("decay_per_layer")
def test_smallest_and_largest_floats(learner, reference, rng):
    """Any positive float is a norm: denormal ones, and the largest of all."""
    smallest, largest = math.ulp(0.0), sys.float_info.max
    a, b, c = (int(number) for number in rng.choice(np.arange(2, 20), size=3, replace=False))
    between = some_norms(rng, 9, 1e-60, 1e240)
    check_decay(learner, reference, [a * smallest, b * smallest, c * smallest], "three denormal norms")
    check_decay(learner, reference, [largest / a, largest / b, largest], "three norms near the largest float")
    check_decay(learner, reference, [a * smallest, *between, largest], "from a denormal norm to the largest float")
    check_decay(learner, reference, [largest, *between[::-1], smallest], "from the largest float to the smallest")


@exercise("decay_per_layer", promise="instrumented")
def test_norms_without_a_ratio(learner, reference, rng):
    """Fewer than two norms, a zero, a nan, an inf, a negative number."""
    a, b, c = some_norms(rng, 3)
    check_decay(learner, reference, [a, b, c], "three positive norms")
    for case, norms in [
        ("the first norm is 0", [0.0, a, b]),
        ("the last norm is 0", [a, b, 0.0]),
        ("a norm between is 0", [a, 0.0, b]),
        ("all norms are 0", [0.0, 0.0]),
        ("a single norm", [a]),
        ("no norms", []),
        ("a norm is nan", [a, math.nan, b]),
        ("the first norm is nan", [math.nan, a]),
        ("the last norm is inf", [a, b, math.inf]),
        ("the first norm is inf", [math.inf, a, b]),
        ("a norm is negative", [a, -b, c]),
        ("two norms are negative", [-a, b, -c]),
    ]:
        expect_raises(ValueError, learner.decay_per_layer, norms, case=case)
