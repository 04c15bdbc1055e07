"""Edits of softmax, which several rules use."""

from __future__ import annotations

SHIFTED = "e = np.exp(x - x.max(axis=axis, keepdims=True))"
OVERFLOWS = {SHIFTED: "e = np.exp(x)"}
