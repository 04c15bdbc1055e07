"""Wrong answers to rayleigh_quotient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

QUOTIENT = "return x @ (A @ x) / (x @ x)"

quotient_not_divided = mistake(
    "rayleigh_quotient",
    {QUOTIENT: "return x @ (A @ x)"},
    says="You do not divide by x · x: that is right for vectors of length 1 alone.",
)
quotient_by_the_norm = mistake(
    "rayleigh_quotient",
    {QUOTIENT: "return x @ (A @ x) / np.linalg.norm(x)"},
    says="You divide by the length of x. The numerator grows with its square: divide by x · x.",
)
quotient_by_the_image = mistake(
    "rayleigh_quotient",
    {QUOTIENT: "return (A @ x) @ (A @ x) / (x @ (A @ x))"},
    says="You divide (A x) · (A x) by x · (A x). That makes the residual orthogonal to A x, not to x.",
)
quotient_of_lengths = mistake(
    "rayleigh_quotient",
    {QUOTIENT: "return np.linalg.norm(A @ x) / np.linalg.norm(x)"},
    says="You compare lengths, which have no sign: a negative eigenvalue comes out positive.",
)
