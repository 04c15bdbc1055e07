"""Checks of xavier_std."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch09_vanishing_gradients.checks.standard_deviations import check_std, fan


@exercise("xavier_std")
def test_xavier_of_rectangular_layers(learner, reference, rng):
    """sqrt(2 / (fan_in + fan_out)); both fans count."""
    for case, fan_in, fan_out in [
        ("xavier_std of a wide layer", fan(rng, 3, 9), fan(rng, 20, 90)),
        ("xavier_std of a narrow layer", fan(rng, 20, 90), fan(rng, 3, 9)),
        ("xavier_std of an odd number of fans", 2 * fan(rng, 2, 5), 2 * fan(rng, 2, 5) + 1),
        ("xavier_std of large fans", fan(rng, 10**5, 10**6), fan(rng, 10**6, 10**7)),
    ]:
        check_std(learner.xavier_std, reference.xavier_std, fan_in, fan_out, case=case)


@exercise("xavier_std")
def test_xavier_of_small_and_square_layers(learner, reference, rng):
    """One input and one output give 1."""
    fan_in = fan(rng, 5, 90)
    for case, fans in [
        ("xavier_std of a square layer", (fan_in, fan_in)),
        ("xavier_std of one input", (1, fan(rng, 5, 90))),
        ("xavier_std of one output", (fan(rng, 5, 90), 1)),
        ("xavier_std of one input and one output", (1, 1)),
    ]:
        check_std(learner.xavier_std, reference.xavier_std, *fans, case=case)
