"""Wrong answers to first_nonfinite, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

FINITE_TENSOR = "return bool(output.isfinite().all())"
CONTAINERS = """\
if isinstance(output, dict):
    output = output.values()
elif not isinstance(output, tuple | list):
    return True
return all(finite(part) for part in output)"""
LEAVES = "leaves = [(name, module) for name, module in model.named_modules() if not list(module.children())]"
WATCH = "return lambda module, inputs, output: None if finite(output) else found.append(name)"
RUN = """\
try:
    with torch.no_grad():
        model(x)
finally:
    for hook in hooks:
        hook.remove()"""
FIRST = "return found[0] if found else None"

order_of_registration = mistake(
    "first_nonfinite",
    {FIRST: "return next((name for name, _ in leaves if name in found), None)"},
    says="The first in the order of named_modules() was returned. Modules need not run in the order in which they were "
    "registered: the first hook that fires with a bad output is the answer.",
)
last_one = mistake(
    "first_nonfinite",
    {FIRST: "return found[-1] if found else None"},
    says="The last bad module was returned. All that comes after the first one inherits its nan.",
)
all_modules_watched = mistake(
    "first_nonfinite",
    {
        "leaves = [(name, module) for name, module in model.named_modules() if not list(module.children())]": (
            "leaves = list(model.named_modules())"
        )
    },
    says="Modules that hold others are watched, too: what the model does with what its leaves gave is then laid to a "
    "container. Leaf modules alone are asked, those without children().",
)
nan_only = mistake(
    "first_nonfinite",
    {FINITE_TENSOR: "return not bool((output != output).any())"},
    says="Only nan was looked for. An inf comes first, as a rule, and becomes a nan later: inf − inf, 0 · inf.",
)
inf_only = mistake(
    "first_nonfinite",
    {FINITE_TENSOR: "return not bool((output.abs() == math.inf).any())"},
    says="Only inf was looked for. A nan is not finite either.",
)
all_entries_bad = mistake(
    "first_nonfinite",
    {FINITE_TENSOR: "return bool(output.isfinite().any())"},
    says="An output was called bad only if all of its entries are. One is enough.",
)
tensors_only = mistake(
    "first_nonfinite",
    {CONTAINERS: "return True"},
    says="Outputs that are tuples, lists or dicts were not looked into. An LSTM's output is a tuple with a tuple in "
    "it.",
)
tuples_only = mistake(
    "first_nonfinite",
    {CONTAINERS: "return all(finite(part) for part in output) if isinstance(output, tuple) else True"},
    says="Tuples were looked into, lists and dicts were not.",
)
first_level_only = mistake(
    "first_nonfinite",
    {
        "return all(finite(part) for part in output)": "return all(\n"
        "    bool(part.isfinite().all()) for part in output if isinstance(part, torch.Tensor)\n)"
    },
    says="Containers were looked into, and those inside of them were not. An LSTM's output is a tuple with a tuple "
    "in it.",
)
blocks_too = mistake(
    "first_nonfinite",
    {
        LEAVES: "leaves = [(name, module) for name, module in model.named_modules()]",
        FIRST: "return found[-1] if found else None",
    },
    says="Modules that have modules of their own were asked, too. A block is done after its layers, and the model "
    "last: the leaf is what is looked for.",
)
children_only = mistake(
    "first_nonfinite",
    {LEAVES: "leaves = list(model.named_children())"},
    says="Only the model's direct children were watched. named_modules() goes into them; leaves are those without "
    "children.",
)
outputs_looked_at_afterwards = mistake(
    "first_nonfinite",
    {
        WATCH: "return lambda module, inputs, output: found.append((name, output))",
        FIRST: "return next((name for name, output in found if not finite(output)), None)",
    },
    says="The outputs were collected and looked at after the run. The model may have written into them by then: look "
    "inside of the hook.",
)
inputs_looked_at = mistake(
    "first_nonfinite",
    {WATCH: "return lambda module, inputs, output: None if finite(inputs) else found.append(name)"},
    says="The inputs of the modules were looked at: that names the module after the one that is wrong.",
)
weights_looked_at = mistake(
    "first_nonfinite",
    {
        WATCH: "return lambda module, inputs, output: None",
        FIRST: "return next((name for name, m in leaves if not all(finite(p) for p in m.parameters())), None)",
    },
    says="The parameters were looked at. Finite weights can give an inf, and what counts is the outputs.",
)
last_name_for_all = mistake(
    "first_nonfinite",
    {
        "hooks = [module.register_forward_hook(watch(name)) for name, module in leaves]": """\
hooks = []
for name, module in leaves:
    hooks.append(module.register_forward_hook(lambda m, i, output: None if finite(output) else found.append(name)))"""
    },
    says="Every hook says the name that the loop ended with: a function looks a name up when it runs, not when it is "
    "made. Bind it: lambda module, inputs, output, name=name: …",
)
switched_to_eval = mistake(
    "first_nonfinite",
    {"model(x)": "model.eval()(x)"},
    says="The model was switched to eval mode, in which other things happen, and is left in it. Run it in the mode "
    "that it is in.",
)
hooks_left = mistake(
    "first_nonfinite",
    {RUN: "with torch.no_grad():\n    model(x)"},
    says="The hooks were not removed. Each later run fires them, and they keep what they refer to alive.",
)
hooks_left_when_it_raises = mistake(
    "first_nonfinite",
    {RUN: "with torch.no_grad():\n    model(x)\nfor hook in hooks:\n    hook.remove()"},
    says="Where the model raises, the hooks are left on it: put their removal into a finally block.",
)
exception_swallowed = mistake(
    "first_nonfinite",
    {RUN: "try:\n    model(x)\nexcept Exception:\n    pass\nfor hook in hooks:\n    hook.remove()"},
    says="The model's own exception was caught. Whoever calls must see it: finally, not except.",
)

top_level_alone = mistake(
    "first_nonfinite",
    {LEAVES: LEAVES.replace("model.named_modules()", "model.named_children()")},
    says="Only the model's own children are watched, and layers inside of blocks are not: named_modules() goes all the "
    "way down.",
)
empty_name_for_none = mistake(
    "first_nonfinite",
    {"return found[0] if found else None": "return (found[0] if found else None) or None"},
    says='A model that is a leaf itself has the name "", which is false: `or None` and `if name` take it for nothing. '
    "Ask `is None`.",
)
