"""Wrong answers to ema_update, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch04_detachment.mistakes.gradient_modes import OFF_FOR_GOOD

PAIRS = "for average, new in zip(target.parameters(), online.parameters(), strict=True):"
AVERAGES = "average.mul_(decay).add_(new, alpha=1 - decay)"
AVERAGES_ALL = f"{PAIRS}\n    {AVERAGES}"
WITHOUT_A_GRAPH = f"with torch.no_grad():\n{AVERAGES_ALL}"
BUFFERS = "for average, new in zip(target.buffers(), online.buffers(), strict=True):"

swapped_decay = mistake(
    "ema_update",
    {AVERAGES: "average.mul_(1 - decay).add_(new, alpha=decay)"},
    says="The weights are swapped: decay belongs to target, which moves slowly, and 1 − decay to online.",
)

online_added_whole = mistake(
    "ema_update",
    {AVERAGES: "average.mul_(decay).add_(new)"},
    says="online was added whole. Its share is 1 − decay; together the two make 1.",
)

wrote_into_online = mistake(
    "ema_update",
    {AVERAGES: "new.mul_(1 - decay).add_(average, alpha=decay)\naverage.copy_(new)"},
    says="online's parameters were changed. The average belongs in target; online is only read.",
)

averaged_into_online = mistake(
    "ema_update",
    {AVERAGES: "new.copy_(decay * average + (1 - decay) * new)"},
    says="The averages were written into online, and target is as it was. The average belongs in target; online is "
    "only read.",
)

subtracted_online = mistake(
    "ema_update",
    {AVERAGES: "average.sub_(new, alpha=1 - decay)"},
    says="target keeps all of itself, and online's share is subtracted. It is decay · target + (1 − decay) · online.",
)

averages_not_written = mistake(
    "ema_update",
    {AVERAGES: "average = decay * average + (1 - decay) * new"},
    says="Nothing changed in target: the averages are in new tensors, and `p = decay * p + …` only gives the name p "
    "to one of them. Write into the parameter: p.mul_(…).add_(…), or p.copy_(…).",
)

new_memory = mistake(
    "ema_update",
    {AVERAGES: "average.data = decay * average.data + (1 - decay) * new.data"},
    says="`p.data = …` puts other memory under the parameter; views of the old memory keep the old values. Write into "
    "it, p.copy_(…), under no_grad.",
)

replaced_the_parameters = mistake(
    "ema_update",
    {
        AVERAGES_ALL: f"""
replacements = {{}}
{PAIRS}
    values = decay * average + (1 - decay) * new
    replacements[average] = torch.nn.Parameter(values, requires_grad=average.requires_grad)
for part in target.modules():
    for name, parameter in part._parameters.items():
        part._parameters[name] = replacements[parameter]
"""
    },
    says="New parameters took the places of the old ones. Whoever holds those, an optimizer or a second name, sees no "
    "average: write into them in place.",
)

returned_the_target = mistake(
    "ema_update",
    {AVERAGES_ALL: f"{AVERAGES_ALL}\nreturn target"},
    says="target was returned. The update is in place, the caller has target already: return nothing.",
)

recorded_by_autograd = mistake(
    "ema_update",
    {WITHOUT_A_GRAPH: AVERAGES_ALL},
    says="The update was recorded by autograd: it fails for a leaf that requires a gradient, and gives one that does "
    "not a graph that grows with every update. Wrap it in torch.no_grad().",
)

froze_the_average = mistake(
    "ema_update",
    {
        WITHOUT_A_GRAPH: f"""
{PAIRS}
    average.requires_grad_(False)
    average.mul_(decay).add_(new.detach(), alpha=1 - decay)
"""
    },
    says="requires_grad of target's parameters was switched off to write into them. no_grad allows that and changes "
    "nothing.",
)

gradients_left_off = mistake(
    "ema_update",
    {WITHOUT_A_GRAPH: f"torch.set_grad_enabled(False)\n{AVERAGES_ALL}"},
    says=OFF_FOR_GOOD,
)

trainable_ones_only = mistake(
    "ema_update",
    {AVERAGES: f"if average.requires_grad:\n    {AVERAGES}"},
    says="Only parameters that require a gradient were averaged. The average is of all of them, frozen or not.",
)

averaged_the_state_dict = mistake(
    "ema_update",
    {
        PAIRS: "for average, new in zip(target.state_dict().values(), online.state_dict().values(), strict=True):",
        AVERAGES: "average.copy_(decay * average + (1 - decay) * new)",
    },
    says="state_dict() holds the buffers as well, and a shared parameter under each of its names, so that it is "
    "averaged twice. parameters() gives each parameter once and nothing else.",
)

averaged_the_buffers = mistake(
    "ema_update",
    {AVERAGES_ALL: f"{AVERAGES_ALL}\n{BUFFERS}\n    average.copy_(decay * average + (1 - decay) * new)"},
    says="The buffers were averaged as well. Only parameters are; buffers are left alone.",
)

copied_the_buffers = mistake(
    "ema_update",
    {AVERAGES_ALL: f"{AVERAGES_ALL}\n{BUFFERS}\n    average.copy_(new)"},
    says="online's buffers were copied into target. Only parameters change; buffers are left alone.",
)

once_for_every_name = mistake(
    "ema_update",
    {
        PAIRS: """
new_ones = dict(online.named_parameters(remove_duplicate=False))
for name, average in target.named_parameters(remove_duplicate=False):
    new = new_ones[name]
"""
    },
    says="A parameter with two names was averaged once for each of them. parameters() gives it once.",
)

without_submodules = mistake(
    "ema_update",
    {PAIRS: PAIRS.replace("parameters()", "parameters(recurse=False)")},
    says="Only the parameters of the module itself were averaged. parameters() walks all submodules; recurse=False "
    "and _parameters do not.",
)

copied_online = mistake(
    "ema_update",
    {AVERAGES: "average.copy_(new)"},
    says="target was filled with online's values. It has to keep a share of its own values: decay.",
)
