"""Edits of rules for reductions."""

from __future__ import annotations


def restored_last(axis: str) -> str:
    return f"g comes back along the last axis. It lacks the axis {axis}: np.expand_dims(g, axis) puts it back there."
