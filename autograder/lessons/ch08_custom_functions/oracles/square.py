"""The reference of Square against something independent."""

from __future__ import annotations

from autograder.judging import exercise
from autograder.lessons.ch08_custom_functions.oracles.two_orders import compare_orders


@exercise("Square")
def test_square_against_the_power(reference, rng):
    compare_orders(reference, rng, "Square", lambda x: x**2)
