"""Wrong answers to tied_autoencoder_gradient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

BOTH_USES = "return np.outer(h, dy) + np.outer(dz, x)"


def _inner_product(u, v, of):
    return (
        f"{u} @ {v} of two vectors is an inner product, one number, which was then added to every entry; the {of}'s "
        f"contribution is (m, d): np.outer({u}, {v})."
    )


encoder_only = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(dz, x)"},
    says="This is the contribution of W as the encoder only. W is used again, as the decoder: add what that use sends "
    "back.",
)

decoder_only = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(h, dy)"},
    says="This is the contribution of W as the decoder only. W is used again, as the encoder: go on through relu to W "
    "x, and add.",
)

inner_products = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return h @ dy + dz @ x"},
    says="h @ dy of two vectors is an inner product, one number; dW is (m, d): np.outer(h, dy). For the encoder's "
    "contribution alike.",
)

inner_product_in_the_decoder = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return h @ dy + np.outer(dz, x)"},
    says=_inner_product("h", "dy", of="decoder"),
)

inner_product_in_the_encoder = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(h, dy) + dz @ x"},
    says=_inner_product("dz", "x", of="encoder"),
)

entry_by_entry = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return h * dy + dz * x"},
    says="h * dy multiplies entry by entry. dW is (m, d), every entry of h with every entry of dy: np.outer(h, dy). "
    "For the encoder's contribution alike.",
)

averaged_uses = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return (np.outer(h, dy) + np.outer(dz, x)) / 2"},
    says="The two contributions were averaged. They add up: W is one parameter with two uses.",
)

transposed_decoder_use = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(dy, h) + np.outer(dz, x)"},
    says="The decoder's contribution is transposed. y = Wᵀh, so the gradient of Wᵀ is (y − x) hᵀ, and that of W its "
    "transpose, h (y − x)ᵀ, of shape (m, d).",
)

wrong_way_through_the_decoder = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = (W.T @ dy) * (z > 0)"},
    says="The hidden gradient is W (y − x): y = Wᵀh, and the way back through Wᵀ is its transpose, W itself.",
)

forgot_the_relu = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = W @ dy"},
    says="The encoder's contribution passes relu as if it were not there. Multiply W (y − x), entry by entry, by 1 "
    "where W x > 0 and by 0 elsewhere.",
)

relu_open_at_zero = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = (W @ dy) * (z >= 0)"},
    says="The derivative of relu at exactly 0 is 0 here: the mask is W x > 0, not W x >= 0.",
)

relu_for_its_derivative = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = (W @ dy) * h"},
    says="The hidden gradient was multiplied by relu(W x) itself. Its derivative belongs there: 1 where W x > 0, else "
    "0.",
)

relu_of_the_gradient = mistake(
    "tied_autoencoder_gradient",
    {"dz = (W @ dy) * (z > 0)": "dz = np.maximum(W @ dy, 0)"},
    says="relu was applied to the gradient. The mask comes from the forward pass: where W x > 0, whatever the "
    "gradient.",
)

pre_activation_in_the_decoder = mistake(
    "tied_autoencoder_gradient",
    {BOTH_USES: "return np.outer(z, dy) + np.outer(dz, x)"},
    says="The decoder's contribution was built from W x. What it multiplies is h = relu(W x): h (y − x)ᵀ.",
)

forgot_the_one_half = mistake(
    "tied_autoencoder_gradient",
    {"dy = y - x": "dy = 2 * (y - x)"},
    says="Twice too large: the ½ of the loss cancels the 2 of the square, so dL/dy is y − x.",
)

target_minus_output = mistake(
    "tied_autoencoder_gradient",
    {"dy = y - x": "dy = x - y"},
    says="The sign is wrong: dL/dy of ½‖y − x‖² is y − x, not x − y.",
)
