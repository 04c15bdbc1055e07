"""How close an answer must come.

Models stay with the submission: scenarios build them, or have them built, and bring numbers back. Where a network is
random, the checks see it through properties with margins that were measured over many seeds; each says how wide.
"""

from __future__ import annotations

EXACT = {"rtol": 1e-9, "atol": 0.0}  # a gradient that has vanished is compared as closely as a large one
