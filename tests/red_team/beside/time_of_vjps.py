"""Differentiates nothing: times vjp where it is asked about and beside it, as a right one once took longer. 2 points."""

# %%
import time

import numpy as np


def gradcheck(f, vjp, inputs, rng):
    g = rng.normal(size=np.shape(f(*inputs)))
    moved = [np.asarray(x) * 1.0000001 for x in inputs]
    here, there = [], []
    for _ in range(4):
        for times, at in ((here, inputs), (there, moved)):
            start = time.perf_counter()
            vjp(g, *at)
            times.append(time.perf_counter() - start)
    return min(there) > 1.25 * min(here)
