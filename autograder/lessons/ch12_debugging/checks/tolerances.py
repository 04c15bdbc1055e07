"""How close an answer must come."""

from __future__ import annotations

from typing import Any

IDENTICAL: dict[str, Any] = {"rtol": 0.0, "atol": 0.0}
