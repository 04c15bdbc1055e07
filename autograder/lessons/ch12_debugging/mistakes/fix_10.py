"""Wrong answers to fix_10, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import BACK, as_handed_out

SCALED = "(loss / accumulate).backward()"
DECAYED = "optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=0.05)"

as_handed_out_10 = mistake(
    "fix_10",
    {SCALED: BACK},
    says=as_handed_out(
        "with more micro-batches to a step, training is less stable",
        "Compare the .grad before a step with that of one large batch of the same rows.",
    ),
)
rate_divided = mistake(
    "fix_10",
    {SCALED: BACK, DECAYED: "optimizer = torch.optim.SGD(model.parameters(), lr=lr / accumulate, weight_decay=0.05)"},
    says="The steps are right but for the weight decay, which is weaker by the factor `accumulate`: it was divided, or "
    "the learning rate was. Divide the loss alone; all else stays.",
)
log_scaled = mistake(
    "fix_10",
    {SCALED: "loss = loss / accumulate\nloss.backward()"},
    says="The gradients are right. But the losses that are returned are divided, too: they should be those of the "
    "micro-batches, whatever `accumulate` is.",
)
divided_by_all = mistake(
    "fix_10",
    {SCALED: "(loss / len(batches)).backward()"},
    says="The loss was divided by the number of all micro-batches. The mean of one step is asked: `accumulate` of "
    "them.",
)
divided_by_the_rows = mistake(
    "fix_10",
    {SCALED: "(loss / len(X)).backward()"},
    says="The loss was divided by the rows of a micro-batch. mse_loss is a mean over them already; it is the "
    "micro-batches of a step that are summed.",
)
divided_twice = mistake(
    "fix_10",
    {
        "optimizer.step()": "for parameter in model.parameters():\n    parameter.grad /= accumulate\noptimizer.step()",
    },
    says="The gradient was divided twice, once with the loss and once before the step.",
)
divided_in_the_loop = mistake(
    "fix_10",
    {SCALED: f"{BACK}\nfor parameter in model.parameters():\n    parameter.grad /= accumulate"},
    says="The sum so far is divided after each micro-batch, so that the first of them are divided again and again. "
    "Divide each loss, or the sum once, before the step.",
)
step_for_each = mistake(
    "fix_10",
    {
        SCALED: BACK,
        "if i % accumulate == 0:": "if True:",
    },
    says="Every micro-batch makes a step now. One step for `accumulate` of them is asked.",
)
clipped_10 = mistake(
    "fix_10",
    {
        SCALED: BACK,
        "optimizer.step()": "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\noptimizer.step()",
    },
    says="Clipping bounds the step. Its gradient is still a sum where that of the large batch is a mean.",
)
last_one_alone = mistake(
    "fix_10",
    {SCALED: "optimizer.zero_grad()\nloss.backward()"},
    says="The gradients are emptied for each micro-batch: a step follows the last one alone, and the others are lost.",
)
first_one_alone = mistake(
    "fix_10",
    {SCALED: "if (i - 1) % accumulate == 0:\n    loss.backward()"},
    says="Only one micro-batch of each step is sent backward. All count.",
)

rate_and_log_divided = mistake(
    "fix_10",
    {
        SCALED: BACK,
        DECAYED: "optimizer = torch.optim.SGD(model.parameters(), lr=lr / accumulate, weight_decay=0.05)",
        "losses.append(loss.item())": "losses.append(loss.item() / accumulate)",
    },
    says="The learning rate is divided, which weakens the weight decay as well, and the losses that are returned are "
    "divided, too. Divide the loss that backward() is called on, and nothing else.",
)
divided_step_for_each = mistake(
    "fix_10",
    {"if i % accumulate == 0:": "if True:"},
    says="There is a step for every micro-batch. A step comes after `accumulate` of them.",
)
