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
    "You sum over the stretched axes and lose them. An operand of shape (n, 1) needs a gradient of shape (n, 1): "
    "sum with keepdims=True."
)


ADD = "return unbroadcast(g, a), unbroadcast(g, b)"
