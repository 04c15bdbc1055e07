"""One neuron's numbers, forward and backward."""

from __future__ import annotations

import numpy as np

from autograder.judging import expect, expect_close
from autograder.lessons.ch01_computation_graph.checks.tolerances import EXACT


def numbers(rng, count):
    """Random floats of both signs, none near 0."""
    return (rng.uniform(0.5, 3.0, count) * rng.choice([-1, 1], count)).tolist()


WORKED = (2.0, -3.0, 10.0)


def cancelling(rng):
    """a, b and c with a·b + c exactly 0."""
    a, b = (float(x) for x in rng.integers(2, 9, size=2))
    return a, b, -a * b


def nearly_cancelling(rng):
    """a, b and c with a·b near 2^20 and a·b + c near 2^-17, all exact: differences lose digits, whatever their step."""
    a, b = (float(x) for x in 2 * rng.integers(450, 512, size=2) + 1)
    return a, b, float(rng.integers(5, 13)) * 2.0**-20 - a * b


def expect_exact(got, expected, case):
    """Expect exact derivatives; explain in words if they are only approximately right."""
    if isinstance(got, dict) and got.keys() == expected.keys():
        mine, theirs = (np.array([answer[key] for key in expected], dtype=object) for answer in (got, expected))
        if all(isinstance(value, int | float) for value in mine):
            gaps, sizes = np.abs(mine - theirs).astype(float), np.abs(theirs).astype(float)
            exact = bool(np.all(gaps <= EXACT["atol"] + EXACT["rtol"] * sizes))
            near = bool(np.all(gaps <= 1e-3 * (1 + sizes)))
            differences = "These look like finite differences: close, not exact. Use the exact derivative of each step."
            expect(exact or not near, differences, case=case)
    expect_close(got, expected, case=case, **EXACT)
