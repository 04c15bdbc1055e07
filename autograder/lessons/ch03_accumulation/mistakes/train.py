"""Wrong answers to train, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import misconception, mistake

MSE = "loss = torch.nn.functional.mse_loss(model(X), y)"
STEP_OF_A_GROUP = "if waiting == accumulate:\n    step(model, lr / waiting)"
STEP_OF_THE_REST = "if waiting:\n    step(model, lr / waiting)"
STEP = "for p in model.parameters():\n    if p.grad is not None:\n        p -= lr * p.grad"

RECORDED_THE_STEP = (
    "Is it the step? Autograd records it, and refuses to change a leaf that requires a gradient in place: wrap "
    "the step in torch.no_grad()."
)


def _loss(model, X, y):
    import torch

    return torch.nn.functional.mse_loss(model(X), y)


def _step(model, lr):
    """p -= lr * grad, without clearing."""
    import torch

    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad


def _groups(batches, accumulate):
    """Lists of at most `accumulate` batches."""
    group = []
    for batch in batches:
        group.append(batch)
        if len(group) == accumulate:
            yield group
            group = []
    if group:
        yield group


def _backward_of(model, group, scale=1.0):
    """Add the gradients of the group's losses, each times `scale`, to .grad; return the losses."""
    losses = []
    for X, y in group:
        loss = _loss(model, X, y)
        (loss * scale).backward()
        losses.append(loss.item())
    return losses


@misconception(
    "train",
    says="The gradients were never cleared: each step takes those of all earlier groups once more. model.zero_grad() "
    "after each step.",
)
def never_clears(model, batches, lr, accumulate=1):
    losses = []
    model.zero_grad()
    for group in _groups(batches, accumulate):
        losses += _backward_of(model, group, 1 / len(group))
        _step(model, lr)
    return losses


@misconception(
    "train",
    says="What stood in .grad before the training is in the first step: clear the gradients before the first batch, "
    "too.",
)
def clears_only_after_steps(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        losses += _backward_of(model, group, 1 / len(group))
        _step(model, lr)
        model.zero_grad()
    return losses


clears_every_batch = mistake(
    "train",
    {"loss.backward()": "model.zero_grad()\nloss.backward()"},
    says="The gradients were cleared for every batch, so that only the last one of a group counts. Clear once a group.",
)

steps_every_batch = mistake(
    "train",
    {"if waiting == accumulate:": "if waiting:"},
    says="There was a step after every batch. With accumulate, the parameters stay as they are until the group is "
    "complete.",
)

small_steps_every_batch = mistake(
    "train",
    {STEP_OF_A_GROUP: "if waiting:\n    step(model, lr / accumulate)"},
    says="There was a step after every batch, with lr / accumulate. The parameters stay as they are until the group "
    "is complete: all of its gradients belong to the same parameters.",
)

sum_over_the_group = mistake(
    "train",
    {
        STEP_OF_A_GROUP: "if waiting == accumulate:\n    step(model, lr)",
        STEP_OF_THE_REST: "if waiting:\n    step(model, lr)",
    },
    says="The step took the sum of the group's gradients. It should take the mean: divide by the number of batches "
    "in the group.",
)

short_group_over_accumulate = mistake(
    "train",
    {STEP_OF_THE_REST: "if waiting:\n    step(model, lr / accumulate)"},
    says="The short last group was divided by accumulate, too: its step is too small. Divide by the batches that it "
    "has.",
)

drops_the_short_group = mistake(
    "train",
    {STEP_OF_THE_REST: ""},
    says="The batches of a short last group never moved the parameters: when the loop ends, see whether gradients are "
    "still waiting.",
)

neither_end_of_the_loop = mistake(
    "train",
    {
        "model.zero_grad()": "",
        "loss.backward()": "(loss / accumulate).backward()",
        STEP_OF_A_GROUP: "if waiting == accumulate:\n    step(model, lr)",
        STEP_OF_THE_REST: "",
    },
    says="Clearing and stepping only after each whole group leaves out both ends. What stood in .grad before the "
    "training is in the first step: clear it before the first batch. The batches of a short last group never moved "
    "the parameters: step once more after the loop.",
)

groups_off_by_one = mistake(
    "train",
    {
        "for X, y in batches:": "for i, (X, y) in enumerate(batches):",
        "if waiting == accumulate:": "if i % accumulate == 0:",
    },
    says="The first step came after the first batch: batch 0 is a multiple of accumulate, too. A group is complete "
    "when (i + 1) % accumulate is 0.",
)


@misconception(
    "train",
    says="The losses that were returned had been divided for the backward pass. Return each batch's own loss, and "
    "keep the scaled one for backward().",
)
def scaled_losses(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses += [loss / len(group) for loss in _backward_of(model, group, 1 / len(group))]
        _step(model, lr)
    return losses


@misconception("train", says="You return one loss for each step. Return one for each batch.")
def one_loss_per_step(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        losses.append(sum(_backward_of(model, group, 1 / len(group))) / len(group))
        _step(model, lr)
    return losses


@misconception(
    "train", says="The losses were computed again after the step. Return those that came with the gradients, before it."
)
def losses_after_the_step(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        model.zero_grad()
        _backward_of(model, group, 1 / len(group))
        _step(model, lr)
        losses += [_loss(model, X, y).item() for X, y in group]
    return losses


losses_as_tensors = mistake(
    "train",
    {"losses.append(loss.item())": "losses.append(loss.detach())"},
    says="The losses are tensors. Return a list of numbers, loss.item(): each tensor keeps its graph alive.",
)


@misconception(
    "train", says="In the mean over a group, batches were weighted by their rows. Here every batch counts alike."
)
def weighted_by_rows(model, batches, lr, accumulate=1):
    losses = []
    for group in _groups(batches, accumulate):
        rows = sum(len(X) for X, _ in group)
        model.zero_grad()
        for X, y in group:
            losses += _backward_of(model, [(X, y)], len(X) / rows)
        _step(model, lr)
    return losses


parameters_never_change = mistake(
    "train",
    {"p -= lr * p.grad": "p = p - lr * p.grad"},
    says="The parameters never change. There is no step, or its loop misses them, or the gradients are cleared between "
    "backward() and the step, or p = p - lr * p.grad only gives the name p to a new tensor (p -= ... under no_grad "
    "writes into the parameter).",
    where="step",
)

recorded_the_step = mistake(
    "train",
    {f"with torch.no_grad():\n{STEP}": STEP},
    says=RECORDED_THE_STEP,
    where="step",
)

recorded_the_step_of_all = mistake(
    "train",
    {f"with torch.no_grad():\n{STEP}": "for p in model.parameters():\n    p -= lr * p.grad"},
    says=f"{RECORDED_THE_STEP} And skip parameters whose .grad is None.",
    where="step",
)

uphill = mistake(
    "train",
    {"p -= lr * p.grad": "p += lr * p.grad"},
    says="The step goes uphill: p -= lr * grad, with a minus.",
    where="step",
)

summed_loss = mistake(
    "train",
    {MSE: 'loss = torch.nn.functional.mse_loss(model(X), y, reduction="sum")'},
    says="The loss is a sum over the entries. mse_loss(model(X), y) is their mean.",
)

needs_a_length = mistake(
    "train",
    {"for X, y in batches:": "for i in range(len(batches)):\n    X, y = batches[i]"},
    says="batches was asked for its length, or for a batch by number. It may be a generator: walk it once, with for.",
)

steps_without_a_gradient = mistake(
    "train",
    {"if p.grad is not None:\n    p -= lr * p.grad": "p -= lr * p.grad"},
    says="A parameter that gets no gradient has a .grad of None: one that is frozen, or that the model does not use. "
    "Skip it in the step.",
    where="step",
)
