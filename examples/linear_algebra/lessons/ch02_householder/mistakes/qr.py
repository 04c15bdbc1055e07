"""Wrong answers to qr, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

RETURN = "return Q, np.triu(R)"

qr_transposed = mistake(
    "qr",
    {RETURN: "return Q.T, np.triu(R)"},
    says="You return Qᵀ: R = Qᵀ A. The product that is asked for is A = Q R.",
)
qr_nearly_zero = mistake(
    "qr",
    {RETURN: "return Q, R"},
    says="Rounding leaves entries of about 1e-16 below the diagonal of R. They are 0: say so, with np.triu.",
)
qr_one_step_less = mistake(
    "qr",
    {"for k in range(n):": "for k in range(n - 1):"},
    says="The last column is not reflected.",
)
qr_positive_diagonal = mistake(
    "qr",
    {RETURN: "signs = np.sign(np.diag(R))\nQ[:, :n] *= signs\nR[:n] *= signs[:, None]\nreturn Q, np.triu(R)"},
    says="You make the diagonal of R positive. Here its signs are those of the alphas.",
)
