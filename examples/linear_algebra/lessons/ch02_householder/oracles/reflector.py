"""The reference of reflector against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import exercise


@exercise("reflector")
def test_maps_x_to_the_first_axis(reference, rng):
    for x in (rng.normal(size=5), np.array([0.0, 3.0, 4.0]), np.array([-2.0]), np.array([7.0, 0.0])):
        v, alpha = reference.reflector(x)
        mirror = np.eye(len(x)) - 2 * np.outer(v, v)
        np.testing.assert_allclose(mirror @ x, [alpha] + [0] * (len(x) - 1), atol=1e-14)
        np.testing.assert_allclose(mirror @ mirror, np.eye(len(x)), atol=1e-14)
        assert alpha * x[0] <= 0
