"""Checks of Dual."""

from __future__ import annotations

from autograder.judging import exercise, expect, expect_close
from autograder.lessons.ch02_chain_rule.checks.tolerances import EXACT
from autograder.wording import clean


def parts(rng, low, high) -> tuple[float, float]:
    """A random value and tangent for a Dual; the tangent is never 0 or 1."""
    return float(rng.uniform(low, high)), float(rng.uniform(0.3, 0.8) * rng.choice([-1, 1]))


def agree_on_expressions(learner, reference, rng, expressions, low=0.5, high=1.5):
    """Check value and tangent of each expression; y is drawn if the expression contains it."""
    for expression in expressions:
        duals = [parts(rng, low, high) for name in "xy" if name in expression.replace("exp", "")]
        got = learner.scenario.evaluate(expression, *duals)
        expected = reference.scenario.evaluate(expression, *duals)
        if isinstance(got, dict):  # no value of a new Dual: the scenario says why
            lifted = "not lifted" not in got
            expect(lifted, clean(str(got.get("not lifted")), 240), case=expression)
            if lifted:
                expect(False, clean(str(got.get("changed", got.get("no Dual"))), 240), case=expression)
        else:
            expect_close(got, expected, names=("value", "tangent"), case=expression, **EXACT)


@exercise("Dual")
def test_sums(learner, reference, rng):
    """Sums, differences and unary minus; a number is a constant."""
    expressions = ["x + y", "x + 3", "-x", "x - y", "x - 3", "x + Dual(2.5)", "x + y + x - y"]
    agree_on_expressions(learner, reference, rng, expressions, low=-1.5)


@exercise("Dual")
def test_products(learner, reference, rng):
    """The product rule."""
    expressions = ["x * 3", "x * y", "x * x", "x * Dual(2.5)", "x * y * x"]
    agree_on_expressions(learner, reference, rng, expressions, low=-1.5)


@exercise("Dual")
def test_quotients(learner, reference, rng):
    """The quotient rule."""
    agree_on_expressions(learner, reference, rng, ["x / 4", "x / y", "x / x", "x / y / x"])


@exercise("Dual")
def test_numbers_on_the_left(learner, reference, rng):
    """The order matters: 2 - x is not x - 2."""
    agree_on_expressions(learner, reference, rng, ["2 + x", "3 * x", "2 - x", "2 / x", "1 - 3 / (2 + x)"])


@exercise("Dual")
def test_powers(learner, reference, rng):
    """x ** n with a number n, the base positive."""
    agree_on_expressions(learner, reference, rng, ["x ** 2", "x ** 1", "x ** 3", "x ** -2", "x ** 0.5", "x ** 0"])


@exercise("Dual")
def test_powers_without_a_logarithm(learner, reference, rng):
    """x ** n with a whole n, where the base is negative or 0."""
    for whole in ("{}", "{}.0"):  # a float may be whole, too
        below = [f"x ** {whole.format(n)}" for n in (3, 2, -1, 0)]
        agree_on_expressions(learner, reference, rng, below, low=-1.5, high=-0.5)
        agree_on_expressions(learner, reference, rng, [f"x ** {whole.format(n)}" for n in (2, 1, 0)], low=0.0, high=0.0)


@exercise("Dual")
def test_dual_exponents(learner, reference, rng):
    """x ** y through both, and a ** x."""
    agree_on_expressions(learner, reference, rng, ["2 ** x", "x ** Dual(2.0)", "Dual(2.0) ** x", "x ** y", "x ** x"])


@exercise("Dual")
def test_functions(learner, reference, rng):
    """sin, exp and log: the derivative times the tangent."""
    agree_on_expressions(learner, reference, rng, ["x.sin()", "x.exp()", "x.log()"])
    agree_on_expressions(learner, reference, rng, ["x.sin()", "x.exp()"], low=-1.5, high=-0.5)


@exercise("Dual")
def test_compositions(learner, reference, rng):
    """The chain rule at work: every operation passes on the tangent of the one before."""
    expressions = ["(x * y).sin()", "(1 + x.exp()).log()", "(x - y.sin()) / (x * y + 2)", "(x ** y * 2 - x).exp() ** 2"]
    agree_on_expressions(learner, reference, rng, expressions)
