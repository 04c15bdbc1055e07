"""The honest part of each attack on ch03_accumulation: one NumPy function. The test appends it."""


# %%
def bias_gradient(g):
    return g.sum(axis=0)
