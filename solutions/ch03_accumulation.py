# %% [markdown]
# # Gradient accumulation, += not =
#
# Two sums hide behind one `+=`. Inside one backward pass, a value that was used several times gets the sum of what its
# uses send back: that is the chain rule. Across backward passes, `.grad` adds up until somebody clears it: that is a
# choice, and a useful one. Seven functions keep the two apart: on a graph of numbers, on arrays, and in a training
# loop. Read along in [the chapter](../book/ch03_accumulation.md).
#
# `Node(value, parents, local_gradients)` is the graph of the first chapter: `parents` are the nodes it was computed
# from, `local_gradients` the derivative with respect to each, in the same order; a parent that was used twice appears
# twice. `.grad` is `None` until somebody sets it. `add`, `mul` and `power` make nodes from nodes.
#
# Arrays may be views, such as transposes.

# %%
import numpy as np

from course.graph import Node, add, mul, power

# %% [markdown]
# ## `backward`
#
# Add the gradient of `output` to the `.grad` of every node that it depends on, `output` itself included; a `.grad` of
# `None` counts as 0. The gradient of `output` with respect to itself is 1. Change no other number of the graph.
#
# - Within one call: a node's gradient is the sum over all its uses, passed on once, when that sum is complete.
# - Across calls: what is in `.grad` before the call stays, and is never passed on. `backward(c)` twice leaves
#   exactly twice the gradients. Two outputs that share nodes leave the sum of their gradients.
#
# A node that is reached has a number in the end, even if its gradient is 0; one that is not reached keeps its `.grad`.
# A chain of 20,000 nodes must work, so no recursion; so must a graph of 123 nodes with 2⁶⁰ paths. You need the nodes
# in topological order: bring your function from the first lesson, in a cell above this one, or write it again.
#
# To try it:
# ```python
# a = Node(3.0)
# b = mul(a, a)
# c = add(b, b)
# backward(c)
# a.grad, b.grad, c.grad  # 12, 2, 1; and after a second backward(c): 24, 4, 2
# ```
# [Chapter section](../book/ch03_accumulation.md#ch03-backward)


# %% tags=["solution"]
def topological_order(output):
    """Every node that `output` depends on, each once, parents first and `output` last."""
    order, seen, stack = [], set(), [(output, False)]
    while stack:
        node, parents_are_done = stack.pop()
        if parents_are_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((parent, False) for parent in node.parents)
    return order


# %% exercise="backward"
def backward(output):
    """Add d(output)/d(node) to the .grad of every node that output depends on, output included."""
    ### BEGIN SOLUTION
    gradients = {output: 1.0}  # of this call alone; .grad may hold those of earlier ones
    for node in reversed(topological_order(output)):
        g = gradients[node]
        for parent, local in zip(node.parents, node.local_gradients, strict=True):
            gradients[parent] = gradients.get(parent, 0.0) + g * local

    for node, g in gradients.items():
        node.grad = g if node.grad is None else node.grad + g
    ### END SOLUTION


# %% [markdown]
# ## `zero_grad`
#
# Clear the `.grad` of every node that `output` depends on, `output` included: afterwards it is `None` or 0, as you
# like. A node that `output` does not depend on keeps its `.grad`. Some of the nodes may hold `None` already. The same
# sizes as above must work: a chain of 20,000 nodes, a graph with 2⁶⁰ paths.
# [Chapter section](../book/ch03_accumulation.md#ch03-zero-grad)


# %% exercise="zero_grad"
def zero_grad(output):
    """Clear the .grad of every node that output depends on, output included."""
    ### BEGIN SOLUTION
    for node in topological_order(output):
        node.grad = None
    ### END SOLUTION


# %% [markdown]
# ## `bias_gradient`
#
# A bias `b` of shape `(m,)` was added to every row of a batch: `y = x + b`, with `y` of shape `(batch, m)`. `g`, an
# array of floats, is the gradient of the loss with respect to `y`. Return the gradient with respect to `b`: shape
# `(m,)`, dtype of `g`. An empty batch, `(0, m)`, gives zeros. Whatever averaging the loss does is in `g` already.
# [Chapter section](../book/ch03_accumulation.md#ch03-bias-gradient)


# %% exercise="bias_gradient"
def bias_gradient(g):
    """The gradient (m,) of a bias that was added to every row, from the gradient g (batch, m) of the result."""
    ### BEGIN SOLUTION
    return g.sum(axis=0)
    ### END SOLUTION


# %% [markdown]
# ## `tied_autoencoder_gradient`
#
# An autoencoder whose decoder is its encoder transposed: `y = Wᵀ relu(W x)` and `L = ½‖y − x‖²`, with `W` of shape
# `(m, d)` and `x` `(d,)`. Return dL/dW, with the shape and dtype of `W`. The weight is used twice, and each use sends
# back a gradient. `x` is data, with the dtype of `W`. The derivative of relu at 0 is 0.
# [Chapter section](../book/ch03_accumulation.md#ch03-tied-autoencoder-gradient)


# %% exercise="tied_autoencoder_gradient"
def tied_autoencoder_gradient(W, x):
    """The gradient (m, d) of ½‖Wᵀ relu(W x) − x‖² with respect to W (m, d); x is (d,)."""
    ### BEGIN SOLUTION
    z = W @ x
    h = np.maximum(z, 0)
    y = W.T @ h

    dy = y - x
    dz = (W @ dy) * (z > 0)
    return np.outer(h, dy) + np.outer(dz, x)  # as the decoder, and as the encoder
    ### END SOLUTION


# %% [markdown]
# ## `microbatch_gradient`
#
# A batch that does not fit into memory is processed in pieces. `grad_fn(params, X, y)` returns the **mean** gradient
# over the rows that it is given: a dict with the keys and shapes of `params`. Return what
# `grad_fn(params, X, y)` would return for all `n` rows at once, but never hand it more than `batch_size` of them.
#
# - `grad_fn` is called ceil(n / batch_size) times, and sees every row exactly once, each with its own `y`. Pass its
#   three arguments by position, `params` as they are.
# - The last micro-batch may be short; `batch_size` may be larger than `n`; `n` is at least 1.
# - `X` and `y` have one row per example along their first axis, and any number of axes. `params` may have any keys, and
#   arrays of any shape, 0-d included. Each gradient has the dtype of its parameter: `grad_fn` returns it so; keep it.
# [Chapter section](../book/ch03_accumulation.md#ch03-microbatch-gradient)


# %% exercise="microbatch_gradient"
def microbatch_gradient(grad_fn, params, X, y, batch_size):
    """The mean gradient over all rows, a dict like params, from calls of grad_fn with at most batch_size rows each."""
    ### BEGIN SOLUTION
    n = len(X)
    total = {name: np.zeros_like(value) for name, value in params.items()}
    for start in range(0, n, batch_size):
        rows = slice(start, start + batch_size)
        gradients = grad_fn(params, X[rows], y[rows])
        share = len(X[rows]) / n  # of a mean over its own rows in the mean over all rows
        for name in total:
            total[name] = total[name] + share * gradients[name]
    return total
    ### END SOLUTION


# %% [markdown]
# ## `token_gradient`
#
# A language model's loss is a mean over tokens. `X`, `y` and `mask` hold `n` texts of `t` places each: `y` and `mask`
# have the shape `(n, t)`, `X` may have more axes behind these two. A place counts as a token where `mask`, an array of
# bools, is True. `grad_fn(params, X, y, mask)` returns the **mean** gradient over the places that count in the texts it
# is given: a dict with the keys and shapes of `params`. Return what `grad_fn(params, X, y, mask)` would return for all
# `n` texts at once, but never hand it more than `batch_size` texts.
#
# - Call `grad_fn` at most ceil(n / batch_size) times, with its four arguments by position, `params` as they are. It
#   sees every text that has a token exactly once, with its own `y` and `mask`.
# - Places that do not count may be anywhere. A text may have no token at all, but at least one text has one. If no
#   place counts in a whole call, `grad_fn` returns nan: the mean of nothing.
# - The last micro-batch may be short; `batch_size` may be larger than `n`. Each gradient has the dtype of its
#   parameter: `grad_fn` returns it so; keep it.
# [Chapter section](../book/ch03_accumulation.md#ch03-token-gradient)


# %% exercise="token_gradient"
def token_gradient(grad_fn, params, X, y, mask, batch_size):
    """The mean gradient over all tokens, a dict like params; grad_fn gets at most batch_size texts in each call."""
    ### BEGIN SOLUTION
    n, tokens = len(X), int(mask.sum())
    total = {name: np.zeros_like(value) for name, value in params.items()}
    for start in range(0, n, batch_size):
        texts = slice(start, start + batch_size)
        counted = int(mask[texts].sum())
        if counted == 0:
            continue  # grad_fn would return nan, and 0 * nan is nan
        gradients = grad_fn(params, X[texts], y[texts], mask[texts])
        share = counted / tokens  # a Python number: one of NumPy's would turn float32 into float64
        for name in total:
            total[name] = total[name] + share * gradients[name]
    return total
    ### END SOLUTION


# %% [markdown]
# ## `train`
#
# From here on PyTorch: `model` is an `nn.Module`, and `.grad` is PyTorch's. `batches` is any iterable of `(X, y)`,
# perhaps a generator, which can be walked once and has no length. One pass over it:
#
# - The loss of a batch is `torch.nn.functional.mse_loss(model(X), y)`. Return the losses as a list of Python floats,
#   one per batch, each computed before the step that follows.
# - `accumulate` batches in a row form a group. After each group every parameter takes one step, `p -= lr * grad`, where
#   `grad` is the mean of the group's batch gradients. Every batch counts alike, however many rows it has.
#   (A mean of means: it assumes batches of about equal size.)
# - If the batches run out in the middle of a group, that short group steps too, with the mean over its own batches.
# - Whatever is in `.grad` when `train` is called was left by other code and must have no effect. What you leave there
#   is up to you.
# - A parameter with `requires_grad=False`, or one that the model does not use, stays as it is.
#
# Neither weight decay nor momentum. A `torch.optim.SGD` may take the step, if you like.
# [Chapter section](../book/ch03_accumulation.md#ch03-train)

# %%
import torch


# %% tags=["solution"]
def step(model, lr):
    """p -= lr * grad for every parameter that has a gradient; the gradients are cleared."""
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()


# %% exercise="train"
def train(model, batches, lr, accumulate=1):
    """Train on batches of (X, y), one step for every accumulate of them; the loss of each batch, as floats."""
    ### BEGIN SOLUTION
    losses = []
    waiting = 0  # batches whose gradients are in .grad and have not moved the parameters yet
    model.zero_grad()
    for X, y in batches:
        loss = torch.nn.functional.mse_loss(model(X), y)
        loss.backward()
        losses.append(loss.item())
        waiting += 1
        if waiting == accumulate:
            step(model, lr / waiting)
            waiting = 0
    if waiting:
        step(model, lr / waiting)
    return losses
    ### END SOLUTION
