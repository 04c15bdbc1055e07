"""Wrong answers to ch04_detachment that learners write."""

from __future__ import annotations

from functools import partial

import torch

from autograder.diagnosis import misconception

# straight_through_round


@misconception(
    "straight_through_round",
    says="The gradient is zero: round is flat, and its derivative is still in the graph. Detach what rounding "
    "changed, round(x) − x, and add it to x.",
)
def derivative_of_round(x):
    return torch.round(x)


@misconception(
    "straight_through_round",
    says="The result is detached as a whole, so x gets no gradient at all. One x has to stay outside of the detach.",
)
def detached_as_a_whole(x):
    return torch.round(x).detach()


@misconception(
    "straight_through_round",
    says="The result is a new leaf: its gradient is kept there and never reaches x. Build it from x by operations.",
)
def a_fresh_leaf(x):
    return torch.round(x).detach().requires_grad_()


@misconception(
    "straight_through_round",
    says="The gradient is −g: the wrong term was detached. x itself must keep its graph; the difference round(x) − x "
    "must not.",
)
def detached_the_wrong_term(x):
    return x.detach() + (torch.round(x) - x)


@misconception(
    "straight_through_round",
    says="round(x) and x are swapped: the values are those of x, and the gradient is that of round, zero. x stays "
    "outside, and round(x) − x is detached.",
)
def round_and_x_swapped(x):
    return torch.round(x) + (x - torch.round(x)).detach()


@misconception(
    "straight_through_round",
    says="The values are round(x) + x. The x that carries the gradient has to be taken off again, detached.",
)
def x_not_taken_off(x):
    return torch.round(x).detach() + x


@misconception(
    "straight_through_round",
    says="The order of the terms costs the last bits: round(x) + x is rounded itself, so what is left after − x is "
    "not quite whole. Take the difference round(x) − x first; it is exact.",
)
def sum_before_the_difference(x):
    return torch.round(x).detach() + x - x.detach()


@misconception(
    "straight_through_round",
    says="x itself was rounded, in place. The result looks right, and the caller has lost x: return a new tensor.",
)
def rounded_in_place(x):
    with torch.no_grad():
        x.round_()
    return x


@misconception(
    "straight_through_round",
    says="Halves are rounded up here. torch.round goes to the even neighbour: 0.5 to 0, 1.5 to 2, 2.5 to 2.",
)
def halves_up(x):
    return x + (torch.floor(x + 0.5) - x).detach()


@misconception(
    "straight_through_round", says="This cuts the decimals off. torch.round goes to the nearest whole number."
)
def cut_off(x):
    return x + (torch.trunc(x) - x).detach()


@misconception(
    "straight_through_round",
    says="The result requires a gradient although x did not. Leave requires_grad to the operations: it follows x.",
)
def always_requires_grad(x):
    y = x + (torch.round(x) - x).detach()
    return y if y.requires_grad else y.requires_grad_()


# td_loss


def _prediction(q_net, batch):
    return q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)


def _goes_on(batch):
    return 1 - batch["dones"].to(batch["rewards"].dtype)


def _best(target_net, batch):
    return target_net(batch["next_states"]).max(dim=1).values


def _target(target_net, batch, gamma):
    """What is right, for the mistakes that are elsewhere."""
    with torch.no_grad():
        return batch["rewards"] + gamma * _goes_on(batch) * _best(target_net, batch)


@misconception(
    "td_loss",
    says="The gradient flows into target_net, or, where both are one network, through y as well. y is a constant: "
    "compute it under no_grad, or detach it.",
)
def target_not_detached(q_net, target_net, batch, gamma):
    y = batch["rewards"] + gamma * _goes_on(batch) * _best(target_net, batch)
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception(
    "td_loss",
    says="The prediction was detached instead of the target: q_net learns nothing and target_net is trained. Swap "
    "them.",
)
def detached_the_prediction(q_net, target_net, batch, gamma):
    y = batch["rewards"] + gamma * _goes_on(batch) * _best(target_net, batch)
    return ((_prediction(q_net, batch).detach() - y) ** 2).mean()


@misconception(
    "td_loss",
    says="Everything is under no_grad, or detached, Q(s, a) too, so there is no graph to go back through. Only y is "
    "to be a constant.",
)
def no_grad_around_everything(q_net, target_net, batch, gamma):
    with torch.no_grad():
        return ((_prediction(q_net, batch) - _target(target_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss",
    says="A number has no graph, so nothing can go back through it. Leave out .item().",
)
def returned_a_number(q_net, target_net, batch, gamma):
    return ((_prediction(q_net, batch) - _target(target_net, batch, gamma)) ** 2).mean().item()


@misconception(
    "td_loss",
    says="This freezes target_net's parameters for good, and those of q_net with them where both are one module. Stop "
    "the gradient, not the parameters: no_grad or detach around y.",
)
def froze_the_target_network(q_net, target_net, batch, gamma):
    for parameter in target_net.parameters():
        parameter.requires_grad_(False)
    return ((_prediction(q_net, batch) - _target(target_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss",
    says="target_net was switched to eval mode and stays there: that is a change of the caller's network, and it "
    "stops no gradient.",
)
def eval_for_no_grad(q_net, target_net, batch, gamma):
    target_net.eval()
    return ((_prediction(q_net, batch) - _target(target_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss",
    says="Gradients were switched off and never on again, for the whole program. `with torch.no_grad():` ends by "
    "itself.",
)
def gradients_off_for_good(q_net, target_net, batch, gamma):
    q = _prediction(q_net, batch)
    torch.set_grad_enabled(False)
    return ((q - _target(target_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss",
    says="td_loss called backward itself, so the caller's backward would add a second time or fail. Only return the "
    "loss.",
)
def called_backward(q_net, target_net, batch, gamma):
    loss = ((_prediction(q_net, batch) - _target(target_net, batch, gamma)) ** 2).mean()
    loss.backward()
    return loss


@misconception(
    "td_loss",
    says="Q(s, a) is (n, 1) and y is (n,): their difference broadcasts to (n, n), each prediction against every "
    "target. Squeeze the axis that gather left.",
)
def n_by_n_differences(q_net, target_net, batch, gamma):
    q = q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1))
    return ((q - _target(target_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss",
    says="q[:, actions] takes the columns of all actions for every row, (n, n) values. Each row has one action: "
    "gather, or row numbers and actions together.",
)
def columns_for_every_row(q_net, target_net, batch, gamma):
    q = q_net(batch["states"])[:, batch["actions"]]
    return ((q - _target(target_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss",
    says="The prediction is the best action's value. It has to be that of the action that was taken, Q(s, a).",
)
def best_action_for_the_taken_one(q_net, target_net, batch, gamma):
    return ((q_net(batch["states"]).max(dim=1).values - _target(target_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss",
    says="`dones` is not used: after the last state of an episode nothing comes, so the target is the reward alone.",
)
def dones_ignored(q_net, target_net, batch, gamma):
    with torch.no_grad():
        y = batch["rewards"] + gamma * _best(target_net, batch)
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception(
    "td_loss", says="The mask is the wrong way round: the future counts where the episode is not done, 1 − done."
)
def dones_the_wrong_way(q_net, target_net, batch, gamma):
    with torch.no_grad():
        y = batch["rewards"] + gamma * (1 - _goes_on(batch)) * _best(target_net, batch)
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception(
    "td_loss",
    says="1 − dones is refused for bools. Convert first, .to(rewards.dtype), or use ~dones for the mask.",
)
def bools_not_converted(q_net, target_net, batch, gamma):
    with torch.no_grad():
        y = batch["rewards"] + gamma * (1 - batch["dones"]) * _best(target_net, batch)
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception(
    "td_loss",
    says="The mask took the reward away, too. The last reward of an episode counts; only the future does not.",
)
def reward_masked_too(q_net, target_net, batch, gamma):
    with torch.no_grad():
        y = _goes_on(batch) * (batch["rewards"] + gamma * _best(target_net, batch))
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception("td_loss", says="gamma is missing: the future counts gamma times as much as the reward.")
def not_discounted(q_net, target_net, batch, gamma):
    return ((_prediction(q_net, batch) - _target(target_net, batch, 1.0)) ** 2).mean()


@misconception(
    "td_loss",
    says="The maximum was taken over the whole batch. Each transition has its own: max over dim 1, the actions.",
)
def one_maximum_for_the_batch(q_net, target_net, batch, gamma):
    with torch.no_grad():
        y = batch["rewards"] + gamma * _goes_on(batch) * target_net(batch["next_states"]).max()
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception(
    "td_loss",
    says="The maximum was taken over the whole batch. Each transition has its own: max over dim 1, the actions.",
)
def one_maximum_and_a_float_mask(q_net, target_net, batch, gamma):
    with torch.no_grad():
        y = batch["rewards"] + gamma * (1 - batch["dones"].float()) * target_net(batch["next_states"]).max()
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception(
    "td_loss",
    says="max(dim=0) takes the best transition for each action. Each transition has its own best action: dim=1.",
)
def maximum_over_the_transitions(q_net, target_net, batch, gamma):
    with torch.no_grad():
        y = batch["rewards"] + gamma * _goes_on(batch) * target_net(batch["next_states"]).max(dim=0).values
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception(
    "td_loss",
    says="This is the number of the best action, not its value. max(dim=1) gives both: `.values` is meant.",
)
def number_of_the_best_action(q_net, target_net, batch, gamma):
    with torch.no_grad():
        y = batch["rewards"] + gamma * _goes_on(batch) * target_net(batch["next_states"]).argmax(dim=1)
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception("td_loss", says="target_net was asked about `states`. The future starts in `next_states`.")
def target_of_the_same_state(q_net, target_net, batch, gamma):
    return (
        (_prediction(q_net, batch) - _target(target_net, {**batch, "next_states": batch["states"]}, gamma)) ** 2
    ).mean()


@misconception(
    "td_loss", says="target_net is not used: the future was judged by q_net. That is what the second network is for."
)
def target_from_q_net(q_net, target_net, batch, gamma):
    return ((_prediction(q_net, batch) - _target(q_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss",
    says="This is double Q-learning: q_net picks the next action, target_net values it. Here target_net does both: "
    "its own maximum.",
)
def double_q_learning(q_net, target_net, batch, gamma):
    with torch.no_grad():
        best = q_net(batch["next_states"]).argmax(dim=1, keepdim=True)
        y = batch["rewards"] + gamma * _goes_on(batch) * target_net(batch["next_states"]).gather(1, best).squeeze(1)
    return ((_prediction(q_net, batch) - y) ** 2).mean()


@misconception("td_loss", says="The squares were added up. The mean over the n transitions is asked.")
def sum_of_squares(q_net, target_net, batch, gamma):
    return ((_prediction(q_net, batch) - _target(target_net, batch, gamma)) ** 2).sum()


@misconception("td_loss", says="There is a ½ too much: the mean of the squares is asked, without it.")
def half_of_the_mean(q_net, target_net, batch, gamma):
    return 0.5 * ((_prediction(q_net, batch) - _target(target_net, batch, gamma)) ** 2).mean()


@misconception(
    "td_loss", says="This is the Huber loss, which many programs use here. The mean squared error is asked: mse_loss."
)
def huber(q_net, target_net, batch, gamma):
    return torch.nn.functional.smooth_l1_loss(_prediction(q_net, batch), _target(target_net, batch, gamma))


@misconception(
    "td_loss",
    says="The target was written into batch['rewards']: `+=` works in place, and `y = batch['rewards']` copies "
    "nothing. Use y = rewards + ….",
)
def wrote_into_the_rewards(q_net, target_net, batch, gamma):
    y = batch["rewards"]
    with torch.no_grad():
        y += gamma * _goes_on(batch) * _best(target_net, batch)
    return ((_prediction(q_net, batch) - y) ** 2).mean()


# freeze


def _freeze_all_of(part):
    """Freeze the parameters of a module; how many."""
    parameters = list(part.parameters())
    for parameter in parameters:
        parameter.requires_grad_(False)
    return len(parameters)


def _starts(name, prefix):
    """What is right, for the mistakes that are elsewhere."""
    stem = prefix.removesuffix(".")
    return not stem or f"{name}.".startswith(f"{stem}.")


def _freeze_those(module, matches):
    """Freeze the parameters that have a matching name; how many."""
    found = {p for name, p in module.named_parameters(remove_duplicate=False) if matches(name)}
    for parameter in found:
        parameter.requires_grad_(False)
    return len(found)


@misconception(
    "freeze",
    says="startswith('layer1') is true of layer10.weight as well. A prefix ends where a part of the name ends: "
    "compare with a dot at the end of both.",
)
def layer10_frozen_too(module, prefix):
    return _freeze_those(module, lambda name: name.startswith(prefix))


@misconception(
    "freeze",
    says="The prefix was looked for anywhere in the name. It has to stand at the beginning, whole parts of it.",
)
def anywhere_in_the_name(module, prefix):
    return _freeze_those(module, lambda name: prefix in name)


@misconception(
    "freeze",
    says="With a dot added to it the empty prefix matches nothing. It has to match everything: treat it by itself.",
)
def empty_prefix_matches_nothing(module, prefix):
    return _freeze_those(module, lambda name: bool(prefix) and _starts(name, prefix))


@misconception(
    "freeze",
    says="A dot was added to a prefix that has one: no name begins with 'layer1..'. Take the dot off first.",
)
def two_dots(module, prefix):
    return _freeze_those(module, lambda name: not prefix or name == prefix or name.startswith(prefix + "."))


@misconception(
    "freeze",
    says="The whole name of a parameter is a prefix of itself, and no dot follows it: name + '.' begins with prefix + "
    "'.'.",
)
def whole_names_missed(module, prefix):
    stem = prefix.removesuffix(".")
    return _freeze_those(module, lambda name: not stem or name.startswith(stem + "."))


@misconception(
    "freeze",
    says="This freezes only what is registered directly in a submodule of the module itself. A prefix may have "
    "several parts, and parameters lie at any depth: named_parameters() walks all of them.",
)
def direct_children_only(module, prefix):
    stem = prefix.removesuffix(".")
    if not stem:
        return _freeze_those(module, lambda name: True)
    return _freeze_those(module, lambda name: _starts(name, stem) and name.count(".") <= 1)


@misconception(
    "freeze",
    says="A prefix is text: compare with the names of named_parameters(). get_submodule finds modules only, and "
    "raises an error for the name of a parameter and for a name that is not there.",
)
def submodules_only(module, prefix):
    return _freeze_all_of(module.get_submodule(prefix.removesuffix(".")))


@misconception(
    "freeze",
    says="A prefix is text: compare with the names of named_parameters(). get_submodule finds modules only, and "
    "raises an error for the name of a parameter, for a dot at the end and for a name that is not there.",
)
def submodules_as_they_are_called(module, prefix):
    return _freeze_all_of(module.get_submodule(prefix))


@misconception(
    "freeze",
    says="A prefix is text: compare with the names of named_parameters(). getattr finds one part of a name, and "
    "raises an error for several with dots between them.",
)
def attribute_called_prefix(module, prefix):
    return _freeze_all_of(getattr(module, prefix.removesuffix(".")) if prefix else module)


@misconception(
    "freeze",
    says="A prefix is text: compare with the names of named_parameters(). getattr finds one part of a name, and "
    "raises an error for several with dots between them, and for the empty prefix.",
)
def attribute_called_as_it_is(module, prefix):
    return _freeze_all_of(getattr(module, prefix))


@misconception("freeze", says="The .grad of the frozen parameters was cleared. Freezing changes requires_grad alone.")
def cleared_the_gradients(module, prefix):
    found = {p for name, p in module.named_parameters(remove_duplicate=False) if _starts(name, prefix)}
    for parameter in found:
        parameter.requires_grad_(False)
        parameter.grad = None
    return len(found)


@misconception(
    "freeze",
    says="Nothing was frozen. p.detach() and the entries of state_dict() are other tensors, and requires_grad = False "
    "on a module is an attribute that nobody reads. Set it on the parameters: p.requires_grad_(False).",
)
def attribute_of_the_module(module, prefix):
    stem = prefix.removesuffix(".")
    for name, part in module.named_modules():
        if _starts(name, stem):
            part.requires_grad = False
    return len({p for name, p in module.named_parameters(remove_duplicate=False) if _starts(name, stem)})


@misconception(
    "freeze",
    says="eval() changes what dropout and batch norm do; it freezes nothing. Freezing is requires_grad_(False).",
)
def eval_for_freezing(module, prefix):
    stem = prefix.removesuffix(".")
    for name, part in module.named_modules():
        if _starts(name, stem):
            part.eval()
    return len({p for name, p in module.named_parameters(remove_duplicate=False) if _starts(name, stem)})


@misconception(
    "freeze", says="The entries were counted. The number of parameter tensors is asked: a weight and a bias are two."
)
def counted_entries(module, prefix):
    found = {p for name, p in module.named_parameters(remove_duplicate=False) if _starts(name, prefix)}
    for parameter in found:
        parameter.requires_grad_(False)
    return sum(parameter.numel() for parameter in found)


@misconception(
    "freeze",
    says="Parameters that were frozen before were not counted. Every one that matches counts, whatever it was.",
)
def counted_the_newly_frozen(module, prefix):
    found = {p for name, p in module.named_parameters(remove_duplicate=False) if _starts(name, prefix)}
    newly = sum(parameter.requires_grad for parameter in found)
    for parameter in found:
        parameter.requires_grad_(False)
    return newly


@misconception(
    "freeze",
    says="The other parameters were unfrozen. What does not match stays as it is, frozen or not.",
)
def unfroze_the_others(module, prefix):
    for name, parameter in module.named_parameters(remove_duplicate=False):
        parameter.requires_grad_(not _starts(name, prefix))
    return _freeze_those(module, lambda name: _starts(name, prefix))


@misconception(
    "freeze",
    says="named_parameters() gives a shared parameter under its first name alone, so its second name matches nothing. "
    "remove_duplicate=False gives all names.",
)
def first_names_only(module, prefix):
    found = [parameter for name, parameter in module.named_parameters() if _starts(name, prefix)]
    for parameter in found:
        parameter.requires_grad_(False)
    return len(found)


@misconception(
    "freeze", says="A shared parameter was counted under each of its names. It is one tensor: count objects, not names."
)
def counted_names(module, prefix):
    names = [name for name, _ in module.named_parameters(remove_duplicate=False) if _starts(name, prefix)]
    _freeze_those(module, lambda name: _starts(name, prefix))
    return len(names)


@misconception("freeze", says="Buffers were counted. They are no parameters, and there is no gradient to stop.")
def counted_buffers(module, prefix):
    buffers = [name for name, _ in module.named_buffers() if _starts(name, prefix)]
    return _freeze_those(module, lambda name: _starts(name, prefix)) + len(buffers)


@misconception(
    "freeze",
    says="New parameters took the places of the old ones: an optimizer still holds the old. Freeze them in place.",
)
def replaced_by_frozen_copies(module, prefix):
    found = {p for name, p in module.named_parameters(remove_duplicate=False) if _starts(name, prefix)}
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter in found:
                part._parameters[name] = torch.nn.Parameter(parameter.detach().clone(), requires_grad=False)
    return len(found)


# ema_update


@misconception(
    "ema_update",
    says="The weights are swapped: decay belongs to target, which moves slowly, and 1 − decay to online.",
)
def swapped_decay(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            average.mul_(1 - decay).add_(new, alpha=decay)


@misconception("ema_update", says="online was added whole. Its share is 1 − decay; together the two make 1.")
def online_added_whole(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            average.mul_(decay).add_(new)


@misconception(
    "ema_update", says="online's parameters were changed. The average belongs in target; online is only read."
)
def wrote_into_online(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            new.mul_(1 - decay).add_(average, alpha=decay)
            average.copy_(new)


@misconception(
    "ema_update",
    says="Nothing changed in target: the averages are in new tensors, and `p = decay * p + …` only gives the name p "
    "to one of them. Write into the parameter: p.mul_(…).add_(…), or p.copy_(…).",
)
def averages_not_written(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            average = decay * average + (1 - decay) * new


@misconception(
    "ema_update",
    says="`p.data = …` puts other memory under the parameter; views of the old memory keep the old values. Write into "
    "it, p.copy_(…), under no_grad.",
)
def new_memory(target, online, decay):
    for average, new in zip(target.parameters(), online.parameters(), strict=True):
        average.data = decay * average.data + (1 - decay) * new.data


@misconception(
    "ema_update",
    says="New parameters took the places of the old ones. Whoever holds those, an optimizer or a second name, sees no "
    "average: write into them in place.",
)
def replaced_the_parameters(target, online, decay):
    replacements = {}
    for average, new in zip(target.parameters(), online.parameters(), strict=True):
        values = (decay * average + (1 - decay) * new).detach()
        replacements[average] = torch.nn.Parameter(values, requires_grad=average.requires_grad)
    for part in target.modules():
        for name, parameter in part._parameters.items():
            part._parameters[name] = replacements[parameter]


@misconception(
    "ema_update",
    says="target was returned. The update is in place, the caller has target already: return nothing.",
)
def returned_the_target(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            average.mul_(decay).add_(new, alpha=1 - decay)
    return target


@misconception(
    "ema_update",
    says="The update was recorded by autograd: it fails for a leaf that requires a gradient, and gives one that does "
    "not a graph that grows with every update. Wrap it in torch.no_grad().",
)
def recorded_by_autograd(target, online, decay):
    for average, new in zip(target.parameters(), online.parameters(), strict=True):
        average.mul_(decay).add_(new, alpha=1 - decay)


@misconception(
    "ema_update",
    says="requires_grad of target's parameters was switched off to write into them. no_grad allows that and changes "
    "nothing.",
)
def froze_the_average(target, online, decay):
    for average, new in zip(target.parameters(), online.parameters(), strict=True):
        average.requires_grad_(False)
        average.mul_(decay).add_(new.detach(), alpha=1 - decay)


@misconception(
    "ema_update",
    says="Gradients were switched off and never on again, for the whole program. `with torch.no_grad():` ends by "
    "itself.",
)
def gradients_left_off(target, online, decay):
    torch.set_grad_enabled(False)
    for average, new in zip(target.parameters(), online.parameters(), strict=True):
        average.mul_(decay).add_(new, alpha=1 - decay)


@misconception(
    "ema_update",
    says="Only parameters that require a gradient were averaged. The average is of all of them, frozen or not.",
)
def trainable_ones_only(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            if average.requires_grad:
                average.mul_(decay).add_(new, alpha=1 - decay)


@misconception(
    "ema_update",
    says="state_dict() holds the buffers as well, and a shared parameter under each of its names, so that it is "
    "averaged twice. parameters() gives each parameter once and nothing else.",
)
def averaged_the_state_dict(target, online, decay):
    new = online.state_dict()
    for name, average in target.state_dict().items():
        average.copy_(decay * average + (1 - decay) * new[name])


@misconception("ema_update", says="The buffers were averaged as well. Only parameters are; buffers are left alone.")
def averaged_the_buffers(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            average.mul_(decay).add_(new, alpha=1 - decay)
        for average, new in zip(target.buffers(), online.buffers(), strict=True):
            average.copy_(decay * average + (1 - decay) * new)


@misconception(
    "ema_update", says="online's buffers were copied into target. Only parameters change; buffers are left alone."
)
def copied_the_buffers(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            average.mul_(decay).add_(new, alpha=1 - decay)
        for average, new in zip(target.buffers(), online.buffers(), strict=True):
            average.copy_(new)


@misconception(
    "ema_update",
    says="A parameter with two names was averaged once for each of them. parameters() gives it once.",
)
def once_for_every_name(target, online, decay):
    new = dict(online.named_parameters(remove_duplicate=False))
    with torch.no_grad():
        for name, average in target.named_parameters(remove_duplicate=False):
            average.mul_(decay).add_(new[name], alpha=1 - decay)


@misconception(
    "ema_update",
    says="Only the parameters of the module itself were averaged. parameters() walks all submodules; recurse=False "
    "and _parameters do not.",
)
def without_submodules(target, online, decay):
    with torch.no_grad():
        pairs = zip(target.parameters(recurse=False), online.parameters(recurse=False), strict=True)
        for average, new in pairs:
            average.mul_(decay).add_(new, alpha=1 - decay)


@misconception("ema_update", says="target was filled with online's values. It has to keep the share decay of its own.")
def copied_online(target, online, decay):
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            average.copy_(new)


# predict_flow


def _truth():
    return {
        "dead_unit": {"x": True, "w": True, "b": True, "spare": False},
        "side_branch": {"a": True, "b": True, "c": False, "d": True},
        "no_grad_block": {"a": False, "b": True, "c": True},
        "late_request": {"early": True, "late": False},
        "choice": {"score": False, "chosen": True, "other": True},
        "half_a_step": {"w": True, "b": False, "x": True, "stepped": False},
    }


def _believing(programs, rule=None, **beliefs):
    """The truth, but for the beliefs about some tensors of the six programs; by `rule` of programs given as steps."""
    if programs is not None:
        return {program: (rule or _flows)(steps) for program, steps in programs.items()}
    answers = _truth()
    for program, tensors in beliefs.items():
        answers[program] |= tensors
    return answers


def _flows(
    steps,
    *,
    detach=False,
    no_grad=False,
    later=False,
    results=False,
    loss=False,
    everyone=False,
    detached_leaves=False,
):
    """Whether a gradient reaches each name in a program's steps; what is True is believed though it is wrong.

    `detach`, `no_grad`: the gradient goes through; `later`: a request counts for earlier uses; `results` keep their
    gradients, and with `loss` the loss does, too; `everyone` who asks gets one; `detached_leaves`: detach() takes the
    original out of the graph.
    """
    requested = {name for name, how, *_ in steps if how == "request"}
    reached, asking, cut = {}, set(), set()
    for name, how, *inputs in steps:
        asks = how == "leaf" or (later and how == "constant" and name in requested)
        if asks or (how == "request" and not reached[name]):
            reached[name] = {name}
            asking.add(name)
        elif how == "product" or (how == "detach" and detach) or (how == "product under no_grad" and no_grad):
            reached[name] = set().union(*(reached[one] for one in inputs)) - cut
            reached[name] |= {name} if results and reached[name] else set()
        elif how != "request":
            reached[name] = set()
        if how == "detach" and detached_leaves:
            cut |= reached[inputs[0]] | {inputs[0]}
    there = asking if everyone else reached[steps[-1][0]] - cut - ({steps[-1][0]} if results and not loss else set())
    return {name: name in there for name in reached}


@misconception(
    "predict_flow",
    says="A gradient of zero was taken for no gradient. Where a graph leads to a leaf, `.grad` becomes a tensor, even "
    "if every number on the way was 0.",
)
def zero_for_none(programs=None):
    return _believing(programs, dead_unit={"x": False, "w": False, "b": False}, choice={"other": False})


@misconception(
    "predict_flow",
    says="relu at a negative input passes 0 on, and 0 is a number: x and w get tensors of zeros. None is for leaves "
    "that no graph leads to.",
)
def dead_units_give_none(programs=None):
    return _believing(programs, dead_unit={"x": False, "w": False})


@misconception(
    "predict_flow",
    says="A factor 0 makes the gradient 0, not None: b is in the graph, and its `.grad` becomes a tensor.",
)
def times_zero_gives_none(programs=None):
    return _believing(programs, dead_unit={"b": False})


@misconception(
    "predict_flow",
    says="The alternative that torch.where did not take is still in its graph: it gets a gradient of 0, which is a "
    "tensor.",
)
def not_chosen_gives_none(programs=None):
    return _believing(programs, choice={"other": False})


@misconception(
    "predict_flow",
    says="A leaf that the loss does not use keeps `.grad` None. Backward visits what the loss was made of, and no "
    "more.",
)
def unused_leaves_get_zero(programs=None):
    return _believing(programs, dead_unit={"spare": True})


@misconception(
    "predict_flow",
    says="detach() makes a second, constant tensor; the original stays in the graph. What also reaches the loss on "
    "another branch gets its gradient there.",
)
def detach_changes_the_tensor(programs=None):
    return _believing(programs, side_branch={"a": False, "b": False, "d": False})


@misconception(
    "predict_flow",
    says="d − d.detach() is 0 for every d, and yet its derivative is 1: autograd differentiates the program, and the "
    "second d is a constant to it.",
)
def cancelled_values_give_none(programs=None):
    return _believing(programs, side_branch={"d": False})


@misconception(
    "predict_flow", says="Nothing comes back through detach(): c is used only behind it, and its `.grad` stays None."
)
def through_the_detach(programs=None):
    return _believing(programs, side_branch={"c": True})


@misconception(
    "predict_flow",
    says="Under no_grad nothing is recorded: scale is a constant for ever, also when it is used outside of the block, "
    "and a gets nothing.",
)
def no_grad_ends_with_the_block(programs=None):
    return _believing(programs, no_grad_block={"a": True})


@misconception(
    "predict_flow",
    says="no_grad affects results of operations. A tensor made with requires_grad=True is a leaf that asks for its "
    "gradient, wherever it was made.",
)
def no_grad_holds_for_leaves(programs=None):
    return _believing(programs, no_grad_block={"c": False})


@misconception(
    "predict_flow",
    says="Both are the wrong way round. Under no_grad the product scale becomes a constant, so a gets nothing; the "
    "leaf c asks for its own gradient and gets it.",
)
def no_grad_the_wrong_way_round(programs=None):
    return _believing(programs, no_grad_block={"a": True, "c": False})


@misconception(
    "predict_flow",
    says="The graph is recorded while the operation runs. When h was computed late asked for nothing; asking later "
    "does not change h.",
)
def asking_works_backwards(programs=None):
    return _believing(programs, late_request={"late": True})


@misconception(
    "predict_flow",
    says="A comparison has no derivative: score > 0 is a bool, and no graph goes through it.",
)
def conditions_get_gradients(programs=None):
    return _believing(programs, choice={"score": True})


@misconception(
    "predict_flow",
    says="torch.autograd.grad returns the gradient and writes no `.grad`; without create_graph=True slope is a "
    "constant, too. So nothing arrives at b.",
)
def grad_writes_grad(programs=None):
    return _believing(programs, half_a_step={"b": True})


@misconception(
    "predict_flow",
    says="stepped was made by an operation, so it is no leaf, and backward keeps `.grad` on leaves only. The gradient "
    "goes through it to w.",
)
def results_keep_gradients(programs=None):
    return _believing(programs, half_a_step={"stepped": True})


@misconception(
    "predict_flow",
    says="stepped is made from w by an operation that was recorded, so w gets its gradient through it; stepped itself "
    "is no leaf and keeps none.",
)
def a_step_starts_afresh(programs=None):
    return _believing(programs, half_a_step={"w": False, "stepped": True})


@misconception(
    "predict_flow", says="Everything that requires a gradient is said to get one. The loss has to lead to it, too."
)
def whoever_asks_gets(programs=None):
    if programs is not None:
        return _believing(programs, partial(_flows, everyone=True))
    return {program: dict.fromkeys(tensors, True) for program, tensors in _truth().items()}


@misconception(
    "predict_flow",
    says="In your rule detach() takes the original out of the graph, too. It makes a second, constant tensor, and the "
    "original stays where it is.",
)
def rule_detaches_the_original(programs=None):
    return _believing(programs, partial(_flows, detached_leaves=True))


@misconception(
    "predict_flow",
    says="In your rule a gradient goes back through detach(). What detach makes is a constant: no leaf is reached "
    "through it.",
)
def rule_goes_through_the_detach(programs=None):
    return _believing(programs, partial(_flows, detach=True))


@misconception(
    "predict_flow",
    says="In your rule a gradient goes back through a product under no_grad. Nothing was recorded there: that product "
    "is a constant.",
)
def rule_goes_through_no_grad(programs=None):
    return _believing(programs, partial(_flows, no_grad=True))


@misconception(
    "predict_flow",
    says="In your rule a request counts for products that were made before it. They were recorded while the name asked "
    "for nothing: only products after the request lead to it.",
)
def rule_lets_requests_work_backwards(programs=None):
    return _believing(programs, partial(_flows, later=True))


@misconception(
    "predict_flow",
    says="In your rule products get a `.grad`, too. The gradient goes through them, and backward keeps it on leaves "
    "only.",
)
def rule_keeps_gradients_of_results(programs=None):
    return _believing(programs, partial(_flows, results=True))


@misconception(
    "predict_flow",
    says="In your rule all that the gradient goes through gets a `.grad`, products and the loss too. Backward keeps it "
    "on leaves only.",
)
def rule_keeps_gradients_of_all(programs=None):
    return _believing(programs, partial(_flows, results=True, loss=True))


@misconception(
    "predict_flow",
    says="All answers are the wrong way round: True where `.grad` becomes a tensor, False where it stays None.",
)
def all_the_wrong_way_round(programs=None):
    right = _believing(programs)
    return {program: {name: not flows for name, flows in tensors.items()} for program, tensors in right.items()}


# running_mean_loss


@misconception(
    "running_mean_loss",
    says="All losses were kept as tensors, in a list or through a running sum, and with them all of their graphs. Turn "
    "each into a number as it comes: loss.item().",
)
def kept_as_tensors(losses):
    losses = list(losses)
    if not losses:
        raise ValueError("no losses")
    return sum(loss.item() for loss in losses) / len(losses)


@misconception(
    "running_mean_loss",
    says="Detached tensors were added, in the precision of the losses: in float32 2²⁴ + 1 is 2²⁴. Add Python floats: "
    "loss.item().",
)
def summed_in_their_precision(losses):
    total, count = 0.0, 0
    for loss in losses:
        total = total + loss.detach()
        count += 1
    if not count:
        raise ValueError("no losses")
    return (total / count).item()


@misconception(
    "running_mean_loss",
    says="All losses were kept as tensors, through a running sum that is returned as one, and with them all of their "
    "graphs. Turn each into a number as it comes: loss.item().",
)
def kept_and_returned_as_tensors(losses):
    total, count = 0.0, 0
    for loss in losses:
        total = total + loss
        count += 1
    if not count:
        raise ValueError("no losses")
    return total / count


@misconception("running_mean_loss", says="This is a tensor. A Python float is asked: .item() of it.")
def a_tensor_for_a_float(losses):
    total, count = 0.0, 0
    for loss in losses:
        total += loss.detach().double()
        count += 1
    if not count:
        raise ValueError("no losses")
    return total / count


@misconception(
    "running_mean_loss",
    says="detach_() works in place: it takes the graph away from the caller's own loss, who still wants to call "
    "backward. loss.item(), or loss.detach() without the underscore, leaves it alone.",
)
def detached_in_place(losses):
    total, count = 0.0, 0
    for loss in losses:
        total += loss.detach_().item()
        count += 1
    if not count:
        raise ValueError("no losses")
    return total / count


@misconception(
    "running_mean_loss",
    says="no_grad around the loop holds for the generator, too, which runs inside of it: its losses have no graph, "
    "and its training step fails. loss.item() needs no no_grad.",
)
def no_grad_around_the_loop(losses):
    total, count = 0.0, 0
    with torch.no_grad():
        for loss in losses:
            total += loss.item()
            count += 1
    if not count:
        raise ValueError("no losses")
    return total / count


@misconception(
    "running_mean_loss",
    says="The sum was written into the first loss: detach() shares its memory, and += works in place. Start from the "
    "number 0.0.",
)
def added_into_the_first_loss(losses):
    total, count = None, 0
    for loss in losses:
        if total is None:
            total = loss.detach()
        else:
            total += loss.item()
        count += 1
    if total is None:
        raise ValueError("no losses")
    return total.item() / count


@misconception("running_mean_loss", says="A generator has no length: count as you read.")
def asked_for_the_length(losses):
    if len(losses) == 0:
        raise ValueError("no losses")
    return sum(loss.item() for loss in losses) / len(losses)


@misconception(
    "running_mean_loss",
    says="A generator has no length: count as you read. And without losses raise a ValueError.",
)
def divided_by_the_length(losses):
    return sum(loss.item() for loss in losses) / len(losses)


@misconception(
    "running_mean_loss",
    says="losses is read twice, and a generator is empty the second time: count as you read. And without losses raise "
    "a ValueError.",
)
def read_twice_and_divided(losses):
    return sum(loss.item() for loss in losses) / sum(1 for _ in losses)


@misconception(
    "running_mean_loss",
    says="losses is read twice, and a generator is empty the second time: count as you read. And without losses raise "
    "a ValueError.",
)
def counted_then_added(losses):
    count = sum(1 for _ in losses)
    return sum(loss.item() for loss in losses) / count


@misconception(
    "running_mean_loss",
    says="losses is read twice, and a generator is empty the second time: count as you read.",
)
def counted_and_then_added(losses):
    count = sum(1 for _ in losses)
    if not count:
        raise ValueError("no losses")
    return sum(loss.item() for loss in losses) / count


@misconception(
    "running_mean_loss",
    says="losses is read twice, and a generator is empty the second time: count as you read.",
)
def read_twice(losses):
    total = sum(loss.item() for loss in losses)
    count = sum(1 for _ in losses)
    if not count:
        raise ValueError("no losses")
    return total / count


@misconception(
    "running_mean_loss", says="Without losses this divides by zero. Say what is wrong instead: raise a ValueError."
)
def divided_by_zero(losses):
    total, count = 0.0, 0
    for loss in losses:
        total += loss.item()
        count += 1
    return total / count


@misconception(
    "running_mean_loss",
    says="Without losses this is 0.0, which looks like a perfect epoch. There is no mean of nothing: raise a "
    "ValueError.",
)
def nothing_is_zero(losses):
    total, count = 0.0, 0
    for loss in losses:
        total += loss.item()
        count += 1
    return total / max(count, 1)


@misconception(
    "running_mean_loss",
    says="Without losses this is nan, which is noticed far too late. There is no mean of nothing: raise a ValueError.",
)
def nothing_is_nan(losses):
    total, count = 0.0, 0
    for loss in losses:
        total += loss.item()
        count += 1
    return total / count if count else float("nan")


@misconception("running_mean_loss", says="This is the sum of the losses. Divide it by their number.")
def sum_of_the_losses(losses):
    total, count = 0.0, 0
    for loss in losses:
        total += loss.item()
        count += 1
    if not count:
        raise ValueError("no losses")
    return total


@misconception(
    "running_mean_loss",
    says="Halving at every step gives the last loss as much weight as all before it. The mean of k moves by 1/k: or "
    "add up, and divide once.",
)
def halved_at_every_step(losses):
    mean = None
    for loss in losses:
        mean = loss.item() if mean is None else (mean + loss.item()) / 2
    if mean is None:
        raise ValueError("no losses")
    return mean


@misconception(
    "running_mean_loss",
    says="This is an exponential moving average. The plain mean is asked: every loss counts the same.",
)
def exponential_average(losses):
    mean = None
    for loss in losses:
        mean = loss.item() if mean is None else 0.9 * mean + 0.1 * loss.item()
    if mean is None:
        raise ValueError("no losses")
    return mean


@misconception("running_mean_loss", says="This is the last loss. The mean of all of them is asked.")
def last_loss(losses):
    last = None
    for loss in losses:
        last = loss.item()
    if last is None:
        raise ValueError("no losses")
    return last


@misconception(
    "running_mean_loss",
    says="Each loss was added as loss[0], which a 0-d tensor does not have. item() reads the one element of any shape.",
)
def first_entry_of_each(losses):
    total, count = 0.0, 0
    for loss in losses:
        total += loss[0].item()
        count += 1
    if not count:
        raise ValueError("no losses")
    return total / count
