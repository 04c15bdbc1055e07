# %% [markdown]
# # VJPs, one op at a time
#
# Backward rules, one for each op. NumPy only. Read along in [the chapter](../book/ch06_vjps.md).
#
# `g` is always the upstream gradient `dL/dy`, in the shape of the output `y`; the rule turns it into the gradient of
# each input.
#
# Everywhere: arguments are arrays, of floats unless it is said, and stay unchanged. Some are views, such as transposes.
# Where an op is defined for 0-d and empty ones, they come too; no mean, maximum or softmax runs along an empty axis. A
# gradient has the shape **and the dtype** of the input it belongs to, even when `g` has another dtype; right values in
# another dtype cost at most a tenth of an exercise. One gradient is returned as it is, several as a tuple in the order
# given.
#
# Each rule is also called with thousands of entries, and has 2 seconds for them. One forward pass for each
# entry takes longer; any other way that gives the right numbers will do. **Points count only with that.**

# %%
import numpy as np

# %% [markdown]
# ## `add_vjp`
#
# `y = a + b` with NumPy's broadcasting: either operand may lack leading axes or be stretched along axes of size 1.
# Return `(da, db)`.
# [Chapter section](../book/ch06_vjps.md#ch06-add-vjp)


# %% tags=["solution"]
def unbroadcast(g, x):
    """The gradient of broadcasting x to g's shape: sum over the added and the stretched axes."""
    g = g.sum(axis=tuple(range(g.ndim - x.ndim)))
    stretched = tuple(axis for axis in range(x.ndim) if x.shape[axis] == 1)
    return g.sum(axis=stretched, keepdims=True).astype(x.dtype)


# %% exercise="add_vjp"
def add_vjp(g, a, b):
    """(da, db) of y = a + b, in the shapes of a and b; g has their broadcast shape."""
    ### BEGIN SOLUTION
    return unbroadcast(g, a), unbroadcast(g, b)
    ### END SOLUTION


# %% [markdown]
# ## `mul_vjp`
#
# `y = a * b`, entry by entry, with NumPy's broadcasting. Return `(da, db)`.
# [Chapter section](../book/ch06_vjps.md#ch06-mul-vjp)


# %% exercise="mul_vjp"
def mul_vjp(g, a, b):
    """(da, db) of y = a * b, in the shapes of a and b; g has their broadcast shape."""
    ### BEGIN SOLUTION
    return unbroadcast(g * b, a), unbroadcast(g * a, b)
    ### END SOLUTION


# %% [markdown]
# ## `matmul_vjp`
#
# `y = A @ B`: matrices `(n, k)` and `(k, m)`, or stacks of them, `(..., n, k)` and `(..., k, m)`, whose leading axes
# broadcast as NumPy's do. Both have at least two axes. Return `(dA, dB)`.
# [Chapter section](../book/ch06_vjps.md#ch06-matmul-vjp)


# %% exercise="matmul_vjp"
def matmul_vjp(g, A, B):
    """(dA, dB) of y = A @ B: A (..., n, k), B (..., k, m), g (..., n, m); leading axes broadcast."""
    ### BEGIN SOLUTION
    dA = g @ B.swapaxes(-1, -2)
    dB = A.swapaxes(-1, -2) @ g
    return unbroadcast(dA, A), unbroadcast(dB, B)
    ### END SOLUTION


# %% [markdown]
# ## `sum_vjp`
#
# `y = x.sum(axis, keepdims=keepdims)`. `axis` is an integer, a tuple of integers or `None` (all axes); negative ones
# count from the end. Return `dx`.
# [Chapter section](../book/ch06_vjps.md#ch06-sum-vjp)


# %% exercise="sum_vjp"
def sum_vjp(g, x, axis=None, keepdims=False):
    """dx of y = x.sum(axis, keepdims=keepdims), in the shape of x; g has the shape of that sum."""
    ### BEGIN SOLUTION
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, x.shape).astype(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `max_vjp`
#
# `y = x.max(axis)`, `axis` one integer, which may be negative. Where several entries are exactly equal to the maximum,
# they share its gradient equally. Return `dx`.
# [Chapter section](../book/ch06_vjps.md#ch06-max-vjp)


# %% exercise="max_vjp"
def max_vjp(g, x, axis):
    """dx of y = x.max(axis), in the shape of x; g lacks that axis. Ties share equally."""
    ### BEGIN SOLUTION
    winners = x == x.max(axis=axis, keepdims=True)
    share = winners / winners.sum(axis=axis, keepdims=True)
    return (np.expand_dims(g, axis) * share).astype(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `relu_vjp`
#
# `y = max(x, 0)`, entry by entry. The derivative at 0 is taken to be 0. Return `dx`.
# [Chapter section](../book/ch06_vjps.md#ch06-relu-vjp)


# %% exercise="relu_vjp"
def relu_vjp(g, x):
    """dx of y = max(x, 0); g and x have one shape."""
    ### BEGIN SOLUTION
    return (g * (x > 0)).astype(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `sigmoid_vjp`
#
# `y = 1 / (1 + exp(-x))`, entry by entry. Return `dx`, finite at ±1000 too.
# [Chapter section](../book/ch06_vjps.md#ch06-sigmoid-vjp)


# %% exercise="sigmoid_vjp"
def sigmoid_vjp(g, x):
    """dx of y = 1 / (1 + exp(-x)); g and x have one shape."""
    ### BEGIN SOLUTION
    u = np.exp(-np.abs(x))  # at most 1; the slope is the same at -x and x
    return (g * u / (1 + u) ** 2).astype(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `tanh_vjp`
#
# `y = tanh(x)`, entry by entry. Return `dx`, finite at ±1000 too.
# [Chapter section](../book/ch06_vjps.md#ch06-tanh-vjp)


# %% exercise="tanh_vjp"
def tanh_vjp(g, x):
    """dx of y = tanh(x); g and x have one shape."""
    ### BEGIN SOLUTION
    return (g * (1 - np.tanh(x) ** 2)).astype(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `softmax_vjp`
#
# `y = exp(x) / exp(x).sum(axis, keepdims=True)`, `axis` one integer. Return `dx`, right for entries of ±1000 too.
# [Chapter section](../book/ch06_vjps.md#ch06-softmax-vjp)


# %% tags=["solution"]
def softmax(x, axis=-1):
    """Softmax along one axis. Taking off the maximum changes nothing and keeps exp from overflowing."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# %% exercise="softmax_vjp"
def softmax_vjp(g, x, axis=-1):
    """dx of y = softmax(x) along axis; g and x have one shape."""
    ### BEGIN SOLUTION
    p = softmax(x, axis)
    dx = p * (g - (g * p).sum(axis=axis, keepdims=True))
    return dx.astype(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `logsumexp_vjp`
#
# `y = log(exp(x).sum(axis))`, `axis` one integer. Return `dx`, right for entries of ±1000 too.
# [Chapter section](../book/ch06_vjps.md#ch06-logsumexp-vjp)


# %% exercise="logsumexp_vjp"
def logsumexp_vjp(g, x, axis=-1):
    """dx of y = log(exp(x).sum(axis)), in the shape of x; g lacks that axis."""
    ### BEGIN SOLUTION
    return (np.expand_dims(g, axis) * softmax(x, axis)).astype(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `cross_entropy_vjp`
#
# `y` is the mean over `n` rows of `-log p[target]`, where `p` is the softmax of a row of `logits` `(n, c)`; `targets`
# are `n` class numbers, integers from 0 to `c - 1`. `y` is a scalar, so `g` is one number. Return `dlogits`, right for
# logits of ±1000 too.
# [Chapter section](../book/ch06_vjps.md#ch06-cross-entropy-vjp)


# %% exercise="cross_entropy_vjp"
def cross_entropy_vjp(g, logits, targets):
    """dlogits (n, c) of the mean cross-entropy of logits (n, c) and integer targets (n,); g is a number."""
    ### BEGIN SOLUTION
    n = len(logits)
    p_minus_y = softmax(logits)
    p_minus_y[np.arange(n), targets] -= 1
    return (g * p_minus_y / n).astype(logits.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `layernorm_vjp`
#
# `y = gamma * (x - mean) / sqrt(var + eps) + beta`: mean and biased variance of each row, over the last axis. `x` is
# `(..., d)` with any number of leading axes, `gamma` and `beta` are `(d,)`. Return `(dx, dgamma, dbeta)`.
# [Chapter section](../book/ch06_vjps.md#ch06-layernorm-vjp)


# %% exercise="layernorm_vjp"
def layernorm_vjp(g, x, gamma, beta, eps=1e-5):
    """(dx, dgamma, dbeta) of layer normalization: g and x (..., d), gamma and beta (d,)."""
    ### BEGIN SOLUTION
    mean = x.mean(axis=-1, keepdims=True)
    std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    xhat = (x - mean) / std

    dxhat = g * gamma
    mean_dxhat = dxhat.mean(axis=-1, keepdims=True)
    mean_dxhat_xhat = (dxhat * xhat).mean(axis=-1, keepdims=True)
    dx = (dxhat - mean_dxhat - xhat * mean_dxhat_xhat) / std

    rows = tuple(range(x.ndim - 1))
    dgamma, dbeta = (g * xhat).sum(axis=rows), g.sum(axis=rows)
    return dx.astype(x.dtype), dgamma.astype(gamma.dtype), dbeta.astype(beta.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `rmsnorm_vjp`
#
# `y = gamma * x / sqrt(mean(x²) + eps)`: the mean of each row, over the last axis. `x` is `(..., d)` with any number of
# leading axes, `gamma` is `(d,)`. Return `(dx, dgamma)`.
# [Chapter section](../book/ch06_vjps.md#ch06-rmsnorm-vjp)


# %% exercise="rmsnorm_vjp"
def rmsnorm_vjp(g, x, gamma, eps=1e-6):
    """(dx, dgamma) of RMS normalization: g and x (..., d), gamma (d,)."""
    ### BEGIN SOLUTION
    rms = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    xhat = x / rms

    dxhat = g * gamma
    dx = (dxhat - xhat * (dxhat * xhat).mean(axis=-1, keepdims=True)) / rms
    dgamma = (g * xhat).sum(axis=tuple(range(x.ndim - 1)))
    return dx.astype(x.dtype), dgamma.astype(gamma.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `batchnorm_vjp`
#
# `y = gamma * (x - mean) / sqrt(var + eps) + beta` in training: mean and biased variance of each column of `x` `(n,
# d)`, over the batch. `gamma` and `beta` are `(d,)`. Return `(dx, dgamma, dbeta)`.
# [Chapter section](../book/ch06_vjps.md#ch06-batchnorm-vjp)


# %% exercise="batchnorm_vjp"
def batchnorm_vjp(g, x, gamma, beta, eps=1e-5):
    """(dx, dgamma, dbeta) of batch normalization in training: g and x (n, d), gamma and beta (d,)."""
    ### BEGIN SOLUTION
    std = np.sqrt(x.var(axis=0) + eps)
    xhat = (x - x.mean(axis=0)) / std

    dxhat = g * gamma
    dx = (dxhat - dxhat.mean(axis=0) - xhat * (dxhat * xhat).mean(axis=0)) / std
    dgamma, dbeta = (g * xhat).sum(axis=0), g.sum(axis=0)
    return dx.astype(x.dtype), dgamma.astype(gamma.dtype), dbeta.astype(beta.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `embedding_vjp`
#
# `y = table[ids]`: `table` is `(v, d)`, `ids` are integers from 0 to `v - 1` in an array of any shape, and `y` has the
# shape `ids.shape + (d,)`. An id may occur many times. Return `dtable`.
# [Chapter section](../book/ch06_vjps.md#ch06-embedding-vjp)


# %% exercise="embedding_vjp"
def embedding_vjp(g, table, ids):
    """dtable (v, d) of y = table[ids]; ids of any shape, g of shape ids.shape + (d,)."""
    ### BEGIN SOLUTION
    dtable = np.zeros_like(table)
    np.add.at(dtable, ids, g)  # dtable[ids] += g would keep only one of several equal ids
    return dtable
    ### END SOLUTION


# %% [markdown]
# ## `conv2d_vjp`
#
# The convolution of deep learning (a cross-correlation: the kernel is not flipped) plus a bias. `x` is `(n, c, h, w)`,
# the kernels `w` are `(f, c, kh, kw)`, `b` is `(f,)`. `x` gets `padding` zeros on each of its four sides, the kernel
# moves `stride` pixels at a time, and rows and columns at the end where it does not fit are not read. Return `(dx, dw,
# db)`.
# [Chapter section](../book/ch06_vjps.md#ch06-conv2d-vjp)


# %% exercise="conv2d_vjp"
def conv2d_vjp(g, x, w, b, stride=1, padding=0):
    """(dx, dw, db) of a 2-D convolution: x (n, c, h, w), w (f, c, kh, kw), b (f,), g (n, f, rows, cols)."""
    ### BEGIN SOLUTION
    height, width = x.shape[2:]
    rows, cols = g.shape[2:]
    x_padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    dx_padded, dw = np.zeros_like(x_padded), np.zeros_like(w)
    for i in range(w.shape[2]):
        for j in range(w.shape[3]):
            # y[:, f] adds w[f, c, i, j] times these pixels of channel c: one matmul per kernel position.
            pixels = (..., slice(i, i + stride * rows, stride), slice(j, j + stride * cols, stride))
            dw[:, :, i, j] = np.einsum("nfrs,ncrs->fc", g, x_padded[pixels])
            dx_padded[pixels] += np.einsum("nfrs,fc->ncrs", g, w[:, :, i, j])
    dx = dx_padded[:, :, padding : padding + height, padding : padding + width]
    return dx, dw, g.sum(axis=(0, 2, 3)).astype(b.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `maxpool2d_vjp`
#
# The maximum of each `size` × `size` window of `x` `(n, c, h, w)`; windows do not overlap, and rows and columns at the
# end that do not fill a window are dropped. In a tie the first entry of the window, in row order, gets all of the
# gradient (PyTorch does the same). Return `dx`.
# [Chapter section](../book/ch06_vjps.md#ch06-maxpool2d-vjp)


# %% exercise="maxpool2d_vjp"
def maxpool2d_vjp(g, x, size):
    """dx (n, c, h, w) of max pooling by size × size windows; g is (n, c, h // size, w // size)."""
    ### BEGIN SOLUTION
    n, c, rows, cols = g.shape
    inside = x[:, :, : rows * size, : cols * size]
    y = inside.reshape(n, c, rows, size, cols, size).max(axis=(3, 5))
    dx = np.zeros_like(x)
    unclaimed = np.ones(y.shape, dtype=bool)
    for i in range(size):
        for j in range(size):
            # Entry (i, j) of every window at once, in row order: the first that equals the maximum claims the gradient.
            entry = (..., slice(i, rows * size, size), slice(j, cols * size, size))
            first = unclaimed & (x[entry] == y)
            dx[entry] = np.where(first, g, 0)
            unclaimed &= ~first
    return dx
    ### END SOLUTION


# %% [markdown]
# ## `attention_vjp`
#
# `y = p v` with `p = softmax(q kᵀ / √d)`, row by row: `q` is `(..., n, d)`, `k` is `(..., m, d)`, `v` is `(..., m, e)`,
# with the same leading axes (batch, heads) or none. With `causal=True`, where `n = m`, query `i` sees keys `0` to `i`
# only. Scores may be as large as ±1000. Return `(dq, dk, dv)`.
# [Chapter section](../book/ch06_vjps.md#ch06-attention-vjp)


# %% exercise="attention_vjp"
def attention_vjp(g, q, k, v, causal=False):
    """(dq, dk, dv) of softmax(q kᵀ / √d) v: q (..., n, d), k (..., m, d), v (..., m, e), g (..., n, e)."""
    ### BEGIN SOLUTION
    scale = q.shape[-1] ** -0.5
    scores = scale * (q @ k.swapaxes(-1, -2))
    if causal:
        seen = np.tril(np.ones(scores.shape[-2:], dtype=bool))
        scores = np.where(seen, scores, -np.inf)
    p = softmax(scores)

    dp = g @ v.swapaxes(-1, -2)
    dv = p.swapaxes(-1, -2) @ g
    dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True))  # 0 where p is 0: the mask needs no more care
    dq = scale * (dscores @ k)
    dk = scale * (dscores.swapaxes(-1, -2) @ q)
    return dq.astype(q.dtype), dk.astype(k.dtype), dv.astype(v.dtype)
    ### END SOLUTION


# %% [markdown]
# ## `running_mean_vjp`
#
# Entry `i` of `y` is the mean of the entries `0` to `i` of `x` along `axis`, one integer:
# `y = np.cumsum(x, axis) / [1, 2, ..., n]`, where the counts run along `axis`. Return `dx`.
# [Chapter section](../book/ch06_vjps.md#ch06-running-mean-vjp)


# %% exercise="running_mean_vjp"
def running_mean_vjp(g, x, axis=-1):
    """dx of y = the running mean of x along axis; g and x have one shape."""
    ### BEGIN SOLUTION
    shares = np.moveaxis(g, axis, -1) / np.arange(1, x.shape[axis] + 1)
    from_the_end = np.cumsum(shares[..., ::-1], axis=-1)[..., ::-1]
    return np.moveaxis(from_the_end, -1, axis).astype(x.dtype)
    ### END SOLUTION
