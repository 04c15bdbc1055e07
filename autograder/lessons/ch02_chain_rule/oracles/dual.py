"""The reference of Dual against something independent."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judging import EXACT, exercise


def both(reference, operation, x, dx, y, dy):
    """(value, tangent) of `operation(x, y)` by Dual and by PyTorch's forward mode; numbers where a tangent is None."""
    Dual = reference.implementations["Dual"]
    ours = operation(*(a if da is None else Dual(a, da) for a, da in ((x, dx), (y, dy))))
    moving = [(a, da) for a, da in ((x, dx), (y, dy)) if da is not None]

    def f(*tensors):
        left = list(tensors)
        return operation(*(a if da is None else left.pop(0) for a, da in ((x, dx), (y, dy))))

    values, tangents = (
        tuple(torch.tensor(part, dtype=torch.float64) for part in parts) for parts in zip(*moving, strict=True)
    )
    value, tangent = torch.func.jvp(f, values, tangents)
    return (ours.value, ours.tangent), (float(value), float(tangent))


OPERATIONS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "**": lambda x, y: x**y,
    "-x": lambda x, y: -x * y,
    "sin": lambda x, y: (x * y).sin(),
    "exp": lambda x, y: (x - y).exp(),
    "log": lambda x, y: (x * y).log(),
}


@exercise("Dual")
def test_operations_against_torch(reference, rng):
    for operation in OPERATIONS.values():
        for dx, dy in [(0.7, -0.4), (0.7, None), (None, 0.7)]:
            x, y = (float(number) for number in rng.uniform(0.5, 2.0, size=2))
            ours, expected = both(reference, operation, x, dx, y, dy)
            np.testing.assert_allclose(ours, expected, **EXACT)


@exercise("Dual")
def test_powers_against_torch(reference, rng):
    """Negative bases, 0, and exponents of 0."""
    for x in (-1.5, 0.0, 1.5):
        for n in (0, 1, 2, 3, 0.0, 2.0):
            ours, expected = both(reference, lambda x, n: x**n, x, 0.7, n, None)
            np.testing.assert_allclose(ours, expected, **EXACT)


@st.composite
def expressions(draw, depth=3):
    """Random expressions in x and y as text, built so that no logarithm, quotient or power leaves its domain."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from(["x", "y", "2", "0.5"]))
    a, b = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1))
    form = draw(
        st.sampled_from(
            [
                *("({a} + {b})", "({a} - {b})", "({a} * {b})", "(-{a})", "({a} / (1.5 + ({b}) * ({b})))"),
                *("({a} * x).sin()", "(({a} * x).sin() * y).exp()", "(1 + ({a} + 0 * x) ** 2).log()"),
                *("({a}) ** 2", "(1.5 + (x * {a}).sin()) ** ((x * {b}).sin() - y)"),
            ]
        )
    )
    return form.format(a=a, b=b)


@exercise("Dual")
@settings(max_examples=150, deadline=None, derandomize=True)
@given(expression=expressions(), x=st.floats(0.3, 1.5), y=st.floats(0.3, 1.5))
def test_random_expressions_against_torch(reference, expression, x, y):
    def f(x, y):
        return eval(expression, {"x": x, "y": y}) + 0 * x

    ours, expected = both(reference, f, x, 0.7, y, -0.4)
    np.testing.assert_allclose(ours, expected, rtol=1e-8, atol=1e-9)
