"""Wrong answers to reflector, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

ALPHA = "alpha = -np.copysign(np.linalg.norm(x), x[0] + 0.0)"
RETURN = "return v / np.linalg.norm(v), alpha"

reflector_cancels = mistake(
    "reflector",
    {ALPHA: "alpha = np.copysign(np.linalg.norm(x), x[0] + 0.0)"},
    says="alpha has the sign of x[0]. Then x[0] − alpha cancels, and where x is a multiple of e1, 0 is divided by 0.",
)
reflector_sign_of_zero = mistake(
    "reflector",
    {ALPHA: "alpha = -np.sign(x[0]) * np.linalg.norm(x)"},
    says="np.sign(0) is 0: where x[0] is 0, alpha must be −‖x‖.",
)
reflector_always_negative = mistake(
    "reflector",
    {ALPHA: "alpha = -np.linalg.norm(x)"},
    says="alpha is negative whatever the sign of x[0]. Where x[0] is negative it must be positive, or it cancels.",
)
reflector_any_length = mistake(
    "reflector",
    {RETURN: "return v, alpha"},
    says="v has not the length 1: divide it by its norm.",
)
reflector_scaled_by_first = mistake(
    "reflector",
    {RETURN: "return v / v[0], alpha"},
    says="v is divided by its first entry, as LAPACK has it. Here it has the length 1: divide it by its norm.",
)
