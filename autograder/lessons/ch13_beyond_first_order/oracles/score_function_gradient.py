"""The reference of score_function_gradient against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise
from autograder.lessons.ch13_beyond_first_order.oracles.expectations import expectation


@exercise("score_function_gradient")
def test_score_function_is_unbiased(reference):
    """E[x²] = mu² + sigma², E[x³] = mu³ + 3 mu sigma²: their derivatives by mu, exactly."""
    score = reference.implementations["score_function_gradient"]
    for mu, sigma in [(1.5, 1.0), (-0.7, 2.0), (0.0, 0.3)]:
        square = expectation(lambda eps: score(lambda x: x**2, mu, sigma, eps))  # noqa: B023
        cube = expectation(lambda eps: score(lambda x: x**3, mu, sigma, eps))  # noqa: B023
        np.testing.assert_allclose([square, cube], [2 * mu, 3 * mu**2 + 3 * sigma**2], rtol=1e-9, atol=1e-9)
