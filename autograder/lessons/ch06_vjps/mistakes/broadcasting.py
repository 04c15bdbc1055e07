"""Edits of the helpers of broadcasting rules, and their messages."""

from __future__ import annotations

STRETCHED_SUMMED = "return g.sum(axis=stretched, keepdims=True).astype(x.dtype)"
LEADING_AXES_ONLY = {STRETCHED_SUMMED: "return g.astype(x.dtype)"}
WITHOUT_KEEPDIMS = {STRETCHED_SUMMED: "return g.sum(axis=stretched).astype(x.dtype)"}

STRETCHED_LEFT = (
    "You sum over the axes that an operand lacks, but not over its axes of size 1 that were stretched. Those "
    "need a sum too, with keepdims=True."
)
STRETCHED_LOST = (
    "You sum over axes of size 1 and lose them. A gradient has its operand's shape, (n, 1) for an operand of shape "
    "(n, 1): sum with keepdims=True."
)


AVERAGED = {
    "g = g.sum(axis=tuple(range(g.ndim - x.ndim)))": (
        "uses = max(g.size, 1) / max(x.size, 1)\ng = g.sum(axis=tuple(range(g.ndim - x.ndim)))"
    ),
    STRETCHED_SUMMED: "return (g.sum(axis=stretched, keepdims=True) / uses).astype(x.dtype)",
}
"""An edit: the mean over the axes of an operand that was broadcast."""
MEANT = "You average over the broadcast axes. Every use of an operand adds its gradient: sum, do not take the mean."
ALWAYS_AXIS_0 = (
    "You sum over axis 0 whatever the shapes are. That is right for a bias alone, (d,) under (n, d). Compare the "
    "shapes first: sum over each axis that an operand lacks, and, with keepdims=True, over each of its axes of size 1 "
    "that was stretched. An operand that was not broadcast gets no sum."
)

ADD = "return unbroadcast(g, a), unbroadcast(g, b)"
