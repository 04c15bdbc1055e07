"""Checks of he_std."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch09_vanishing_gradients.checks.standard_deviations import check_std, fan


@exercise("he_std")
def test_he(learner, reference, rng):
    """sqrt(2 / fan_in)."""
    for case, fan_in in [
        ("he_std of some inputs", fan(rng, 3, 9)),
        ("he_std of many inputs", fan(rng, 20, 500)),
        ("he_std of very many inputs", fan(rng, 10**6, 10**7)),
    ]:
        check_std(learner.he_std, reference.he_std, fan_in, case=case)


@exercise("he_std")
def test_he_of_few_inputs(learner, reference, rng):
    """One input gives sqrt(2), two give 1; and how it goes on."""
    for case, fan_in in [
        ("he_std of one input", 1),
        ("he_std of two inputs", 2),
        ("he_std of three inputs", 3),
        ("he_std of more inputs", fan(rng, 4, 10**6)),
    ]:
        check_std(learner.he_std, reference.he_std, fan_in, case=case)
