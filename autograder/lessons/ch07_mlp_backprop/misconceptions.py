"""Wrong answers to ch07_mlp_backprop that learners write."""

from __future__ import annotations

from autograder.diagnosis import mistake

# single_example_gradients


untransposed_w2 = mistake(
    "single_example_gradients",
    {"dh = W2.T @ dy": "dh = W2 @ dy"},
    says="W2 was not transposed: the hidden gradient is W2ᵀ(y − t), not W2(y − t).",
)
forgot_the_relu_mask = mistake(
    "single_example_gradients",
    {"dz = dh * (z > 0)": "dz = dh"},
    says="dW1 passes through relu as if it were not there. Multiply W2ᵀ(y − t), entry by entry, by relu′(z): 1 where "
    "z > 0, else 0.",
)
relu_for_its_derivative = mistake(
    "single_example_gradients",
    {"dz = dh * (z > 0)": "dz = dh * h"},
    says="The hidden gradient was multiplied by relu(z) itself. Its derivative belongs there: 1 where z > 0, else 0.",
)
relu_of_the_gradient = mistake(
    "single_example_gradients",
    {"dz = dh * (z > 0)": "dz = np.maximum(dh, 0)"},
    says="relu was applied to the gradient. The mask comes from the forward pass: where z > 0, whatever the gradient.",
)
relu_open_at_zero = mistake(
    "single_example_gradients",
    {"dz = dh * (z > 0)": "dz = dh * (z >= 0)"},
    says="The derivative of relu at exactly 0 is 0 here: the mask is z > 0, not z >= 0.",
)
forgot_the_one_half = mistake(
    "single_example_gradients",
    {"dy = y - t": "dy = 2 * (y - t)"},
    says="Both gradients are twice too large: the ½ of the loss cancels the 2 of the square, so dL/dy is y − t.",
)
target_minus_output = mistake(
    "single_example_gradients",
    {"dy = y - t": "dy = t - y"},
    says="The sign is wrong: dL/dy of ½‖y − t‖² is y − t, not t − y.",
)
swapped_outer_products = mistake(
    "single_example_gradients",
    {"dW2 = np.outer(dy, h)": "dW2 = np.outer(h, dy)", "dW1 = np.outer(dz, x)": "dW1 = np.outer(x, dz)"},
    says="Both outer products are the wrong way round: dW has the shape of W, so the gradient of the layer's output "
    "comes first and its input second.",
)
products_entry_by_entry = mistake(
    "single_example_gradients",
    {"dW2 = np.outer(dy, h)": "dW2 = dy * h", "dW1 = np.outer(dz, x)": "dW1 = dz * x"},
    says="The gradients were multiplied by the inputs entry by entry. A matrix has an entry for each pair of an output "
    "and an input: dW = g xᵀ, np.outer(g, x).",
)
pre_activation_in_dw2 = mistake(
    "single_example_gradients",
    {"dW2 = np.outer(dy, h)": "dW2 = np.outer(dy, z)"},
    says="dW2 was built from z. The second layer's input is h = relu(z): dW2 = (y − t) hᵀ.",
)
returned_in_backward_order = mistake(
    "single_example_gradients",
    {"return dW1, dW2": "return dW2, dW1"},
    says="The gradients came back in the order (dW2, dW1); (dW1, dW2) is asked.",
)


# forward


HIDDEN = 'Z = X @ params["W1"] + params["b1"]'
LOGITS = 'logits = H @ params["W2"] + params["b2"]'

no_activation = mistake(
    "forward",
    {"H = activate(Z, activation)": "H = Z"},
    says="There is no activation between the layers: the second layer takes f(X W1 + b1), not X W1 + b1.",
)
always_relu = mistake(
    "forward",
    {"H = activate(Z, activation)": "H = np.maximum(Z, 0)"},
    says="It is relu whatever `activation` says: tanh and sigmoid are asked too.",
)
activated_output = mistake(
    "forward",
    {LOGITS: 'logits = activate(H @ params["W2"] + params["b2"], activation)'},
    says="The activation was applied to the output as well. The logits are H W2 + b2, of any sign and size.",
)
softmax_of_the_logits = mistake(
    "forward",
    {
        LOGITS: f"""\
{LOGITS}
logits = np.exp(logits - logits.max(axis=1, keepdims=True))
logits /= logits.sum(axis=1, keepdims=True)"""
    },
    says="These are probabilities. forward returns the logits; the softmax belongs to the loss.",
)
bias_after_the_activation = mistake(
    "forward",
    {HIDDEN: 'Z = X @ params["W1"]', "H = activate(Z, activation)": 'H = activate(Z, activation) + params["b1"]'},
    says="b1 was added after the activation; it is part of what the activation takes: f(X W1 + b1).",
)
no_biases = mistake(
    "forward",
    {HIDDEN: 'Z = X @ params["W1"]', LOGITS: 'logits = H @ params["W2"]'},
    says="Both biases are missing: the layers are X W1 + b1 and H W2 + b2.",
)
no_hidden_bias = mistake(
    "forward",
    {HIDDEN: 'Z = X @ params["W1"]'},
    says="b1 is missing: the hidden layer is f(X W1 + b1).",
)
relu_of_the_output = mistake(
    "forward",
    {LOGITS: 'logits = np.maximum(H @ params["W2"] + params["b2"], 0)'},
    says="relu was applied to the output as well. The logits are H W2 + b2, of any sign and size.",
)
no_output_bias = mistake(
    "forward",
    {LOGITS: 'logits = H @ params["W2"]'},
    says="The output bias is missing: the logits are H W2 + b2.",
)
transposed_weights = mistake(
    "forward",
    {HIDDEN: 'Z = X @ params["W1"].T + params["b1"]', LOGITS: 'logits = H @ params["W2"].T + params["b2"]'},
    says="The weights were transposed. Examples are rows here and W1 is (d, m), so the layer is X W1 + b1.",
)
overflowing_sigmoid = mistake(
    "forward",
    {"return np.exp(-np.logaddexp(0, -Z))": "return np.exp(Z) / (1 + np.exp(Z))"},
    says="The sigmoid overflows: exp(z)/(1 + exp(z)) is inf/inf = nan for z = 1000. 1/(1 + exp(−z)) has no such ratio.",
    where="activate",
)


# the losses


SUMMED_OVER_ROWS = "Loss and gradient are sums over the batch. The mean over the n rows is asked: divide both by n."
HALF_SQUARES = "loss = 0.5 * np.sum((y - t) ** 2) / n"

mean_over_all_entries = mistake(
    "mse_loss",
    {"n = len(y)": "n = y.size"},
    says="This is the mean over all n·o entries. The outputs of a row are summed; only the n rows are averaged.",
)
mse_gradient_without_1_n = mistake(
    "mse_loss",
    {"dy = (y - t) / n": "dy = y - t"},
    says="The gradient lacks the 1/n of the batch mean: dy = (y − t)/n.",
)
mse_summed_over_rows = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = 0.5 * np.sum((y - t) ** 2)", "dy = (y - t) / n": "dy = y - t"},
    says=SUMMED_OVER_ROWS,
)
mse_without_one_half = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = np.sum((y - t) ** 2) / n", "dy = (y - t) / n": "dy = 2 * (y - t) / n"},
    says="The ½ is missing, in the loss and so in the gradient: both are twice too large.",
)
mse_gradient_with_a_2 = mistake(
    "mse_loss",
    {"dy = (y - t) / n": "dy = 2 * (y - t) / n"},
    says="The gradient is twice too large: the ½ of the loss cancels the 2 of the square.",
)
plain_mean_of_squares = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = np.mean((y - t) ** 2)", "dy = (y - t) / n": "dy = 2 * (y - t) / y.size"},
    says="This is the plain mean of the squares. The loss here is ½ the sum over each row, averaged over the n rows.",
)
mse_gradient_of_the_target = mistake(
    "mse_loss",
    {"dy = (y - t) / n": "dy = (t - y) / n"},
    says="The gradient has the wrong sign: it is y − t, which grows with y, over n.",
)


mse_loss_without_one_half = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = np.sum((y - t) ** 2) / n"},
    says="The ½ is missing in the loss; the gradient has it.",
)
mse_multiplied_by_n = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = np.sum((y - t) ** 2) / 2 * n"},
    says="`/ 2 * n` divides by 2 and multiplies by n. The loss is the sum over (2 * n), in parentheses.",
)
mse_divided_by_the_outputs = mistake(
    "mse_loss",
    {"n = len(y)": "n = y.shape[1]"},
    says="Loss and gradient were divided by the number of outputs, o. The mean is over the rows: n is y.shape[0].",
)
norm_without_its_square = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = 0.5 * np.linalg.norm(y - t) / n"},
    says="The norm was not squared: the loss is ½‖y − t‖².",
)


SHIFTED = "shifted = logits - logits.max(axis=1, keepdims=True)"
LOG_SOFTMAX = "log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))"
NEGATIVE_LOG = "loss = -log_p[rows, targets].mean()"

gradient_without_1_n = mistake(
    "cross_entropy_loss",
    {"dlogits /= n": ""},
    says="The gradient lacks the 1/n of the batch mean: dlogits = (p − one-hot)/n.",
)
summed_over_rows = mistake(
    "cross_entropy_loss",
    {NEGATIVE_LOG: "loss = -log_p[rows, targets].sum()", "dlogits /= n": ""},
    says=SUMMED_OVER_ROWS,
)
gradient_over_all_entries = mistake(
    "cross_entropy_loss",
    {"dlogits /= n": "dlogits /= logits.size"},
    says="The gradient was divided by the n·o entries of the logits. The loss is a mean over the n rows: divide by n.",
)
subtracted_class_numbers = mistake(
    "cross_entropy_loss",
    {"dlogits[rows, targets] -= 1": "dlogits = dlogits - targets[:, None]"},
    says="The class numbers were subtracted from p. Subtract their one-hot rows: 1 at the target, 0 elsewhere.",
)
subtracted_whole_columns = mistake(
    "cross_entropy_loss",
    {"dlogits[rows, targets] -= 1": "dlogits[:, targets] -= 1"},
    says="`p[:, targets] -= 1` changes those columns in every row. Each row has one target: p[np.arange(n), targets].",
)
whole_columns_in_both = mistake(
    "cross_entropy_loss",
    {
        NEGATIVE_LOG: "loss = -log_p[:, targets].mean()",
        "dlogits[rows, targets] -= 1": "dlogits[:, targets] -= 1",
    },
    says="`p[:, targets]` takes those columns of every row. Each row has one target: p[np.arange(n), targets].",
)
gradient_without_the_target = mistake(
    "cross_entropy_loss",
    {"dlogits[rows, targets] -= 1": ""},
    says="This is the softmax over n: the one-hot target is still to be subtracted from it.",
)
target_minus_softmax = mistake(
    "cross_entropy_loss",
    {"return loss, dlogits": "return loss, -dlogits"},
    says="The gradient has the wrong sign: it is p − one-hot, over n.",
)
gradient_of_the_probabilities = mistake(
    "cross_entropy_loss",
    {
        "dlogits = np.exp(log_p)": "dlogits = np.zeros_like(logits)",
        "dlogits[rows, targets] -= 1": "dlogits[rows, targets] = -1 / np.exp(log_p)[rows, targets]",
    },
    says="This is the gradient with respect to the probabilities, −1/p at the target. Carried on through the softmax "
    "to the logits, it becomes p − one-hot, over n.",
)
loss_without_its_minus = mistake(
    "cross_entropy_loss",
    {NEGATIVE_LOG: "loss = log_p[rows, targets].mean()"},
    says="The loss lacks its minus: log p is never above 0, and the loss is −log p[target].",
)
entropy_of_the_softmax = mistake(
    "cross_entropy_loss",
    {NEGATIVE_LOG: "loss = -(np.exp(log_p) * log_p).sum() / n"},
    says="The loss is the entropy of the softmax, −Σ p log p, which does not know the targets. It is −log p at "
    "the target.",
)
target_added = mistake(
    "cross_entropy_loss",
    {"dlogits[rows, targets] -= 1": "dlogits[rows, targets] += 1"},
    says="1 was added at the target. It is subtracted: p − one-hot.",
)
softmax_without_the_maximum = mistake(
    "cross_entropy_loss",
    {SHIFTED: "e = np.exp(logits)", LOG_SOFTMAX: "log_p = np.log(e / e.sum(axis=1, keepdims=True))"},
    says="exp of a large logit overflows: subtract each row's maximum from it first; the softmax stays the same.",
)
log_of_the_softmax = mistake(
    "cross_entropy_loss",
    {NEGATIVE_LOG: "p = np.exp(log_p)\nloss = -np.log(p[rows, targets]).mean()"},
    says="The logarithm of a probability that underflowed to 0 is −inf. Use log p = z − max − log Σ exp(z − max).",
)
log_with_an_epsilon = mistake(
    "cross_entropy_loss",
    {NEGATIVE_LOG: "p = np.exp(log_p)\nloss = -np.log(p[rows, targets] + 1e-12).mean()"},
    says="−log(p + 1e-12) is wrong where p is small: it stops at 27.6. Use log p = z − max − log Σ exp(z − max).",
)
one_maximum_for_all_rows = mistake(
    "cross_entropy_loss",
    {
        SHIFTED: "shifted = logits - logits.max()",
        "dlogits = np.exp(log_p)": "dlogits = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)",
    },
    says="One maximum of the whole batch was subtracted; a row far below it underflows. Subtract each row's own.",
)
softmax_over_the_batch = mistake(
    "cross_entropy_loss",
    {
        SHIFTED: "shifted = logits - logits.max(axis=0, keepdims=True)",
        LOG_SOFTMAX: "log_p = shifted - np.log(np.exp(shifted).sum(axis=0, keepdims=True))",
    },
    says="The softmax ran over the batch (axis 0). Each row is one example: axis 1, with keepdims.",
)


# backward


DH = 'dH = dout @ params["W2"].T'
DZ = 'dZ = dH * activation_derivative(Z, H, cache["activation"])'
GRADIENTS = 'return {"W1": X.T @ dZ, "b1": dZ.sum(axis=0), "W2": H.T @ dout, "b2": dout.sum(axis=0)}'
ALWAYS_RELU = "The factor is relu′ whatever the activation was: tanh′ is 1 − H² and sigmoid′ is H(1 − H)."

hidden_gradient_without_transpose = mistake(
    "backward",
    {DH: 'dH = dout @ params["W2"]'},
    says="W2 was not transposed: the gradient of the hidden layer is dout W2ᵀ.",
)
bias_means = mistake(
    "backward",
    {GRADIENTS: 'return {"W1": X.T @ dZ, "b1": dZ.mean(axis=0), "W2": H.T @ dout, "b2": dout.mean(axis=0)}'},
    says="Both bias gradients are means over the batch. A bias is added to every row: sum over the rows.",
)
bias_sums_over_units = mistake(
    "backward",
    {GRADIENTS: 'return {"W1": X.T @ dZ, "b1": dZ.sum(axis=1), "W2": H.T @ dout, "b2": dout.sum(axis=1)}'},
    says="The bias gradients were summed over the wrong axis: sum over the rows (axis 0), one number per unit is left.",
)
bias_sums_with_keepdims = mistake(
    "backward",
    {GRADIENTS: GRADIENTS.replace("axis=0", "axis=0, keepdims=True")},
    says="The bias gradients kept a batch axis of length 1: b1 is (m,) and b2 is (o,), so sum without keepdims.",
)
divided_by_n_again = mistake(
    "backward",
    {DH: f"dout = dout / len(dout)\n{DH}"},
    says="Everything was divided by the batch size. The loss has already averaged, and dout carries the 1/n: sum, do "
    "not average again.",
)
forgot_the_hadamard_factor = mistake(
    "backward",
    {DZ: "dZ = dH"},
    says="The Hadamard factor is missing: dZ is dout W2ᵀ times f′(Z), entry by entry, before it goes on to W1 and b1.",
)
b1_before_the_activation = mistake(
    "backward",
    {GRADIENTS: 'return {"W1": X.T @ dZ, "b1": dH.sum(axis=0), "W2": H.T @ dout, "b2": dout.sum(axis=0)}'},
    says="b1's gradient was taken before the activation's factor. It is the sum of dZ over the rows, not of dH.",
)
always_the_relu_mask = mistake("backward", {DZ: "dZ = dH * (Z > 0)"}, says=ALWAYS_RELU)
always_the_relu_mask_of_h = mistake("backward", {DZ: "dZ = dH * (H > 0)"}, says=ALWAYS_RELU)
derivative_formula_at_the_pre_activation = mistake(
    "backward",
    {DZ: 'dZ = dH * activation_derivative(Z, Z, cache["activation"])'},
    says="1 − H² and H(1 − H) are written in the activation H = f(Z); here they got the pre-activation Z.",
)
derivative_at_the_activation = mistake(
    "backward",
    {DZ: 'f = cache["activation"]\ndZ = dH * activation_derivative(H, activate(H, f), f)'},
    says="The derivative was taken at the activation: f′(H). It belongs at the pre-activation, f′(Z), which written "
    "with H is 1 − H² for tanh and H(1 − H) for sigmoid.",
)
no_mask_for_relu = mistake(
    "backward",
    {"return Z > 0": "return np.ones_like(Z)"},
    says="relu's factor is missing: dZ is dout W2ᵀ where Z > 0, and 0 elsewhere.",
    where="activation_derivative",
)
tanh_factor_at_z = mistake(
    "backward",
    {"return 1 - H**2": "return 1 - Z**2"},
    says="tanh′ is 1 − H², written with the activation H = tanh(Z); here it is 1 − Z².",
    where="activation_derivative",
)
tanh_factor_of_tanh_twice = mistake(
    "backward",
    {"return 1 - H**2": "return 1 - np.tanh(H) ** 2"},
    says="tanh was applied twice: H is tanh(Z) already, and tanh′ is 1 − H².",
    where="activation_derivative",
)
sigmoid_factor_at_z = mistake(
    "backward",
    {"return H * (1 - H)": "return Z * (1 - Z)"},
    says="sigmoid′ is H(1 − H), written with the activation H; here it is Z(1 − Z).",
    where="activation_derivative",
)
half_of_the_sigmoid_factor = mistake(
    "backward",
    {"return H * (1 - H)": "return 1 - H"},
    says="sigmoid′ is H(1 − H); the factor H is missing.",
    where="activation_derivative",
)
w1_before_the_activation = mistake(
    "backward",
    {GRADIENTS: GRADIENTS.replace("X.T @ dZ", "X.T @ dH")},
    says="dW1 was taken before the activation's factor. It is Xᵀ dZ, not Xᵀ dH.",
)
weights_divided_by_n_again = mistake(
    "backward",
    {GRADIENTS: GRADIENTS.replace("X.T @ dZ", "X.T @ dZ / len(X)").replace("H.T @ dout", "H.T @ dout / len(X)")},
    says="Both weights' gradients were divided by the batch size. The loss has already averaged, and dout carries the "
    "1/n: do not average again.",
)
relu_mask_open_at_zero = mistake(
    "backward",
    {"return Z > 0": "return Z >= 0"},
    says="The derivative of relu at exactly 0 is 0 here: the mask is Z > 0, not Z >= 0.",
    where="activation_derivative",
)
through_the_gradient_of_w2 = mistake(
    "backward",
    {DH: "dH = dout @ (H.T @ dout).T"},
    says="The gradient of W2 stands where W2 belongs: dH is dout W2ᵀ with the weights of the forward pass.",
)
through_the_updated_w2 = mistake(
    "backward",
    {DH: 'dH = dout @ (params["W2"] - H.T @ dout).T'},
    says="W2 was updated before its old value was used: take both layers' gradients first, then change weights.",
)
pre_activation_in_w2 = mistake(
    "backward",
    {GRADIENTS: 'return {"W1": X.T @ dZ, "b1": dZ.sum(axis=0), "W2": Z.T @ dout, "b2": dout.sum(axis=0)}'},
    says="dW2 was built from the pre-activation Z. The second layer's input is H: dW2 = Hᵀ dout.",
)
ones_for_dout = mistake(
    "backward",
    {DH: f"dout = np.ones_like(dout)\n{DH}"},
    says="dout is not used: this is the gradient for a dout of all ones. Begin with the dout that is given.",
)
transposed_gradients = mistake(
    "backward",
    {GRADIENTS: 'return {"W1": dZ.T @ X, "b1": dZ.sum(axis=0), "W2": dout.T @ H, "b2": dout.sum(axis=0)}'},
    says="The weights' gradients are transposed: dW1 = Xᵀ dZ and dW2 = Hᵀ dout have the shapes of W1 and W2.",
)


# saved_bytes


BYTES = "return batch * (d + 2 * m + o) * itemsize"

one_hidden_array = mistake(
    "saved_bytes",
    {BYTES: "return batch * (d + m + o) * itemsize"},
    says="The hidden layer is kept twice: the pre-activation and the activation, so 2m.",
)
counts_the_parameters = mistake(
    "saved_bytes",
    {BYTES: "return (batch * (d + 2 * m + o) + d * m + m + m * o + o) * itemsize"},
    says="The parameters were counted. They are there anyway: only what the batch makes is asked.",
)
parameters_only = mistake(
    "saved_bytes",
    {BYTES: "return (d * m + m + m * o + o) * itemsize"},
    says="These are the bytes of the parameters. Count what the batch keeps: X, pre-activation, activation, softmax.",
)
bits = mistake(
    "saved_bytes",
    {BYTES: "return batch * (d + 2 * m + o) * itemsize * 8"},
    says="These are bits, eight times the bytes: itemsize is already in bytes.",
)
entries = mistake(
    "saved_bytes",
    {BYTES: "return batch * (d + 2 * m + o)"},
    says="This is the number of entries: each takes itemsize bytes.",
)
one_example = mistake(
    "saved_bytes",
    {BYTES: "return (d + 2 * m + o) * itemsize"},
    says="This is for one example: every row of the batch keeps its own.",
)
without_the_input = mistake(
    "saved_bytes",
    {BYTES: "return batch * (2 * m + o) * itemsize"},
    says="The input X is missing: dW1 = Xᵀ dZ needs it.",
)
without_the_softmax = mistake(
    "saved_bytes",
    {BYTES: "return batch * (d + 2 * m) * itemsize"},
    says="The softmax is missing: p − one-hot needs it.",
)
counts_the_logits = mistake(
    "saved_bytes",
    {BYTES: "return batch * (d + 2 * m + 2 * o) * itemsize"},
    says="The logits were counted beside the softmax. Backward needs only the softmax: o numbers a row, not 2o.",
)


# train


SIGNATURE = "def train(X, y, hidden=64, epochs=30, lr=0.2, seed=0):"
FIRST_WEIGHTS = '"W1": rng.normal(size=(d, hidden)) * np.sqrt(2 / d),'
LAST_WEIGHTS = '"W2": rng.normal(size=(hidden, o)) * np.sqrt(2 / hidden),'
EPOCHS = "for _ in range(epochs):"
STEP = "params[name] -= lr * grads[name]"
SHORTER = {  # training, by default, as it is enough to see the mistake
    SIGNATURE: SIGNATURE.replace("epochs=30", "epochs=3"),
    "for rows in np.array_split(order, max(n // 32, 1)):": "for rows in np.array_split(order, max(n // 64, 1)):",
}

uphill = mistake(
    "train",
    SHORTER | {STEP: "params[name] += lr * grads[name]"},
    says="The steps go uphill: subtract lr times the gradient, do not add it.",
)
updates_that_are_lost = mistake(
    "train",
    {f"for name in params:\n{STEP}": "for name, p in params.items():\n    p = p - lr * grads[name]"},
    says="The parameters never change: `p = p - lr * g` gives a new array to a local name. Store it: params[name] = …",
)
weights_start_at_zero = mistake(
    "train",
    {FIRST_WEIGHTS: '"W1": np.zeros((d, hidden)),', LAST_WEIGHTS: '"W2": np.zeros((hidden, o)),'},
    says="The weights start at 0, and so do the hidden units and every gradient but b2's: draw the weights at random.",
)
weights_start_equal = mistake(
    "train",
    SHORTER | {EPOCHS: f'params["W1"][:], params["W2"][:] = 0.1, 0.1\n{EPOCHS}'},
    says="All weights start at the same number, so all hidden units stay the same one: draw the weights at random.",
)
trained_without_relu = mistake(
    "train",
    {"logits, cache = forward(params, X[rows])": 'logits, cache = forward(params, X[rows], "tanh")'},
    says="The training did not go through relu, but through another activation or none: use relu.",
)
only_the_last_layer = mistake(
    "train",
    SHORTER | {"for name in params:": 'for name in ("W2", "b2"):'},
    says="Only the last layer learns: W1 and b1 have gradients too, and need their step.",
)
only_the_weights = mistake(
    "train",
    {"for name in params:": 'for name in ("W1", "W2"):'},
    says="The biases never change: b1 and b2 have gradients too, and need their step.",
)
gradients_never_reset = mistake(
    "train",
    SHORTER
    | {
        EPOCHS: f"total = {{name: np.zeros_like(array) for name, array in params.items()}}\n{EPOCHS}",
        STEP: "total[name] += grads[name]\nparams[name] -= lr * total[name]",
    },
    says="The gradients of earlier batches are still in the sum: start each step from the gradients of its own batch.",
)
only_the_first_batch = mistake(
    "train",
    {
        SIGNATURE: SIGNATURE.replace("epochs=30", "epochs=20"),
        "n, d = X.shape": "X, y = X[:32], y[:32]\nn, d = X.shape",
    },
    says="Only the first batch is ever used: go through all rows in every epoch.",
)
shuffled_without_labels = mistake(
    "train",
    SHORTER | {EPOCHS: f"X = X[rng.permutation(n)]\n{EPOCHS}"},
    says="The rows of X were shuffled without their labels: use one order for both, X[order] and y[order].",
)
standardized_pixels = mistake(
    "train",
    SHORTER
    | {
        SIGNATURE: SIGNATURE.replace("epochs=30, lr=0.2", "epochs=5, lr=0.1"),
        EPOCHS: f"X = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-8)\n{EPOCHS}",
    },
    says="The pixels were centered or standardized for the training, and are read as they come, in [0, 1].",
)
unseeded = mistake(
    "train",
    {"rng = np.random.default_rng(seed)": "rng = np.random.default_rng()"},
    says="Each call draws other numbers: make one generator from `seed`, and draw everything from it.",
)
one_seed_for_all = mistake(
    "train",
    {"rng = np.random.default_rng(seed)": "rng = np.random.default_rng(0)"},
    says="Every seed gives the same numbers: pass `seed` to the generator.",
)
one_pass_too_few = mistake(
    "train",
    {EPOCHS: "for _ in range(1, epochs):"},
    says="One pass too few: epochs=1 goes through the rows once, and range(1, epochs) makes epochs − 1 passes.",
)
