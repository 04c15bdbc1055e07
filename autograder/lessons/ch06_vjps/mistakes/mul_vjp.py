"""Wrong answers to mul_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.broadcasting import (
    ADD,
    ALWAYS_AXIS_0,
    AVERAGED,
    LEADING_AXES_ONLY,
    MEANT,
    STRETCHED_LEFT,
    STRETCHED_LOST,
    WITHOUT_KEEPDIMS,
)

MUL = "return unbroadcast(g * b, a), unbroadcast(g * a, b)"

mul_own_operand = mistake(
    "mul_vjp",
    {MUL: "return unbroadcast(g * a, a), unbroadcast(g * b, b)"},
    says="Each gradient is multiplied by its own operand. It is the other one that counts.",
)
mul_like_add = mistake(
    "mul_vjp",
    {MUL: ADD},
    says="The other operand is missing: this is the VJP of a sum. By how much does a product move if one factor does?",
)
mul_not_summed = mistake(
    "mul_vjp",
    {MUL: "return (g * b).astype(a.dtype), (g * a).astype(b.dtype)"},
    says="The products are right, but not summed. An operand that was broadcast was used many times: sum over the "
    "axes that broadcasting added or stretched.",
)
mul_summed_before_product = mistake(
    "mul_vjp",
    {MUL: "return (unbroadcast(g, a) * b).astype(a.dtype), (unbroadcast(g, b) * a).astype(b.dtype)"},
    says="You sum g first and multiply by the other operand afterwards. Multiply first, then sum: the operand may "
    "differ along the axis that is summed.",
)
mul_leading_axes_only = mistake(
    "mul_vjp",
    LEADING_AXES_ONLY,
    where="unbroadcast",
    says=STRETCHED_LEFT,
)
mul_without_keepdims = mistake(
    "mul_vjp",
    WITHOUT_KEEPDIMS,
    where="unbroadcast",
    says=STRETCHED_LOST,
)
mul_ignores_g = mistake(
    "mul_vjp",
    {MUL: "return unbroadcast(np.ones_like(g) * b, a), unbroadcast(np.ones_like(g) * a, b)"},
    says="Your gradients do not depend on g. The other operand is the local derivative; multiply it by g.",
)
mul_divided_product = mistake(
    "mul_vjp",
    {MUL: "y = a * b\nreturn unbroadcast(g * y / a, a), unbroadcast(g * y / b, b)"},
    says="The other operand is taken as y / a, which is 0 / 0 where a is 0. Multiply by the operand itself.",
)
mul_mean_instead_of_sum = mistake("mul_vjp", AVERAGED, where="unbroadcast", says=MEANT)
mul_b_over_axis_0 = mistake("mul_vjp", {MUL: "return g * b, (g * a).sum(axis=0)"}, says=ALWAYS_AXIS_0)
mul_b_over_axis_0_in_its_dtype = mistake(
    "mul_vjp", {MUL: "return (g * b).astype(a.dtype), (g * a).sum(axis=0).astype(b.dtype)"}, says=ALWAYS_AXIS_0
)
