"""What is said of both Jacobians."""

from __future__ import annotations

ONE_AT_A_TIME = "Take one basis vector at a time: a single 1, the rest 0."
