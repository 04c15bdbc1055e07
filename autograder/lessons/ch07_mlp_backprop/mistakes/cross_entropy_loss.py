"""Wrong answers to cross_entropy_loss, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch07_mlp_backprop.mistakes.losses import SUMMED_OVER_ROWS

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
subtracted_whole_rows = mistake(
    "cross_entropy_loss",
    {"dlogits[rows, targets] -= 1": "dlogits[targets] -= 1"},
    says="`p[targets] -= 1` takes the classes for numbers of rows. Each row has one target: p[np.arange(n), targets].",
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
LOSS_AFTER_SUBTRACTING = (
    "The loss is read from p after 1 was subtracted at the targets, so it is about p − 1. Compute the loss first, or "
    "subtract in a copy: d = p is the same array, d = p.copy() is another one."
)
loss_after_subtracting = mistake(
    "cross_entropy_loss",
    {NEGATIVE_LOG: "loss = -np.log(np.exp(log_p)[rows, targets] - 1).mean()"},
    says=LOSS_AFTER_SUBTRACTING,
)
loss_after_subtracting_by_size = mistake(
    "cross_entropy_loss",
    {NEGATIVE_LOG: "loss = -np.log(np.abs(np.exp(log_p)[rows, targets] - 1)).mean()"},
    says=LOSS_AFTER_SUBTRACTING,
)
loss_after_subtracting_with_an_epsilon = mistake(
    "cross_entropy_loss",
    {NEGATIVE_LOG: "loss = -np.log(np.abs(np.exp(log_p)[rows, targets] - 1) + 1e-300).mean()"},
    says=LOSS_AFTER_SUBTRACTING,
)
