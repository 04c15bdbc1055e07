"""Wrong answers to dead_relu_fraction, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

DEAD = "dead.append((output == 0).all(dim=0))"
RELUS = "relus = [module for module in model.modules() if isinstance(module, torch.nn.ReLU)]"
HOOKS = "hooks = [relu.register_forward_hook(look) for relu in relus]"
RUN = "with torch.no_grad():\n    model(X)"
REMOVE = "for hook in hooks:\n    hook.remove()"
RUN_AND_REMOVE = f"try:\n{RUN}\nfinally:\n{REMOVE}"
SHARE = "return torch.cat(dead).double().mean().item() if dead else 0.0"

share_of_zeros = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output == 0).flatten())"},
    says="This is the share of zeros. ReLU gives many; a unit is dead only if it is 0 on every row: all over the rows, "
    "then the mean over the units.",
)
zero_on_any_row = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output == 0).any(dim=0))"},
    says="A unit that is 0 on some row was counted. Dead means 0 on every row: all, not any.",
)
mean_is_zero = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append(output.mean(dim=0) == 0)"},
    says="A unit counts as dead where the mean over the rows is 0. The mean of very small numbers rounds to 0: ask "
    "whether each of them is.",
)
rows_for_units = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output == 0).all(dim=1))"},
    says="This looks for rows on which all units are 0. A unit is a column: all over dim 0.",
)
mean_of_the_layers = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output == 0).all(dim=0).double().mean(dim=0, keepdim=True))"},
    says="This is the mean of the layers' shares. Every unit counts the same, wherever it is: divide all dead units "
    "by all units.",
)
share_of_the_living = mistake(
    "dead_relu_fraction",
    {SHARE: "return 1 - torch.cat(dead).double().mean().item() if dead else 0.0"},
    says="This is the share of the units that are alive. Return one minus this share.",
)
divided_by_the_rows = mistake(
    "dead_relu_fraction",
    {
        DEAD: "dead.append((output == 0).all(dim=0))\nrows.append(len(output))",
        "dead = []": "dead, rows = [], []",
        SHARE: "return torch.cat(dead).sum().item() / sum(rows) if dead else 0.0",
    },
    says="The dead units were divided by the number of rows. Divide by the number of units: output.shape[1].",
)
number_of_dead_units = mistake(
    "dead_relu_fraction",
    {SHARE: "return float(torch.cat(dead).sum().item()) if dead else 0.0"},
    says="This is how many units are dead. Divide by how many there are.",
)
last_relu_only = mistake(
    "dead_relu_fraction",
    {SHARE: "return dead[-1].double().mean().item() if dead else 0.0"},
    says="Only the last ReLU was looked at. All of them count.",
)
first_relu_only = mistake(
    "dead_relu_fraction",
    {SHARE: "return dead[0].double().mean().item() if dead else 0.0"},
    says="Only the first ReLU was looked at. All of them count.",
)
relus_of_the_children = mistake(
    "dead_relu_fraction",
    {RELUS: "relus = [module for module in model.children() if isinstance(module, torch.nn.ReLU)]"},
    says="children() finds the modules directly below the model. modules() also finds the ReLUs inside them.",
)
one_output_per_module = mistake(
    "dead_relu_fraction",
    {
        "dead = []": "dead = {}",
        DEAD: "dead[module] = (output == 0).all(dim=0)",
        SHARE: "return torch.cat(list(dead.values())).double().mean().item() if dead else 0.0",
    },
    says="The outputs were kept by module, so that a ReLU that runs twice shows its last run only. Append to a list.",
)
looked_after_the_run = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append(output)", SHARE: f"dead = [(output == 0).all(dim=0) for output in dead]\n{SHARE}"},
    says="The outputs were looked at after the run, when the model had written into them (h += 1). Decide inside the "
    "hook, or keep a copy.",
)
hooks_left = mistake(
    "dead_relu_fraction",
    {RUN_AND_REMOVE: RUN},
    says="The hooks are still on the model, and every later run of it goes through them. Keep what "
    "register_forward_hook returns and remove() it.",
)
hooks_left_when_it_raises = mistake(
    "dead_relu_fraction",
    {RUN_AND_REMOVE: f"{RUN}\n{REMOVE}"},
    says="When the model raises, the hooks stay: what removes them was not reached. Put it into a finally block.",
)
all_hooks_removed = mistake(
    "dead_relu_fraction",
    {REMOVE: "for relu in relus:\n    relu._forward_hooks.clear()"},
    says="All hooks of the ReLUs were removed, those of other people too. Remove the ones that you registered.",
)
exception_caught = mistake(
    "dead_relu_fraction",
    {"finally:": "except Exception:\n    return 0.0\nfinally:"},
    says="The model's exception was caught. It is not yours: let it pass, with the hooks removed on the way.",
)
dead_in_eval_mode = mistake(
    "dead_relu_fraction",
    {RELUS: f"model.eval()\n{RELUS}"},
    says="The model was switched to eval mode. Other units are dead there, and the caller finds the model changed: run "
    "it in the mode that it is in.",
)
eval_mode_and_back = mistake(
    "dead_relu_fraction",
    {"model(X)": "training = model.training\nmodel.eval()\nmodel(X)\nmodel.train(training)"},
    says="The model was switched to eval mode for the run, and back. Other units are dead there: run it in the "
    "mode that it is in.",
)
almost_zero = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append((output.abs() < 1e-4).all(dim=0))"},
    says="Units that are almost 0 were counted. Dead is exactly 0: a unit of 1e-6 has a gradient.",
)
mean_almost_zero = mistake(
    "dead_relu_fraction",
    {DEAD: "dead.append(output.mean(dim=0) < 1e-4)"},
    says="The mean over the rows was taken before comparing with a small number. A unit that is alive on one row has "
    "a small mean too. Dead means exactly 0 on every row.",
)
no_relu_refused = mistake(
    "dead_relu_fraction",
    {SHARE: f'if not dead:\n    raise ValueError("no ReLU runs")\n{SHARE}'},
    says="A model in which no ReLU runs raised an exception. The share is 0.0 there.",
)
nan_without_relus = mistake(
    "dead_relu_fraction",
    {SHARE: "return torch.cat(dead).double().mean().item() if dead else math.nan"},
    says="0 by 0 units is nan here. Where no ReLU runs the share is 0.0.",
)
negative_linears = mistake(
    "dead_relu_fraction",
    {
        DEAD: "dead.append((output <= 0).all(dim=0))",
        HOOKS: """\
linears = [module for module in model.modules() if isinstance(module, torch.nn.Linear)][:-1]
hooks = [linear.register_forward_hook(look) for linear in linears if relus]""",
    },
    says="The outputs of the Linears were looked at. What is behind the nn.ReLU modules counts; others may stand "
    "between.",
)
