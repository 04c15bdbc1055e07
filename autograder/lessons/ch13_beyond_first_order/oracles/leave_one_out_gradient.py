"""The reference of leave_one_out_gradient against something independent."""

from __future__ import annotations

from itertools import product
from statistics import fmean

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from autograder.judging import exercise


@exercise("leave_one_out_gradient")
def test_leave_one_out_is_unbiased(reference):
    """E[x²] = mu² + sigma² and E[x³] = mu³ + 3 mu sigma², by quadrature over all samples of a row: exact."""
    nodes, weights = hermegauss(8)
    for n in (2, 3):
        rows = np.array(list(product(nodes, repeat=n)))
        weight = np.array([np.prod(one) for one in product(weights / weights.sum(), repeat=n)])
        for mu, sigma in [(1.5, 1.0), (-0.7, 2.0), (0.0, 0.3)]:
            for power, slopes in [(2, (2 * mu, 2 * sigma)), (3, (3 * mu**2 + 3 * sigma**2, 6 * mu * sigma))]:
                both = reference.implementations["leave_one_out_gradient"](lambda x: x**power, mu, sigma, rows)  # noqa: B023
                for estimates, slope in zip(both, slopes, strict=True):
                    np.testing.assert_allclose(weight @ estimates, np.full(n, slope), rtol=1e-9, atol=1e-9)


@exercise("leave_one_out_gradient")
def test_leave_one_out_sample_by_sample(reference, rng):
    """A loop over the samples, with differences of the log density."""

    def log_density(x, mu, sigma):
        return -np.log(sigma) - (x - mu) ** 2 / (2 * sigma**2)

    mu, sigma, h, eps = 0.4, 1.3, 1e-5, rng.normal(size=(2, 4))
    both = reference.implementations["leave_one_out_gradient"](np.sin, mu, sigma, eps)
    x = mu + sigma * eps
    for row, i in product(range(2), range(4)):
        gain = np.sin(x[row, i]) - fmean(np.sin(x[row, j]) for j in range(4) if j != i)
        by_mu = log_density(x[row, i], mu + h, sigma) - log_density(x[row, i], mu - h, sigma)
        by_sigma = log_density(x[row, i], mu, sigma + h) - log_density(x[row, i], mu, sigma - h)
        for estimates, slope in zip(both, (by_mu, by_sigma), strict=True):
            np.testing.assert_allclose(estimates[row, i], gain * slope / (2 * h), rtol=1e-6, atol=1e-7)
