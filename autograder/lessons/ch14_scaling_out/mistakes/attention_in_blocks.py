"""Lines of attention in blocks, forward and backward, and messages for both."""

from __future__ import annotations

BLOCKS = "for start in range(0, k.shape[-2], block):"
WHOLE_ROWS = (
    "More is made at a time than n_q × block numbers: the matrix of scores, whole rows of it where the queries are cut "
    "into blocks, all keys scaled at once, or what each block gave, kept until the end. Cut keys and values into "
    "blocks, and let each block go."
)
