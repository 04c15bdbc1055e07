"""Wrong answers to single_example_gradients, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

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
    says="The gradients came back in the order (dW2, dW1). Return (dW1, dW2).",
)
