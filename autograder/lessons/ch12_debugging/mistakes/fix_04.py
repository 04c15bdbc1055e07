"""Wrong answers to fix_04, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import ZERO

LOSS_OF = "return F.cross_entropy(model(X), y)"

as_handed_out_04 = mistake(
    "fix_04",
    {LOSS_OF: "with torch.no_grad():\n    return F.cross_entropy(model(X), y)"},
    says="There is still no graph: print loss.grad_fn behind the line that computes the loss. The innermost switch "
    "counts: no_grad inside of loss_of wins against enable_grad around its call.",
)
nothing_learns = mistake(
    "fix_04",
    {LOSS_OF: "with torch.no_grad():\n    loss = F.cross_entropy(model(X), y)\nreturn loss.requires_grad_()"},
    says="The error is gone and nothing learns. requires_grad_() makes a leaf of the loss: there is no graph behind "
    "it, no parameter gets a gradient, and no step changes anything. The same holds where backward() is "
    "skipped.",
)
last_layer_alone = mistake(
    "fix_04",
    {
        LOSS_OF: """\
with torch.no_grad():
    features = model[:-1](X)
return F.cross_entropy(model[-1](features), y)"""
    },
    says="Only the last layer learns: the others still run without a graph. With a single layer one does not notice.",
)
validation_before_the_step = mistake(
    "fix_04",
    {
        "validation_losses.append(loss_of(*validation).item())": "",
        "loss = loss_of(X, y)": "loss = loss_of(X, y)\nvalidation_losses.append(loss_of(*validation).item())",
    },
    says="The validation losses are those before the step. Noted after it, they are those of the trained model.",
)
trained_on_the_validation_set = mistake(
    "fix_04",
    {ZERO: f"{ZERO}\nloss_of(*validation).backward()"},
    says="The validation loss was sent backward, too: its gradient adds to that of the batch. The model is trained on "
    "what it is to be tested on.",
)

trained_on_the_validation_set_afterwards = mistake(
    "fix_04",
    {
        ZERO: "",
        "optimizer.step()": "optimizer.step()\noptimizer.zero_grad()",
        "validation_losses.append(loss_of(*validation).item())": "validation_loss = loss_of(*validation)\n"
        "validation_loss.backward()\nvalidation_losses.append(validation_loss.item())",
    },
    says="The validation loss is trained on: its backward() leaves gradients that the next step uses. Measure it "
    "without one.",
)
