"""Checks of derivative."""

from __future__ import annotations

from autograder.judging import exercise, expect_close


def agree_on_derivative(learner, reference, rng, expressions):
    for expression in expressions:
        x = float(rng.uniform(0.5, 1.5))
        got = learner.scenario.derivative_of(expression, x)
        expected = reference.scenario.derivative_of(expression, x)
        expect_close(got, expected, names=("derivative",), case=expression, rtol=1e-12, atol=1e-13)


@exercise("derivative")
def test_derivatives_of_polynomials(learner, reference, rng):
    """Exact up to rounding, as no difference is."""
    agree_on_derivative(learner, reference, rng, ["3 * x", "x * x", "x ** 3 - 2 * x + 1", "1 / (1 + x * x)"])


@exercise("derivative")
def test_derivatives_of_compositions(learner, reference, rng):
    """Functions of functions, and one with a branch."""
    expressions = ["(x * x).sin()", "(x.sin() + 2).log() * x.exp()", "x ** x", "x * x if x.value > 0 else -x"]
    agree_on_derivative(learner, reference, rng, expressions)


@exercise("derivative")
def test_derivatives_of_constants(learner, reference, rng):
    """0.0 where f does not depend on x, whether it returns a number or a Dual; 1.0 where f returns x."""
    line = f"{rng.uniform(0.5, 1.5):.3f} + x * {rng.uniform(1.5, 4.5):.3f}"
    agree_on_derivative(learner, reference, rng, ["3.0", "x", "2", "x ** 0", "x - x", "x * 0 + x", line])
