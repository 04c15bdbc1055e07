"""Wrong answers to add_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.broadcasting import (
    ADD,
    ALWAYS_AXIS_0,
    LEADING_AXES_ONLY,
    MEANT,
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
    says=MEANT,
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
add_b_over_axis_0 = mistake("add_vjp", {ADD: "return g, g.sum(axis=0)"}, says=ALWAYS_AXIS_0)
add_b_over_axis_0_in_its_dtype = mistake(
    "add_vjp", {ADD: "return g.astype(a.dtype), g.sum(axis=0).astype(b.dtype)"}, says=ALWAYS_AXIS_0
)
add_both_over_axis_0 = mistake("add_vjp", {ADD: "return g.sum(axis=0), g.sum(axis=0)"}, says=ALWAYS_AXIS_0)
add_like_mul = mistake(
    "add_vjp",
    {ADD: "return unbroadcast(g * b, a), unbroadcast(g * a, b)"},
    says="g is multiplied by the other operand: this is the VJP of a product. A sum passes g on as it is; only the "
    "broadcast axes are summed.",
)
