"""Wrong answers to fix_06, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch12_debugging.mistakes.programs import BACK, as_handed_out

NOTED = "validation_losses.append(validation_loss.item())"

as_handed_out_06 = mistake(
    "fix_06",
    {NOTED: "validation_losses.append(validation_loss)"},
    says=as_handed_out(
        "memory climbs",
        "Print validation_losses[-1], all of it. (`del` of a name does not free what a list holds.)",
    ),
)
converted_at_the_end = mistake(
    "fix_06",
    {
        NOTED: "validation_losses.append(validation_loss)",
        "return losses, validation_losses": "return losses, [loss.item() for loss in validation_losses]",
    },
    says="The losses become numbers when all is over. Until then every graph is alive, and it is during the run that "
    "memory ends.",
)
last_one_kept = mistake(
    "fix_06",
    {NOTED: "validation_losses = [validation_loss.item()]"},
    says="Only the last validation loss is kept. All are asked; as numbers they need no memory to speak of.",
)
validated_once = mistake(
    "fix_06",
    {
        "validation_loss = F.mse_loss(model(X_val), y_val)": "",
        NOTED: "",
        "return losses, validation_losses": "last = F.mse_loss(model(X_val), y_val).item()\n"
        "return losses, [last] * len(losses)",
    },
    says="The validation loss is computed once, after the last step. That after each step is asked.",
)
some_left_out = mistake(
    "fix_06",
    {NOTED: "if len(losses) % 4 == 0:\n    validation_losses.append(validation_loss)"},
    says="The validation loss is noted less often. That makes the leak slower, does not end it, and the other losses"
    " are missing.",
)
training_without_graph = mistake(
    "fix_06",
    {
        NOTED: "validation_losses.append(validation_loss.item())\nmodel.requires_grad_(False)\nloss.requires_grad_()",
        BACK: "if loss.requires_grad:\n    loss.backward()",
    },
    says="The model was frozen to save memory, and stops learning after the first step.",
)

gradients_stay_off = mistake(
    "fix_06",
    {
        "validation_loss = F.mse_loss(model(X_val), y_val)": "torch.set_grad_enabled(False)\n"
        "validation_loss = F.mse_loss(model(X_val), y_val)",
    },
    says="Gradients are switched off for the measurement and stay off: the next batch has no graph. `with "
    "torch.no_grad():` switches them on again.",
)
measured_before_the_step = mistake(
    "fix_06",
    {
        "validation_loss = F.mse_loss(model(X_val), y_val)": "",
        NOTED: "",
        "loss = F.mse_loss(model(X), y)": "with torch.no_grad():\n"
        "    validation_losses.append(F.mse_loss(model(X_val), y_val).item())\nloss = F.mse_loss(model(X), y)",
    },
    says="The validation loss is measured before the step. It belongs behind it, where it was.",
)
