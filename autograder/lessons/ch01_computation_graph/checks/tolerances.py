"""How close an answer must come."""

from __future__ import annotations

# Over 27,000 random graphs of `random_graph`, 50 rounding errors of the sum of all paths' sizes are 4% of this at most.
EXACT = {"rtol": 1e-9, "atol": 1e-11}
