"""Wrong answers to backward, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

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
