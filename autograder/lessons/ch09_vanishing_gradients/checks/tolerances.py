"""Tolerances.

Models stay in the submission's process: scenarios build them, or let the submission build them, and return numbers.
Random networks are checked by properties, with margins that were measured over many seeds and are given at each check.
"""

from __future__ import annotations

EXACT = {"rtol": 1e-9, "atol": 0.0}  # vanished gradients are compared as closely as large ones
