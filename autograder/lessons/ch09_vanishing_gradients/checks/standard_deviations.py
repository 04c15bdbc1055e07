"""Checks that both standard deviations share."""

from __future__ import annotations

from autograder.judging import expect_close
from autograder.lessons.ch09_vanishing_gradients.checks.tolerances import EXACT


def check_std(function, known, *fans, case):
    got, expected = (who(*fans) for who in (function, known))
    expect_close(got, expected, names=(case.split(" of ")[0],), case=case, **EXACT)


def fan(rng, low=3, high=500):
    return int(rng.integers(low, high))
