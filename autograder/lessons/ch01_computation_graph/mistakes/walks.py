"""Mistakes that several walks over a graph share.

Some would never end on a graph with many paths; they give up as the judge would.
"""

from __future__ import annotations

PATIENCE = 25_000
"""Number of steps after which an answer that visits every path gives up."""

BY_INDEX = (
    "parents.index finds the first place of a parent. One that is there twice has two local gradients: go through "
    "parents and local gradients side by side, with zip."
)


def twins(what):
    """The message for answers that count a repeated parent once; `what` happens to such a parent."""
    return (
        f"A parent that is there twice {what}: a set or a dict of parents keeps only one of the two. Go through "
        "parents and local gradients side by side, with zip."
    )


def steps_of(node):
    return list(zip(node.parents, node.local_gradients, strict=True))
