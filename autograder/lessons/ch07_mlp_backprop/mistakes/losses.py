"""Messages that mistakes in both losses share."""

from __future__ import annotations

# the losses


SUMMED_OVER_ROWS = "Loss and gradient are sums over the batch. They should be means over the n rows: divide both by n."
