"""How close an answer must come."""

from __future__ import annotations

EXACT = {"rtol": 1e-10, "atol": 1e-12}
