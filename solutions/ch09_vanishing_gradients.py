# %% [markdown]
# # Vanishing and exploding gradients
#
# A network of 30 sigmoid layers does not learn: the gradient of its first layer is 10²⁵ times smaller than that of its
# last. Measure it, say what to expect, build the network, then build one that learns. PyTorch.
# Read along in [the chapter](../book/ch09_vanishing_gradients.md).
#
# All networks here map a batch `(n, n_in)` to logits `(n, n_out)`, and the loss is the mean cross-entropy. The *norm*
# of a tensor is the square root of the sum of the squares of its entries.

# %%
import math

import torch

# %% [markdown]
# ## `layer_gradient_norms`
#
# One number for each `torch.nn.Linear` of `model`: the norm of dL/dW, where W is its `weight` and L is the mean
# cross-entropy of `model(X)` with the targets `y` (class numbers, `(n,)`). Biases and other modules do not count.
# Return a list of Python floats in the order of `model.modules()`, which also finds modules inside of modules, the
# model itself included, each once. Every `weight` requires a gradient and has a part in the loss.
#
# Take the norms in **float64**. The entries of a float32 gradient may be as small as 1e-27 and still be right, but
# their squares are 0.0 in float32; those of large ones are inf.
#
# Leave the model as it was: its parameters, every `.grad` (`None` stays `None`, and what the caller has added up stays
# too), the mode, `train` or `eval`, in which you also run it. Only buffers may move, as BatchNorm's running statistics
# do whenever a model in `train` mode runs. So a second call gives the same norms, unless the model itself
# draws random numbers, as dropout does.
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-layer-gradient-norms)


# %% exercise="layer_gradient_norms"
def layer_gradient_norms(model, X, y):
    """The norms of dL/dW of all nn.Linear modules in the order of modules(), L the mean cross-entropy; floats."""
    ### BEGIN SOLUTION
    weights = [module.weight for module in model.modules() if isinstance(module, torch.nn.Linear)]
    loss = torch.nn.functional.cross_entropy(model(X), y)
    return [gradient.double().norm().item() for gradient in torch.autograd.grad(loss, weights)]
    ### END SOLUTION


# %% [markdown]
# ## `decay_per_layer`
#
# By what factor does the gradient change from one layer to the layer before it? `norms` is a list of `n` gradient
# norms, first layer to last. Return the geometric mean of the `n − 1` ratios `norms[i] / norms[i + 1]`, a float: below
# 1 when the gradient vanishes towards the first layer, above 1 when it explodes.
#
# The norms may be any positive floats, and the first may be so much smaller or larger than the last that their quotient
# is no float although the result is one: logarithms help. Fewer than two norms, and a norm that is 0, negative, inf or
# nan, are a `ValueError`. (A norm of exactly 0 may be a square that underflowed.)
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-decay-per-layer)


# %% exercise="decay_per_layer"
def decay_per_layer(norms):
    """The geometric mean of norms[i] / norms[i + 1], a float; ValueError unless two or more positive finite norms."""
    ### BEGIN SOLUTION
    if len(norms) < 2 or not all(0 < norm < math.inf for norm in norms):
        raise ValueError("two or more positive, finite norms expected")
    return math.exp((math.log(norms[0]) - math.log(norms[-1])) / (len(norms) - 1))
    ### END SOLUTION


# %% [markdown]
# ## `xavier_std`
#
# The standard deviation of Xavier (Glorot) initialisation, a float, for a layer with `fan_in` inputs and `fan_out`
# outputs: the variance of a weight lies between what would keep the forward signal's variance, 1/fan_in, and what would
# keep the gradient's, 1/fan_out. It is one over the mean of the two fans. No gain.
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-xavier-std)


# %% exercise="xavier_std"
def xavier_std(fan_in, fan_out):
    """The standard deviation of Xavier initialisation, a float."""
    ### BEGIN SOLUTION
    return math.sqrt(2 / (fan_in + fan_out))
    ### END SOLUTION


# %% [markdown]
# ## `he_std`
#
# The standard deviation of He (Kaiming) initialisation, a float, for a layer with `fan_in` inputs that ReLU made: half
# of them are 0, so the mean square of what comes in is half of the variance before ReLU, and the weights make up for
# the factor ½. (The forward form: `fan_in`.)
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-he-std)


# %% exercise="he_std"
def he_std(fan_in):
    """The standard deviation of He initialisation, a float."""
    ### BEGIN SOLUTION
    return math.sqrt(2 / fan_in)
    ### END SOLUTION


# %% [markdown]
# ## `make_mlp`
#
# Build the network of the experiment, a `torch.nn.Module`, with one switch for each cure:
#
# 1. the input layer, `Linear(n_in, width)`, nothing after it;
# 2. `depth` hidden blocks: `f(x) = act(norm(Linear(width, width)(x)))`. A block gives `x + f(x)` if `residual`, else
#    `f(x)`;
# 3. the output layer, `Linear(width, n_out)`, nothing after it: the results are logits.
#
# - `activation` is `"sigmoid"`, `"tanh"` or `"relu"`. Each block has a module of its own for it: `torch.nn.Sigmoid()`,
#   `torch.nn.Tanh()` or `torch.nn.ReLU()`. (Functions such as `torch.tanh` are no modules.)
# - `norm` is a `torch.nn.BatchNorm1d(width)` of each block's own, as PyTorch makes it, or nothing at all.
# - `init="default"` leaves the weights as `torch.nn.Linear` makes them. With `"xavier"` and `"he"` the weights of
#   **every** Linear, the first and the last too, are drawn with mean 0 and the standard deviation of the last two
#   exercises, from a normal or a uniform distribution, and every bias of a Linear is 0.
# - Another `activation` or `init` is a `ValueError`.
#
# All Linears have a bias. `modules()` finds the `depth + 2` Linears and the BatchNorms in the order in which they are
# used. `depth` is 1 or more. Random numbers come from PyTorch's global generator: each call builds another network, and
# you do not seed it.
#
# `torch.nn.init` may be used. A block that adds its input needs a class of its own, with a `forward`.
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-make-mlp)


# %% exercise="make_mlp"
def make_mlp(n_in, n_out, depth=30, width=64, activation="sigmoid", init="default", residual=False, norm=False):
    """A Linear, `depth` blocks act(norm(Linear)), with a residual connection if asked for, and a Linear."""
    ### BEGIN SOLUTION
    activations = {"sigmoid": torch.nn.Sigmoid, "tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}
    if activation not in activations or init not in ("default", "xavier", "he"):
        raise ValueError(f"no activation {activation!r} with initialisation {init!r}")

    class Residual(torch.nn.Sequential):
        def forward(self, x):
            return x + super().forward(x)

    kind = Residual if residual else torch.nn.Sequential
    layers = [torch.nn.Linear(n_in, width)]
    for _ in range(depth):
        norms = [torch.nn.BatchNorm1d(width)] if norm else []
        layers.append(kind(torch.nn.Linear(width, width), *norms, activations[activation]()))
    layers.append(torch.nn.Linear(width, n_out))
    model = torch.nn.Sequential(*layers)

    for module in model.modules():
        if isinstance(module, torch.nn.Linear) and init != "default":
            fans = module.in_features + module.out_features
            variance = 2 / fans if init == "xavier" else 2 / module.in_features
            torch.nn.init.normal_(module.weight, std=math.sqrt(variance))
            torch.nn.init.zeros_(module.bias)
    return model
    ### END SOLUTION


# %% [markdown]
# ## `healthy_mlp`
#
# Now one that learns, whatever its depth: ReLU, residual connections and BatchNorm together. An input layer
# `Linear(n_in, width)`, `depth` hidden blocks, an output layer `Linear(width, n_out)` that gives logits.
#
# - A block is `x + f(x)`, with nothing after the addition. In `f` are one `Linear(width, width)`, one
#   `torch.nn.BatchNorm1d(width)` and one `torch.nn.ReLU()`; their order, and how the weights are initialised, are yours
#   to choose.
# - `modules()` finds the `depth + 2` Linears in the order in which they are used.
# - The gradient stays in bounds: with fresh weights, 32 units wide or more and at most 30 layers deep, the norm of
#   dL/dW of the first hidden Linear is between 1/30 of that of the last hidden one and 30 times that. (Honest choices
#   give 1 to 15 at 30 layers, and BatchNorm without residual connections gives more than 100.) No branch `f` starts at
#   exactly 0: then its gradients are 0 and have no ratio.
# - It learns: 40 steps of Adam, lr=0.002, on 512 points in four clouds, after which at least 80 % of new points must be
#   told right. The sigmoid network guesses: 25 %.
#
# As before, random numbers come from PyTorch's global generator, and you do not seed it. This can be one call of your
# `make_mlp`, or stand by itself.
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-healthy-mlp)


# %% exercise="healthy_mlp"
def healthy_mlp(n_in, n_out, depth=30, width=64):
    """A deep MLP that learns: ReLU, residual connections and BatchNorm."""

    ### BEGIN SOLUTION
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(width, width)
            self.norm = torch.nn.BatchNorm1d(width)
            self.relu = torch.nn.ReLU()

        def forward(self, x):
            return x + self.relu(self.norm(self.linear(x)))

    blocks = [Block() for _ in range(depth)]
    return torch.nn.Sequential(torch.nn.Linear(n_in, width), *blocks, torch.nn.Linear(width, n_out))
    ### END SOLUTION


# %% [markdown]
# ## `predicted_factor`
#
# By what factor does one block change the gradient's root mean square (rms) on its way back? Predict it before anything
# is built. The block computes `f(x) = act(Linear(fan_in, fan_out)(x))`. With `branch=None` its output is `f(x)`; else
# it is `x + branch * f(x)`, where `fan_in` equals `fan_out` and `branch` is a number that may also be 0 or negative.
#
# - `slopes` is `(left, right)`, a tuple or a list, which you leave as it is: the activation is `left * z` for negative
#   `z`, and `right * z` for the others. So `(0, 1)` is ReLU, `(0.1, 1)` a LeakyReLU, `(1, 1)` no activation and
#   `(-1, 1)` the absolute value.
# - The weights are independent random numbers with mean 0 and the given `variance`, which may be 0. The biases are 0.
#   Half of the `z` are negative.
# - The entries of the gradient that arrives, dL/doutput, are independent random numbers with mean 0, independent of the
#   weights too.
#
# Return rms(dL/dx) / rms(dL/doutput), a Python float, as the chapter predicts it for wide layers. (A block that you
# draw at random, some hundreds of units wide, is within a few percent of it.)
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-predicted-factor)


# %% exercise="predicted_factor"
def predicted_factor(slopes, fan_in, fan_out, variance, branch=None):
    """The predicted rms(dL/dx) / rms(dL/doutput) of one block, a float."""
    ### BEGIN SOLUTION
    left, right = slopes
    squared = fan_out * variance * (left**2 + right**2) / 2
    if branch is None:
        return math.sqrt(squared)
    return math.sqrt(1 + branch**2 * squared)
    ### END SOLUTION


# %% [markdown]
# ## `clip_grad_norm`
#
# Clip a list of gradients by their **common** norm: the square root of the sum of the squares of all entries of all
# tensors. Return `(clipped, total_norm)`. `total_norm` is that norm before clipping, a Python float. `clipped` is a
# list of tensors, each the gradient times the same factor `min(1, max_norm / total_norm)`, with its shape and dtype.
# There is no small number in the denominator: gradients that are clipped have the norm `max_norm`, up to the
# rounding of their dtype.
#
# The gradients are floating tensors of any shapes, perhaps of several precisions in one list. Take the norm in
# **float64**: 1e30 in float32 is a number, and its square is not. (Entries whose squares leave float64 too do not
# occur.) Write into none of them; those that need no clipping may be returned as they are. `max_norm` is positive. With
# a norm of 0 the gradients are not changed, and an empty list gives `([], 0.0)`. A norm that is inf or nan is a
# `ValueError`: there is no direction left to keep.
#
# PyTorch's own functions for this may not be called.
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-clip-grad-norm)


# %% exercise="clip_grad_norm"
def clip_grad_norm(grads, max_norm):
    """The gradients times min(1, max_norm / total_norm), a list; and their common norm, a float."""
    ### BEGIN SOLUTION
    total_norm = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))
    if not math.isfinite(total_norm):
        raise ValueError(f"the gradients have the norm {total_norm}")
    if total_norm <= max_norm:
        return list(grads), total_norm
    return [grad * (max_norm / total_norm) for grad in grads], total_norm
    ### END SOLUTION


# %% [markdown]
# ## `dead_relu_fraction`
#
# Run `model(X)` once and look at what every `torch.nn.ReLU` module gives, tensors of shape `(n, units)`. A unit is a
# column of such an output; it is *dead* on `X` if it is exactly 0 in **every** row. Return the number of dead units by
# the number of units, over all ReLUs of the model together, a Python float between 0 and 1.
#
# Use forward hooks. A ReLU module that runs twice counts as two layers, one that does not run is none, and where no
# ReLU runs the share is 0.0. Look at the output inside of the hook: in inference, without gradients, what comes after
# may write into it (`h += skip`).
#
# Leave the model as it was: parameters, every `.grad`, the mode, `train` or `eval`, in which you also run it. (Buffers
# may move as in any run.) None of your hooks is left, not even when the model raises, which is not yours to
# catch; hooks of other people stay.
# [Chapter section](../book/ch09_vanishing_gradients.md#ch09-dead-relu-fraction)


# %% exercise="dead_relu_fraction"
def dead_relu_fraction(model, X):
    """The share of units behind nn.ReLU modules that are 0 on every row of X, a float."""
    ### BEGIN SOLUTION
    dead = []  # for each output of a ReLU, which of its units are

    def look(module, inputs, output):
        dead.append((output == 0).all(dim=0))

    relus = [module for module in model.modules() if isinstance(module, torch.nn.ReLU)]
    hooks = [relu.register_forward_hook(look) for relu in relus]
    try:
        with torch.no_grad():
            model(X)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.cat(dead).double().mean().item() if dead else 0.0
    ### END SOLUTION
