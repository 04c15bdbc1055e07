# %% [markdown]
# # Beyond first order, and when the gradient lies
#
# The gradient is a function like any other: it can be differentiated again. Two products with the Hessian that never
# form it, its trace from random probes, the gradient through a step of SGD. Then gradients where autograd has none:
# through samples, and through a choice. PyTorch; three exercises are NumPy.
# Read along in [the chapter](../book/ch13_beyond_first_order.md).
#
# For every exercise that takes tensors:
#
# - Gradients are enabled when your function is called. Leave the arguments as they are, `requires_grad` included, and
#   change no `.grad`: neither an argument's, nor that of a parameter that `f` or `loss_fn` uses.
# - Arguments may be leaves or in the middle of a graph, require a gradient or not, and have any strides.
# - A gradient has the shape and dtype of the tensor that it belongs to, float32 or float64.

# %%
import numpy as np
import torch

# %% [markdown]
# ## `hvp`
#
# `f` takes a tensor of the shape of `x` and returns a 0-d tensor. H is the Hessian of `f` at `x`, seen as a matrix of
# `x.numel()` rows. Return H·v, a tensor of the shape and dtype of `x` without a graph. `v` has that shape and dtype
# too; `x` has any shape, `()` included.
#
# *Reverse over reverse*: one backward pass gives the gradient, and its graph; then one more, through that graph.
#
# - **No Hessian.** Make nothing of a size like n², with n = `x.numel()`, and do nothing n times. Call `f` once, and
#   with the check's `f` spend at most 6 times the FLOPs of one call (if `x` is the weights of a deep network, a product
#   takes more). Both are counted.
# - Where `f` is linear its gradient is a constant, without a graph. Where it does not depend on `x` there is no
#   gradient at all. H is 0 then, and so is the result: zeros, no error.
# - `f` is made of operations that can be differentiated twice. It may use parameters of its own.
#
# Not allowed, here and in the next two exercises: what would do the work, `torch.autograd.functional.hvp`, `vhp`,
# `hessian` and `jacobian`, and `torch.func.hessian`, `jacrev` and `jacfwd`.
# [Chapter section](../book/ch13_beyond_first_order.md#ch13-hvp)


# %% exercise="hvp"
def hvp(f, x, v):
    """The Hessian of f at x times v, by two backward passes; a tensor like x without a graph."""
    ### BEGIN SOLUTION
    x = x.detach().requires_grad_()
    y = f(x)
    if not y.requires_grad:  # f does not depend on x
        return torch.zeros_like(x)
    (gradient,) = torch.autograd.grad(y, x, create_graph=True, materialize_grads=True)
    if not gradient.requires_grad:  # f is linear
        return torch.zeros_like(x)
    return torch.autograd.grad(gradient, x, v.detach(), materialize_grads=True)[0]
    ### END SOLUTION


# %% [markdown]
# ## `hvp_forward_over_reverse`
#
# The same product, by the other way: H·v is the derivative of the gradient in the direction of `v`. So carry a tangent,
# `v`, *forward* through the computation of the gradient, which is itself *reverse* mode. No graph of the backward pass
# is needed for that.
#
# The rules of `hvp` hold here, too: zeros where `f` is linear or does not depend on `x`, one call of `f`, at most 6
# times its FLOPs, nothing of a size like n², no graph behind the result. `f` is made of operations that know forward
# mode. No two entries of `x`, nor of `v`, share memory: PyTorch's forward mode cannot take expanded tensors.
#
# `torch.func.jvp` and `torch.func.grad` may be used, or the dual numbers of `torch.autograd.forward_ad`.
#
# **Points count only where the tangent goes forward through `f`.**
# [Chapter section](../book/ch13_beyond_first_order.md#ch13-hvp-forward-over-reverse)


# %% exercise="hvp_forward_over_reverse"
def hvp_forward_over_reverse(f, x, v):
    """The Hessian of f at x times v: the gradient's derivative in the direction v; a tensor like x without a graph."""
    ### BEGIN SOLUTION
    _, tangent = torch.func.jvp(torch.func.grad(f), (x.detach(),), (v.detach(),))
    return tangent.detach()
    ### END SOLUTION


# %% [markdown]
# ## `hessian_trace`
#
# Hutchinson's estimate of the trace of the Hessian of `f` at `x`, a Python float: the mean over `samples` probes z of
# z·Hz. The entries of a probe are ±1, each with probability ½ and independent of all others. Each sample has a new one.
#
# All random numbers come from `generator`, a `torch.Generator` on the CPU: the same state of it gives the same
# estimate, a second call goes on where the first ended, and PyTorch's global random state stays as it is. Do not
# seed it.
#
# `f` and `x` are as in `hvp`, which you may call. `samples` is 1 or more, an int. How you turn the generator's numbers
# into signs is up to you: with probes of ±1 the estimate is exact where H is diagonal, whatever the signs are, and that
# is how your probes are checked.
# [Chapter section](../book/ch13_beyond_first_order.md#ch13-hessian-trace)


# %% exercise="hessian_trace"
def hessian_trace(f, x, samples, generator):
    """The mean of z·Hz over `samples` probes z of ±1 from the generator, a float."""
    ### BEGIN SOLUTION
    total = 0.0
    for _ in range(samples):
        z = 2 * torch.randint(2, x.shape, generator=generator, dtype=x.dtype) - 1
        total += (z * hvp(f, x, z)).sum().item()
    return total / samples
    ### END SOLUTION


# %% [markdown]
# ## `maml_gradient`
#
# How should the parameters be chosen, if each task begins with one step of SGD from them? That step is part of the
# function to differentiate:
#
# 1. `adapted = params − inner_lr · d loss_fn(params, support) / d params`
# 2. the result is the gradient of `loss_fn(adapted, query)` **with respect to `params`**.
#
# `params` is a dict of tensors; `loss_fn(params, data)` takes a dict with the same keys and one of the two data sets,
# and returns a 0-d tensor. Return a dict of tensors with the keys of `params`, in their order, each without a graph.
# `loss_fn` is called twice, once for each line.
#
# The gradient is the whole one, the part through the inner gradient included. A parameter that one of the two losses
# does not use has the gradient zero there, no error: it may be adapted only, used by the query only, or by neither.
# Each loss uses at least one parameter. The parameters may be leaves or not, require a gradient or not.
# [Chapter section](../book/ch13_beyond_first_order.md#ch13-maml-gradient)


# %% exercise="maml_gradient"
def maml_gradient(loss_fn, params, support, query, inner_lr):
    """The gradient of the query loss after one SGD step on the support loss, by the parameters before it; a dict."""
    ### BEGIN SOLUTION
    params = {name: value.detach().requires_grad_() for name, value in params.items()}
    leaves = list(params.values())
    inner = torch.autograd.grad(loss_fn(params, support), leaves, create_graph=True, materialize_grads=True)
    adapted = {name: value - inner_lr * g for (name, value), g in zip(params.items(), inner, strict=True)}
    outer = torch.autograd.grad(loss_fn(adapted, query), leaves, materialize_grads=True)
    return dict(zip(params, outer, strict=True))
    ### END SOLUTION


# %% [markdown]
# ## `score_function_gradient`
#
# NumPy. Let x be normal with mean `mu` and standard deviation `sigma`: `x = mu + sigma · eps`, where the entries of
# `eps` were drawn from the standard normal distribution. How does the expectation of f(x) change with `mu`?
#
# Return one estimate of d/dmu E[f(x)] for each sample, an array of the shape and dtype of `eps`: f(x) times the
# *score*, which is the derivative of the log density of x with respect to `mu`. Each estimate is unbiased. No baseline
# is subtracted.
#
# `mu` and `sigma` are Python floats, `sigma > 0`; `eps` is an array with one axis or more, float32 or float64. `f`
# takes the array of all x at once and returns an array like it; call it once. It need not be differentiable, nor
# continuous.
# [Chapter section](../book/ch13_beyond_first_order.md#ch13-score-function-gradient)


# %% exercise="score_function_gradient"
def score_function_gradient(f, mu, sigma, eps):
    """One estimate of d/dmu E[f(mu + sigma eps)] per sample: f(x) times the score; an array like eps."""
    ### BEGIN SOLUTION
    return f(mu + sigma * eps) * eps / sigma
    ### END SOLUTION


# %% [markdown]
# ## `leave_one_out_gradient`
#
# NumPy. Each row of `eps`, along its last axis, has n samples of one expectation, n ≥ 2: x = `mu + sigma · eps`. The
# rewards are f(x). For each sample, take the score function's estimate of d/dmu E[f(x)] and of d/dsigma E[f(x)], and
# subtract from the sample's reward a **baseline**: the mean reward of the *other* samples of its row. The sample's own
# reward is no part of it, nor are other rows.
#
# Return `(d_mu, d_sigma)`, two arrays of the shape and dtype of `eps` with one estimate for each sample. Each is
# unbiased.
#
# `f`, `mu`, `sigma` and `eps` are as in `score_function_gradient`: call `f` once. There may be no rows.
# [Chapter section](../book/ch13_beyond_first_order.md#ch13-leave-one-out-gradient)


# %% exercise="leave_one_out_gradient"
def leave_one_out_gradient(f, mu, sigma, eps):
    """Estimates of d/dmu and d/dsigma of E[f(mu + sigma eps)] per sample, each with the others' mean as a baseline."""
    ### BEGIN SOLUTION
    rewards = f(mu + sigma * eps)
    others = (rewards.sum(axis=-1, keepdims=True) - rewards) / (eps.shape[-1] - 1)
    weight = (rewards - others) / sigma
    return weight * eps, weight * (eps**2 - 1)
    ### END SOLUTION


# %% [markdown]
# ## `reparameterized_gradient`
#
# NumPy, and the same question. Now `f` is differentiable, and you are given its derivative `df` in place of `f`. Hold
# `eps` fixed: then x = `mu + sigma · eps` is a function of `mu`, and the chain rule does the rest. Return one estimate
# of d/dmu E[f(x)] for each sample, an array of the shape and dtype of `eps`. Each is unbiased.
#
# `df` takes the array of all x at once and returns an array like it; call it once. The rest is as in
# `score_function_gradient`.
# [Chapter section](../book/ch13_beyond_first_order.md#ch13-reparameterized-gradient)


# %% exercise="reparameterized_gradient"
def reparameterized_gradient(df, mu, sigma, eps):
    """One estimate of d/dmu E[f(mu + sigma eps)] per sample, through x, given f's derivative; an array like eps."""
    ### BEGIN SOLUTION
    return df(mu + sigma * eps)
    ### END SOLUTION


# %% [markdown]
# ## `gumbel_softmax_st`
#
# Choose one of k categories, with a gradient. `logits` and `gumbels` are tensors of one shape `(…, k)` and dtype, and
# `gumbels` are samples of the Gumbel distribution, so that the largest of `logits + gumbels` is a draw from
# softmax(`logits`). The straight-through estimator has two parts:
#
# - **forward, hard**: the one-hot vectors of the largest `logits + gumbels` along the last axis, of several equal ones
#   the first. Exactly 1 and 0, to the last bit, and the same choice whatever `tau` is.
# - **backward, soft**: the gradient of `softmax((logits + gumbels) / tau)` along the last axis, for the same upstream
#   gradient.
#
# `tau` is a float, `tau > 0`, perhaps tiny or very large; `(logits + gumbels) / tau` stays finite. `logits` is a leaf
# or in the middle of a graph; if it requires no gradient, the result requires none. `gumbels` requires none. Draw no
# random numbers. Not allowed: `torch.nn.functional.gumbel_softmax`.
# [Chapter section](../book/ch13_beyond_first_order.md#ch13-gumbel-softmax-st)


# %% exercise="gumbel_softmax_st"
def gumbel_softmax_st(logits, tau, gumbels):
    """One-hot of the largest logits + gumbels, with the gradient of softmax((logits + gumbels) / tau)."""
    ### BEGIN SOLUTION
    scores = logits + gumbels
    soft = torch.softmax(scores / tau, dim=-1)
    hard = torch.nn.functional.one_hot(scores.argmax(dim=-1), scores.shape[-1])
    return hard + (soft - soft.detach())  # the bracket is exactly 0; hard + soft − soft is not exactly hard
    ### END SOLUTION
