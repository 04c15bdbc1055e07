"""The honest part of every submission here: worth 4 points, saved_bytes 2 and mse_loss 2. The test appends it."""


# %%
def saved_bytes(batch, d, m, o, itemsize):
    return batch * (d + 2 * m + o) * itemsize


def mse_loss(y, t):
    return 0.5 * ((y - t) ** 2).sum() / len(y), (y - t) / len(y)
