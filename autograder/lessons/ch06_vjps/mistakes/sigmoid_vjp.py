"""Wrong answers to sigmoid_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

U = "u = np.exp(-np.abs(x))"
SIGMOID = "return (g * u / (1 + u) ** 2).astype(x.dtype)"
S_TIMES_1_MINUS_S = "return (g * s * (1 - s)).astype(x.dtype)"

sigmoid_of_x_itself = mistake(
    "sigmoid_vjp",
    {SIGMOID: "return (g * x * (1 - x)).astype(x.dtype)"},
    says="You use x where the sigmoid of x belongs: the derivative is s (1 − s) with s = sigmoid(x).",
)
sigmoid_ignores_g = mistake(
    "sigmoid_vjp",
    {SIGMOID: "return (u / (1 + u) ** 2).astype(x.dtype)"},
    says="Your gradient does not depend on g: multiply s (1 − s) by it.",
)
sigmoid_times_output = mistake(
    "sigmoid_vjp",
    {U: "s = 1 / (1 + np.exp(-x))", SIGMOID: "return (g * s).astype(x.dtype)"},
    says="You multiply g by the sigmoid itself. Its derivative is s (1 − s).",
)
sigmoid_one_minus_s = mistake(
    "sigmoid_vjp",
    {U: "s = 1 / (1 + np.exp(-x))", SIGMOID: "return (g * (1 - s)).astype(x.dtype)"},
    says="The factor s is missing: the derivative of the sigmoid is s (1 − s), not 1 − s.",
)
sigmoid_overflows_below = mistake(
    "sigmoid_vjp",
    {U: "e = np.exp(-x)", SIGMOID: "return (g * e / (1 + e) ** 2).astype(x.dtype)"},
    says="exp(-x) overflows for very negative x, and inf / inf² is nan. Compute s first and use s (1 − s).",
)
sigmoid_overflows_above = mistake(
    "sigmoid_vjp",
    {U: "s = np.exp(x) / (1 + np.exp(x))", SIGMOID: S_TIMES_1_MINUS_S},
    says="exp(x) overflows for very large x, and inf / inf is nan. 1 / (1 + exp(-x)) has no such quotient.",
)

sigmoid_of_the_sigmoid = mistake(
    "sigmoid_vjp",
    {U: "s = 1 / (1 + np.exp(-1 / (1 + np.exp(-x))))", SIGMOID: S_TIMES_1_MINUS_S},
    says="The sigmoid was taken twice: s (1 − s) with the sigmoid of the sigmoid. With y = sigmoid(x) it is y (1 − y).",
)
