# %% tags=["setup"]
from autograder import lesson

check = lesson("ch06_vjps")

# %% [markdown]
# # VJPs, one op at a time
#
# Backward rules, one for each op. NumPy only. Read along in the chapter (`backprop read ch06` shows it).
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

# %% [markdown]
# **How an exercise works.** Write your code in the place of `raise NotImplementedError(...)`, run that cell,
# then run the `check(...)` cell below it. It says what is right and what is wrong, as often as you like. If you are
# stuck, `check("add_vjp", hint=1)` gives a first hint and `hint=2` a second one. `check()` shows how far you are. The
# *core* exercises are the path; the *stretch* ones can wait. Any way to the right answers earns the points: how you get
# there is up to you, unless a text says *Points count only …* or forbids a function. Python says that
# `check` is not defined? Then the kernel has been restarted: run the notebook's first cell again.

# %%
import numpy as np

# %% [markdown]
# ## `add_vjp`
#
# `y = a + b` with NumPy's broadcasting: either operand may lack leading axes or be stretched along axes of size 1.
# Return `(da, db)`.
#
# Chapter section: `backprop read ch06/add_vjp`

# %%
def unbroadcast(g, x):
    """The gradient of broadcasting x to g's shape: sum over the added and the stretched axes."""
    g = g.sum(axis=tuple(range(g.ndim - x.ndim)))
    stretched = tuple(axis for axis in range(x.ndim) if x.shape[axis] == 1)
    return g.sum(axis=stretched, keepdims=True).astype(x.dtype)

# %% exercise="add_vjp"
def add_vjp(g, a, b):
    """(da, db) of y = a + b, in the shapes of a and b; g has their broadcast shape."""
    return unbroadcast(g, a), unbroadcast(g, b)

# %% tags=["check", "raises-exception"]
check("add_vjp")  # core, 3 points

# %% [markdown]
# ## `mul_vjp`
#
# `y = a * b`, entry by entry, with NumPy's broadcasting. Return `(da, db)`.
#
# Chapter section: `backprop read ch06/mul_vjp`

# %% exercise="mul_vjp"
def mul_vjp(g, a, b):
    """(da, db) of y = a * b, in the shapes of a and b; g has their broadcast shape."""
    return unbroadcast(g * b, a), unbroadcast(g * a, b)

# %% tags=["check", "raises-exception"]
check("mul_vjp")  # stretch, 3 points

# %% [markdown]
# ## `matmul_vjp`
#
# `y = A @ B`: matrices `(n, k)` and `(k, m)`, or stacks of them, `(..., n, k)` and `(..., k, m)`, whose leading axes
# broadcast as NumPy's do. Both have at least two axes. Return `(dA, dB)`.
#
# Chapter section: `backprop read ch06/matmul_vjp`

# %% exercise="matmul_vjp"
def matmul_vjp(g, A, B):
    """(dA, dB) of y = A @ B: A (..., n, k), B (..., k, m), g (..., n, m); leading axes broadcast."""
    dA = g @ B.swapaxes(-1, -2)
    dB = A.swapaxes(-1, -2) @ g
    return unbroadcast(dA, A), unbroadcast(dB, B)

# %% tags=["check", "raises-exception"]
check("matmul_vjp")  # core, 4 points

# %% [markdown]
# ## `sum_vjp`
#
# `y = x.sum(axis, keepdims=keepdims)`. `axis` is an integer, a tuple of integers or `None` (all axes); negative ones
# count from the end. Return `dx`.
#
# Chapter section: `backprop read ch06/sum_vjp`

# %% exercise="sum_vjp"
def sum_vjp(g, x, axis=None, keepdims=False):
    """dx of y = x.sum(axis, keepdims=keepdims), in the shape of x; g has the shape of that sum."""
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, x.shape).astype(x.dtype)

# %% tags=["check", "raises-exception"]
check("sum_vjp")  # stretch, 3 points

# %% [markdown]
# ## `max_vjp`
#
# `y = x.max(axis)`, `axis` one integer, which may be negative. Where several entries are exactly equal to the maximum,
# they share its gradient equally. Return `dx`.
#
# Chapter section: `backprop read ch06/max_vjp`

# %% exercise="max_vjp"
def max_vjp(g, x, axis):
    """dx of y = x.max(axis), in the shape of x; g lacks that axis. Ties share equally."""
    winners = x == x.max(axis=axis, keepdims=True)
    share = winners / winners.sum(axis=axis, keepdims=True)
    return (np.expand_dims(g, axis) * share).astype(x.dtype)

# %% tags=["check", "raises-exception"]
check("max_vjp")  # stretch, 3 points

# %% [markdown]
# ## `relu_vjp`
#
# `y = max(x, 0)`, entry by entry. The derivative at 0 is taken to be 0. Return `dx`.
#
# Chapter section: `backprop read ch06/relu_vjp`

# %% exercise="relu_vjp"
def relu_vjp(g, x):
    """dx of y = max(x, 0); g and x have one shape."""
    return (g * (x > 0)).astype(x.dtype)

# %% tags=["check", "raises-exception"]
check("relu_vjp")  # core, 2 points

# %% [markdown]
# ## `sigmoid_vjp`
#
# `y = 1 / (1 + exp(-x))`, entry by entry. Return `dx`, finite at ±1000 too.
#
# Chapter section: `backprop read ch06/sigmoid_vjp`

# %% exercise="sigmoid_vjp"
def sigmoid_vjp(g, x):
    """dx of y = 1 / (1 + exp(-x)); g and x have one shape."""
    u = np.exp(-np.abs(x))  # at most 1; the slope is the same at -x and x
    return (g * u / (1 + u) ** 2).astype(x.dtype)

# %% tags=["check", "raises-exception"]
check("sigmoid_vjp")  # stretch, 2 points

# %% [markdown]
# ## `tanh_vjp`
#
# `y = tanh(x)`, entry by entry. Return `dx`, finite at ±1000 too.
#
# Chapter section: `backprop read ch06/tanh_vjp`

# %% exercise="tanh_vjp"
def tanh_vjp(g, x):
    """dx of y = tanh(x); g and x have one shape."""
    return (g * (1 - np.tanh(x) ** 2)).astype(x.dtype)

# %% tags=["check", "raises-exception"]
check("tanh_vjp")  # stretch, 2 points

# %% [markdown]
# ## `softmax_vjp`
#
# `y = exp(x) / exp(x).sum(axis, keepdims=True)`, `axis` one integer. Return `dx`, right for entries of ±1000 too.
#
# Chapter section: `backprop read ch06/softmax_vjp`

# %%
def softmax(x, axis=-1):
    """Softmax along one axis. Taking off the maximum changes nothing and keeps exp from overflowing."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

# %% exercise="softmax_vjp"
def softmax_vjp(g, x, axis=-1):
    """dx of y = softmax(x) along axis; g and x have one shape."""
    p = softmax(x, axis)
    dx = p * (g - (g * p).sum(axis=axis, keepdims=True))
    return dx.astype(x.dtype)

# %% tags=["check", "raises-exception"]
check("softmax_vjp")  # core, 4 points

# %% [markdown]
# ## `logsumexp_vjp`
#
# `y = log(exp(x).sum(axis))`, `axis` one integer. Return `dx`, right for entries of ±1000 too.
#
# Chapter section: `backprop read ch06/logsumexp_vjp`

# %% exercise="logsumexp_vjp"
def logsumexp_vjp(g, x, axis=-1):
    """dx of y = log(exp(x).sum(axis)), in the shape of x; g lacks that axis."""
    return (np.expand_dims(g, axis) * softmax(x, axis)).astype(x.dtype)

# %% tags=["check", "raises-exception"]
check("logsumexp_vjp")  # stretch, 3 points

# %% [markdown]
# ## `cross_entropy_vjp`
#
# `y` is the mean over `n` rows of `-log p[target]`, where `p` is the softmax of a row of `logits` `(n, c)`; `targets`
# are `n` class numbers, integers from 0 to `c - 1`. `y` is a scalar, so `g` is one number. Return `dlogits`, right for
# logits of ±1000 too.
#
# Chapter section: `backprop read ch06/cross_entropy_vjp`

# %% exercise="cross_entropy_vjp"
def cross_entropy_vjp(g, logits, targets):
    """dlogits (n, c) of the mean cross-entropy of logits (n, c) and integer targets (n,); g is a number."""
    n = len(logits)
    p_minus_y = softmax(logits)
    p_minus_y[np.arange(n), targets] -= 1
    return (g * p_minus_y / n).astype(logits.dtype)

# %% tags=["check", "raises-exception"]
check("cross_entropy_vjp")  # core, 4 points

# %% [markdown]
# ## `layernorm_vjp`
#
# `y = gamma * (x - mean) / sqrt(var + eps) + beta`: mean and biased variance of each row, over the last axis. `x` is
# `(..., d)` with any number of leading axes, `gamma` and `beta` are `(d,)`. Return `(dx, dgamma, dbeta)`.
#
# Chapter section: `backprop read ch06/layernorm_vjp`

# %% exercise="layernorm_vjp"
def layernorm_vjp(g, x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    xhat = (x - mean) / std
    axes = tuple(range(x.ndim - 1))
    return g * gamma / std, (g * xhat).sum(axis=axes), g.sum(axis=axes)

# %% tags=["check", "raises-exception"]
check("layernorm_vjp")  # core, 5 points

# %% [markdown]
# ## `rmsnorm_vjp`
#
# `y = gamma * x / sqrt(mean(x²) + eps)`: the mean of each row, over the last axis. `x` is `(..., d)` with any number of
# leading axes, `gamma` is `(d,)`. Return `(dx, dgamma)`.
#
# Chapter section: `backprop read ch06/rmsnorm_vjp`

# %% exercise="rmsnorm_vjp"
def rmsnorm_vjp(g, x, gamma, eps=1e-6):
    """(dx, dgamma) of RMS normalization: g and x (..., d), gamma (d,)."""
    rms = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    xhat = x / rms

    dxhat = g * gamma
    dx = (dxhat - xhat * (dxhat * xhat).mean(axis=-1, keepdims=True)) / rms
    dgamma = (g * xhat).sum(axis=tuple(range(x.ndim - 1)))
    return dx.astype(x.dtype), dgamma.astype(gamma.dtype)

# %% tags=["check", "raises-exception"]
check("rmsnorm_vjp")  # stretch, 4 points

# %% [markdown]
# ## `batchnorm_vjp`
#
# `y = gamma * (x - mean) / sqrt(var + eps) + beta` in training: mean and biased variance of each column of `x` `(n,
# d)`, over the batch. `gamma` and `beta` are `(d,)`. Return `(dx, dgamma, dbeta)`.
#
# Chapter section: `backprop read ch06/batchnorm_vjp`

# %% exercise="batchnorm_vjp"
def batchnorm_vjp(g, x, gamma, beta, eps=1e-5):
    """(dx, dgamma, dbeta) of batch normalization in training: g and x (n, d), gamma and beta (d,)."""
    std = np.sqrt(x.var(axis=0) + eps)
    xhat = (x - x.mean(axis=0)) / std

    dxhat = g * gamma
    dx = (dxhat - dxhat.mean(axis=0) - xhat * (dxhat * xhat).mean(axis=0)) / std
    dgamma, dbeta = (g * xhat).sum(axis=0), g.sum(axis=0)
    return dx.astype(x.dtype), dgamma.astype(gamma.dtype), dbeta.astype(beta.dtype)

# %% tags=["check", "raises-exception"]
check("batchnorm_vjp")  # stretch, 4 points

# %% [markdown]
# ## `embedding_vjp`
#
# `y = table[ids]`: `table` is `(v, d)`, `ids` are integers from 0 to `v - 1` in an array of any shape, and `y` has the
# shape `ids.shape + (d,)`. An id may occur many times. Return `dtable`.
#
# Chapter section: `backprop read ch06/embedding_vjp`

# %% exercise="embedding_vjp"
def embedding_vjp(g, table, ids):
    dtable = np.zeros_like(table)
    dtable[ids] += g
    return dtable

# %% tags=["check", "raises-exception"]
check("embedding_vjp")  # core, 3 points

# %% [markdown]
# ## `conv2d_vjp`
#
# The convolution of deep learning (a cross-correlation: the kernel is not flipped) plus a bias. `x` is `(n, c, h, w)`,
# the kernels `w` are `(f, c, kh, kw)`, `b` is `(f,)`. `x` gets `padding` zeros on each of its four sides, the kernel
# moves `stride` pixels at a time, and rows and columns at the end where it does not fit are not read. Return `(dx, dw,
# db)`.
#
# Chapter section: `backprop read ch06/conv2d_vjp`

# %% exercise="conv2d_vjp"
def conv2d_vjp(g, x, w, b, stride=1, padding=0):
    """(dx, dw, db) of a 2-D convolution: x (n, c, h, w), w (f, c, kh, kw), b (f,), g (n, f, rows, cols)."""
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

# %% tags=["check", "raises-exception"]
check("conv2d_vjp")  # stretch, 5 points

# %% [markdown]
# ## `maxpool2d_vjp`
#
# The maximum of each `size` × `size` window of `x` `(n, c, h, w)`; windows do not overlap, and rows and columns at the
# end that do not fill a window are dropped. In a tie the first entry of the window, in row order, gets all of the
# gradient (PyTorch does the same). Return `dx`.
#
# Chapter section: `backprop read ch06/maxpool2d_vjp`

# %% exercise="maxpool2d_vjp"
def maxpool2d_vjp(g, x, size):
    """dx (n, c, h, w) of max pooling by size × size windows; g is (n, c, h // size, w // size)."""
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

# %% tags=["check", "raises-exception"]
check("maxpool2d_vjp")  # stretch, 4 points

# %% [markdown]
# ## `attention_vjp`
#
# `y = p v` with `p = softmax(q kᵀ / √d)`, row by row: `q` is `(..., n, d)`, `k` is `(..., m, d)`, `v` is `(..., m, e)`,
# with the same leading axes (batch, heads) or none. With `causal=True`, where `n = m`, query `i` sees keys `0` to `i`
# only. Scores may be as large as ±1000. Return `(dq, dk, dv)`.
#
# Chapter section: `backprop read ch06/attention_vjp`

# %% exercise="attention_vjp"
def attention_vjp(g, q, k, v, causal=False):
    """(dq, dk, dv) of softmax(q kᵀ / √d) v: q (..., n, d), k (..., m, d), v (..., m, e), g (..., n, e)."""
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

# %% tags=["check", "raises-exception"]
check("attention_vjp")  # stretch, 5 points

# %% [markdown]
# ## `running_mean_vjp`
#
# Entry `i` of `y` is the mean of the entries `0` to `i` of `x` along `axis`, one integer:
# `y = np.cumsum(x, axis) / [1, 2, ..., n]`, where the counts run along `axis`. Return `dx`.
#
# Chapter section: `backprop read ch06/running_mean_vjp`

# %% exercise="running_mean_vjp"
def running_mean_vjp(g, x, axis=-1):
    """dx of y = the running mean of x along axis; g and x have one shape."""
    shares = np.moveaxis(g, axis, -1) / np.arange(1, x.shape[axis] + 1)
    from_the_end = np.cumsum(shares[..., ::-1], axis=-1)[..., ::-1]
    return np.moveaxis(from_the_end, -1, axis).astype(x.dtype)

# %% tags=["check", "raises-exception"]
check("running_mean_vjp")  # core, 3 points
