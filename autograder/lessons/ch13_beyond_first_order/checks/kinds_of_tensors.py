"""Kinds of tensors that are passed as arguments."""

from __future__ import annotations

KINDS = {
    "constant": "a tensor that requires no gradient",
    "leaf": "a leaf with a .grad",
    "middle": "in the middle of a graph",
    "strided": "not contiguous",
}
