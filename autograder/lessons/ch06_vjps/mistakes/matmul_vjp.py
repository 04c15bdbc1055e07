"""Wrong answers to matmul_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.broadcasting import AVERAGED, LEADING_AXES_ONLY

DA = "dA = g @ B.swapaxes(-1, -2)"
DB = "dB = A.swapaxes(-1, -2) @ g"
MATMUL = "return unbroadcast(dA, A), unbroadcast(dB, B)"

untransposed_b = mistake("matmul_vjp", {DA: "dA = g @ B"}, says="B was not transposed: dA = g Bᵀ, not g B.")
untransposed_a = mistake("matmul_vjp", {DB: "dB = A @ g"}, says="A was not transposed: dB = Aᵀ g, not A g.")
nothing_transposed = mistake(
    "matmul_vjp", {DA: "dA = g @ B", DB: "dB = A @ g"}, says="Neither matrix was transposed: dA = g Bᵀ and dB = Aᵀ g."
)
factors_in_wrong_order = mistake(
    "matmul_vjp",
    {DA: "dA = B.swapaxes(-1, -2) @ g", DB: "dB = g @ A.swapaxes(-1, -2)"},
    says="The factors stand in the wrong order: dA = g Bᵀ, with g on the left, and dB = Aᵀ g, with g on the right.",
)
gradients_swapped = mistake(
    "matmul_vjp",
    {MATMUL: "return unbroadcast(dB, B), unbroadcast(dA, A)"},
    says="The two gradients are swapped: return dA = g Bᵀ first, then dB = Aᵀ g.",
)
all_axes_reversed = mistake(
    "matmul_vjp",
    {DA: "dA = g @ B.T", DB: "dB = A.T @ g"},
    says=".T reverses all axes of a stack, batch axes included. Swap only the last two: B.swapaxes(-1, -2) or B.mT.",
)
matmul_not_summed = mistake(
    "matmul_vjp",
    {MATMUL: "return dA.astype(A.dtype), dB.astype(B.dtype)"},
    says="The products are right, but not summed over the leading axes that were broadcast. A matrix that the whole "
    "stack uses gets the sum of all its gradients.",
)
matmul_leading_axes_only = mistake(
    "matmul_vjp",
    LEADING_AXES_ONLY,
    where="unbroadcast",
    says="You sum over the leading axes that a stack lacks, but not over its leading axes of size 1 that were "
    "stretched.",
)
matmul_b_always_summed = mistake(
    "matmul_vjp",
    {MATMUL: "return unbroadcast(dA, A), dB.sum(axis=tuple(range(dB.ndim - 2))).astype(B.dtype)"},
    says="dB is summed over all leading axes, even those that B has itself. Sum only what broadcasting added or "
    "stretched.",
)
matmul_mean_instead_of_sum = mistake(
    "matmul_vjp",
    AVERAGED,
    where="unbroadcast",
    says="You average over the leading axes that were broadcast. A matrix that the whole stack uses gets the sum of "
    "all its gradients, not the mean.",
)
