"""The VJPs that the reference's operations record, for mistakes that record wrong ones."""

from __future__ import annotations

from autograder.diagnosis import mistake

# Tensor: arithmetic

VJPS = {
    "add": ("unbroadcast(g, a.shape)", "unbroadcast(g, b.shape)"),
    "subtract": ("unbroadcast(g, a.shape)", "unbroadcast(-g, b.shape)"),
    "multiply": ("unbroadcast(g * b.data, a.shape)", "unbroadcast(g * a.data, b.shape)"),
    "divide": ("unbroadcast(g / b.data, a.shape)", "unbroadcast(-g * a.data / b.data**2, b.shape)"),
    "power": ("unbroadcast(g * b.data * a.data**less, a.shape)", "unbroadcast(g * y * np.log(a.data), b.shape)"),
    "matmul": (
        "unbroadcast(as_matrix(g) @ B.swapaxes(-1, -2), A.shape).reshape(a.shape)",
        "unbroadcast(A.swapaxes(-1, -2) @ as_matrix(g), B.shape).reshape(b.shape)",
    ),
}
"""The VJPs of binary operations, for a and for b."""


def wrong_vjps(operation, *, a="", b="", says):
    """A mistake in the VJP for a, for b or for both; the operation's results are right."""
    swaps = {
        f"({name}, lambda g: {right}),": f"({name}, lambda g: {wrong}),"
        for name, right, wrong in zip("ab", VJPS[operation], (a, b), strict=True)
        if wrong
    }
    return mistake("Tensor", swaps, says=says, where=operation)


def not_unbroadcast(formula):
    return (
        f"In {formula}, the gradient of a broadcast operand has the shape of the result: give both through unbroadcast."
    )
