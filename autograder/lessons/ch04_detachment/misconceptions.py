"""Wrong answers to ch04_detachment that learners write.

In capitals: what several of them say, and lines of the reference that several of them change.
"""

from __future__ import annotations

from autograder.diagnosis import mistake

OFF_FOR_GOOD = (
    "Gradients were switched off and never on again, for the whole program. `with torch.no_grad():` ends by itself."
)

# straight_through_round

ROUNDS = "return x + (torch.round(x) - x).detach()"

derivative_of_round = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x)"},
    says="The gradient is zero: round is flat, and its derivative is still in the graph. Detach what rounding "
    "changed, round(x) − x, and add it to x.",
)

detached_as_a_whole = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x).detach()"},
    says="The result is detached as a whole, so x gets no gradient at all. One x has to stay outside of the detach.",
)

a_fresh_leaf = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x).detach().requires_grad_()"},
    says="The result is a new leaf: its gradient is kept there and never reaches x. Build it from x by operations.",
)

detached_the_wrong_term = mistake(
    "straight_through_round",
    {ROUNDS: "return x.detach() + (torch.round(x) - x)"},
    says="The gradient is −g: the wrong term was detached. x itself must keep its graph; the difference round(x) − x "
    "must not.",
)

round_and_x_swapped = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x) + (x - torch.round(x)).detach()"},
    says="round(x) and x are swapped: the values are those of x, and the gradient is that of round, zero. x stays "
    "outside, and round(x) − x is detached.",
)

x_not_taken_off = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x).detach() + x"},
    says="The values are round(x) + x. The x that carries the gradient has to be taken off again, detached.",
)

sum_before_the_difference = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x).detach() + x - x.detach()"},
    says="The order of the terms costs the last bits: round(x) + x is rounded itself, so what is left after − x is "
    "not quite whole. Take the difference round(x) − x first; it is exact.",
)

rounded_in_place = mistake(
    "straight_through_round",
    {ROUNDS: "with torch.no_grad():\n    x.round_()\nreturn x"},
    says="x itself was rounded, in place. The result looks right, and the caller has lost x: return a new tensor.",
)

halves_up = mistake(
    "straight_through_round",
    {ROUNDS: "return x + (torch.floor(x + 0.5) - x).detach()"},
    says="Halves are rounded up here. torch.round goes to the even neighbour: 0.5 to 0, 1.5 to 2, 2.5 to 2.",
)

cut_off = mistake(
    "straight_through_round",
    {ROUNDS: "return x + (torch.trunc(x) - x).detach()"},
    says="This cuts the decimals off. torch.round goes to the nearest whole number.",
)

always_requires_grad = mistake(
    "straight_through_round",
    {ROUNDS: "y = x + (torch.round(x) - x).detach()\nreturn y if y.requires_grad else y.requires_grad_()"},
    says="The result requires a gradient although x did not. Leave requires_grad to the operations: it follows x.",
)


# td_loss

PREDICTION = 'q = q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)'
BEST = 'best = target_net(batch["next_states"]).max(dim=1).values'
GOES_ON = 'goes_on = 1 - batch["dones"].to(best.dtype)'
TARGET = 'y = batch["rewards"] + gamma * goes_on * best'
SQUARES = "return torch.nn.functional.mse_loss(q, y)"

CONSTANT_TARGET = f"with torch.no_grad():\n    {BEST}\n    {GOES_ON}\n    {TARGET}"
RECORDED_TARGET = f"{BEST}\n{GOES_ON}\n{TARGET}"

ONE_MAXIMUM = "The maximum was taken over the whole batch. Each transition has its own: max over dim 1, the actions."

target_not_detached = mistake(
    "td_loss",
    {CONSTANT_TARGET: RECORDED_TARGET},
    says="The gradient flows into target_net, or, where both are one network, through y as well. y is a constant: "
    "compute it under no_grad, or detach it.",
)

detached_the_prediction = mistake(
    "td_loss",
    {PREDICTION: f"{PREDICTION}.detach()", CONSTANT_TARGET: RECORDED_TARGET},
    says="The prediction was detached instead of the target: q_net learns nothing and target_net is trained. Swap "
    "them.",
)

no_grad_around_everything = mistake(
    "td_loss",
    {PREDICTION: f"with torch.no_grad():\n    {PREDICTION}"},
    says="Everything is under no_grad, or detached, Q(s, a) too, so there is no graph to go back through. Only y is "
    "to be a constant.",
)

returned_a_number = mistake(
    "td_loss",
    {SQUARES: f"{SQUARES}.item()"},
    says="A number has no graph, so nothing can go back through it. Leave out .item().",
)

froze_the_target_network = mistake(
    "td_loss",
    {PREDICTION: f"for parameter in target_net.parameters():\n    parameter.requires_grad_(False)\n{PREDICTION}"},
    says="This freezes target_net's parameters for good, and those of q_net with them where both are one module. Stop "
    "the gradient, not the parameters: no_grad or detach around y.",
)

eval_for_no_grad = mistake(
    "td_loss",
    {PREDICTION: f"target_net.eval()\n{PREDICTION}"},
    says="target_net was switched to eval mode and stays there: that is a change of the caller's network, and it "
    "stops no gradient.",
)

gradients_off_for_good = mistake(
    "td_loss",
    {CONSTANT_TARGET: f"torch.set_grad_enabled(False)\n{RECORDED_TARGET}"},
    says=OFF_FOR_GOOD,
)

called_backward = mistake(
    "td_loss",
    {SQUARES: "loss = torch.nn.functional.mse_loss(q, y)\nloss.backward()\nreturn loss"},
    says="td_loss called backward itself, so the caller's backward would add a second time or fail. Only return the "
    "loss.",
)

n_by_n_differences = mistake(
    "td_loss",
    {
        PREDICTION: 'q = q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1))',
        SQUARES: "return ((q - y) ** 2).mean()",
    },
    says="Q(s, a) is (n, 1) and y is (n,): their difference broadcasts to (n, n), each prediction against every "
    "target. Squeeze the axis that gather left.",
)

columns_for_every_row = mistake(
    "td_loss",
    {PREDICTION: 'q = q_net(batch["states"])[:, batch["actions"]]', SQUARES: "return ((q - y) ** 2).mean()"},
    says="q[:, actions] takes the columns of all actions for every row, (n, n) values. Each row has one action: "
    "gather, or row numbers and actions together.",
)

best_action_for_the_taken_one = mistake(
    "td_loss",
    {PREDICTION: 'q = q_net(batch["states"]).max(dim=1).values'},
    says="The prediction is the best action's value. It has to be that of the action that was taken, Q(s, a).",
)

dones_ignored = mistake(
    "td_loss",
    {GOES_ON: "", TARGET: 'y = batch["rewards"] + gamma * best'},
    says="`dones` is not used: after the last state of an episode nothing comes, so the target is the reward alone.",
)

dones_the_wrong_way = mistake(
    "td_loss",
    {GOES_ON: 'goes_on = batch["dones"].to(best.dtype)'},
    says="The mask is the wrong way round: the future counts where the episode is not done, 1 − done.",
)

bools_not_converted = mistake(
    "td_loss",
    {GOES_ON: 'goes_on = 1 - batch["dones"]'},
    says="1 − dones is refused for bools. Convert first, .to(rewards.dtype), or use ~dones for the mask.",
)

reward_masked_too = mistake(
    "td_loss",
    {TARGET: 'y = goes_on * (batch["rewards"] + gamma * best)'},
    says="The mask took the reward away, too. The last reward of an episode counts; only the future does not.",
)

not_discounted = mistake(
    "td_loss",
    {TARGET: 'y = batch["rewards"] + goes_on * best'},
    says="gamma is missing: the future counts gamma times as much as the reward.",
)

one_maximum_for_the_batch = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).max()'},
    says=ONE_MAXIMUM,
)

one_maximum_and_a_float_mask = mistake(
    "td_loss",
    {
        BEST: 'best = target_net(batch["next_states"]).max()',
        GOES_ON: 'goes_on = 1 - batch["dones"].float()',
    },
    says=ONE_MAXIMUM,
)

maximum_over_the_transitions = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).max(dim=0).values'},
    says="max(dim=0) takes the best transition for each action. Each transition has its own best action: dim=1.",
)

number_of_the_best_action = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).argmax(dim=1).to(batch["rewards"].dtype)'},
    says="This is the number of the best action, not its value. max(dim=1) gives both: `.values` is meant.",
)

value_of_the_action_taken_before = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)'},
    says="The next state was judged by the action that was taken in `states`. The target takes the best action there: "
    "max(dim=1).",
)
mean_over_the_actions = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["next_states"]).mean(dim=1)'},
    says="The next state's value is the mean over its actions here. The target takes the best action's: max(dim=1).",
)
reward_discounted = mistake(
    "td_loss",
    {TARGET: 'y = gamma * (batch["rewards"] + goes_on * best)'},
    says="The reward was discounted, too. gamma belongs to the future alone: r + gamma (1 − done) max Q.",
)
target_of_the_same_state = mistake(
    "td_loss",
    {BEST: 'best = target_net(batch["states"]).max(dim=1).values'},
    says="target_net was asked about `states`. The future starts in `next_states`.",
)

target_from_q_net = mistake(
    "td_loss",
    {BEST: 'best = q_net(batch["next_states"]).max(dim=1).values'},
    says="target_net is not used: the future was judged by q_net. That is what the second network is for.",
)

double_q_learning = mistake(
    "td_loss",
    {
        BEST: """
chosen = q_net(batch["next_states"]).argmax(dim=1, keepdim=True)
best = target_net(batch["next_states"]).gather(1, chosen).squeeze(1)
"""
    },
    says="This is double Q-learning: q_net picks the next action, target_net values it. Here target_net does both: "
    "its own maximum.",
)

sum_of_squares = mistake(
    "td_loss",
    {SQUARES: 'return torch.nn.functional.mse_loss(q, y, reduction="sum")'},
    says="The squares were added up. The mean over the n transitions is asked.",
)

half_of_the_mean = mistake(
    "td_loss",
    {SQUARES: "return 0.5 * torch.nn.functional.mse_loss(q, y)"},
    says="There is a ½ too much: the mean of the squares is asked, without it.",
)

huber = mistake(
    "td_loss",
    {SQUARES: "return torch.nn.functional.smooth_l1_loss(q, y)"},
    says="This is the Huber loss, which many programs use here. The mean squared error is asked: mse_loss.",
)

wrote_into_the_rewards = mistake(
    "td_loss",
    {TARGET: 'y = batch["rewards"]\ny += gamma * goes_on * best'},
    says="The target was written into batch['rewards']: `+=` works in place, and `y = batch['rewards']` copies "
    "nothing. Use y = rewards + ….",
)

all_actions_trained = mistake(
    "td_loss",
    {
        PREDICTION: 'q = q_net(batch["states"])',
        "return torch.nn.functional.mse_loss(q, y)": "targets = torch.zeros_like(q)\n"
        'targets[torch.arange(len(y)), batch["actions"]] = y\nreturn torch.nn.functional.mse_loss(q, targets)',
    },
    says="The loss goes over all actions, and those that were not chosen are pulled to 0. Nothing is known of them: "
    "take q of the chosen action alone, with gather.",
)
chosen_against_all = mistake(
    "td_loss",
    {
        PREDICTION: 'q = q_net(batch["states"])',
        "return torch.nn.functional.mse_loss(q, y)": "return torch.nn.functional.mse_loss(q, y.unsqueeze(1)."
        "expand_as(q))",
    },
    says="Every action is pulled to y. y is the target of the chosen action: take q of that one, with gather.",
)


# freeze

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


def _matching_where(condition):
    """Another comparison of a name with the prefix."""
    return {MATCHING: f"matching = {{parameter for name, parameter in names if {condition}}}"}


def _matching_below(part):
    """A module is looked up, and no name compared."""
    return {f"{NAMES}\n{MATCHING}": f"matching = list({part}.parameters())"}


def _changing_the_modules(change):
    """In the place of the parameters."""
    return {FREEZES_ALL: f"for name, part in module.named_modules():\n    if {STARTS}:\n        {change}"}


layer10_frozen_too = mistake(
    "freeze",
    _matching_where("name.startswith(prefix)"),
    says="startswith('layer1') is true of layer10.weight as well. A prefix ends where a part of the name ends: "
    "compare with a dot at the end of both.",
)

anywhere_in_the_name = mistake(
    "freeze",
    _matching_where("prefix in name"),
    says="The prefix was looked for anywhere in the name. It has to stand at the beginning, whole parts of it.",
)

empty_prefix_matches_nothing = mistake(
    "freeze",
    _matching_where('f"{name}.".startswith(f"{stem}.")'),
    says="With a dot added to it the empty prefix matches nothing. It has to match everything: treat it by itself.",
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
    says="The entries were counted. The number of parameter tensors is asked: a weight and a bias are two.",
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
    says="Buffers were counted. They are no parameters, and there is no gradient to stop.",
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


# ema_update

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
    says="target was filled with online's values. It has to keep the share decay of its own.",
)


# predict_flow

DEAD_UNIT = '"dead_unit": {"x": True, "w": True, "b": True, "spare": False},'
SIDE_BRANCH = '"side_branch": {"a": True, "b": True, "c": False, "d": True},'
NO_GRAD_BLOCK = '"no_grad_block": {"a": False, "b": True, "c": True},'
LATE_REQUEST = '"late_request": {"early": True, "late": False},'
CHOICE = '"choice": {"score": False, "chosen": True, "other": True},'
HALF_A_STEP = '"half_a_step": {"w": True, "b": False, "x": True, "stepped": False},'

BY_THE_RULE = "return {program: flows(steps) for program, steps in programs.items()}"
LEAVES = 'if how == "leaf" or (how == "request" and not reached[name]):'
PRODUCT = 'elif how == "product":'
OF_A_PRODUCT = "reached[name] = set().union(*(reached[one] for one in inputs))"
NOT_RECORDED = "reached[name] = set()"
THERE = "return {name: name in reached[steps[-1][0]] for name in reached}"
OPPOSITE = "return {program: {name: not flow for name, flow in answers.items()} for program, answers in right.items()}"


def _believing(answers, **beliefs):
    """Another belief about some tensors of one of the six programs."""
    believed = answers
    for name, flows in beliefs.items():
        believed = believed.replace(f'"{name}": {not flows}', f'"{name}": {flows}')
    return {answers: believed}


zero_for_none = mistake(
    "predict_flow",
    _believing(DEAD_UNIT, x=False, w=False, b=False) | _believing(CHOICE, other=False),
    says="A gradient of zero was taken for no gradient. Where a graph leads to a leaf, `.grad` becomes a tensor, even "
    "if every number on the way was 0.",
)

dead_units_give_none = mistake(
    "predict_flow",
    _believing(DEAD_UNIT, x=False, w=False),
    says="relu at a negative input passes 0 on, and 0 is a number: x and w get tensors of zeros. None is for leaves "
    "that no graph leads to.",
)

times_zero_gives_none = mistake(
    "predict_flow",
    _believing(DEAD_UNIT, b=False),
    says="A factor 0 makes the gradient 0, not None: b is in the graph, and its `.grad` becomes a tensor.",
)

not_chosen_gives_none = mistake(
    "predict_flow",
    _believing(CHOICE, other=False),
    says="The alternative that torch.where did not take is still in its graph: it gets a gradient of 0, which is a "
    "tensor.",
)

unused_leaves_get_zero = mistake(
    "predict_flow",
    _believing(DEAD_UNIT, spare=True),
    says="A leaf that the loss does not use keeps `.grad` None. Backward visits what the loss was made of, and no "
    "more.",
)

detach_changes_the_tensor = mistake(
    "predict_flow",
    _believing(SIDE_BRANCH, a=False, b=False, d=False),
    says="detach() makes a second, constant tensor; the original stays in the graph. What also reaches the loss on "
    "another branch gets its gradient there.",
)

cancelled_values_give_none = mistake(
    "predict_flow",
    _believing(SIDE_BRANCH, d=False),
    says="d − d.detach() is 0 for every d, and yet its derivative is 1: autograd differentiates the program, and the "
    "second d is a constant to it.",
)

through_the_detach = mistake(
    "predict_flow",
    _believing(SIDE_BRANCH, c=True),
    says="Nothing comes back through detach(): c is used only behind it, and its `.grad` stays None.",
)

no_grad_ends_with_the_block = mistake(
    "predict_flow",
    _believing(NO_GRAD_BLOCK, a=True),
    says="Under no_grad nothing is recorded: scale is a constant for ever, also when it is used outside of the block, "
    "and a gets nothing.",
)

no_grad_holds_for_leaves = mistake(
    "predict_flow",
    _believing(NO_GRAD_BLOCK, c=False),
    says="no_grad affects results of operations. A tensor made with requires_grad=True is a leaf that asks for its "
    "gradient, wherever it was made.",
)

no_grad_the_wrong_way_round = mistake(
    "predict_flow",
    _believing(NO_GRAD_BLOCK, a=True, c=False),
    says="Both are the wrong way round. Under no_grad the product scale becomes a constant, so a gets nothing; the "
    "leaf c asks for its own gradient and gets it.",
)

asking_works_backwards = mistake(
    "predict_flow",
    _believing(LATE_REQUEST, late=True),
    says="The graph is recorded while the operation runs. When h was computed late asked for nothing; asking later "
    "does not change h.",
)

conditions_get_gradients = mistake(
    "predict_flow",
    _believing(CHOICE, score=True),
    says="A comparison has no derivative: score > 0 is a bool, and no graph goes through it.",
)

grad_writes_grad = mistake(
    "predict_flow",
    _believing(HALF_A_STEP, b=True),
    says="torch.autograd.grad returns the gradient and writes no `.grad`; without create_graph=True slope is a "
    "constant, too. So nothing arrives at b.",
)

results_keep_gradients = mistake(
    "predict_flow",
    _believing(HALF_A_STEP, stepped=True),
    says="stepped was made by an operation, so it is no leaf, and backward keeps `.grad` on leaves only. The gradient "
    "goes through it to w.",
)

a_step_starts_afresh = mistake(
    "predict_flow",
    _believing(HALF_A_STEP, w=False, stepped=True),
    says="stepped is made from w by an operation that was recorded, so w gets its gradient through it; stepped itself "
    "is no leaf and keeps none.",
)

whoever_asks_gets = mistake(
    "predict_flow",
    {
        BY_THE_RULE: """
def asks(name, steps):
    return flows([*steps, ("a loss of it alone", "product", name)])[name]

return {program: {name: asks(name, steps) for name, *_ in steps} for program, steps in programs.items()}
""",
        "return {": "right = {",
        "}": "}\nreturn {program: dict.fromkeys(tensors, True) for program, tensors in right.items()}",
    },
    says="Everything that requires a gradient is said to get one. The loss has to lead to it, too.",
)

rule_detaches_the_original = mistake(
    "predict_flow",
    {
        "reached = {}": "reached, cut = {}, set()",
        OF_A_PRODUCT: f"{OF_A_PRODUCT} - cut",
        NOT_RECORDED: f"""
{NOT_RECORDED}
if how == "detach":
    cut |= reached[inputs[0]] | {{inputs[0]}}""",
        THERE: "return {name: name in reached[steps[-1][0]] - cut for name in reached}",
    },
    says="In your rule detach() takes the original out of the graph, too. It makes a second, constant tensor, and the "
    "original stays where it is.",
    where="flows",
)

rule_goes_through_the_detach = mistake(
    "predict_flow",
    {PRODUCT: 'elif how in ("product", "detach"):'},
    says="In your rule a gradient goes back through detach(). What detach makes is a constant: no leaf is reached "
    "through it.",
    where="flows",
)

rule_goes_through_no_grad = mistake(
    "predict_flow",
    {PRODUCT: 'elif how in ("product", "product under no_grad"):'},
    says="In your rule a gradient goes back through a product under no_grad. Nothing was recorded there: that product "
    "is a constant.",
    where="flows",
)

rule_lets_requests_work_backwards = mistake(
    "predict_flow",
    {LEAVES: f'if how == "constant" and (name, "request") in steps:\n    reached[name] = {{name}}\nel{LEAVES}'},
    says="In your rule a request counts for products that were made before it. They were recorded while the name asked "
    "for nothing: only products after the request lead to it.",
    where="flows",
)

rule_keeps_gradients_of_results = mistake(
    "predict_flow",
    {OF_A_PRODUCT: f"{OF_A_PRODUCT}\nif reached[name] and name != steps[-1][0]:\n    reached[name].add(name)"},
    says="In your rule products get a `.grad`, too. The gradient goes through them, and backward keeps it on leaves "
    "only.",
    where="flows",
)

rule_keeps_gradients_of_all = mistake(
    "predict_flow",
    {OF_A_PRODUCT: f"{OF_A_PRODUCT}\nif reached[name]:\n    reached[name].add(name)"},
    says="In your rule all that the gradient goes through gets a `.grad`, products and the loss too. Backward keeps it "
    "on leaves only.",
    where="flows",
)

all_the_wrong_way_round = mistake(
    "predict_flow",
    {
        BY_THE_RULE: f"right = {{program: flows(steps) for program, steps in programs.items()}}\n{OPPOSITE}",
        "return {": "right = {",
        "}": f"}}\n{OPPOSITE}",
    },
    says="All answers are the wrong way round: True where `.grad` becomes a tensor, False where it stays None.",
)


# running_mean_loss

START = "total, count = 0.0, 0"
LOOP = "for loss in losses:"
ADDS = "total += loss.item()"
COUNTS = "count += 1"
REFUSES = 'raise ValueError("no losses to average")'
NONE_AT_ALL = f"if count == 0:\n    {REFUSES}"
MEAN = "return total / count"

NO_LENGTH = "A generator has no length: count as you read."
READ_TWICE = "losses is read twice, and a generator is empty the second time: count as you read."
AND_REFUSE = "And without losses raise a ValueError."
NO_MEAN_OF_NOTHING = "There is no mean of nothing: raise a ValueError."


def _kept(how):
    return (
        f"All losses were kept as tensors, {how}, and with them all of their graphs. Turn each into a number as it "
        "comes: loss.item()."
    )


kept_as_tensors = mistake(
    "running_mean_loss",
    {LOOP: "for loss in list(losses):"},
    says=_kept("in a list or through a running sum"),
)

kept_through_a_running_sum = mistake(
    "running_mean_loss",
    {ADDS: "total = total + loss", MEAN: "return (total / count).item()"},
    says=_kept("in a list or through a running sum"),
)

summed_in_their_precision = mistake(
    "running_mean_loss",
    {ADDS: "total = total + loss.detach()", MEAN: "return (total / count).item()"},
    says="Detached tensors were added, in the precision of the losses: in float32 2²⁴ + 1 is 2²⁴. Add Python floats: "
    "loss.item().",
)

kept_and_returned_as_tensors = mistake(
    "running_mean_loss",
    {ADDS: "total = total + loss"},
    says=_kept("through a running sum that is returned as one"),
)

a_tensor_for_a_float = mistake(
    "running_mean_loss",
    {ADDS: "total += loss.detach().double()"},
    says="This is a tensor. A Python float is asked: .item() of it.",
)

detached_in_place = mistake(
    "running_mean_loss",
    {ADDS: "total += loss.detach_().item()"},
    says="detach_() works in place: it takes the graph away from the caller's own loss, who still wants to call "
    "backward. loss.item(), or loss.detach() without the underscore, leaves it alone.",
)

no_grad_around_the_loop = mistake(
    "running_mean_loss",
    {f"{LOOP}\n{ADDS}\n{COUNTS}": f"with torch.no_grad():\n    {LOOP}\n        {ADDS}\n        {COUNTS}"},
    says="no_grad around the loop holds for the generator, too, which runs inside of it: its losses have no graph, "
    "and its training step fails. loss.item() needs no no_grad.",
)

added_into_the_first_loss = mistake(
    "running_mean_loss",
    {
        ADDS: "if count == 0:\n    total = loss.detach()\nelse:\n    total += loss.item()",
        MEAN: "return total.item() / count",
    },
    says="The sum was written into the first loss: detach() shares its memory, and += works in place. Start from the "
    "number 0.0.",
)

asked_for_the_length = mistake(
    "running_mean_loss",
    {START: "total, count = 0.0, len(losses)", COUNTS: ""},
    says=NO_LENGTH,
)

divided_by_the_length = mistake(
    "running_mean_loss",
    {COUNTS: "", NONE_AT_ALL: "", MEAN: "return total / len(losses)"},
    says=f"{NO_LENGTH} {AND_REFUSE}",
)

read_twice_and_divided = mistake(
    "running_mean_loss",
    {COUNTS: "", NONE_AT_ALL: "", MEAN: "return total / sum(1 for _ in losses)"},
    says=f"{READ_TWICE} {AND_REFUSE}",
)

counted_then_added = mistake(
    "running_mean_loss",
    {START: "total, count = 0.0, sum(1 for _ in losses)", COUNTS: "", NONE_AT_ALL: ""},
    says=f"{READ_TWICE} {AND_REFUSE}",
)

counted_and_then_added = mistake(
    "running_mean_loss",
    {START: "total, count = 0.0, sum(1 for _ in losses)", COUNTS: ""},
    says=READ_TWICE,
)

read_twice = mistake(
    "running_mean_loss",
    {COUNTS: "", NONE_AT_ALL: f"count = sum(1 for _ in losses)\n{NONE_AT_ALL}"},
    says=READ_TWICE,
)

divided_by_zero = mistake(
    "running_mean_loss",
    {NONE_AT_ALL: ""},
    says="Without losses this divides by zero. Say what is wrong instead: raise a ValueError.",
)

nothing_is_zero = mistake(
    "running_mean_loss",
    {REFUSES: "return 0.0"},
    says=f"Without losses this is 0.0, which looks like a perfect epoch. {NO_MEAN_OF_NOTHING}",
)

nothing_is_nan = mistake(
    "running_mean_loss",
    {REFUSES: 'return float("nan")'},
    says=f"Without losses this is nan, which is noticed far too late. {NO_MEAN_OF_NOTHING}",
)

sum_of_the_losses = mistake(
    "running_mean_loss",
    {MEAN: "return total"},
    says="This is the sum of the losses. Divide it by their number.",
)

halved_at_every_step = mistake(
    "running_mean_loss",
    {ADDS: "total = (total + loss.item()) / 2 if count else loss.item()", MEAN: "return total"},
    says="Halving at every step gives the last loss as much weight as all before it. The mean of k moves by 1/k: or "
    "add up, and divide once.",
)

exponential_average = mistake(
    "running_mean_loss",
    {ADDS: "total = 0.9 * total + 0.1 * loss.item() if count else loss.item()", MEAN: "return total"},
    says="This is an exponential moving average. The plain mean is asked: every loss counts the same.",
)

last_loss = mistake(
    "running_mean_loss",
    {ADDS: "total = loss.item()", MEAN: "return total"},
    says="This is the last loss. The mean of all of them is asked.",
)

first_entry_of_each = mistake(
    "running_mean_loss",
    {ADDS: "total += loss[0].item()"},
    says="Each loss was added as loss[0], which a 0-d tensor does not have. item() reads the one element of any shape.",
)
