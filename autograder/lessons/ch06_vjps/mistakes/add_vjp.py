"""Wrong answers to add_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.broadcasting import (
    ADD,
    LEADING_AXES_ONLY,
    STRETCHED_LEFT,
    STRETCHED_LOST,
    STRETCHED_SUMMED,
    WITHOUT_KEEPDIMS,
)

add_not_summed = mistake(
    "add_vjp",
    {ADD: "return g.astype(a.dtype), g.astype(b.dtype)"},
    says="You return g for both operands. An operand that was broadcast was used many times: sum g over the axes that "
    "broadcasting added or stretched, until it has the operand's shape again.",
)
add_leading_axes_only = mistake(
    "add_vjp",
    LEADING_AXES_ONLY,
    where="unbroadcast",
    says=STRETCHED_LEFT,
)
add_without_keepdims = mistake(
    "add_vjp",
    WITHOUT_KEEPDIMS,
    where="unbroadcast",
    says=STRETCHED_LOST,
)
add_only_b_summed = mistake(
    "add_vjp",
    {ADD: "return g.astype(a.dtype), unbroadcast(g, b)"},
    says="Only b is treated as the operand that was broadcast. It can be a as well, or both: treat them alike.",
)
add_mean_instead_of_sum = mistake(
    "add_vjp",
    {
        ADD: (
            "da, db = (unbroadcast(g, x) * max(x.size, 1) / max(g.size, 1) for x in (a, b))\n"
            "return da.astype(a.dtype), db.astype(b.dtype)"
        )
    },
    says="You average over the broadcast axes. Every use of an operand adds its gradient: sum, do not take the mean.",
)
add_ignores_g = mistake(
    "add_vjp",
    {ADD: "return unbroadcast(np.ones_like(g), a), unbroadcast(np.ones_like(g), b)"},
    says="Your gradients do not depend on g. The derivative of a sum is 1, and the gradient is g times that, not 1.",
)
add_dtype_of_g = mistake(
    "add_vjp",
    {STRETCHED_SUMMED: "return g.sum(axis=stretched, keepdims=True)"},
    where="unbroadcast",
    says="Both gradients have the dtype of g. Each needs the dtype of its own operand: da that of a, db that of b.",
)
