"""Wrong answers to ch07_mlp_backprop that learners write.

Those of `backward` get the cache of the reference's `forward`: the keys X, Z (pre-activation), H and activation.
"""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception

# single_example_gradients


def _one_example(W1, W2, x, t):
    z = W1 @ x
    h = np.maximum(z, 0)
    return z, h, W2 @ h - t


@misconception(
    "single_example_gradients", says="W2 was not transposed: the hidden gradient is W2ᵀ(y − t), not W2(y − t)."
)
def untransposed_w2(W1, W2, x, t):
    z, h, dy = _one_example(W1, W2, x, t)
    return np.outer((W2 @ dy) * (z > 0), x), np.outer(dy, h)


@misconception(
    "single_example_gradients",
    says="dW1 passes through relu as if it were not there. Multiply W2ᵀ(y − t), entry by entry, by relu′(z): 1 where "
    "z > 0, else 0.",
)
def forgot_the_relu_mask(W1, W2, x, t):
    _, h, dy = _one_example(W1, W2, x, t)
    return np.outer(W2.T @ dy, x), np.outer(dy, h)


@misconception(
    "single_example_gradients",
    says="The hidden gradient was multiplied by relu(z) itself. Its derivative belongs there: 1 where z > 0, else 0.",
)
def relu_for_its_derivative(W1, W2, x, t):
    _, h, dy = _one_example(W1, W2, x, t)
    return np.outer((W2.T @ dy) * h, x), np.outer(dy, h)


@misconception(
    "single_example_gradients",
    says="relu was applied to the gradient. The mask comes from the forward pass: where z > 0, whatever the gradient.",
)
def relu_of_the_gradient(W1, W2, x, t):
    _, h, dy = _one_example(W1, W2, x, t)
    return np.outer(np.maximum(W2.T @ dy, 0), x), np.outer(dy, h)


@misconception(
    "single_example_gradients", says="The derivative of relu at exactly 0 is 0 here: the mask is z > 0, not z >= 0."
)
def relu_open_at_zero(W1, W2, x, t):
    z, h, dy = _one_example(W1, W2, x, t)
    return np.outer((W2.T @ dy) * (z >= 0), x), np.outer(dy, h)


@misconception(
    "single_example_gradients",
    says="Both gradients are twice too large: the ½ of the loss cancels the 2 of the square, so dL/dy is y − t.",
)
def forgot_the_one_half(W1, W2, x, t):
    z, h, dy = _one_example(W1, W2, x, t)
    return np.outer((W2.T @ (2 * dy)) * (z > 0), x), np.outer(2 * dy, h)


@misconception("single_example_gradients", says="The sign is wrong: dL/dy of ½‖y − t‖² is y − t, not t − y.")
def target_minus_output(W1, W2, x, t):
    z, h, dy = _one_example(W1, W2, x, t)
    return np.outer((W2.T @ -dy) * (z > 0), x), np.outer(-dy, h)


@misconception(
    "single_example_gradients",
    says="Both outer products are the wrong way round: dW has the shape of W, so the gradient of the layer's output "
    "comes first and its input second.",
)
def swapped_outer_products(W1, W2, x, t):
    z, h, dy = _one_example(W1, W2, x, t)
    return np.outer(x, (W2.T @ dy) * (z > 0)), np.outer(h, dy)


@misconception(
    "single_example_gradients", says="dW2 was built from z. The second layer's input is h = relu(z): dW2 = (y − t) hᵀ."
)
def pre_activation_in_dw2(W1, W2, x, t):
    z, _, dy = _one_example(W1, W2, x, t)
    return np.outer((W2.T @ dy) * (z > 0), x), np.outer(dy, z)


@misconception("single_example_gradients", says="The gradients came back in the order (dW2, dW1); (dW1, dW2) is asked.")
def returned_in_backward_order(W1, W2, x, t):
    z, h, dy = _one_example(W1, W2, x, t)
    return np.outer(dy, h), np.outer((W2.T @ dy) * (z > 0), x)


# forward


def _activate(Z, activation):
    if activation == "relu":
        return np.maximum(Z, 0)
    return np.tanh(Z) if activation == "tanh" else np.exp(-np.logaddexp(0, -Z))


def _derivative(Z, H, activation):
    if activation == "relu":
        return Z > 0
    return 1 - H**2 if activation == "tanh" else H * (1 - H)


@misconception(
    "forward", says="There is no activation between the layers: the second layer takes f(X W1 + b1), not X W1 + b1."
)
def no_activation(params, X, activation="relu"):
    return (X @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"], None


@misconception("forward", says="It is relu whatever `activation` says: tanh and sigmoid are asked too.")
def always_relu(params, X, activation="relu"):
    return np.maximum(X @ params["W1"] + params["b1"], 0) @ params["W2"] + params["b2"], None


@misconception(
    "forward", says="The activation was applied to the output as well. The logits are H W2 + b2, of any sign and size."
)
def activated_output(params, X, activation="relu"):
    H = _activate(X @ params["W1"] + params["b1"], activation)
    return _activate(H @ params["W2"] + params["b2"], activation), None


@misconception("forward", says="These are probabilities. forward returns the logits; the softmax belongs to the loss.")
def softmax_of_the_logits(params, X, activation="relu"):
    logits = _activate(X @ params["W1"] + params["b1"], activation) @ params["W2"] + params["b2"]
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True), None


@misconception(
    "forward", says="b1 was added after the activation; it is part of what the activation takes: f(X W1 + b1)."
)
def bias_after_the_activation(params, X, activation="relu"):
    return (_activate(X @ params["W1"], activation) + params["b1"]) @ params["W2"] + params["b2"], None


@misconception("forward", says="Both biases are missing: the layers are X W1 + b1 and H W2 + b2.")
def no_biases(params, X, activation="relu"):
    return _activate(X @ params["W1"], activation) @ params["W2"], None


@misconception("forward", says="The output bias is missing: the logits are H W2 + b2.")
def no_output_bias(params, X, activation="relu"):
    return _activate(X @ params["W1"] + params["b1"], activation) @ params["W2"], None


@misconception(
    "forward", says="The weights were transposed. Examples are rows here and W1 is (d, m), so the layer is X W1 + b1."
)
def transposed_weights(params, X, activation="relu"):
    H = _activate(X @ params["W1"].T + params["b1"], activation)
    return H @ params["W2"].T + params["b2"], None


@misconception(
    "forward",
    says="The sigmoid overflows: exp(z)/(1 + exp(z)) is inf/inf = nan for z = 1000. 1/(1 + exp(−z)) has no such ratio.",
)
def overflowing_sigmoid(params, X, activation="relu"):
    Z = X @ params["W1"] + params["b1"]
    with np.errstate(all="ignore"):
        H = np.exp(Z) / (1 + np.exp(Z)) if activation == "sigmoid" else _activate(Z, activation)
    return H @ params["W2"] + params["b2"], None


# the losses


@misconception(
    "mse_loss",
    says="This is the mean over all n·o entries. The outputs of a row are summed; only the n rows are averaged.",
)
def mean_over_all_entries(y, t):
    return 0.5 * np.mean((y - t) ** 2), (y - t) / y.size


@misconception("mse_loss", says="The gradient lacks the 1/n of the batch mean: dy = (y − t)/n.")
def mse_gradient_without_1_n(y, t):
    return 0.5 * np.sum((y - t) ** 2) / len(y), y - t


@misconception(
    "mse_loss", says="Loss and gradient are sums over the batch. The mean over the n rows is asked: divide both by n."
)
def mse_summed_over_rows(y, t):
    return 0.5 * np.sum((y - t) ** 2), y - t


@misconception("mse_loss", says="The ½ is missing, in the loss and so in the gradient: both are twice too large.")
def mse_without_one_half(y, t):
    return np.sum((y - t) ** 2) / len(y), 2 * (y - t) / len(y)


@misconception("mse_loss", says="The gradient is twice too large: the ½ of the loss cancels the 2 of the square.")
def mse_gradient_with_a_2(y, t):
    return 0.5 * np.sum((y - t) ** 2) / len(y), 2 * (y - t) / len(y)


@misconception(
    "mse_loss",
    says="This is the plain mean of the squares. The loss here is ½ the sum over each row, averaged over the n rows.",
)
def plain_mean_of_squares(y, t):
    return np.mean((y - t) ** 2), 2 * (y - t) / y.size


@misconception("mse_loss", says="The gradient has the wrong sign: it is y − t, which grows with y, over n.")
def mse_gradient_of_the_target(y, t):
    return 0.5 * np.sum((y - t) ** 2) / len(y), (t - y) / len(y)


def _softmax(logits):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def _log_softmax(logits):
    shifted = logits - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _cross_entropy(logits, targets):
    """What is right, for the mistakes that change one thing."""
    p = _softmax(logits)
    p[np.arange(len(targets)), targets] -= 1
    return -_log_softmax(logits)[np.arange(len(targets)), targets].mean(), p / len(targets)


@misconception("cross_entropy_loss", says="The gradient lacks the 1/n of the batch mean: dlogits = (p − one-hot)/n.")
def gradient_without_1_n(logits, targets):
    loss, dlogits = _cross_entropy(logits, targets)
    return loss, dlogits * len(targets)


@misconception(
    "cross_entropy_loss",
    says="Loss and gradient are sums over the batch. The mean over the n rows is asked: divide both by n.",
)
def summed_over_rows(logits, targets):
    loss, dlogits = _cross_entropy(logits, targets)
    return loss * len(targets), dlogits * len(targets)


@misconception(
    "cross_entropy_loss",
    says="The gradient was divided by the n·o entries of the logits. The loss is a mean over the n rows: divide by n.",
)
def gradient_over_all_entries(logits, targets):
    loss, dlogits = _cross_entropy(logits, targets)
    return loss, dlogits / logits.shape[1]


@misconception(
    "cross_entropy_loss",
    says="The class numbers were subtracted from p. Subtract their one-hot rows: 1 at the target, 0 elsewhere.",
)
def subtracted_class_numbers(logits, targets):
    loss, _ = _cross_entropy(logits, targets)
    return loss, (_softmax(logits) - targets[:, None]) / len(targets)


@misconception(
    "cross_entropy_loss",
    says="`p[:, targets] -= 1` changes those columns in every row. Each row has one target: p[np.arange(n), targets].",
)
def subtracted_whole_columns(logits, targets):
    loss, _ = _cross_entropy(logits, targets)
    p = _softmax(logits)
    p[:, targets] -= 1
    return loss, p / len(targets)


@misconception(
    "cross_entropy_loss", says="This is the softmax over n: the one-hot target is still to be subtracted from it."
)
def gradient_without_the_target(logits, targets):
    loss, _ = _cross_entropy(logits, targets)
    return loss, _softmax(logits) / len(targets)


@misconception("cross_entropy_loss", says="The gradient has the wrong sign: it is p − one-hot, over n.")
def target_minus_softmax(logits, targets):
    loss, dlogits = _cross_entropy(logits, targets)
    return loss, -dlogits


@misconception(
    "cross_entropy_loss",
    says="This is the gradient with respect to the probabilities, −1/p at the target. Carried on through the softmax "
    "to the logits, it becomes p − one-hot, over n.",
)
def gradient_of_the_probabilities(logits, targets):
    rows = np.arange(len(targets))
    p, dp = _softmax(logits), np.zeros_like(logits)
    with np.errstate(all="ignore"):
        dp[rows, targets] = -1 / p[rows, targets] / len(targets)
    return _cross_entropy(logits, targets)[0], dp


@misconception(
    "cross_entropy_loss",
    says="exp of a large logit overflows: subtract each row's maximum from it first; the softmax stays the same.",
)
def softmax_without_the_maximum(logits, targets):
    rows = np.arange(len(targets))
    with np.errstate(all="ignore"):
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        loss = -np.log(p[rows, targets]).mean()
    p[rows, targets] -= 1
    return loss, p / len(targets)


@misconception(
    "cross_entropy_loss",
    says="The logarithm of a probability that underflowed to 0 is −inf. Use log p = z − max − log Σ exp(z − max).",
)
def log_of_the_softmax(logits, targets):
    with np.errstate(all="ignore"):
        loss = -np.log(_softmax(logits)[np.arange(len(targets)), targets]).mean()
    return loss, _cross_entropy(logits, targets)[1]


@misconception(
    "cross_entropy_loss",
    says="−log(p + 1e-12) is wrong where p is small: it stops at 27.6. Use log p = z − max − log Σ exp(z − max).",
)
def log_with_an_epsilon(logits, targets):
    loss = -np.log(_softmax(logits)[np.arange(len(targets)), targets] + 1e-12).mean()
    return loss, _cross_entropy(logits, targets)[1]


@misconception(
    "cross_entropy_loss",
    says="One maximum of the whole batch was subtracted; a row far below it underflows. Subtract each row's own.",
)
def one_maximum_for_all_rows(logits, targets):
    rows, shifted = np.arange(len(targets)), logits - logits.max()
    with np.errstate(all="ignore"):
        total = np.exp(shifted).sum(axis=1, keepdims=True)
        loss, p = -(shifted - np.log(total))[rows, targets].mean(), np.exp(shifted) / total
    p[rows, targets] -= 1
    return loss, p / len(targets)


@misconception(
    "cross_entropy_loss",
    says="The softmax ran over the batch (axis 0). Each row is one example: axis 1, with keepdims.",
)
def softmax_over_the_batch(logits, targets):
    rows = np.arange(len(targets))
    log_p = _log_softmax(logits.T).T
    p = np.exp(log_p)
    p[rows, targets] -= 1
    return -log_p[rows, targets].mean(), p / len(targets)


# backward


def _gradients(params, cache, dout):
    """What is right, for the mistakes that change one thing after it."""
    X, Z, H = cache["X"], cache["Z"], cache["H"]
    dZ = (dout @ params["W2"].T) * _derivative(Z, H, cache["activation"])
    return {"W1": X.T @ dZ, "b1": dZ.sum(axis=0), "W2": H.T @ dout, "b2": dout.sum(axis=0)}


def _through(params, cache, dout, dZ):
    """The gradients that follow from a wrong gradient of the pre-activation."""
    return {**_gradients(params, cache, dout), "W1": cache["X"].T @ dZ, "b1": dZ.sum(axis=0)}


@misconception("backward", says="W2 was not transposed: the gradient of the hidden layer is dout W2ᵀ.")
def hidden_gradient_without_transpose(params, cache, dout):
    dZ = (dout @ params["W2"]) * _derivative(cache["Z"], cache["H"], cache["activation"])
    return _through(params, cache, dout, dZ)


@misconception(
    "backward",
    says="Both bias gradients are means over the batch. A bias is added to every row: sum over the rows.",
)
def bias_means(params, cache, dout):
    gradients = _gradients(params, cache, dout)
    return {**gradients, "b1": gradients["b1"] / len(dout), "b2": gradients["b2"] / len(dout)}


@misconception(
    "backward",
    says="The bias gradients were summed over the wrong axis: sum over the rows (axis 0), one number per unit is left.",
)
def bias_sums_over_units(params, cache, dout):
    dZ = (dout @ params["W2"].T) * _derivative(cache["Z"], cache["H"], cache["activation"])
    return {**_gradients(params, cache, dout), "b1": dZ.sum(axis=1), "b2": dout.sum(axis=1)}


@misconception(
    "backward",
    says="The bias gradients kept a batch axis of length 1: b1 is (m,) and b2 is (o,), so sum without keepdims.",
)
def bias_sums_with_keepdims(params, cache, dout):
    gradients = _gradients(params, cache, dout)
    return {**gradients, "b1": gradients["b1"][None], "b2": gradients["b2"][None]}


@misconception(
    "backward",
    says="Everything was divided by the batch size. The loss has already averaged, and dout carries the 1/n: sum, do "
    "not average again.",
)
def divided_by_n_again(params, cache, dout):
    return {name: gradient / len(dout) for name, gradient in _gradients(params, cache, dout).items()}


@misconception(
    "backward",
    says="The Hadamard factor is missing: dZ is dout W2ᵀ times f′(Z), entry by entry, before it goes on to W1 and b1.",
)
def forgot_the_hadamard_factor(params, cache, dout):
    return _through(params, cache, dout, dout @ params["W2"].T)


@misconception(
    "backward",
    says="b1's gradient was taken before the activation's factor. It is the sum of dZ over the rows, not of dH.",
)
def b1_before_the_activation(params, cache, dout):
    return {**_gradients(params, cache, dout), "b1": (dout @ params["W2"].T).sum(axis=0)}


@misconception(
    "backward",
    says="The factor is relu′ whatever the activation was: tanh′ is 1 − H² and sigmoid′ is H(1 − H).",
)
def always_the_relu_mask(params, cache, dout):
    return _through(params, cache, dout, (dout @ params["W2"].T) * (cache["Z"] > 0))


@misconception(
    "backward",
    says="The factor is relu′ whatever the activation was: tanh′ is 1 − H² and sigmoid′ is H(1 − H).",
)
def always_the_relu_mask_of_h(params, cache, dout):
    return _through(params, cache, dout, (dout @ params["W2"].T) * (cache["H"] > 0))


@misconception(
    "backward",
    says="1 − H² and H(1 − H) are written in the activation H = f(Z); here they got the pre-activation Z.",
)
def derivative_formula_at_the_pre_activation(params, cache, dout):
    return _through(
        params, cache, dout, (dout @ params["W2"].T) * _derivative(cache["Z"], cache["Z"], cache["activation"])
    )


@misconception(
    "backward",
    says="The derivative was taken at the activation: f′(H). It belongs at the pre-activation, f′(Z), which written "
    "with H is 1 − H² for tanh and H(1 − H) for sigmoid.",
)
def derivative_at_the_activation(params, cache, dout):
    H, activation = cache["H"], cache["activation"]
    return _through(params, cache, dout, (dout @ params["W2"].T) * _derivative(H, _activate(H, activation), activation))


@misconception("backward", says="The derivative of relu at exactly 0 is 0 here: the mask is Z > 0, not Z >= 0.")
def relu_mask_open_at_zero(params, cache, dout):
    is_relu = cache["activation"] == "relu"
    factor = cache["Z"] >= 0 if is_relu else _derivative(cache["Z"], cache["H"], cache["activation"])
    return _through(params, cache, dout, (dout @ params["W2"].T) * factor)


@misconception(
    "backward", says="The gradient of W2 stands where W2 belongs: dH is dout W2ᵀ with the weights of the forward pass."
)
def through_the_gradient_of_w2(params, cache, dout):
    factor = _derivative(cache["Z"], cache["H"], cache["activation"])
    return _through(params, cache, dout, (dout @ (cache["H"].T @ dout).T) * factor)


@misconception(
    "backward",
    says="W2 was updated before its old value was used: take both layers' gradients first, then change weights.",
)
def through_the_updated_w2(params, cache, dout):
    updated = params["W2"] - cache["H"].T @ dout
    return _through(params, cache, dout, (dout @ updated.T) * _derivative(cache["Z"], cache["H"], cache["activation"]))


@misconception(
    "backward", says="dW2 was built from the pre-activation Z. The second layer's input is H: dW2 = Hᵀ dout."
)
def pre_activation_in_w2(params, cache, dout):
    return {**_gradients(params, cache, dout), "W2": cache["Z"].T @ dout}


@misconception(
    "backward",
    says="dout is not used: this is the gradient for a dout of all ones. Begin with the dout that is given.",
)
def ones_for_dout(params, cache, dout):
    return _gradients(params, cache, np.ones_like(dout))


@misconception(
    "backward",
    says="The weights' gradients are transposed: dW1 = Xᵀ dZ and dW2 = Hᵀ dout have the shapes of W1 and W2.",
)
def transposed_gradients(params, cache, dout):
    gradients = _gradients(params, cache, dout)
    return {**gradients, "W1": gradients["W1"].T, "W2": gradients["W2"].T}


# saved_bytes


@misconception("saved_bytes", says="The hidden layer is kept twice: the pre-activation and the activation, so 2m.")
def one_hidden_array(batch, d, m, o, itemsize):
    return batch * (d + m + o) * itemsize


@misconception(
    "saved_bytes", says="The parameters were counted. They are there anyway: only what the batch makes is asked."
)
def counts_the_parameters(batch, d, m, o, itemsize):
    return (batch * (d + 2 * m + o) + d * m + m + m * o + o) * itemsize


@misconception(
    "saved_bytes",
    says="These are the bytes of the parameters. Count what the batch keeps: X, pre-activation, activation, softmax.",
)
def parameters_only(batch, d, m, o, itemsize):
    return (d * m + m + m * o + o) * itemsize


@misconception("saved_bytes", says="These are bits, eight times the bytes: itemsize is already in bytes.")
def bits(batch, d, m, o, itemsize):
    return batch * (d + 2 * m + o) * itemsize * 8


@misconception("saved_bytes", says="This is the number of entries: each takes itemsize bytes.")
def entries(batch, d, m, o, itemsize):
    return batch * (d + 2 * m + o)


@misconception("saved_bytes", says="This is for one example: every row of the batch keeps its own.")
def one_example(batch, d, m, o, itemsize):
    return (d + 2 * m + o) * itemsize


@misconception("saved_bytes", says="The input X is missing: dW1 = Xᵀ dZ needs it.")
def without_the_input(batch, d, m, o, itemsize):
    return batch * (2 * m + o) * itemsize


@misconception("saved_bytes", says="The softmax is missing: p − one-hot needs it.")
def without_the_softmax(batch, d, m, o, itemsize):
    return batch * (d + 2 * m) * itemsize


@misconception(
    "saved_bytes",
    says="The logits were counted beside the softmax. Backward needs only the softmax: o numbers a row, not 2o.",
)
def counts_the_logits(batch, d, m, o, itemsize):
    return batch * (d + 2 * m + 2 * o) * itemsize


# train


def _initial(X, hidden, rng):
    return {
        "W1": rng.normal(size=(X.shape[1], hidden)) * np.sqrt(2 / X.shape[1]),
        "b1": np.zeros(hidden),
        "W2": rng.normal(size=(hidden, 10)) * np.sqrt(2 / hidden),
        "b2": np.zeros(10),
    }


def _batch_gradients(params, X, y, with_relu=True):
    Z = X @ params["W1"] + params["b1"]
    H = np.maximum(Z, 0) if with_relu else Z
    dlogits = _softmax(H @ params["W2"] + params["b2"])
    dlogits[np.arange(len(y)), y] -= 1
    dlogits /= len(y)
    dZ = (dlogits @ params["W2"].T) * (Z > 0 if with_relu else 1)
    return {"W1": X.T @ dZ, "b1": dZ.sum(axis=0), "W2": H.T @ dlogits, "b2": dlogits.sum(axis=0)}


def _sgd(params, X, y, epochs, lr, rng, with_relu=True, learning=("W1", "b1", "W2", "b2")):
    """What is right with the defaults: plain SGD on batches of about 64. Changes and returns `params`."""
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(y)), max(len(y) // 64, 1)):
            gradients = _batch_gradients(params, X[rows], y[rows], with_relu)
            for name in learning:
                params[name] -= lr * gradients[name]
    return params


@misconception("train", says="The steps go uphill: subtract lr times the gradient, do not add it.")
def uphill(X, y, hidden=64, epochs=3, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return _sgd(_initial(X, hidden, rng), X, y, epochs, -lr, rng)


@misconception(
    "train",
    says="The parameters never change: `p = p - lr * g` gives a new array to a local name. Store it: params[name] = …",
)
def updates_that_are_lost(X, y, hidden=64, epochs=3, lr=0.2, seed=0):
    return _initial(X, hidden, np.random.default_rng(seed))


@misconception(
    "train",
    says="The weights start at 0, and so do the hidden units and every gradient but b2's: draw the weights at random.",
)
def weights_start_at_zero(X, y, hidden=64, epochs=3, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    zeros = {name: np.zeros_like(array) for name, array in _initial(X, hidden, rng).items()}
    return _sgd(zeros, X, y, epochs, lr, rng)


@misconception(
    "train",
    says="All weights start at the same number, so all hidden units stay the same one: draw the weights at random.",
)
def weights_start_equal(X, y, hidden=64, epochs=3, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    params = _initial(X, hidden, rng)
    params["W1"][:], params["W2"][:] = 0.1, 0.1
    return _sgd(params, X, y, epochs, lr, rng)


@misconception("train", says="The training did not go through relu, but through another activation or none: use relu.")
def trained_without_relu(X, y, hidden=64, epochs=8, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    return _sgd(_initial(X, hidden, rng), X, y, epochs, lr, rng, with_relu=False)


@misconception("train", says="Only the last layer learns: W1 and b1 have gradients too, and need their step.")
def only_the_last_layer(X, y, hidden=64, epochs=3, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    return _sgd(_initial(X, hidden, rng), X, y, epochs, lr, rng, learning=("W2", "b2"))


@misconception("train", says="The biases never change: b1 and b2 have gradients too, and need their step.")
def only_the_weights(X, y, hidden=64, epochs=3, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    return _sgd(_initial(X, hidden, rng), X, y, epochs, lr, rng, learning=("W1", "W2"))


@misconception(
    "train",
    says="The gradients of earlier batches are still in the sum: start each step from the gradients of its own batch.",
)
def gradients_never_reset(X, y, hidden=64, epochs=3, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    params = _initial(X, hidden, rng)
    total = {name: np.zeros_like(array) for name, array in params.items()}
    with np.errstate(all="ignore"):
        for _ in range(epochs):
            for rows in np.array_split(rng.permutation(len(y)), max(len(y) // 64, 1)):
                for name, gradient in _batch_gradients(params, X[rows], y[rows]).items():
                    total[name] += gradient
                    params[name] -= lr * total[name]
    return params


@misconception("train", says="Only the first batch is ever used: go through all rows in every epoch.")
def only_the_first_batch(X, y, hidden=64, epochs=20, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    return _sgd(_initial(X, hidden, rng), X[:32], y[:32], epochs, lr, rng)


@misconception(
    "train", says="The rows of X were shuffled without their labels: use one order for both, X[order] and y[order]."
)
def shuffled_without_labels(X, y, hidden=64, epochs=3, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    return _sgd(_initial(X, hidden, rng), X[rng.permutation(len(y))], y, epochs, lr, rng)


@misconception(
    "train", says="The pixels were centered or standardized for the training, and are read as they come, in [0, 1]."
)
def standardized_pixels(X, y, hidden=64, epochs=5, lr=0.1, seed=0):
    rng = np.random.default_rng(seed)
    return _sgd(_initial(X, hidden, rng), (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-8), y, epochs, lr, rng)


@misconception(
    "train", says="Each call draws other numbers: make one generator from `seed`, and draw everything from it."
)
def unseeded(X, y, hidden=64, epochs=20, lr=0.2, seed=0):
    rng = np.random.default_rng()
    return _sgd(_initial(X, hidden, rng), X, y, epochs, lr, rng)


@misconception("train", says="Every seed gives the same numbers: pass `seed` to the generator.")
def one_seed_for_all(X, y, hidden=64, epochs=20, lr=0.2, seed=0):
    rng = np.random.default_rng(0)
    return _sgd(_initial(X, hidden, rng), X, y, epochs, lr, rng)


@misconception(
    "train", says="One pass too few: epochs=1 goes through the rows once, and range(1, epochs) makes epochs − 1 passes."
)
def one_pass_too_few(X, y, hidden=64, epochs=20, lr=0.2, seed=0):
    rng = np.random.default_rng(seed)
    return _sgd(_initial(X, hidden, rng), X, y, epochs - 1, lr, rng)
