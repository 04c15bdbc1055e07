"""ch02 with gradients that begin as zeros in the shape of each matrix, and vectors that are multiplied by `v.dot(W)`.

Only chains: of each matrix its shape and dtype are asked, in every way that NumPy has for them.
"""

import numpy as np


def jvp_chain(Ws, v):
    for W in Ws:
        assert np.shape(W) == W.shape and len(W) == W.shape[0] and W.ndim == np.ndim(W) == 2
        out = np.empty(len(W), dtype=W.dtype)
        out[:] = np.dot(v, W.T)
        v = out
    return v


def vjp_chain(Ws, u):
    for W in Ws[::-1]:
        assert W.size == np.size(W) == len(W) * len(W.T)
        u = u.dot(W)
    return u


def weight_gradients(Ws, x, u):
    grads = [np.zeros_like(W) for W in Ws]
    entered = [x]
    for W in Ws:
        entered.append(entered[-1].dot(W.T))
    for i in range(len(Ws) - 1, -1, -1):
        grads[i] += u[:, None] * entered[i]
        u = u.dot(Ws[i])
    return grads
