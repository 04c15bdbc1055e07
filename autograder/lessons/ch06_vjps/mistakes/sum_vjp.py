"""Wrong answers to sum_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

RESTORED = "g = np.expand_dims(g, axis)"
SUM = "return np.broadcast_to(g, x.shape).astype(x.dtype)"

sum_axes_not_restored = mistake(
    "sum_vjp",
    {f"if axis is not None and not keepdims:\n    {RESTORED}": ""},
    says="g is broadcast as it is. Without keepdims it lacks the summed axes: put them back with size 1 "
    "(np.expand_dims) before you broadcast, or it lines up with the wrong axes.",
)
sum_axis_restored_last = mistake(
    "sum_vjp",
    {RESTORED: "g = g.reshape(g.shape + (1,) * (x.ndim - g.ndim))"},
    says="The missing axis always comes back as the last one. It belongs where it was summed away: np.expand_dims(g, "
    "axis).",
)
sum_axes_restored_one_by_one = mistake(
    "sum_vjp",
    {RESTORED: "for one in axis if isinstance(axis, tuple) else (axis,):\n    g = np.expand_dims(g, one)"},
    says="Each axis is put back one by one in the order given, so an earlier one shifts when a later one comes in. "
    "Put them back together: np.expand_dims(g, axis) takes the whole tuple.",
)
sum_ignores_keepdims = mistake(
    "sum_vjp",
    {"if axis is not None and not keepdims:": "if axis is not None:"},
    says="With keepdims=True g still has the summed axes, with size 1. Do not add them a second time.",
)
sum_like_mean = mistake(
    "sum_vjp",
    {SUM: "return (np.broadcast_to(g, x.shape) * max(g.size, 1) / max(x.size, 1)).astype(x.dtype)"},
    says="This is the VJP of a mean. A sum does not divide by the number of entries.",
)
sum_ignores_g = mistake(
    "sum_vjp",
    {SUM: "return np.ones_like(x)"},
    says="Your gradient is all ones. One is the local derivative: every entry gets the g of its own sum.",
)

axes_put_back_one_by_one = mistake(
    "sum_vjp",
    {
        RESTORED: "for one in sorted(axis) if isinstance(axis, tuple) else (axis,):\n    g = np.expand_dims(g, one)",
    },
    says="Several axes are put back one after the other. A negative one counts from the end of what is there so far, "
    "and lands elsewhere: np.expand_dims(g, axis) takes the whole tuple, or count them from the front.",
)
