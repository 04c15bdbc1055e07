"""Messages about numbers that grow like a power."""

from __future__ import annotations

POWER_OF_ONE = "`x ** 1 / 2` is half of x: ** comes before /. Write math.sqrt, or ** 0.5, or ** (1 / 2)."
