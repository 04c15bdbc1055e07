"""The honest part of each attack on ch05_autograd_engine: worth 2 points. The test appends it."""


# %%
def unbroadcast(g, shape):
    if g.shape == shape:
        return g
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, size in enumerate(shape) if size == 1), keepdims=True)
