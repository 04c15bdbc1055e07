"""The reference of fit against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise

H = 1e-6


@exercise("fit")
def test_numerical_gradient(reference, rng):
    """A step goes against the numerical gradient of the mean squared error."""
    users, films = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    who, what, ratings = rng.integers(3, size=6), rng.integers(4, size=6), rng.normal(size=6)

    def loss(point):
        U, V = point[:6].reshape(3, 2), point[6:].reshape(4, 2)
        return np.mean(((U @ V.T)[who, what] - ratings) ** 2)

    before = np.concatenate([users.ravel(), films.ravel()])
    slopes = [(loss(before + H * one) - loss(before - H * one)) / (2 * H) for one in np.eye(before.size)]
    after = np.concatenate([table.ravel() for table in reference.fit(users, films, who, what, ratings, 0.1, 1)])
    np.testing.assert_allclose(after, before - 0.1 * np.array(slopes), atol=1e-8)
