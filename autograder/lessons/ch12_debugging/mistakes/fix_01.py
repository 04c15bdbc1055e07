"""Wrong answers to fix_01, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import BACK, SMALLER, ZERO, as_handed_out, with_rate

as_handed_out_01 = mistake(
    "fix_01",
    {ZERO: ""},
    says=as_handed_out(
        "the loss falls and rises in waves",
        "Print the norm of a parameter's .grad before and after each backward(). "
        "(.grad belongs to the parameter: another optimizer finds the same one.)",
    ),
)
smaller_rate_01 = mistake("fix_01", {ZERO: "", **with_rate(0.1)}, says=SMALLER)
rate_by_the_number_of_batches = mistake(
    "fix_01",
    {ZERO: 'optimizer.param_groups[0]["lr"] = lr / (len(losses) + 1)'},
    says="The step was divided by the number of batches so far: that makes a mean of all gradients since the start, "
    "taken at parameters that are long gone. A step needs the gradient of its own batch.",
)
emptied_before_the_step = mistake(
    "fix_01",
    {ZERO: "", BACK: f"{BACK}\n{ZERO}"},
    says="The gradients are emptied between backward() and step(): the step finds none, and nothing is learned.",
)
emptied_every_other_time = mistake(
    "fix_01",
    {ZERO: "if len(losses) % 2 == 0:\n    optimizer.zero_grad()"},
    says="The gradients are emptied after every other batch. Half of the steps still follow two batches.",
)
clipped_01 = mistake(
    "fix_01",
    {ZERO: "", BACK: f"{BACK}\ntorch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"},
    says="Clipping bounds the step and leaves its direction wrong: it is still that of the sum of all gradients.",
)
noted_after_the_step_01 = mistake(
    "fix_01",
    {"losses.append(loss.item())": "losses.append(F.mse_loss(model(X), y).item())"},
    says="The program learns as it should. But the losses are those after the step, and each is asked before its step.",
)
halved_01 = mistake(
    "fix_01",
    {
        ZERO: """\
for parameter in model.parameters():
    if parameter.grad is not None:
        parameter.grad *= 0.5"""
    },
    says="Half of the old gradients is kept: that is momentum, another algorithm. Plain SGD is asked.",
)
