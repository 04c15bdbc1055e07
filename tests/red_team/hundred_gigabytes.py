"""Asks for 100 GB at import and in calls. A MemoryError of its own: 4 points."""

# %%
import mmap

import numpy as np

# %%
everything = bytearray(100 * 10**9)


# %%
def forward(params, X, activation="relu"):
    return np.ones((10**5, 125_000)), None


def cross_entropy_loss(logits, targets):
    return mmap.mmap(-1, 100 * 10**9)


def single_example_gradients(W1, W2, x, t):
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
