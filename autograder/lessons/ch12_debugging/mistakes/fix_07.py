"""Wrong answers to fix_07, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import as_handed_out, with_rate

RIGHT_LOSS = "loss = F.cross_entropy(model(X), y)"
PREDICTED = "return torch.softmax(model(X), dim=1)"

as_handed_out_07 = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.cross_entropy(predict(X), y)"},
    says=as_handed_out(
        "the loss stays far above 0",
        "Compute F.cross_entropy of a perfect prediction, [[1.0, 0.0]], with the target [0].",
    ),
)
no_softmax_at_all = mistake(
    "fix_07",
    {PREDICTED: "return model(X)"},
    says="The loss is right. But the softmax is gone from predict, and what is returned for X_new are no "
    "probabilities.",
)
log_probabilities = mistake(
    "fix_07",
    {PREDICTED: "return torch.log_softmax(model(X), dim=1)"},
    says="The loss is right: the softmax of log-probabilities gives the probabilities again. What is returned for "
    "X_new are the logarithms.",
)
probabilities_for_nll = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.nll_loss(predict(X), y)"},
    says="nll_loss takes log-probabilities. Of probabilities it gives −p, which has no logarithm in it.",
)
larger_rate_07 = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.cross_entropy(predict(X), y)", **with_rate(5)},
    says="A larger learning rate makes up for some of the slowness; the loss is still that of a softmax of "
    "probabilities.",
)
sharpened = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.cross_entropy(10 * predict(X), y)"},
    says="Probabilities times 10 are still no logits: the loss can fall lower, and its gradient is another one.",
)
softmax_over_the_rows = mistake(
    "fix_07",
    {PREDICTED: "return torch.softmax(model(X), dim=0)"},
    says="The loss is right. But the softmax runs over the points: for each point the classes are to sum to 1, dim=1.",
)
squared_error = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.mse_loss(predict(X), F.one_hot(y, predict(X).shape[1]).float())"},
    says="The loss is a squared error now. The cross-entropy is asked.",
)

much_larger_rate_07 = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = F.cross_entropy(predict(X), y)", **with_rate(10)},
    says="A larger learning rate makes a slow symptom faster. The bug is still there: cross_entropy takes logits, and "
    "has a softmax of its own.",
)
minus_forgotten = mistake(
    "fix_07",
    {RIGHT_LOSS: "loss = torch.log_softmax(model(X), dim=1)[torch.arange(len(y)), y].mean()"},
    says="This is the mean log-probability, which one would have to raise. The loss is minus that.",
)
