# %% [markdown]
# # Backprop through an MLP by hand
#
# Two layers, eight functions: the gradients of one example, then a batch with biases, two losses, the backward pass and
# its memory, a network that learns to read handwritten digits, and the bug in somebody else's. NumPy only.
# Read along in [the chapter](../book/ch07_mlp_backprop.md).
#
# Shapes: `n` rows in a batch, `d` inputs, `m` hidden units, `o` outputs. A gradient has the shape and the dtype of what
# it belongs to, float32 included; right values in another dtype cost at most a tenth. No function changes its
# arguments. An array may be a view, such as a transpose.

# %%
import numpy as np

# %% [markdown]
# ## `single_example_gradients`
#
# One example, no biases: `y = W2 @ relu(W1 @ x)` and `L = ½‖y − t‖²`, with `W1` of shape `(m, d)`, `W2` `(o, m)`,
# `x` `(d,)` and `t` `(o,)`. Return `(dW1, dW2)`, the gradients of `L`. The derivative of relu at 0 is 0.
# [Chapter section](../book/ch07_mlp_backprop.md#ch07-single-example-gradients)


# %% exercise="single_example_gradients"
def single_example_gradients(W1, W2, x, t):
    """Gradients (dW1, dW2) of ½‖W2 relu(W1 x) − t‖², in the shapes of W1 (m, d) and W2 (o, m)."""
    ### BEGIN SOLUTION
    z = W1 @ x
    h = np.maximum(z, 0)
    y = W2 @ h

    dy = y - t
    dW2 = np.outer(dy, h)
    dh = W2.T @ dy
    dz = dh * (z > 0)
    dW1 = np.outer(dz, x)
    return dW1, dW2
    ### END SOLUTION


# %% [markdown]
# ## `forward`
#
# From here on examples are rows: `logits = f(X W1 + b1) W2 + b2` with `X` `(n, d)`, `W1` `(d, m)`, `b1` `(m,)`,
# `W2` `(m, o)`, `b2` `(o,)`. The activation `f` is `"relu"`, `"tanh"` or `"sigmoid"`; relu when nothing is said.
# Return `(logits, cache)`. The cache is yours: whatever your `backward` will need, in any form. The logits are finite
# for pre-activations of ±1000.
# [Chapter section](../book/ch07_mlp_backprop.md#ch07-forward)


# %% tags=["solution"]
def activate(Z, activation):
    """The activation, entry by entry; shape of Z."""
    if activation == "relu":
        return np.maximum(Z, 0)
    if activation == "tanh":
        return np.tanh(Z)
    return np.exp(-np.logaddexp(0, -Z))  # sigmoid: 1 / (1 + exp(-Z)) without overflow


# %% exercise="forward"
def forward(params, X, activation="relu"):
    """(logits, cache) of a two-layer network: logits (n, o) from X (n, d) and the dict params of W1, b1, W2, b2."""
    ### BEGIN SOLUTION
    Z = X @ params["W1"] + params["b1"]
    H = activate(Z, activation)
    logits = H @ params["W2"] + params["b2"]
    return logits, {"X": X, "Z": Z, "H": H, "activation": activation}
    ### END SOLUTION


# %% [markdown]
# ## `mse_loss`
#
# The batch mean of `½‖y − t‖²`: a sum over the `o` outputs of a row, a mean over the `n` rows. Return `(loss, dy)`,
# where `dy` is the gradient of the loss with respect to `y`.
# [Chapter section](../book/ch07_mlp_backprop.md#ch07-mse-loss)


# %% exercise="mse_loss"
def mse_loss(y, t):
    """(loss, dy): the mean over the n rows of ½‖y − t‖², a number, and its gradient (n, o); y and t are (n, o)."""
    ### BEGIN SOLUTION
    n = len(y)
    loss = 0.5 * np.sum((y - t) ** 2) / n
    dy = (y - t) / n
    return loss, dy
    ### END SOLUTION


# %% [markdown]
# ## `cross_entropy_loss`
#
# The batch mean of `−log p[target]`, where `p` is the softmax of a row of logits. `targets` are `n` class numbers,
# integers from 0 to `o − 1`. Return `(loss, dlogits)`. Both are right for logits of ±1000, where the probability of the
# target may underflow to 0 and the loss is still finite.
# [Chapter section](../book/ch07_mlp_backprop.md#ch07-cross-entropy-loss)


# %% exercise="cross_entropy_loss"
def cross_entropy_loss(logits, targets):
    """(loss, dlogits): the mean cross-entropy, a number, and its gradient (n, o), of logits (n, o) and targets (n,)."""
    ### BEGIN SOLUTION
    n = len(logits)
    rows = np.arange(n)
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = -log_p[rows, targets].mean()

    dlogits = np.exp(log_p)  # the softmax p ...
    dlogits[rows, targets] -= 1  # ... minus the one-hot target
    dlogits /= n
    return loss, dlogits
    ### END SOLUTION


# %% [markdown]
# ## `backward`
#
# Given `dout`, the gradient of some loss with respect to the logits `(n, o)`, return the gradients of that loss with
# respect to the parameters: a dict with the keys `W1`, `b1`, `W2`, `b2` and the shapes of `params`. The loss has
# already averaged, so nothing is divided by `n` here. The derivative of relu at 0 is 0, and every gradient is finite
# for pre-activations of ±1000.
#
# It is called with the cache that **your** `forward` returned for the same `params`, so write `forward` first. Several
# caches may be alive at a time, and one may be used twice: keep what you need in the cache, not in a global variable,
# and leave it as it is.
# [Chapter section](../book/ch07_mlp_backprop.md#ch07-backward)


# %% tags=["solution"]
def activation_derivative(Z, H, activation):
    """dH/dZ, entry by entry, from what the forward pass kept; shape of Z."""
    if activation == "relu":
        return Z > 0
    if activation == "tanh":
        return 1 - H**2
    return H * (1 - H)  # sigmoid


# %% exercise="backward"
def backward(params, cache, dout):
    """Gradients of the parameters, a dict like params, from dout (n, o) and the cache of this lesson's forward."""
    ### BEGIN SOLUTION
    X, Z, H = cache["X"], cache["Z"], cache["H"]
    dH = dout @ params["W2"].T
    dZ = dH * activation_derivative(Z, H, cache["activation"])
    return {"W1": X.T @ dZ, "b1": dZ.sum(axis=0), "W2": H.T @ dout, "b2": dout.sum(axis=0)}
    ### END SOLUTION


# %% [markdown]
# ## `saved_bytes`
#
# How many bytes the forward pass keeps for the backward pass, parameters not counted: the input `X` `(batch, d)`, the
# pre-activation and the activation, both `(batch, m)`, and the softmax `(batch, o)`, each number `itemsize` bytes.
# [Chapter section](../book/ch07_mlp_backprop.md#ch07-saved-bytes)


# %% exercise="saved_bytes"
def saved_bytes(batch, d, m, o, itemsize):
    """Bytes, an int, of the four arrays kept for backward: X, pre-activation, activation, softmax."""
    ### BEGIN SOLUTION
    return batch * (d + 2 * m + o) * itemsize
    ### END SOLUTION


# %% [markdown]
# ## `train`
#
# Train the network of `forward`, with **relu**, on the mean cross-entropy of `X` `(n, 64)`, pixels in [0, 1], and `y`
# `(n,)`, integers 0 to 9, each present. Return the dict of all four trained parameters. `epochs` is the number of
# passes over the data; choose your own defaults for `epochs` and `lr`. The same `seed` gives the same parameters.
#
# The grader calls `train` on the digits of `course.data.load_digits_train()`, their pixels and classes permuted. Then
# it reads 397 digits that your code never sees, permuted the same way, with relu and your parameters. At least
# **94%** must be right with your defaults, and at least **88%** with `hidden=16`. Plain SGD reaches more than that in
# a second; a call may take 30. Then `train` is called once more, on digits seen through a random pattern of pixels:
# about half of the pictures have the pattern's pixels inverted, the others all the rest. Nothing linear reads these; a
# network gets **60%** with ease. Finally, `train` is called with a small `lr` and `hidden=900`: the change of each
# parameter must have a cosine of at least 0.25 with the negative gradient. SGD reaches 0.95, Adam 0.34.
#
# To try it:
# ```python
# from course.data import load_digits_train
#
# X, y = load_digits_train()
# params = train(X[:1100], y[:1100])
# logits, _ = forward(params, X[1100:])
# np.mean(logits.argmax(axis=1) == y[1100:])
# ```
#
# **Points count only for steps with that cosine, and for a network that learns what nothing linear can.**
# [Chapter section](../book/ch07_mlp_backprop.md#ch07-train)


# %% exercise="train"
def train(X, y, hidden=64, epochs=30, lr=0.2, seed=0):
    """Parameters W1 (64, hidden), b1 (hidden,), W2 (hidden, 10), b2 (10,) of a relu network trained on X and y."""
    ### BEGIN SOLUTION
    rng = np.random.default_rng(seed)
    n, d = X.shape
    o = 10
    params = {
        "W1": rng.normal(size=(d, hidden)) * np.sqrt(2 / d),
        "b1": np.zeros(hidden),
        "W2": rng.normal(size=(hidden, o)) * np.sqrt(2 / hidden),
        "b2": np.zeros(o),
    }
    for _ in range(epochs):
        order = rng.permutation(n)
        for rows in np.array_split(order, max(n // 32, 1)):  # batches of about 32
            logits, cache = forward(params, X[rows])
            _, dlogits = cross_entropy_loss(logits, y[rows])
            grads = backward(params, cache, dlogits)
            for name in params:
                params[name] -= lr * grads[name]
    return params
    ### END SOLUTION


# %% [markdown]
# ## `find_bug`
#
# Somebody wrote the network of `forward` with relu and its backward pass in one function. `network(params, X, targets)`
# returns `(loss, grads)`, where `grads` is a dict like `params`: the mean cross-entropy and its gradients, or so they
# say. The function has one bug or none. You cannot read it, but you can call it. Return a string:
#
# | returns | the bug |
# | --- | --- |
# | `"right"` | none |
# | `"slope"` | the gradient leaves out relu's slope, as if every hidden unit were active |
# | `"bias"` | the gradients of both biases are averaged over the rows instead of summed |
# | `"detached"` | the gradients of `W1` and `b1` are zero |
# | `"sum"` | loss and gradients are summed over the rows instead of averaged |
# | `"softmax"` | the softmax is taken twice: the loss gets probabilities in place of logits |
#
# `network` accepts `params` `W1` `(d, m)`, `b1` `(m,)`, `W2` `(m, o)` and `b2` `(o,)`, `X` `(n, d)` and integer
# `targets` `(n,)`, with `n` from 1 to 20 and `d`, `m` and `o` from 1 to 6, all of them finite. It computes in float64.
# You choose them all. On some of them a bug does not show.
# [Chapter section](../book/ch07_mlp_backprop.md#ch07-find-bug)


# %% exercise="find_bug"
def find_bug(network):
    """The bug of network(params, X, targets): "right", "slope", "bias", "detached", "sum" or "softmax"."""
    ### BEGIN SOLUTION
    rng = np.random.default_rng(0)
    n, d, m, o = 6, 3, 5, 4
    X, targets = rng.normal(size=(n, d)), np.arange(n) % o
    shapes = {"W1": (d, m), "b1": m, "W2": (m, o), "b2": o}
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}

    # Do the gradients belong to the loss that it returns?
    loss, grads = network(params, X, targets)
    disagree = set()
    for name, value in params.items():
        nudge = 1e-6 * rng.normal(size=value.shape)  # one random direction stands for all entries
        up, _ = network(params | {name: value + nudge}, X, targets)
        down, _ = network(params | {name: value - nudge}, X, targets)
        if abs((up - down) / 2 - np.sum(grads[name] * nudge)) > 1e-12:
            disagree.add(name)
    if "b2" in disagree:
        return "bias"
    if disagree:
        return "slope" if np.any(grads["W1"]) else "detached"

    # Is that loss the mean cross-entropy?
    twice, _ = network(params, np.tile(X, (2, 1)), np.tile(targets, 2))  # every row twice: the mean is the same
    if not np.isclose(twice, loss):
        return "sum"
    certain = params | {"W2": np.zeros((m, o)), "b2": 100.0 * np.eye(o)[0]}
    sure, _ = network(certain, X, np.zeros(n, dtype=int))  # confident and right: the loss is 0
    return "right" if sure < 0.1 else "softmax"
    ### END SOLUTION
