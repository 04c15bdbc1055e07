"""Wrong answers to derivative, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

DERIVATIVE = "return float(lift(f(Dual(x, 1.0))).tangent)"

the_value = mistake(
    "derivative",
    {DERIVATIVE: "return float(lift(f(Dual(x, 1.0))).value)"},
    says="This is f(x). The derivative is the tangent of what f returns.",
)

no_seed = mistake(
    "derivative",
    {DERIVATIVE: "return float(lift(f(Dual(x))).tangent)"},
    says="The tangent of x is never set, so everything is constant and the derivative is 0. dx/dx is 1: Dual(x, 1.0).",
)

seeded_with_x = mistake(
    "derivative",
    {DERIVATIVE: "return float(lift(f(Dual(x, x))).tangent)"},
    says="The tangent starts as x. dx/dx is 1: start from Dual(x, 1.0).",
)

value_for_tangent = mistake(
    "derivative",
    {DERIVATIVE: "return float(lift(f(Dual(1.0, x))).tangent)"},
    says="Value and tangent of x are swapped: Dual(x, 1.0) is the number x, whose tangent is 1.",
)

returns_a_dual = mistake(
    "derivative",
    {DERIVATIVE: "return f(Dual(x, 1.0))"},
    says="You return a Dual. The derivative is its tangent, a float.",
)

constants_have_no_tangent = mistake(
    "derivative",
    {DERIVATIVE: "return float(f(Dual(x, 1.0)).tangent)"},
    says="A constant f returns a plain number, and that has no tangent. Its derivative is 0.0.",
)

by_differences = mistake(
    "derivative",
    {DERIVATIVE: "return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6"},
    says="This is a finite difference: it is off by about 1e-10, and f takes a Dual, not a number. Run f once, on "
    "Dual(x, 1.0).",
)
