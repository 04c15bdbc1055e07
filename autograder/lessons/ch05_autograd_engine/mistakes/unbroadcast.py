"""Wrong answers to unbroadcast, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

EQUAL_SHAPES = "if g.shape == shape:\n    return g"
SUM_ADDED = "g = g.sum(axis=tuple(range(g.ndim - len(shape))))"
SUM_STRETCHED = "return g.sum(axis=stretched, keepdims=True)"

not_summed = mistake(
    "unbroadcast",
    {EQUAL_SHAPES: "return g"},
    says="g comes back as it is. An operand that was broadcast was used many times: sum g over the axes that "
    "were added or stretched, until it has the operand's shape.",
)
added_axes_only = mistake(
    "unbroadcast",
    {SUM_STRETCHED: "return g"},
    says="The added axes are summed, the stretched ones are not: where shape has a 1 and g has more, sum as "
    "well, with keepdims=True.",
)
stretched_axes_only = mistake(
    "unbroadcast",
    {SUM_ADDED: "if g.ndim > len(shape):\n    return g"},
    says="The stretched axes are summed, the added ones are not: g.ndim - len(shape) axes stand in front that "
    "the operand does not have.",
)
stretched_axes_lost = mistake(
    "unbroadcast",
    {EQUAL_SHAPES: "", SUM_STRETCHED: "return g.sum(axis=stretched)"},
    says="The stretched axes are summed and then gone. An operand of shape (n, 1) has a gradient of shape (n, "
    "1): sum them with keepdims=True.",
)
averaged = mistake(
    "unbroadcast",
    {
        EQUAL_SHAPES: "entries = max(g.size, 1)",
        SUM_STRETCHED: "g = g.sum(axis=stretched, keepdims=True)\nreturn g * max(g.size, 1) / entries",
    },
    says="You average over the broadcast axes. Each use adds its own gradient: sum.",
)
aligned_from_the_left = mistake(
    "unbroadcast",
    {SUM_ADDED: "g = g.sum(axis=tuple(range(len(shape), g.ndim)))"},
    says="You compare the shapes from the left. Broadcasting aligns them from the right: first sum away the "
    "axes in front that the operand lacks.",
)
sums_in_float64 = mistake(
    "unbroadcast", {EQUAL_SHAPES: "g = g.astype(np.float64)"}, says="The result is always float64: keep the dtype of g."
)
first_copy_only = mistake(
    "unbroadcast",
    {EQUAL_SHAPES: "g = g[tuple(slice(size) for size in (1,) * (g.ndim - len(shape)) + shape)]"},
    says="You take one of the copies, g's first entry along each broadcast axis. All of them count: sum over the axis.",
)


@misconception(
    "unbroadcast",
    says="You number the stretched axes as they were before the axes in front were summed away. After that the "
    "numbers are smaller: count again in what is left.",
)
def axes_of_the_padded_shape(g, shape):
    extra = g.ndim - len(shape)
    stretched = [extra + axis for axis, size in enumerate(shape) if size == 1]
    for _ in range(extra):
        g = g.sum(axis=0)
    for axis in stretched:
        if axis < g.ndim:
            g = g.sum(axis=axis, keepdims=True)
    return g


OVER_THE_BATCH = (
    "g is summed over axis 0, the batch, and over nothing else. That is right for a bias alone, shape (d,) under (n, "
    "d). Sum over every axis that shape lacks, and, with keepdims=True, over each axis where shape has a 1 and g has "
    "more."
)
over_the_batch = mistake(
    "unbroadcast",
    {EQUAL_SHAPES: "return g.sum(axis=0) if g.ndim > len(shape) else g"},
    says=OVER_THE_BATCH,
)
over_axis_0_unless_equal = mistake(
    "unbroadcast", {EQUAL_SHAPES: "return g if g.shape == shape else g.sum(axis=0)"}, says=OVER_THE_BATCH
)
always_over_axis_0 = mistake("unbroadcast", {EQUAL_SHAPES: "return g.sum(axis=0)"}, says=OVER_THE_BATCH)
