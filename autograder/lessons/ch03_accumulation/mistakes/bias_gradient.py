"""Wrong answers to bias_gradient, with what is said of them."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake

mean_over_the_batch = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.mean(axis=0) if len(g) else g.sum(axis=0)"},
    says="This is the mean over the batch. The bias was used once per row, and the gradients of its uses add up: a "
    "sum. If the loss averages, g has its 1/n in it already.",
)

sum_over_the_outputs = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.sum(axis=1)"},
    says="The sum went along the outputs, axis 1. It goes over the rows, axis 0: one entry is left for each output.",
)

sum_over_everything = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.sum()"},
    says="Everything was added into one number. Sum over the rows only: each output has its own bias.",
)

kept_the_batch_axis = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.sum(axis=0, keepdims=True)"},
    says="The result has shape (1, m), as keepdims=True gives. The bias has shape (m,), and so does its gradient.",
)

not_summed = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.copy()"},
    says="This is g itself, a gradient for each row. The one bias gets the sum of all rows.",
)


@misconception("bias_gradient", says="Only the last row is left: in a loop over the rows, = where += belongs.")
def last_row_only(g):
    db = np.zeros(g.shape[1], g.dtype)
    for row in g:
        db = row.copy()
    return db


counts_the_rows = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return np.full(g.shape[1], len(g), g.dtype)"},
    says="This counts the rows, as if every entry of g were 1. Each use sends back its row of g.",
)

collected_in_float64 = mistake(
    "bias_gradient",
    {"return g.sum(axis=0)": "return g.sum(axis=0, dtype=np.float64)"},
    says="The sum was collected in float64, whatever g is, as np.zeros(m) and np.ones(n) are. Give it g's dtype.",
)
