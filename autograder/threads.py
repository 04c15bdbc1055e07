"""Limits each of our processes to one thread, because many run in parallel and more threads would only compete."""

from __future__ import annotations

import os
import sys

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Environment variables that limit libraries which are loaded later."""


def one_thread() -> None:
    """Limit this process, and those that it starts, to one thread. NumPy is limited only if it is not loaded yet."""
    os.environ.update(ONE_THREAD)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
