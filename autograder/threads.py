"""One thread for each process of ours: they run side by side, and threads of their libraries would wait for others."""

from __future__ import annotations

import os
import sys

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""The environment that says so to libraries which are not loaded yet."""


def one_thread() -> None:
    """Let this process, and those that it starts, compute with one thread; NumPy's own only where it is not loaded."""
    os.environ.update(ONE_THREAD)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
