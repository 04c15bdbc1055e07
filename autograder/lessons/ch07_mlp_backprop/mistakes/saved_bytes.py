"""Wrong answers to saved_bytes, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

BYTES = "return batch * (d + 2 * m + o) * itemsize"

one_hidden_array = mistake(
    "saved_bytes",
    {BYTES: "return batch * (d + m + o) * itemsize"},
    says="The hidden layer is kept twice: the pre-activation and the activation, so 2m.",
)
counts_the_parameters = mistake(
    "saved_bytes",
    {BYTES: "return (batch * (d + 2 * m + o) + d * m + m + m * o + o) * itemsize"},
    says="The parameters were counted. They are there anyway: count only what the batch makes.",
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
    says="The logits were counted beside the softmax. Backward needs only the softmax: o numbers per row, not 2o.",
)
