"""Wrong answers to mse_loss, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch07_mlp_backprop.mistakes.losses import SUMMED_OVER_ROWS

HALF_SQUARES = "loss = 0.5 * np.sum((y - t) ** 2) / n"

mean_over_all_entries = mistake(
    "mse_loss",
    {"n = len(y)": "n = y.size"},
    says="This is the mean over all n·o entries. The outputs of a row are summed; only the n rows are averaged.",
)
mse_gradient_without_1_n = mistake(
    "mse_loss",
    {"dy = (y - t) / n": "dy = y - t"},
    says="The gradient lacks the 1/n of the batch mean: dy = (y − t)/n.",
)
mse_summed_over_rows = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = 0.5 * np.sum((y - t) ** 2)", "dy = (y - t) / n": "dy = y - t"},
    says=SUMMED_OVER_ROWS,
)
mse_without_one_half = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = np.sum((y - t) ** 2) / n", "dy = (y - t) / n": "dy = 2 * (y - t) / n"},
    says="The ½ is missing, in the loss and so in the gradient: both are twice too large.",
)
mse_gradient_with_a_2 = mistake(
    "mse_loss",
    {"dy = (y - t) / n": "dy = 2 * (y - t) / n"},
    says="The gradient is twice too large: the ½ of the loss cancels the 2 of the square.",
)
plain_mean_of_squares = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = np.mean((y - t) ** 2)", "dy = (y - t) / n": "dy = 2 * (y - t) / y.size"},
    says="This is the plain mean of the squares. The loss here is ½ the sum over each row, averaged over the n rows.",
)
mse_gradient_of_the_target = mistake(
    "mse_loss",
    {"dy = (y - t) / n": "dy = (t - y) / n"},
    says="The gradient has the wrong sign: it is y − t, which grows with y, over n.",
)


mse_loss_without_one_half = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = np.sum((y - t) ** 2) / n"},
    says="The ½ is missing in the loss; the gradient has it.",
)
mse_multiplied_by_n = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = np.sum((y - t) ** 2) / 2 * n"},
    says="`/ 2 * n` divides by 2 and multiplies by n. The loss is the sum over (2 * n), in parentheses.",
)
mse_divided_by_the_outputs = mistake(
    "mse_loss",
    {"n = len(y)": "n = y.shape[1]"},
    says="Loss and gradient were divided by the number of outputs, o. The mean is over the rows: n is y.shape[0].",
)
norm_without_its_square = mistake(
    "mse_loss",
    {HALF_SQUARES: "loss = 0.5 * np.linalg.norm(y - t) / n"},
    says="The norm was not squared: the loss is ½‖y − t‖².",
)
