"""ch02's weight_gradients with arrays of the shape of each matrix that are empty, or full of ones."""

import numpy as np


def weight_gradients(Ws, x, u):
    grads = [np.zeros(np.shape(W)) for W in Ws]
    entered = []
    for W in Ws:
        entered.append(x)
        y = np.zeros(len(W))
        y += W.dot(x)
        x = y
    for i, W in reversed(list(enumerate(Ws))):
        rows = np.ones_like(W) * u.reshape(-1, 1)
        rows *= np.full_like(W, 1) * entered[i]
        grads[i] = np.multiply(rows, 1.0, out=np.empty_like(W))
        u = W.T.dot(u)
    return grads
