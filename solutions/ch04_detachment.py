# %% [markdown]
# # Detachment, breaking the graph
#
# `detach`, `no_grad` and `requires_grad` say where the gradient stops. Six functions that stop it on purpose, and six
# short programs where it stops by surprise. PyTorch.
# Read along in [the chapter](../book/ch04_detachment.md).
#
# Two words: a *leaf* is a tensor that no recorded operation made. Its `.grad` after `backward` is a tensor or `None`,
# and those are different answers: zeros say "the recorded slopes add up to 0", `None` says "nothing arrived".

# %%
import torch

# %% [markdown]
# ## `straight_through_round`
#
# Return a tensor with exactly the values of `torch.round(x)`: halves to even, as `torch.round` does. Its gradient with
# respect to `x` is the upstream gradient `g` itself, as if nothing had been rounded. `x` is a tensor of finite floats,
# of any shape and precision, a leaf or in the middle of a graph; it is left as it is. If `x` requires no gradient, the
# result requires none.
# [Chapter section](../book/ch04_detachment.md#ch04-straight-through-round)


# %% exercise="straight_through_round"
def straight_through_round(x):
    """torch.round(x) in the forward pass, the identity in the backward pass; shape and dtype of x."""
    ### BEGIN SOLUTION
    return x + (torch.round(x) - x).detach()
    ### END SOLUTION


# %% [markdown]
# ## `td_loss`
#
# The loss of a Q-network: the mean over `n` transitions of `(Q(s, a) − y)²`, where
# `y = r + gamma · (1 − done) · max over a′ of Q_target(s′, a′)`.
#
# `q_net` and `target_net` map states `(n, d)` to one value per action, `(n, actions)`. `batch` is a dict of tensors:
# `states` and `next_states` `(n, d)`; `actions` `(n,)`, int64; `rewards` `(n,)`; `dones` `(n,)`, either bools or the
# numbers 1.0 and 0.0. Return the loss, a 0-d tensor, and leave it to the caller to call `backward`.
#
# The gradient goes through `Q(s, a)` alone. If the networks are two modules, the `.grad` of every parameter of
# `target_net` is `None` after `backward`, not zeros. Both may be **one and the same module**, and then, too, nothing
# flows through `y`. The batch, the parameters and the training mode are left as they are, `requires_grad` included. All
# floats have one dtype, and the loss has it too.
#
# **Points count only with the gradients for a constant `y`, with one module as both networks, too.**
# [Chapter section](../book/ch04_detachment.md#ch04-td-loss)


# %% exercise="td_loss"
def td_loss(q_net, target_net, batch, gamma):
    """Mean squared error of Q(s, a) against r + gamma (1 − done) max Q_target(s′), a 0-d tensor."""
    ### BEGIN SOLUTION
    q = q_net(batch["states"]).gather(1, batch["actions"].unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        best = target_net(batch["next_states"]).max(dim=1).values
        goes_on = 1 - batch["dones"].to(best.dtype)
        y = batch["rewards"] + gamma * goes_on * best
    return torch.nn.functional.mse_loss(q, y)
    ### END SOLUTION


# %% [markdown]
# ## `freeze`
#
# Set `requires_grad` to `False`, in place, on the parameters whose names begin with `prefix`. Return how many parameter
# tensors these are, an `int`. Nothing else about the module changes.
#
# A name is what `module.named_parameters()` calls it, such as `layer1.weight`. `prefix` ends where a part of the name
# ends: `layer1` matches `layer1.weight`, but not `layer10.weight`. A whole name, `layer1.weight`, is a prefix too. A
# dot at its end changes nothing, `""` matches everything, and where nothing matches the count is 0. Parameters that
# were frozen before are counted. A parameter that is shared, and so has several names, is frozen if one of them
# matches, and counts once.
# [Chapter section](../book/ch04_detachment.md#ch04-freeze)


# %% exercise="freeze"
def freeze(module, prefix):
    """Freeze the parameters of a module below the dotted name prefix; how many tensors, an int."""
    ### BEGIN SOLUTION
    stem = prefix.removesuffix(".")
    names = module.named_parameters(remove_duplicate=False)
    matching = {parameter for name, parameter in names if not stem or f"{name}.".startswith(f"{stem}.")}
    for parameter in matching:
        parameter.requires_grad_(False)
    return len(matching)
    ### END SOLUTION


# %% [markdown]
# ## `freeze_midway`
#
# Freeze parameters in the middle of a training run. `parameters` is an iterable of parameters, perhaps a generator; one
# that two layers share may come twice. `optimizer` has made some steps with them and with others. It is SGD, RMSprop,
# Adam or AdamW of `torch.optim`, with any settings.
#
# From the call on, these parameters require no gradient, and no `optimizer.step()` moves them. The training loop may
# clear gradients with `zero_grad()` or with `zero_grad(set_to_none=False)`, before or after a step, and it may call
# `freeze_midway` between `backward` and `step`. All other parameters keep their gradients and their momentum.
#
# Return a function without arguments that ends the freeze. Each parameter then requires a gradient if it did before.
# Its training starts anew, as in an optimizer just made: no gradient and no momentum from before the freeze moves it.
# The settings are those that its group in the optimizer has by then, such as a new learning rate. If the loop ends the
# freeze between `backward` and `step`, that step does not move these parameters yet.
#
# The chapter prints no rule for this.
# [Chapter section](../book/ch04_detachment.md#ch04-freeze-midway)


# %% exercise="freeze_midway"
def freeze_midway(parameters, optimizer):
    """Freeze parameters that the optimizer has moved before; the function that unfreezes them."""
    ### BEGIN SOLUTION
    required = {parameter: parameter.requires_grad for parameter in parameters}
    for parameter in required:
        parameter.requires_grad_(False)
        parameter.grad = None

    def unfreeze():
        for parameter, flag in required.items():
            parameter.requires_grad_(flag)
            optimizer.state.pop(parameter, None)

    return unfreeze
    ### END SOLUTION


# %% [markdown]
# ## `ema_update`
#
# One step of an exponential moving average. `target` and `online` are two modules of one architecture that share no
# memory: their `parameters()` come in the same order with the same shapes. Each parameter of `target` becomes
# `decay · target + (1 − decay) · online`, with `decay` from 0 to 1. Nothing is returned.
#
# In place: the same parameter objects in the same memory, so that whoever holds a view of them sees the new values. No
# graph: they are leaves with the `requires_grad` that they had, whatever that is in either module. `online` and the
# buffers of both are left as they are; a parameter that `target` uses in two places is averaged once.
#
# **Points count only in place and without a graph.**
# [Chapter section](../book/ch04_detachment.md#ch04-ema-update)


# %% exercise="ema_update"
def ema_update(target, online, decay):
    """Move target's parameters to decay · target + (1 − decay) · online, in place and outside of any graph."""
    ### BEGIN SOLUTION
    with torch.no_grad():
        for average, new in zip(target.parameters(), online.parameters(), strict=True):
            average.mul_(decay).add_(new, alpha=1 - decay)
    ### END SOLUTION


# %% [markdown]
# ## `predict_flow`
#
# Six programs. For each tensor that a program returns: is its `.grad` a tensor by then (`True`, zeros included), or is
# it `None` (`False`)? Return a dict of dicts:
# ```python
# {
#     "dead_unit": {"x": ..., "w": ..., "b": ..., "spare": ...},
#     "side_branch": {"a": ..., "b": ..., "c": ..., "d": ...},
#     "no_grad_block": {"a": ..., "b": ..., "c": ...},
#     "late_request": {"early": ..., "late": ...},
#     "choice": {"score": ..., "chosen": ..., "other": ...},
#     "half_a_step": {"w": ..., "b": ..., "x": ..., "stepped": ...},
# }
# ```
# Write your answers down first: each program holds a surprise. Then run them; reading `.grad` where there can be none
# makes PyTorch warn.
# ```python
# for program in PROGRAMS:
#     print(program.__name__, {name: tensor.grad for name, tensor in program().items()})
# ```
# Then say it as a rule. `predict_flow(programs)` answers alike for programs that are given as data: a dict from a name
# to a list of steps, each a tuple `(name, how, *inputs)` of texts. No name is made twice. The loss is what the last
# step made, `backward` is called on it, and a gradient reaches at least one leaf. The answer has every name of the
# program.
#
# | step | program |
# | --- | --- |
# | `("a", "leaf")` | `a = torch.tensor(2.0, requires_grad=True)` |
# | `("k", "constant")` | `k = torch.tensor(3.0)` |
# | `("h", "product", "a", "k")` | `h = a * k` |
# | `("s", "product under no_grad", "a", "h")` | the same in a block `with torch.no_grad():` |
# | `("d", "detach", "h")` | `d = h.detach()` |
# | `("k", "request")` | `k.requires_grad_()` |
#
# One pass will do: note for each name the leaves that a gradient of it would reach.
# [Chapter section](../book/ch04_detachment.md#ch04-predict-flow)


# %%
def leaf(value):
    """A 0-d tensor that requires a gradient."""
    return torch.tensor(value, requires_grad=True)


def dead_unit():
    """A negative pre-activation, a factor 0, a leaf to spare."""
    x, w, b, spare = leaf(-1.0), leaf(2.0), leaf(5.0), leaf(1.0)
    loss = torch.relu(w * x) + 0 * b
    loss.backward()
    return {"x": x, "w": w, "b": b, "spare": spare}


def side_branch():
    """Two branches from h to the loss, and a difference of d and itself."""
    a, b, c, d = leaf(2.0), leaf(-3.0), leaf(10.0), leaf(4.0)
    h = a * b
    loss = h + (h * c).detach() + (d - d.detach())
    loss.backward()
    return {"a": a, "b": b, "c": c, "d": d}


def no_grad_block():
    """A product and a leaf that are made under no_grad."""
    a, b = leaf(2.0), leaf(3.0)
    with torch.no_grad():
        scale = 2 * a
        c = leaf(4.0)
    loss = scale * b * c
    loss.backward()
    return {"a": a, "b": b, "c": c}


def late_request():
    """A tensor that asks for its gradient after it was used."""
    early = leaf(2.0)
    late = torch.tensor(3.0)
    h = early * late
    late.requires_grad_()
    loss = h**2
    loss.backward()
    return {"early": early, "late": late}


def choice():
    """One of two numbers, by a condition on a third."""
    score, chosen, other = leaf(0.5), leaf(2.0), leaf(3.0)
    loss = torch.where(score > 0, chosen, other)
    loss.backward()
    return {"score": score, "chosen": chosen, "other": other}


def half_a_step():
    """A gradient without backward, a step with it, and a loss of where the step led."""
    w, b, x = leaf(2.0), leaf(3.0), leaf(4.0)
    (slope,) = torch.autograd.grad(b * w**2, w)
    stepped = w - 0.1 * slope
    loss = stepped * x
    loss.backward()
    return {"w": w, "b": b, "x": x, "stepped": stepped}


PROGRAMS = [dead_unit, side_branch, no_grad_block, late_request, choice, half_a_step]


# %% exercise="predict_flow"
def predict_flow(programs=None):
    """By program and tensor: does its .grad become a tensor (True), or stay None? For the six where none are given."""
    ### BEGIN SOLUTION
    if programs is not None:
        return {program: flows(steps) for program, steps in programs.items()}
    return {
        # relu'(w x) = 0 and 0 · b give zeros, which are tensors; spare has no part in the loss
        "dead_unit": {"x": True, "w": True, "b": True, "spare": False},
        # h is detached on one of its two ways to the loss; d − d.detach() is 0 with the derivative 1
        "side_branch": {"a": True, "b": True, "c": False, "d": True},
        # scale is a constant; a tensor that asks for gradients gets them, wherever it was made
        "no_grad_block": {"a": False, "b": True, "c": True},
        # the graph of h was recorded before late asked
        "late_request": {"early": True, "late": False},
        # a comparison has no derivative; what was not chosen gets a 0
        "choice": {"score": False, "chosen": True, "other": True},
        # autograd.grad writes no .grad, and slope has no graph; stepped is no leaf
        "half_a_step": {"w": True, "b": False, "x": True, "stepped": False},
    }
    ### END SOLUTION


# %% tags=["solution"]
def flows(steps):
    """For each name in a program's steps: does a gradient of what the last one made reach it?"""
    reached = {}  # by name: the leaves that a gradient of it would reach
    for name, how, *inputs in steps:
        if how == "leaf" or (how == "request" and not reached[name]):
            reached[name] = {name}
        elif how == "product":
            reached[name] = set().union(*(reached[one] for one in inputs))
        elif how != "request":  # a constant, and what autograd does not record
            reached[name] = set()
    return {name: name in reached[steps[-1][0]] for name in reached}


# %% [markdown]
# ## `running_mean_loss`
#
# The arithmetic mean of the `losses` of an epoch, a Python `float`. `losses` is any iterable, perhaps a generator that
# can be read only once; its tensors have one element each, of shape `()`, `(1,)` or `(1, 1)`. Add up Python floats: a
# sum in float32 or bfloat16 stops growing. No losses at all are a `ValueError`.
#
# Keep no graph alive: while you read, at most two losses may still have theirs, however many there are. A running sum
# of tensors keeps them. The losses belong to the caller, who may be in the middle of a training step: a generator that
# calls `backward` on a loss as soon as you ask for the next one. So change neither the losses nor what autograd records
# while the generator runs.
#
# **Points count only where the graphs are let go.**
# [Chapter section](../book/ch04_detachment.md#ch04-running-mean-loss)


# %% exercise="running_mean_loss"
def running_mean_loss(losses):
    """Mean of an iterable of one-element tensors, a float; ValueError if there are none."""
    ### BEGIN SOLUTION
    total, count = 0.0, 0
    for loss in losses:
        total += loss.item()
        count += 1
    if count == 0:
        raise ValueError("no losses to average")
    return total / count
    ### END SOLUTION
