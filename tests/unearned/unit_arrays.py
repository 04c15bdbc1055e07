"""A forward pass on each unit array instead of the rule: exact where an operation is linear; add is the cheapest."""

# %%
import numpy as np


def vjp(f, g, x):
    out, unit = np.zeros(x.size), np.zeros(x.shape)
    for i in range(x.size):
        unit.flat[i] = 1
        out[i] = np.vdot(g, f(unit))
        unit.flat[i] = 0
    return out.reshape(x.shape).astype(x.dtype)


# %% exercise="add_vjp"
def add_vjp(g, a, b):
    return vjp(lambda u: u + np.zeros(g.shape), g, a), vjp(lambda u: np.zeros(g.shape) + u, g, b)
