"""Wrong answers to freeze_midway, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

NOTES = "required = {parameter: parameter.requires_grad for parameter in parameters}"
EACH = "for parameter in required:"
FLAG = "parameter.requires_grad_(False)"
NONE = "parameter.grad = None"
FREEZES = f"{EACH}\n    {FLAG}\n    {NONE}"
FLAG_BACK = "parameter.requires_grad_(flag)"
FORGETS = "optimizer.state.pop(parameter, None)"
THAWS = f"for parameter, flag in required.items():\n    {FLAG_BACK}\n    {FORGETS}"

flag_alone = mistake(
    "freeze_midway",
    {f"{FLAG}\n{NONE}": FLAG},
    says="Only requires_grad was switched off. Backward then writes no new gradient, but the old one or zeros are "
    "still in .grad, and the optimizer steps by them. It skips None alone.",
)

zeros_for_none = mistake(
    "freeze_midway",
    {NONE: "parameter.grad = torch.zeros_like(parameter)"},
    says="Zeros were put into .grad. The optimizer does not skip zeros: momentum and weight decay go on moving the "
    "parameter. It skips None.",
)

gradient_zeroed = mistake(
    "freeze_midway",
    {NONE: "if parameter.grad is not None:\n    parameter.grad.zero_()"},
    says="A gradient that was there was set to zeros. The optimizer does not skip zeros: momentum and weight decay go "
    "on moving the parameter. It skips None.",
)

grad_alone = mistake(
    "freeze_midway",
    {f"{FLAG}\n{NONE}": NONE},
    says="Only .grad was cleared. With requires_grad still True, the next backward fills it again.",
)

momentum_kept = mistake(
    "freeze_midway",
    {f"{FLAG_BACK}\n{FORGETS}": FLAG_BACK},
    says="After unfreezing, the optimizer went on with the momentum or the running means from before the freeze. "
    "Training starts anew if optimizer.state has no entry for the parameter.",
)

step_count_kept = mistake(
    "freeze_midway",
    {
        FORGETS: """
for name, value in optimizer.state[parameter].items():
    if name != "step" and value is not None:
        value.zero_()
"""
    },
    says="The running means were set to 0, and the count of steps was kept. An optimizer corrects its first steps by "
    "that count, and SGD takes its first momentum from the gradient alone: remove the parameter's whole entry.",
)

forgot_all = mistake(
    "freeze_midway",
    {FORGETS: "optimizer.state.clear()"},
    says="The optimizer's whole state was cleared. The other parameters lost their momentum; remove the entries of "
    "the unfrozen ones.",
)

all_trainable_afterwards = mistake(
    "freeze_midway",
    {FLAG_BACK: "parameter.requires_grad_(True)"},
    says="Unfreezing set requires_grad to True for all. A parameter that was frozen before the call stays frozen: note "
    "each flag first.",
)

noted_too_late = mistake(
    "freeze_midway",
    {
        f"{NOTES}\n{FREEZES}": f"""
required = {{}}
for parameter in parameters:
    required[parameter] = parameter.requires_grad
    {FLAG}
    {NONE}
"""
    },
    says="A shared parameter comes twice, and the second time its flag is already off: note all flags before you "
    "change the first.",
)

gradients_put_back = mistake(
    "freeze_midway",
    {
        NOTES: f"{NOTES}\nwaiting = {{parameter: parameter.grad for parameter in required}}",
        FORGETS: f"{FORGETS}\nparameter.grad = waiting[parameter]",
    },
    says="Unfreezing put the old gradient back into .grad, and the next backward added to it. It belongs to values of "
    "before the freeze.",
)

skipped_the_frozen = mistake(
    "freeze_midway",
    {FREEZES: f"{EACH}\n    if parameter.requires_grad:\n        {FLAG}\n        {NONE}"},
    says="Parameters that were frozen before were passed over. Zeros may be left in their .grad, and the optimizer "
    "moves them by momentum or weight decay.",
)

all_gradients_cleared = mistake(
    "freeze_midway",
    {FREEZES: f"{EACH}\n    {FLAG}\noptimizer.zero_grad()"},
    says="zero_grad() cleared the gradients of all parameters. Between backward and step, the others lose theirs: set "
    ".grad of the frozen ones.",
)

no_learning_rate = mistake(
    "freeze_midway",
    {
        FREEZES: f"""
{EACH}
    {FLAG}
rates = [group["lr"] for group in optimizer.param_groups]
for group in optimizer.param_groups:
    group["lr"] = 0.0
""",
        THAWS: f"""
for group, rate in zip(optimizer.param_groups, rates):
    group["lr"] = rate
{THAWS}
""",
    },
    says="The learning rate of a whole group was set to 0. The other parameters stop, too; freeze each parameter.",
)

other_settings = mistake(
    "freeze_midway",
    {
        FREEZES: f"""
{FREEZES}
for group in optimizer.param_groups:
    group["params"] = [one for one in group["params"] if one not in required]
""",
        THAWS: f"""
{THAWS}
optimizer.add_param_group({{"params": list(required)}})
""",
    },
    says="The parameters came back in a new group, with the settings that the optimizer was made with. Theirs may "
    "differ, or have changed. They can stay in their group: None in .grad is enough.",
)

read_twice = mistake(
    "freeze_midway",
    {EACH: "for parameter in parameters:"},
    says="A generator was read twice, and had nothing left the second time, so nothing was frozen. Read it once, into "
    "a dict or a list.",
)
