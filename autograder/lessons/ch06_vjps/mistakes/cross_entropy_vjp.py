"""Wrong answers to cross_entropy_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.softmax import OVERFLOWS

MINUS_Y = "p_minus_y[np.arange(n), targets] -= 1"
CROSS_ENTROPY = "return (g * p_minus_y / n).astype(logits.dtype)"

cross_entropy_not_divided = mistake(
    "cross_entropy_vjp",
    {CROSS_ENTROPY: "return (g * p_minus_y).astype(logits.dtype)"},
    says="The loss is a mean over the n rows: divide by n.",
)
cross_entropy_divided_by_size = mistake(
    "cross_entropy_vjp",
    {CROSS_ENTROPY: "return (g * p_minus_y / logits.size).astype(logits.dtype)"},
    says="You divide by all n·c entries. The mean runs over the n rows only: divide by n.",
)
cross_entropy_sign = mistake(
    "cross_entropy_vjp",
    {CROSS_ENTROPY: "return (g * -p_minus_y / n).astype(logits.dtype)"},
    says="The sign is the wrong way round: the gradient is p − y, not y − p.",
)
cross_entropy_without_target = mistake(
    "cross_entropy_vjp",
    {MINUS_Y: ""},
    says="The one-hot target is missing: subtract 1 from each row's probability at its target.",
)
cross_entropy_ignores_g = mistake(
    "cross_entropy_vjp",
    {CROSS_ENTROPY: "return (p_minus_y / n).astype(logits.dtype)"},
    says="g is not used. It is a number, and need not be 1: multiply by it.",
)
cross_entropy_stops_at_probabilities = mistake(
    "cross_entropy_vjp",
    {
        MINUS_Y: "y = np.eye(logits.shape[1])[targets]",
        CROSS_ENTROPY: "return (-g * np.where(y > 0, 1 / p_minus_y, 0) / n).astype(logits.dtype)",
    },
    says="This is the gradient with respect to the probabilities, −y / p. Go on through the softmax: it becomes p − y.",
)
cross_entropy_overflows = mistake(
    "cross_entropy_vjp",
    OVERFLOWS,
    where="softmax",
    says="exp overflows for large logits, and inf / inf is nan. Subtract each row's maximum first.",
)
cross_entropy_softmax_over_batch = mistake(
    "cross_entropy_vjp",
    {"p_minus_y = softmax(logits)": "p_minus_y = softmax(logits, 0)"},
    says="The softmax runs down the batch. Each row has its own: use the last axis.",
)
cross_entropy_whole_columns = mistake(
    "cross_entropy_vjp",
    {MINUS_Y: "p_minus_y[:, targets] -= 1"},
    says="p[:, targets] selects whole columns, once for every row. Pair each row with its own target: p[np.arange(n), "
    "targets] -= 1.",
)
