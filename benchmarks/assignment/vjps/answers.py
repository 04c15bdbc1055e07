# ruff: noqa: F811
"""Answers to the NumPy assignment, one a cell: `# %% EXERCISE: WHAT IT IS`. `correct` is the solution."""

import numpy as np


# %% matmul_vjp: correct
def matmul_vjp(g, A, B):
    """(dA, dB) of y = A @ B; leading axes broadcast."""
    dA, dB = g @ np.swapaxes(B, -1, -2), np.swapaxes(A, -1, -2) @ g
    gradients = []
    for gradient, x in ((dA, A), (dB, B)):
        gradient = gradient.sum(axis=tuple(range(gradient.ndim - x.ndim)))
        stretched = tuple(axis for axis in range(x.ndim - 2) if x.shape[axis] == 1)
        gradients.append(gradient.sum(axis=stretched, keepdims=True))
    return tuple(gradients)


# %% matmul_vjp: correct, in another style
def matmul_vjp(g, A, B):
    def reduce_to(value, shape):
        while value.ndim > len(shape):
            value = value.sum(axis=0)
        for i, n in enumerate(shape):
            if n == 1 and value.shape[i] != 1:
                value = value.sum(axis=i, keepdims=True)
        return value

    dA = np.einsum("...ij,...kj->...ik", g, B)
    dB = np.einsum("...ki,...kj->...ij", A, g)
    return reduce_to(dA, A.shape), reduce_to(dB, B.shape)


# %% matmul_vjp: wrong, no sum over the batch
def matmul_vjp(g, A, B):
    return g @ np.swapaxes(B, -1, -2), np.swapaxes(A, -1, -2) @ g


# %% matmul_vjp: wrong, all axes reversed
def matmul_vjp(g, A, B):
    return g @ B.T, A.T @ g


# %% matmul_vjp: wrong, gradients swapped
def matmul_vjp(g, A, B):
    return np.swapaxes(A, -1, -2) @ g, g @ np.swapaxes(B, -1, -2)


# %% matmul_vjp: stub
def matmul_vjp(g, A, B):
    """(dA, dB) of y = A @ B; leading axes broadcast."""
    raise NotImplementedError


# %% matmul_vjp: raises
def matmul_vjp(g, A, B):
    return g.dot(B.transpose()), A.transpose().dot(gradient)  # noqa: F821


# %% relu_vjp: correct
def relu_vjp(g, x):
    """dx of y = max(x, 0)."""
    return g * (x > 0)


# %% relu_vjp: correct, in another style
def relu_vjp(g, x):
    dx = g.copy()
    dx[x <= 0] = 0.0
    return dx


# %% relu_vjp: wrong, 1 at zero
def relu_vjp(g, x):
    return g * (x >= 0)


# %% relu_vjp: wrong, the upstream gradient is clipped
def relu_vjp(g, x):
    return np.maximum(g, 0.0)


# %% relu_vjp: wrong, g is forgotten
def relu_vjp(g, x):
    return (x > 0).astype(x.dtype)


# %% relu_vjp: stub
def relu_vjp(g, x):
    """dx of y = max(x, 0)."""
    raise NotImplementedError


# %% relu_vjp: raises
def relu_vjp(g, x):
    if x > 0:
        return g
    return 0.0


# %% cross_entropy_gradient: correct
def cross_entropy_gradient(logits, labels):
    """d loss / d logits of the mean softmax cross-entropy."""
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1.0
    return p / len(labels)


# %% cross_entropy_gradient: correct, in another style
def cross_entropy_gradient(logits, labels):
    n, classes = logits.shape
    shifted = logits - np.max(logits, axis=-1)[:, None]
    probabilities = np.exp(shifted) / np.sum(np.exp(shifted), axis=-1)[:, None]
    return (probabilities - np.eye(classes)[labels]) / n


# %% cross_entropy_gradient: wrong, not divided by the batch
def cross_entropy_gradient(logits, labels):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1.0
    return p


# %% cross_entropy_gradient: wrong, the sign
def cross_entropy_gradient(logits, labels):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return (np.eye(logits.shape[1])[labels] - p) / len(labels)


# %% cross_entropy_gradient: wrong, overflows
def cross_entropy_gradient(logits, labels):
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1.0
    return p / len(labels)


# %% cross_entropy_gradient: stub
def cross_entropy_gradient(logits, labels):
    """d loss / d logits of the mean softmax cross-entropy."""
    raise NotImplementedError


# %% cross_entropy_gradient: raises
def cross_entropy_gradient(logits, labels):
    raise ValueError(f"labels of shape {labels.shape} are not one-hot")


# %% add_vjp: correct
def add_vjp(g, a, b):
    """(da, db) of y = a + b with broadcasting."""
    gradients = []
    for x in (a, b):
        gradient = g.sum(axis=tuple(range(g.ndim - x.ndim)))
        stretched = tuple(axis for axis in range(x.ndim) if x.shape[axis] == 1)
        gradients.append(gradient.sum(axis=stretched, keepdims=True))
    return tuple(gradients)


# %% add_vjp: correct, in another style
def add_vjp(g, a, b):
    def undo(shape):
        padded = (1,) * (g.ndim - len(shape)) + shape
        axes = tuple(i for i, n in enumerate(padded) if n == 1)
        return g.sum(axis=axes, keepdims=True).reshape(shape)

    return undo(a.shape), undo(b.shape)


# %% add_vjp: wrong, no sum over broadcast axes
def add_vjp(g, a, b):
    return g.copy(), g.copy()


# %% add_vjp: wrong, only leading axes summed
def add_vjp(g, a, b):
    return tuple(g.sum(axis=tuple(range(g.ndim - x.ndim))) for x in (a, b))


# %% add_vjp: wrong, the mean over broadcast axes
def add_vjp(g, a, b):
    def undo(shape):
        padded = (1,) * (g.ndim - len(shape)) + shape
        axes = tuple(i for i, n in enumerate(padded) if n == 1)
        return g.mean(axis=axes, keepdims=True).reshape(shape)

    return undo(a.shape), undo(b.shape)


# %% add_vjp: stub
def add_vjp(g, a, b):
    """(da, db) of y = a + b with broadcasting."""
    raise NotImplementedError


# %% add_vjp: raises
def add_vjp(g, a, b):
    return g.sum(axis=7), g.sum(axis=8)


# %% mlp_gradients: correct
def mlp_gradients(X, labels, W1, b1, W2, b2):
    """(dW1, db1, dW2, db2) of the mean cross-entropy of relu(X @ W1 + b1) @ W2 + b2."""
    h = X @ W1 + b1
    a = np.maximum(h, 0.0)
    z = a @ W2 + b2
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1.0
    dz = p / len(labels)
    dh = (dz @ W2.T) * (h > 0)
    return X.T @ dh, dh.sum(axis=0), a.T @ dz, dz.sum(axis=0)


# %% mlp_gradients: correct, in another style
def mlp_gradients(X, labels, W1, b1, W2, b2):
    pre = np.dot(X, W1) + b1
    hidden = np.where(pre > 0, pre, 0.0)
    logits = np.dot(hidden, W2) + b2
    e = np.exp(logits - np.max(logits, axis=1)[:, None])
    delta = (e / e.sum(axis=1)[:, None] - np.eye(len(b2))[labels]) / X.shape[0]
    dW2, db2 = np.dot(hidden.T, delta), np.sum(delta, axis=0)
    back = np.where(pre > 0, np.dot(delta, W2.T), 0.0)
    return np.dot(X.T, back), np.sum(back, axis=0), dW2, db2


# %% mlp_gradients: wrong, not divided by the batch
def mlp_gradients(X, labels, W1, b1, W2, b2):
    h = X @ W1 + b1
    a = np.maximum(h, 0.0)
    z = a @ W2 + b2
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    dz = p - np.eye(len(b2))[labels]
    dh = (dz @ W2.T) * (h > 0)
    return X.T @ dh, dh.sum(axis=0), a.T @ dz, dz.sum(axis=0)


# %% mlp_gradients: wrong, no relu on the way back
def mlp_gradients(X, labels, W1, b1, W2, b2):
    h = X @ W1 + b1
    a = np.maximum(h, 0.0)
    z = a @ W2 + b2
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    dz = (p - np.eye(len(b2))[labels]) / len(labels)
    dh = dz @ W2.T
    return X.T @ dh, dh.sum(axis=0), a.T @ dz, dz.sum(axis=0)


# %% mlp_gradients: wrong, biases not summed
def mlp_gradients(X, labels, W1, b1, W2, b2):
    h = X @ W1 + b1
    a = np.maximum(h, 0.0)
    z = a @ W2 + b2
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    dz = (p - np.eye(len(b2))[labels]) / len(labels)
    dh = (dz @ W2.T) * (h > 0)
    return X.T @ dh, dh, a.T @ dz, dz


# %% mlp_gradients: stub
def mlp_gradients(X, labels, W1, b1, W2, b2):
    """(dW1, db1, dW2, db2) of the mean cross-entropy of relu(X @ W1 + b1) @ W2 + b2."""
    raise NotImplementedError


# %% mlp_gradients: raises
def mlp_gradients(X, labels, W1, b1, W2, b2):
    hidden = np.maximum(X @ W1 + b1, 0.0)
    return hidden @ W1, b1, hidden.T @ W2, b2
