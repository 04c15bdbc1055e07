"""The reference of deflate against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


@exercise("deflate")
def test_eigenvalues_that_stay(reference, rng):
    B = rng.normal(size=(4, 4))
    values, vectors = np.linalg.eigh(B + B.T)
    rest = np.linalg.eigvalsh(reference.deflate(B + B.T, values[2], 5 * vectors[:, 2]))
    np.testing.assert_allclose(rest, np.sort([*np.delete(values, 2), 0.0]), atol=1e-12)
