"""The reference of reparameterized_gradient against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise
from autograder.lessons.ch13_beyond_first_order.oracles.expectations import expectation


@exercise("reparameterized_gradient")
def test_reparameterization_is_unbiased(reference):
    path = reference.implementations["reparameterized_gradient"]
    for mu, sigma in [(1.5, 1.0), (-0.7, 2.0), (0.0, 0.3)]:
        square = expectation(lambda eps: path(lambda x: 2 * x, mu, sigma, eps))  # noqa: B023
        cube = expectation(lambda eps: path(lambda x: 3 * x**2, mu, sigma, eps))  # noqa: B023
        np.testing.assert_allclose([square, cube], [2 * mu, 3 * mu**2 + 3 * sigma**2], rtol=1e-9, atol=1e-9)
