"""The reference of reflect against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


@exercise("reflect")
def test_matrix_of_the_mirror(reference, rng):
    v = rng.normal(size=4)
    v /= np.linalg.norm(v)
    A = rng.normal(size=(4, 3))
    np.testing.assert_allclose(reference.reflect(v, A), (np.eye(4) - 2 * np.outer(v, v)) @ A, rtol=1e-12)
