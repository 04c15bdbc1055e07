"""Wrong answers to neuron_gradients, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

ALL_FOUR = 'return {"w": g * x, "x": g * w, "b": g, "y": -g}'

y_without_its_sign = mistake(
    "neuron_gradients",
    {ALL_FOUR: 'return {"w": g * x, "x": g * w, "b": g, "y": g}'},
    says="The sign of y is wrong: y is subtracted, so its gradient is −2(w·x + b − y).",
)

swapped_w_and_x = mistake(
    "neuron_gradients",
    {ALL_FOUR: 'return {"w": g * w, "x": g * x, "b": g, "y": -g}'},
    says="The gradients of w and x are swapped. The derivative of w·x with respect to w is x: each gets the other.",
)

square_without_its_two = mistake(
    "neuron_gradients",
    {"g = 2 * error": "g = error"},
    says="A factor of 2 is missing: the derivative of r² is 2r.",
)

target_without_gradient = mistake(
    "neuron_gradients",
    {ALL_FOUR: 'return {"w": g * x, "x": g * w, "b": g, "y": 0.0}'},
    says="y got a gradient of 0. A target is data and never trained, but L depends on it all the same: −2(w·x + b − "
    "y).",
)

error_the_other_way_round = mistake(
    "neuron_gradients",
    {
        "error = w * x + b - y": "error = y - (w * x + b)",
        ALL_FOUR: 'return {"w": g * x, "x": g * w, "b": g, "y": g}',
    },
    says="The error was taken as y − (w·x + b), and its inner derivative, −1, was left out. With w·x + b − y the "
    "sign is right by itself.",
)

error_without_target = mistake(
    "neuron_gradients",
    {"error = w * x + b - y": "error = w * x + b"},
    says="The target is missing from the error: the gradient that arrives is 2(w·x + b − y).",
)

b_as_a_factor = mistake(
    "neuron_gradients",
    {ALL_FOUR: 'return {"w": g * x, "x": g * w, "b": g * b, "y": -g}'},
    says="b was treated as a factor. It is added, so it gets the gradient as it is.",
)
