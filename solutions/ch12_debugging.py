# %% [markdown]
# # Debugging gradients
#
# Five tools that say what is wrong with a gradient, then twelve PyTorch training programs, each with one bug. Read
# along in [the chapter](../book/ch12_debugging.md).

# %%
import math
import re
import statistics
import warnings

import torch
import torch.nn.functional as F

# %% [markdown]
# ## `gradient_report`
#
# One look at every gradient of a model after `backward()`. Return a list with one dict for each parameter of `model`,
# in the order of `model.named_parameters()` (which lists a shared parameter once), with the keys
#
# - `"name"`: as `named_parameters()` has it;
# - `"norm"`: the square root of the sum of the squares of the entries of `.grad`, a Python float, or `None` where
#   `.grad` is `None`. Take it in **float64**: a float32 gradient of 1e-27 is no zero, but its square is. Where an entry
#   is nan, so is the norm; where one is inf and none is nan, the norm is inf;
# - `"status"`: the first of these that is true.
#
# | status | when |
# | --- | --- |
# | `"none"` | `.grad` is `None` |
# | `"nonfinite"` | an entry is nan or inf |
# | `"zero"` | all entries are 0 (so too if there are no entries) |
# | `"exploding"` | the norm is more than 1,000 times the median of all finite norms of the model that are not 0 |
# | `"ok"` | else |
#
# The median of an even number of norms is the mean of the middle two. What counts is `.grad`, whether or not the
# parameter is frozen now. Parameters may have any floating dtype, bfloat16 among them; entries whose squares are too
# large or too small for float64 do not occur. Change nothing: neither a `.grad` nor a parameter.
# [Chapter section](../book/ch12_debugging.md#ch12-gradient-report)


# %% exercise="gradient_report"
def gradient_report(model):
    """One dict(name, norm, status) for each parameter of the model, in the order of named_parameters()."""
    ### BEGIN SOLUTION
    grads = {name: parameter.grad for name, parameter in model.named_parameters()}
    norms = {name: None if grad is None else grad.double().norm().item() for name, grad in grads.items()}
    finite = [norm for norm in norms.values() if norm is not None and 0 < norm < math.inf]
    limit = 1000 * statistics.median(finite) if finite else math.inf

    def status(norm):
        if norm is None:
            return "none"
        if not math.isfinite(norm):
            return "nonfinite"
        if norm == 0:
            return "zero"
        return "exploding" if norm > limit else "ok"

    return [{"name": name, "norm": norm, "status": status(norm)} for name, norm in norms.items()]
    ### END SOLUTION


# %% [markdown]
# ## `first_nonfinite`
#
# The loss is nan. Which layer was it? Run `model(x)` once and return the name, as `model.named_modules()` has it, of
# the first **leaf** module (one without modules of its own) whose output has an entry that is nan or inf; `None` if
# there is none. First in the order in which modules **run**, which need not be the order in which they were registered.
# A model that is a leaf itself has the name `""`. A module that is registered twice has the first of its names, and one
# that runs twice is looked at twice.
#
# An output may be a tensor of any dtype that has `isfinite` (float8 has not), or a tuple, list or dict of outputs (as
# an LSTM's is), and it may hold things that are no tensors. Look at it inside of the hook: the model may write into it
# afterwards.
#
# Use forward hooks and remove yours, also when the model raises: that exception is not yours to catch. Hooks of others
# stay. Run the model in the mode that it has, `train` or `eval`, and leave the mode, parameters, every `.grad` and `x`
# as they are. (Buffers may change as in any run. You may run it under `no_grad` or not: no model here differentiates
# in its own forward.)
# [Chapter section](../book/ch12_debugging.md#ch12-first-nonfinite)


# %% exercise="first_nonfinite"
def first_nonfinite(model, x):
    """The name of the first leaf module, in order of execution, whose output has a nan or an inf; or None."""
    ### BEGIN SOLUTION
    found = []

    def finite(output):
        if isinstance(output, torch.Tensor):
            return bool(output.isfinite().all())
        if isinstance(output, dict):
            output = output.values()
        elif not isinstance(output, tuple | list):
            return True
        return all(finite(part) for part in output)

    def watch(name):
        return lambda module, inputs, output: None if finite(output) else found.append(name)

    leaves = [(name, module) for name, module in model.named_modules() if not list(module.children())]
    hooks = [module.register_forward_hook(watch(name)) for name, module in leaves]
    try:
        with torch.no_grad():
            model(x)
    finally:
        for hook in hooks:
            hook.remove()
    return found[0] if found else None
    ### END SOLUTION


# %% [markdown]
# ## `anomaly_op`
#
# The loss is finite and a gradient is nan. Which operation returned the first nan? `fn()` runs a forward pass and
# returns its loss, a tensor with one entry. Call `fn` once, run the backward pass in PyTorch's anomaly mode, and return
# the name of the autograd node that the mode's message gives: `"SqrtBackward0"`. Return `None` if the mode finds
# nothing. The mode looks for nan in what each node returns. It does not look for inf, nor into the sums of what several
# nodes return.
#
# Any other exception, of `fn` or of the backward pass, is not yours to catch. After the call anomaly mode is what it
# was before, on or off. The backward pass may add to the `.grad` of what `fn` uses. (PyTorch's warnings may appear or
# not.)
# [Chapter section](../book/ch12_debugging.md#ch12-anomaly-op)


# %% exercise="anomaly_op"
def anomaly_op(fn):
    """The name of the first autograd node whose backward returned a nan, as PyTorch names it; None if none did."""
    ### BEGIN SOLUTION
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.detect_anomaly():
            loss = fn()
            try:
                loss.backward()
            except RuntimeError as error:
                told = re.search(r"Function '(.+)' returned nan values", str(error))
                if told is None:
                    raise
                return told[1]
    return None
    ### END SOLUTION


# %% [markdown]
# ## `repeated_batches`
#
# A data loader that serves the same batch again and again gives a loss that falls nicely and a model that has learned
# little. `batches` is a list; each batch is a tensor, or a tuple of tensors. Return every pair `(i, j)` with `i < j`
# whose batches are equal, as a list of tuples in ascending order.
#
# Two tensors are equal if their dtype, their shape and all entries are; here a nan is equal to a nan. Two tuples are
# equal if they are of the same length and their tensors are equal, one by one. A tensor is not equal to a tuple.
# Tensors may be of any dtype that `==` compares (PyTorch's `bits8` and `int4` are not), and of any shape, 0-d and empty
# ones included.
# [Chapter section](../book/ch12_debugging.md#ch12-repeated-batches)


# %% exercise="repeated_batches"
def repeated_batches(batches):
    """Every pair (i, j), i < j, of equal batches, in ascending order."""

    ### BEGIN SOLUTION
    def equal(a, b):
        if isinstance(a, tuple) and isinstance(b, tuple):
            return len(a) == len(b) and all(equal(*pair) for pair in zip(a, b, strict=True))
        if isinstance(a, tuple) or isinstance(b, tuple) or a.dtype != b.dtype or a.shape != b.shape:
            return False
        return bool(((a == b) | ((a != a) & (b != b))).all())  # a nan alone differs from itself

    n = len(batches)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if equal(batches[i], batches[j])]
    ### END SOLUTION


# %% [markdown]
# ## `slopes`
#
# Is `.grad` the gradient of the loss? Compare the two along one direction. Other code has filled the `.grad` of
# `model`, rightly or wrongly. `loss_of()` computes the loss that you mean from the parameters as they are at that
# moment, and returns a tensor with one entry. `direction` is a list of tensors, one for each parameter in the order of
# `model.parameters()` (which lists a shared parameter once), of that parameter's shape and dtype, float64 or float32.
# Return a tuple of two Python floats:
#
# - the slope that `.grad` claims: multiply each entry of `.grad` by that of `direction`, and add up the products of all
#   parameters. A `.grad` that is `None` counts as 0;
# - the slope of the loss: `(loss at θ + eps · v − loss at θ − eps · v) / (2 · eps)`, where θ is all parameters of the
#   model, and v all of `direction`. Every parameter moves, whether or not it is frozen or has a `.grad`.
#
# The second slope comes from the values of the loss alone: a backward pass could repeat the fault that you look for.
# After the call each parameter has the value that it had before, bit for bit, also when `loss_of` raises an exception.
# That exception is not yours to catch. Leave each `.grad`, each `requires_grad`, the buffers and the mode of the model
# as they are, and leave `direction` unchanged.
# [Chapter section](../book/ch12_debugging.md#ch12-slopes)


# %% exercise="slopes"
def slopes(model, loss_of, direction, eps=1e-6):
    """The slope along the direction that .grad claims, and the one that the loss has: two floats."""
    ### BEGIN SOLUTION
    moves = list(zip(model.parameters(), direction, strict=True))
    claimed = sum(((p.grad * v).sum().item() for p, v in moves if p.grad is not None), 0.0)
    start = [p.detach().clone() for p, _ in moves]
    losses = []
    try:
        for sign in (1, -1):
            with torch.no_grad():
                for (p, v), at in zip(moves, start, strict=True):
                    p.copy_(at + sign * eps * v)
            losses.append(loss_of().item())
    finally:
        with torch.no_grad():
            for (p, _), at in zip(moves, start, strict=True):
                p.copy_(at)
    return claimed, (losses[0] - losses[1]) / (2 * eps)
    ### END SOLUTION


# %% [markdown]
# ## Twelve programs
#
# Each of the following functions is a whole training program with **one** bug, and the text above the program says what
# you would see. Run the program first: make a small model and a few batches in a cell of your own, and look at losses,
# gradients and parameters. Then find the cause and repair it, in a line or two.
#
# Keep everything but the bug: the architecture, the data and their order, the learning rate, the number of steps, what
# is returned. The programs are graded by what they do: the losses that they return and the trained parameters are
# compared with those of the right program, on other models and other data. Any repair that gives the same losses and
# parameters counts. A repair that hides the symptom (a smaller learning rate, a batch that is skipped) gives others.
#
# Models are small `torch.nn.Module`s in float32 and in train mode, without gradients yet. `batches` is a list; where
# nothing else is said, of pairs `(X, y)`. Models take `X` of shape `(n, n_in)`; where the loss is a cross-entropy, `y`
# holds class numbers `(n,)`, where it is a mean squared error, it has the shape of the output.

# %% [markdown]
# ## `fix_01`
#
# Plain regression, one step of SGD for each batch. The program returns the loss of each batch before its step.
#
# **What you see:** The loss falls for some steps, rises again, and goes on in waves. A smaller learning rate makes the
# waves longer and does not end them.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-01)


# %% exercise="fix_01"
def fix_01(model, batches, lr):
    """Train the model by SGD; the loss of each batch, floats."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        ### BEGIN SOLUTION
        optimizer.zero_grad()
        ### HANDED OUT
        ### END SOLUTION
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% [markdown]
# ## `fix_02`
#
# A residual network for classification: `layers`, an `nn.ModuleList` of `Linear`s, each with a tanh and a skip
# connection around both, and a `head`. The program returns the losses of the batches.
#
# **What you see:** The first backward pass raises a RuntimeError. Be careful with the usual advice: a repair that only
# silences the error leaves wrong gradients.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-02)


# %% exercise="fix_02"
def fix_02(layers, head, batches, lr):
    """Train a residual network, h + tanh(layer(h)) for each layer, by SGD; the loss of each batch, floats."""
    optimizer = torch.optim.SGD([*layers.parameters(), *head.parameters()], lr=lr)
    losses = []
    for X, y in batches:
        h = X
        for layer in layers:
            branch = torch.tanh(layer(h))
            ### BEGIN SOLUTION
            branch = branch + h
            ### HANDED OUT
            # branch += h
            ### END SOLUTION
            h = branch
        loss = F.cross_entropy(head(h), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% [markdown]
# ## `fix_03`
#
# An encoder and a head are trained together, and the spread of the features is logged. The program returns two lists:
# the losses of the batches, and the spreads.
#
# **What you see:** The loss falls far too slowly. The logged spread of the features does not depend on how long
# you have trained.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-03)


# %% exercise="fix_03"
def fix_03(encoder, head, batches, lr):
    """Train encoder and head by SGD; the loss of each batch, and the spread of its features, two lists of floats."""
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=lr)
    losses, spreads = [], []
    for X, y in batches:
        ### BEGIN SOLUTION
        features = encoder(X)
        ### HANDED OUT
        # features = encoder(X).detach()
        ### END SOLUTION
        spreads.append(features.std().item())
        loss = F.cross_entropy(head(features), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, spreads


# %% [markdown]
# ## `fix_04`
#
# Classification; after each step the loss on a validation set, `validation = (X, y)`, is noted. The program returns two
# lists: the losses of the batches, and those of the validation set.
#
# **What you see:** The first backward pass raises a RuntimeError. A line that you will find suggested,
# `loss.requires_grad_()`, silences the error, and then the losses do not move.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-04)


# %% exercise="fix_04"
def fix_04(model, batches, validation, lr):
    """Train the model by SGD; the loss of each batch, and that of the validation set after each step, floats."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def loss_of(X, y):
        ### BEGIN SOLUTION
        return F.cross_entropy(model(X), y)
        ### HANDED OUT
        # with torch.no_grad():
        #     return F.cross_entropy(model(X), y)
        ### END SOLUTION

    losses, validation_losses = [], []
    for X, y in batches:
        loss = loss_of(X, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        validation_losses.append(loss_of(*validation).item())
    return losses, validation_losses


# %% [markdown]
# ## `fix_05`
#
# A network with `depth` hidden layers is built (with PyTorch's default initialisation, hidden layers first to last,
# then the head), trained and returned, with the losses of the batches.
#
# **What you see:** The loss stalls. And when you save the trained network with `torch.save(model.state_dict(), …)` and
# load the file into a fresh one, that one answers differently.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-05)


# %% exercise="fix_05"
def fix_05(n_in, n_out, width, depth, batches, lr):
    """Build a network of `depth` hidden ReLU layers and train it by SGD; the network and the loss of each batch."""

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            layers = [torch.nn.Linear(n_in if i == 0 else width, width) for i in range(depth)]
            ### BEGIN SOLUTION
            self.hidden = torch.nn.ModuleList(layers)
            ### HANDED OUT
            # self.hidden = layers
            ### END SOLUTION
            self.head = torch.nn.Linear(width, n_out)

        def forward(self, x):
            for layer in self.hidden:
                x = torch.relu(layer(x))
            return self.head(x)

    model = Network()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for X, y in batches:
        loss = F.cross_entropy(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


# %% [markdown]
# ## `fix_06`
#
# Regression with a validation set, `validation = (X, y)`, whose loss is noted after each step. The program returns two
# lists, of plain floats or of 0-d tensors without a graph: the losses of the batches, and those of the validation set.
#
# **What you see:** All numbers are right. Memory grows from step to step, until a long run has none left.
#
# **Points count only if no graph is alive two steps later.**
# [Chapter section](../book/ch12_debugging.md#ch12-fix-06)


# %% exercise="fix_06"
def fix_06(model, batches, validation, lr):
    """Train the model by SGD; the loss of each batch, and that of the validation set after each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    X_val, y_val = validation
    losses, validation_losses = [], []
    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        validation_loss = F.mse_loss(model(X_val), y_val)
        ### BEGIN SOLUTION
        validation_losses.append(validation_loss.item())
        ### HANDED OUT
        # validation_losses.append(validation_loss)
        ### END SOLUTION
    return losses, validation_losses


# %% [markdown]
# ## `fix_07`
#
# Classification by cross-entropy. The program returns the losses of the batches, and for new points `X_new` the
# probabilities of the classes, `(n, classes)`, each row with the sum 1.
#
# **What you see:** The model learns, but slowly, and the loss stays far from 0 even for points that the model
# classifies correctly: with 3 classes it stays above 0.55.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-07)


# %% exercise="fix_07"
def fix_07(model, batches, X_new, lr):
    """Train a classifier by SGD on its cross-entropy; the loss of each batch, and the probabilities for X_new."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def predict(X):
        return torch.softmax(model(X), dim=1)

    losses = []
    for X, y in batches:
        ### BEGIN SOLUTION
        loss = F.cross_entropy(model(X), y)
        ### HANDED OUT
        # loss = F.cross_entropy(predict(X), y)
        ### END SOLUTION
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        return losses, predict(X_new)


# %% [markdown]
# ## `fix_08`
#
# An agent learns from examples which action to take. A batch is `(X, allowed, y)`; `allowed`, `(n, actions)` and
# boolean, says which actions are possible, and forbidden ones have the probability 0. The loss is the cross-entropy
# minus `beta` times the mean entropy, −Σ p log p (in which 0 log 0 is 0), so that the agent does not settle on an
# action too early.
# The program returns the losses of the batches.
#
# **What you see:** The loss is nan from the first batch in which an action is forbidden.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-08)


# %% exercise="fix_08"
def fix_08(model, batches, beta, lr):
    """Train by SGD on cross-entropy − beta · entropy, forbidden actions masked; the loss of each batch, floats."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for X, allowed, y in batches:
        logits = model(X).masked_fill(~allowed, -1e9)
        p = torch.softmax(logits, dim=1)
        ### BEGIN SOLUTION
        log_p = torch.log_softmax(logits, dim=1)
        ### HANDED OUT
        # log_p = torch.log(p)
        ### END SOLUTION
        entropy = -(p * log_p).sum(dim=1).mean()
        loss = F.cross_entropy(logits, y) - beta * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# %% [markdown]
# ## `fix_09`
#
# Several epochs over the batches, and after each the loss on a validation set, `validation = (X, y)`. The model has
# Dropout and BatchNorm in it. The program returns the validation losses.
#
# **What you see:** The validation loss jumps up and down even while the model hardly changes, and a validation set of
# one point raises an exception. When the saved model is scored again later, the score is another one.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-09)


# %% exercise="fix_09"
def fix_09(model, batches, validation, epochs, lr):
    """Train the model by SGD for some epochs; the validation loss after each, floats."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    X_val, y_val = validation
    scores = []
    for _ in range(epochs):
        for X, y in batches:
            loss = F.cross_entropy(model(X), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        ### BEGIN SOLUTION
        model.eval()
        ### HANDED OUT
        ### END SOLUTION
        with torch.no_grad():
            scores.append(F.cross_entropy(model(X_val), y_val).item())
        ### BEGIN SOLUTION
        model.train()
        ### HANDED OUT
        ### END SOLUTION
    return scores


# %% [markdown]
# ## `fix_10`
#
# Regression with gradient accumulation: `batches` are micro-batches, all of the same size, and after every `accumulate`
# of them the optimizer makes one step, which is to be the step of one large batch. Their number is a multiple of
# `accumulate`. The program returns the mean squared errors of the micro-batches.
#
# **What you see:** With `accumulate=1` all is well. With 4 or 8, on the same data, training is unstable, with 8 more
# than with 4.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-10)


# %% exercise="fix_10"
def fix_10(model, batches, accumulate, lr):
    """Train by SGD with weight decay, a step for every `accumulate` micro-batches; the loss of each, floats."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=0.05)
    losses = []
    for i, (X, y) in enumerate(batches, 1):
        loss = F.mse_loss(model(X), y)
        ### BEGIN SOLUTION
        (loss / accumulate).backward()
        ### HANDED OUT
        # loss.backward()
        ### END SOLUTION
        if i % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    return losses


# %% [markdown]
# ## `fix_11`
#
# A classifier is trained in half precision: autocast runs the matrix products in float16. Other machines work on other
# batches at the same time, so the loss is the sum over the batch divided by `n_tokens`, the number of examples on all
# machines, some tens of millions. (What the other machines would add is left out here, and Adam makes up for the size.)
# The program returns the mean losses of the batches.
#
# **What you see:** The loss hardly moves, and most gradients are exactly 0. The same program in float32 learns, but
# that is no repair.
#
# **Points count only with matrix products in float16, those of the backward pass too.**
# [Chapter section](../book/ch12_debugging.md#ch12-fix-11)


# %% exercise="fix_11"
def fix_11(model, batches, n_tokens, lr):
    """Train by Adam, matrix products in float16; the mean loss of each batch, floats."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    ### BEGIN SOLUTION
    scaler = torch.amp.GradScaler("cpu")
    ### HANDED OUT
    ### END SOLUTION
    losses = []
    for X, y in batches:
        with torch.autocast("cpu", dtype=torch.float16):
            logits = model(X)
        total = F.cross_entropy(logits.float(), y, reduction="sum")
        optimizer.zero_grad()
        ### BEGIN SOLUTION
        scaler.scale(total / n_tokens).backward()
        scaler.step(optimizer)
        scaler.update()
        ### HANDED OUT
        # (total / n_tokens).backward()
        # optimizer.step()
        ### END SOLUTION
        losses.append(total.item() / len(y))
    return losses


# %% [markdown]
# ## `fix_12`
#
# Regression on raw data, in which a value is now and then far too large. `max_norm` is the largest norm that the
# gradient of all parameters together may have in a step. The program returns the losses of the batches.
#
# **What you see:** All goes well for many steps. Then the loss jumps by orders of magnitude, and what the model had
# learned is gone. Leave out no batch, and change no data.
# [Chapter section](../book/ch12_debugging.md#ch12-fix-12)


# %% exercise="fix_12"
def fix_12(model, batches, max_norm, lr):
    """Train the model by SGD with gradients of a norm of `max_norm` at most; the loss of each batch, floats."""
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for X, y in batches:
        loss = F.mse_loss(model(X), y)
        optimizer.zero_grad()
        loss.backward()
        ### BEGIN SOLUTION
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        ### HANDED OUT
        ### END SOLUTION
        optimizer.step()
        losses.append(loss.item())
    return losses
