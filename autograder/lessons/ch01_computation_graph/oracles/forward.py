"""The reference of forward against something independent."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, exercise


@exercise("forward")
def test_forward_against_one_expression(reference, rng):
    for a, b, c in [(2.0, -3.0, 10.0), *rng.normal(size=(20, 3)).tolist()]:
        got = reference.forward(a, b, c)
        assert set(got) == {"d", "e", "L"}
        np.testing.assert_allclose(got["d"], a * b, **EXACT)
        np.testing.assert_allclose(got["e"], a * b + c, **EXACT)
        np.testing.assert_allclose(got["L"], (a * b) ** 2 + 2 * a * b * c + c**2, rtol=1e-9, atol=1e-9)
    assert reference.forward(2.0, -3.0, 10.0) == {"d": -6.0, "e": 4.0, "L": 16.0}
