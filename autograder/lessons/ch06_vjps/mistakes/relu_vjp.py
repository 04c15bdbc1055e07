"""Wrong answers to relu_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

RELU = "return (g * (x > 0)).astype(x.dtype)"

relu_one_at_zero = mistake(
    "relu_vjp",
    {RELU: "return (g * (x >= 0)).astype(x.dtype)"},
    says="The derivative at 0 is 0 here: the mask is x > 0, not x >= 0.",
)
relu_mask_from_g = mistake(
    "relu_vjp",
    {RELU: "return np.maximum(g, 0).astype(x.dtype)"},
    says="The mask comes from g. It must come from x: g passes where x > 0, whatever its own sign.",
)
relu_ignores_g = mistake(
    "relu_vjp",
    {RELU: "return (x > 0).astype(x.dtype)"},
    says="Your gradient is the mask alone. That is the local derivative: multiply it by g.",
)
relu_times_output = mistake(
    "relu_vjp",
    {RELU: "return (g * np.maximum(x, 0)).astype(x.dtype)"},
    says="You multiply g by relu(x). Multiply by its derivative, which is 1 where x > 0 and else 0.",
)
relu_half_at_zero = mistake(
    "relu_vjp",
    {RELU: "return (g * np.heaviside(x, 0.5)).astype(x.dtype)"},
    says="Half of g passes at 0. The derivative at 0 is taken to be 0 here: the mask is x > 0.",
)
