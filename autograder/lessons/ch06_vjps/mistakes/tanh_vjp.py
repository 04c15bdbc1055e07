"""Wrong answers to tanh_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

TANH = "return (g * (1 - np.tanh(x) ** 2)).astype(x.dtype)"

tanh_of_x_itself = mistake(
    "tanh_vjp",
    {TANH: "return (g * (1 - x**2)).astype(x.dtype)"},
    says="You square x itself: the derivative is 1 − tanh²(x), not 1 − x².",
)
tanh_not_squared = mistake(
    "tanh_vjp",
    {TANH: "return (g * (1 - np.tanh(x))).astype(x.dtype)"},
    says="The square is missing: the derivative is 1 − tanh²(x), not 1 − tanh(x).",
)
tanh_ignores_g = mistake(
    "tanh_vjp",
    {TANH: "return (1 - np.tanh(x) ** 2).astype(x.dtype)"},
    says="Your gradient does not depend on g: multiply 1 − tanh²(x) by it.",
)
tanh_like_sigmoid = mistake(
    "tanh_vjp",
    {TANH: "return (g * np.tanh(x) * (1 - np.tanh(x))).astype(x.dtype)"},
    says="This is the sigmoid's rule, t (1 − t), with t = tanh(x). The derivative of tanh is 1 − t².",
)
tanh_overflows = mistake(
    "tanh_vjp",
    {TANH: "t = (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))\nreturn (g * (1 - t**2)).astype(x.dtype)"},
    says="tanh written with exponentials overflows far from 0, and inf / inf is nan. np.tanh does not.",
)

tanh_plus_square = mistake(
    "tanh_vjp",
    {TANH: TANH.replace("1 - np.tanh", "1 + np.tanh")},
    says="The sign of the square is wrong: the derivative of tanh is 1 − tanh², not 1 + tanh².",
)
tanh_of_tanh = mistake(
    "tanh_vjp",
    {TANH: TANH.replace("np.tanh(x)", "np.tanh(np.tanh(x))")},
    says="tanh was taken twice. With y = tanh(x) the derivative is 1 − y².",
)
