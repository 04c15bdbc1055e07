"""The reference of ISRU against something independent."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch08_custom_functions.oracles.two_orders import compare_orders


@exercise("ISRU")
def test_isru_against_autograd(reference, rng):
    compare_orders(reference, rng, "ISRU", lambda x: x / (1 + x**2) ** 0.5)
