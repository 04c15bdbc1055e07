"""The reference of rayleigh_quotient against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


@exercise("rayleigh_quotient")
def test_least_squares(reference, rng):
    A, x = rng.normal(size=(4, 4)), 3 * rng.normal(size=4)
    (best,), *_ = np.linalg.lstsq(x[:, None], A @ x, rcond=None)
    np.testing.assert_allclose(reference.rayleigh_quotient(A, x), best, rtol=1e-12)
