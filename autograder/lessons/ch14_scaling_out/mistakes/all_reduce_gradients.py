"""Wrong answers to all_reduce_gradients, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SCALED = "parameter.grad *= n_local / n_rows.item()"
SENT = "group.all_reduce(parameter.grad)"
ROWS = "group.all_reduce(n_rows)"
EMPTY = """\
if n_local == 0 or parameter.grad is None:
    parameter.grad = torch.zeros_like(parameter)"""

mean_of_means = mistake(
    "all_reduce_gradients",
    {SCALED: "", SENT: f"{SENT}\nparameter.grad /= group.size"},
    says="This is the mean of the ranks' means: a row counts more on a rank with few rows than on one with "
    "many. Multiply by n_local divided by the number of all rows, then sum.",
)
sum_of_means = mistake(
    "all_reduce_gradients",
    {SCALED: ""},
    says="The ranks' gradients are added up, and nothing is scaled: the sum of means is no mean. Multiply by n_local "
    "first, and divide by the number of all rows.",
)
sum_over_rows = mistake(
    "all_reduce_gradients",
    {SCALED: "parameter.grad *= n_local"},
    says="This is the gradient of the sum over all rows. The mean is asked: divide by the number of all rows.",
)
divided_by_size = mistake(
    "all_reduce_gradients",
    {SCALED: "parameter.grad *= n_local / group.size"},
    says="The sum over all rows was divided by the number of ranks. Divide it by the number of all rows.",
)
divided_by_own_rows = mistake(
    "all_reduce_gradients",
    {SCALED: "parameter.grad *= n_local", SENT: f"{SENT}\nparameter.grad /= max(n_local, 1)"},
    says="The sum was divided by this rank's own number of rows, so each rank has another gradient. Divide by that of "
    "all ranks: all_reduce(torch.tensor(n_local)).",
)
rows_times_size = mistake(
    "all_reduce_gradients",
    {ROWS: "n_rows *= group.size"},
    says="The number of all rows was taken for size times this rank's. The ranks have different numbers: all_reduce "
    "them.",
)
not_sent = mistake(
    "all_reduce_gradients",
    {SENT: ""},
    says="The gradients stay on their ranks: nothing was summed. group.all_reduce(grad) does.",
)
scaled_after_sending = mistake(
    "all_reduce_gradients",
    {f"{SCALED}\n{SENT}": f"{SENT}\n{SCALED}"},
    says="n_local was multiplied in after the all-reduce. Each rank's gradient has its own factor: scale it before.",
)
sum_overflows = mistake(
    "all_reduce_gradients",
    {SCALED: "parameter.grad *= n_local", SENT: f"{SENT}\nparameter.grad /= n_rows"},
    says="The gradient times n_local is more than float16 holds, and inf divided by the number of rows is inf. "
    "Multiply by n_local / rows before the sum.",
)
nan_times_zero = mistake(
    "all_reduce_gradients",
    {EMPTY: EMPTY.replace("n_local == 0 or ", "")},
    says="A rank without rows may have nan, and 0 · nan is nan, which the sum brings to all. Put zeros there first.",
)
rank_leaves_out = mistake(
    "all_reduce_gradients",
    {EMPTY: "if parameter.grad is None:\n    continue"},
    says="A rank whose .grad is None leaves its calls out, and the others wait for it. Take part with zeros.",
)
empty_rank_returns = mistake(
    "all_reduce_gradients",
    {ROWS: f"{ROWS}\nif n_local == 0:\n    return"},
    says="A rank without rows returns at once, and the others wait for it. It takes part, with zeros.",
)
frozen_too = mistake(
    "all_reduce_gradients",
    {"if not parameter.requires_grad:\n    continue": ""},
    says="A parameter that requires no gradient has got one. Leave it out, on every rank.",
)
into_the_parameters = mistake(
    "all_reduce_gradients",
    {SENT: f"{SENT}\nparameter.data -= 0.1 * parameter.grad"},
    says="The parameters were changed as well. The step is somebody else's: only .grad is asked.",
)

means_by_all_rows = mistake(
    "all_reduce_gradients",
    {SCALED: ""},
    says="The ranks' means are added up without their weights and divided by all rows. Each gradient is a mean: "
    "multiply it by n_local first.",
)
graph_behind_zeros = mistake(
    "all_reduce_gradients",
    {EMPTY: EMPTY.replace("torch.zeros_like(parameter)", "0 * parameter")},
    says="0 * parameter has a graph, and so does the .grad. torch.zeros_like(parameter) has none.",
)
nan_hidden_on_every_rank = mistake(
    "all_reduce_gradients",
    {EMPTY: f"{EMPTY}\nparameter.grad = torch.nan_to_num(parameter.grad)"},
    says="nan_to_num is applied to the gradients of all ranks, so a real nan or inf becomes a number, and nobody "
    "sees it. Only the nan of a rank without rows means nothing: put zeros there, where n_local is 0.",
)
