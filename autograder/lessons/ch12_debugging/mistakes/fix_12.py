"""Wrong answers to fix_12, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import BACK, SGD, SMALLER, as_handed_out, with_rate

CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"

as_handed_out_12 = mistake(
    "fix_12",
    {CLIP: ""},
    says=as_handed_out(
        "one batch destroys what was learned",
        "Print the norm of all gradients together in each step, just before step(): something between backward() and "
        "there has to bound it, and has to be given all parameters (a generator can be read once).",
    ),
)
clipped_by_value = mistake(
    "fix_12",
    {CLIP: "torch.nn.utils.clip_grad_value_(model.parameters(), max_norm)"},
    says="Each entry was clipped by itself. That turns the gradient into another direction; max_norm is about the "
    "norm.",
)
each_by_itself = mistake(
    "fix_12",
    {CLIP: "for parameter in model.parameters():\n    torch.nn.utils.clip_grad_norm_(parameter, max_norm)"},
    says="Each parameter's gradient was clipped by its own norm. max_norm is about all of them together, with one "
    "factor.",
)
always_of_that_norm = mistake(
    "fix_12",
    {
        CLIP: """\
norm = torch.linalg.vector_norm(torch.cat([p.grad.flatten() for p in model.parameters()]))
for parameter in model.parameters():
    parameter.grad *= max_norm / norm"""
    },
    says="Every gradient gets the norm max_norm, small ones too. A gradient that is smaller stays as it is: the "
    "factor is min(1, max_norm / norm).",
)
another_norm = mistake(
    "fix_12",
    {CLIP: "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"},
    says="The norm is bounded by 1.0. By max_norm, which the program is given, it should be.",
)
parameters_used_up = mistake(
    "fix_12",
    {
        SGD: f"{SGD}\nparameters = model.parameters()",
        CLIP: "torch.nn.utils.clip_grad_norm_(parameters, max_norm)",
    },
    says="The gradients are bounded in the first step alone: model.parameters() is a generator, and used up after one "
    "walk through it. Call it anew in each step, or make a list.",
)
batch_left_out_12 = mistake(
    "fix_12",
    {
        CLIP: """\
if torch.nn.utils.get_total_norm([p.grad for p in model.parameters()]) > max_norm:
    continue"""
    },
    says="Batches with a large gradient are left out. Each makes a step, one of bounded size.",
)
loss_capped = mistake(
    "fix_12",
    {CLIP: "", BACK: "loss.clamp(max=10.0).backward()"},
    says="The loss was capped: above the cap its gradient is 0, so the batch is left out without a word.",
)
batch_skipped_12 = mistake(
    "fix_12",
    {CLIP: "if loss > 10:\n    losses.append(loss.item())\n    continue"},
    says="The batch with the spike is skipped. No batch may be left out: it makes a step, one of bounded size.",
)
smaller_rate_12 = mistake("fix_12", {CLIP: "", **with_rate(0.1)}, says=SMALLER)
another_loss = mistake(
    "fix_12",
    {CLIP: "", "loss = F.mse_loss(model(X), y)": "loss = F.smooth_l1_loss(model(X), y)"},
    says="The loss is another one now. A robust loss is a good idea for such data, and not this program: the squared "
    "error stays.",
)
data_clipped = mistake(
    "fix_12",
    {
        CLIP: "",
        "loss = F.mse_loss(model(X), y)": "X, y = X.clamp(-5, 5), y.clamp(-5, 5)\nloss = F.mse_loss(model(X), y)",
    },
    says="The data were clipped. They stay as they are; it is the gradient that is bounded.",
)

inputs_clamped = mistake(
    "fix_12",
    {CLIP: "", "loss = F.mse_loss(model(X), y)": "loss = F.mse_loss(model(X.clamp(-3, 3)), y)"},
    says="The data is clamped: that is another problem, and where the inputs are small the gradient can still be "
    "large. Clip the norm of the gradients.",
)
square_of_the_norm = mistake(
    "fix_12",
    {
        CLIP: """\
norm = sum(parameter.grad.square().sum() for parameter in model.parameters())
if norm > max_norm:
    for parameter in model.parameters():
        parameter.grad *= max_norm / norm"""
    },
    says="The sum of the squares is compared with max_norm. The norm is its square root.",
)
