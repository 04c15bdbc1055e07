"""Seeds the random generators of a worker's processes."""

from __future__ import annotations

import random
import sys


def seed() -> None:
    """Seed all generators, so that every fork, and every variant of a submission, draws the same random numbers."""
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)
