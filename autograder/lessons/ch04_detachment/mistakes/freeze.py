"""Wrong answers to freeze, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

NAMES = "names = module.named_parameters(remove_duplicate=False)"
STARTS = 'not stem or f"{name}.".startswith(f"{stem}.")'
MATCHING = f"matching = {{parameter for name, parameter in names if {STARTS}}}"
FREEZES = "parameter.requires_grad_(False)"
FREEZES_ALL = f"for parameter in matching:\n    {FREEZES}"
COUNT = "return len(matching)"

PREFIX_IS_TEXT = "A prefix is text: compare with the names of named_parameters()."
MODULES_ONLY = f"{PREFIX_IS_TEXT} get_submodule finds modules only, and raises an error for the name of a parameter"
ONE_PART_ONLY = (
    f"{PREFIX_IS_TEXT} getattr finds one part of a name, and raises an error for several with dots between them"
)


LAYER10 = (
    "startswith('layer1') is true of layer10.weight as well. A prefix ends where a part of the name ends: compare with "
    "a dot at the end of both."
)


def _matching_where(condition):
    """An edit: another comparison of a name with the prefix."""
    return {MATCHING: f"matching = {{parameter for name, parameter in names if {condition}}}"}


def _matching_below(part):
    """An edit: look up a module instead of comparing names."""
    return {f"{NAMES}\n{MATCHING}": f"matching = list({part}.parameters())"}


def _changing_the_modules(change):
    """An edit: apply `change` to the matching modules instead of freezing parameters."""
    return {FREEZES_ALL: f"for name, part in module.named_modules():\n    if {STARTS}:\n        {change}"}


layer10_frozen_too = mistake(
    "freeze",
    _matching_where("name.startswith(prefix)"),
    says=LAYER10,
)

layer10_frozen_too_without_the_dot = mistake(
    "freeze",
    _matching_where("name.startswith(stem)"),
    says=LAYER10,
)

anywhere_in_the_name = mistake(
    "freeze",
    _matching_where("prefix in name"),
    says="The prefix was looked for anywhere in the name. It has to stand at the beginning, and consist of whole "
    "parts.",
)

empty_prefix_matches_nothing = mistake(
    "freeze",
    _matching_where('f"{name}.".startswith(f"{stem}.")'),
    says="The empty prefix matches nothing here. It has to match everything: treat it as a case of its own.",
)

two_dots = mistake(
    "freeze",
    {'stem = prefix.removesuffix(".")': "stem = prefix"},
    says="A dot was added to a prefix that has one: no name begins with 'layer1..'. Take the dot off first.",
)

whole_names_missed = mistake(
    "freeze",
    _matching_where('not stem or name.startswith(f"{stem}.")'),
    says="The whole name of a parameter is a prefix of itself, and no dot follows it: name + '.' begins with prefix + "
    "'.'.",
)

direct_children_only = mistake(
    "freeze",
    _matching_where('not stem or f"{name}.".startswith(f"{stem}.") and name.count(".") <= 1'),
    says="This freezes only what is registered directly in a submodule of the module itself. A prefix may have "
    "several parts, and parameters lie at any depth: named_parameters() walks all of them.",
)

submodules_only = mistake(
    "freeze",
    _matching_below("module.get_submodule(stem)"),
    says=f"{MODULES_ONLY} and for a name that is not there.",
)

submodules_as_they_are_called = mistake(
    "freeze",
    _matching_below("module.get_submodule(prefix)"),
    says=f"{MODULES_ONLY}, for a dot at the end and for a name that is not there.",
)

attribute_called_prefix = mistake(
    "freeze",
    _matching_below("(getattr(module, stem) if prefix else module)"),
    says=f"{ONE_PART_ONLY}.",
)

attribute_called_as_it_is = mistake(
    "freeze",
    _matching_below("getattr(module, prefix)"),
    says=f"{ONE_PART_ONLY}, and for the empty prefix.",
)

cleared_the_gradients = mistake(
    "freeze",
    {FREEZES: f"{FREEZES}\nparameter.grad = None"},
    says="The .grad of the frozen parameters was cleared. Freezing changes requires_grad alone.",
)

attribute_of_the_module = mistake(
    "freeze",
    _changing_the_modules("part.requires_grad = False"),
    says="Nothing was frozen. p.detach() and the entries of state_dict() are other tensors, and requires_grad = False "
    "on a module is an attribute that nobody reads. Set it on the parameters: p.requires_grad_(False).",
)

eval_for_freezing = mistake(
    "freeze",
    _changing_the_modules("part.eval()"),
    says="eval() changes what dropout and batch norm do; it freezes nothing. Freezing is requires_grad_(False).",
)

counted_entries = mistake(
    "freeze",
    {COUNT: "return sum(parameter.numel() for parameter in matching)"},
    says="The entries were counted. Count parameter tensors: a weight and a bias are two.",
)

counted_the_newly_frozen = mistake(
    "freeze",
    _matching_where(f"({STARTS}) and parameter.requires_grad"),
    says="Parameters that were frozen before were not counted. Every one that matches counts, whatever it was.",
)

unfroze_the_others = mistake(
    "freeze",
    {
        FREEZES_ALL: """
for parameter in module.parameters():
    parameter.requires_grad_(parameter not in matching)
"""
    },
    says="The other parameters were unfrozen. What does not match stays as it is, frozen or not.",
)

first_names_only = mistake(
    "freeze",
    {NAMES: "names = module.named_parameters()"},
    says="named_parameters() gives a shared parameter under its first name alone, so its second name matches nothing. "
    "remove_duplicate=False gives all names.",
)

counted_names = mistake(
    "freeze",
    {MATCHING: f"matching = [parameter for name, parameter in names if {STARTS}]"},
    says="A shared parameter was counted under each of its names. It is one tensor: count objects, not names.",
)

counted_buffers = mistake(
    "freeze",
    {COUNT: f"return len(matching) + sum({STARTS} for name, _ in module.named_buffers())"},
    says="Buffers were counted. They are not parameters, and have no gradient to stop.",
)

replaced_by_frozen_copies = mistake(
    "freeze",
    {
        FREEZES_ALL: """
for part in module.modules():
    for name, parameter in part._parameters.items():
        if parameter in matching:
            part._parameters[name] = torch.nn.Parameter(parameter.detach().clone(), requires_grad=False)
"""
    },
    says="New parameters took the places of the old ones: an optimizer still holds the old. Freeze them in place.",
)
