"""Rules by one function that knows no derivative: a complex step for each entry. All of ch06 once had its points."""

# %%
import numpy as np


def vjp(f, g, *xs):
    out = []
    for i, x in enumerate(xs):
        d, z = np.zeros(x.shape), [a.astype(complex) for a in xs]
        for index in np.ndindex(x.shape):
            z[i][index] += 1e-30j
            d[index] = (g * np.imag(f(*z)) / 1e-30).sum()
            z[i][index] -= 1e-30j
        out.append(d.astype(x.dtype))
    return tuple(out) if len(out) > 1 else out[0]


def shifted(x, axis):
    return np.exp(x - x.real.max(axis=axis, keepdims=True))


def soft(x, axis=-1):
    e = shifted(x, axis)
    return e / e.sum(axis=axis, keepdims=True)


def softmax_vjp(g, x, axis=-1):
    return vjp(lambda x: soft(x, axis), g, x)


def attention_vjp(g, q, k, v, causal=False):
    def f(q, k, v):
        s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        if causal:
            s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -1e30)
        return soft(s) @ v

    return vjp(f, g, q, k, v)
