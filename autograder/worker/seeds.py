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
    """Seed NumPy, Python and PyTorch's generators of CPU and CUDA, so that all variants of a submission draw alike.

    `torch.manual_seed` takes a millisecond, because it formats the stack for each device that is not yet in use. `seed`
    has done that in this process.
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
        # `default_rng()` and other generators without a seed get theirs from this, by default the system's
        sys.modules["numpy.random.bit_generator"].randbits = random.Random(0).getrandbits  # type: ignore[attr-defined]
