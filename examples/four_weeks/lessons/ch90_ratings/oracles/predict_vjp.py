"""The reference of predict_vjp against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


@exercise("predict_vjp")
def test_the_matrix_of_all_ratings(reference, rng):
    """With G, the ratings' gradients in a matrix of people and films, they are G films and Gᵀ users."""
    users, films = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    who, what, g = rng.integers(4, size=12), rng.integers(5, size=12), rng.normal(size=12)
    G = np.zeros((4, 5))
    for i, j, one in zip(who, what, g, strict=True):
        G[i, j] += one
    dusers, dfilms = reference.predict_vjp(g, users, films, who, what)
    np.testing.assert_allclose(dusers, G @ films, atol=1e-12)
    np.testing.assert_allclose(dfilms, G.T @ users, atol=1e-12)
