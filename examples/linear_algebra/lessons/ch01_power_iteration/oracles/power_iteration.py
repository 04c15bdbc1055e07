"""The reference of power_iteration against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


@exercise("power_iteration")
def test_powers_of_the_matrix(reference, rng):
    A, x = rng.normal(size=(3, 3)), rng.normal(size=3)
    power = np.linalg.matrix_power(A, 5) @ x
    _, vector = reference.power_iteration(A, x, 5)
    np.testing.assert_allclose(vector, power / np.linalg.norm(power), rtol=1e-10)


@exercise("power_iteration")
def test_largest_eigenvalue(reference, rng):
    B = rng.normal(size=(4, 4))
    value, _ = reference.power_iteration(B @ B.T, rng.normal(size=4), 20_000)
    np.testing.assert_allclose(value, np.linalg.eigvalsh(B @ B.T).max(), rtol=1e-9)
