"""Wrong answers to microbatch_gradient, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

ZEROS = "total = {name: np.zeros_like(value) for name, value in params.items()}"
STARTS = "for start in range(0, n, batch_size):"
SUMS = "total[name] = total[name] + share * gradients[name]"

mean_of_means = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = 1 / len(range(0, n, batch_size))"},
    says="This is the mean of the micro-batches' means: a short last one counts as much as a full one, so its rows "
    "count for more. Weight each mean by its rows: len(rows) / n.",
)

sum_of_means = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = 1"},
    says="The means of the micro-batches were added up and not averaged. Each is a mean over its own rows, and counts "
    "for len(rows) / n of the whole.",
)

means_over_n = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = 1 / n"},
    says="Each mean was divided by n, as if it were a sum over its rows. First turn it into a sum: multiply by its "
    "rows, then divide by n.",
)

sum_over_the_rows = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = len(X[rows])"},
    says="This is the sum over the rows. Return the mean, as grad_fn does: divide by n.",
)

weighted_as_if_full = mistake(
    "microbatch_gradient",
    {"share = len(X[rows]) / n": "share = batch_size / n"},
    says="Every micro-batch was weighted with batch_size / n, the short last one too. Weight by the rows that it has.",
)

drops_the_short_one = mistake(
    "microbatch_gradient",
    {"n = len(X)": "n = len(X) // batch_size * batch_size"},
    says="The rows that fill no whole micro-batch were left out: n // batch_size rounds down. The last one may be "
    "short.",
)

drops_the_short_one_of_n = mistake(
    "microbatch_gradient",
    {STARTS: "for start in range(0, n // batch_size * batch_size, batch_size):"},
    says="The rows that fill no whole micro-batch were left out, and yet counted in n: n // batch_size rounds down. "
    "The last one may be short.",
)

returned_in_the_loop = mistake(
    "microbatch_gradient",
    {f"for name in total:\n    {SUMS}": f"for name in total:\n    {SUMS}\nreturn total"},
    says="Only the first micro-batch is in the result: with `return` inside the loop, the loop ends there.",
)

last_one_only = mistake(
    "microbatch_gradient",
    {SUMS: "total[name] = gradients[name]"},
    says="Only the last micro-batch is in the result: = where += belongs.",
)


@misconception(
    "microbatch_gradient",
    says="grad_fn got all rows at once. They do not fit into memory: hand it at most batch_size of them, and combine.",
)
def the_whole_batch(grad_fn, params, X, y, batch_size):
    return grad_fn(params, X, y)


row_by_row = mistake(
    "microbatch_gradient",
    {STARTS: "for start in range(n):", "rows = slice(start, start + batch_size)": "rows = slice(start, start + 1)"},
    says="grad_fn was called for one row at a time: right, and slow. Hand it batch_size rows, as many as fit.",
)

an_empty_one_at_the_end = mistake(
    "microbatch_gradient",
    {STARTS: "for i in range(n // batch_size + 1):\n    start = i * batch_size"},
    says="n // batch_size + 1 micro-batches are one too many where batch_size divides n: the last one is empty, and "
    "the mean of no rows is nan.",
)

totals_in_float64 = mistake(
    "microbatch_gradient",
    {ZEROS: "total = {name: np.zeros(value.shape) for name, value in params.items()}"},
    says="The gradients are collected in float64, whatever the parameters are. np.zeros(shape) is float64, and so is "
    "whatever you multiply by an np.float64; np.zeros_like(parameter) and Python's own numbers keep the dtype.",
)

starts_from_the_parameters = mistake(
    "microbatch_gradient",
    {ZEROS: "total = dict(params)"},
    says="The sum started from the parameters themselves. Start from zeros of the same shapes.",
)
