"""What is said of both losses."""

from __future__ import annotations

# the losses


SUMMED_OVER_ROWS = "Loss and gradient are sums over the batch. The mean over the n rows is asked: divide both by n."
