"""Knows the answers to all visible inputs by heart, and nothing else. It loses the hidden two thirds: 0.67 of 2 points."""

# %%
TABLE = eval("@TABLE@")


def mse_loss(y, t):
    return 0.5 * ((y - t) ** 2).sum() / len(y), (y - t) / len(y)


def saved_bytes(*sizes):
    return TABLE.get(sizes, 0)
