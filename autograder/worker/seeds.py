"""Seeds the random generators of a worker's processes."""

from __future__ import annotations

import random
import sys


def seed() -> None:
    """Seed all generators, so that every fork draws the same random numbers."""
    _seed_all_but_torch()
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(0)


def seed_again() -> None:
    """Seed what `seed` has seeded in this process, so that every variant of a submission draws the same numbers.

    `torch.manual_seed` would note where it is called from for each device that is not in use yet, in a millisecond, and
    keep that: its first note counts when a device is used.
    """
    _seed_all_but_torch()
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.manual_seed(0)
        if torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(0)


def _seed_all_but_torch() -> None:
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)
