"""The class's secret, from which hidden inputs are drawn."""

from __future__ import annotations

import hashlib

PUBLIC_SALT = "learning alone"
"""The salt of those who belong to no class."""


def fingerprint(salt: str) -> str:
    """What results record of a salt: enough to see that it changed, useless to guess it."""
    return hashlib.sha256(f"backprop salt {salt}".encode()).hexdigest()[:16]
