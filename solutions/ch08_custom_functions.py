# %% [markdown]
# # Custom autograd functions and gradcheck
#
# Autograd knows a rule for each of its operations. A `torch.autograd.Function` is an operation with a rule of your own:
# `forward` computes, `backward` takes the upstream gradient `g` and returns the gradient of each input. Six such
# operations, and a test that tells right rules from wrong ones. PyTorch.
# Read along in [the chapter](../book/ch08_custom_functions.md).
#
# What is true of all six:
#
# - `apply` is the inherited one: `Square.apply(x)` calls your `forward`, and a backward pass calls your `backward`.
# - Any tensor that `backward` needs goes through `ctx.save_for_backward`, not into attributes of `ctx` or of the class:
#   only so does autograd notice that a saved tensor was changed in place.
# - Results and gradients have the dtype of their input, float32 or float64. Take constants from `math`:
#   `torch.tensor(2.0)` is float32, and so are its digits.
# - Nothing is changed in place, neither an input nor `g`; inputs and `g` of any layout are welcome.
# - You write the rule. Not allowed: autograd itself (`torch.autograd.grad`, `backward`, `torch.func`,
#   `torch.autograd.functional`) and PyTorch's finished kernels for the same function and its gradient.
# - **Points count only for a `Function`**: the result is what your `forward` returns, its gradient what your `backward`
#   returns.
# - If you prefer a `forward` without `ctx` and a separate `setup_context`, write these.

# %%
import math

import torch

# %% [markdown]
# ## `Square`
#
# `Square.apply(x)` is `x²` for a tensor of floats of any shape, empty and 0-d included. It keeps its input for the
# backward pass and nothing else.
#
# **Twice differentiable.** The gradient dx is differentiated in its turn, by `x` and by `g`, and that must be right,
# too. With `create_graph=True` autograd records what `backward` does, so there is nothing to add, if `backward` is made
# of differentiable operations on `g` and on the **inputs** that were saved. A temporary of `forward` is a constant
# by then: autograd would take its derivative for 0, often without a word.
# [Chapter section](../book/ch08_custom_functions.md#ch08-square)


# %% exercise="Square"
class Square(torch.autograd.Function):
    """x², twice differentiable."""

    @staticmethod
    def forward(ctx, x):
        ### BEGIN SOLUTION
        ctx.save_for_backward(x)
        return x * x
        ### END SOLUTION

    @staticmethod
    def backward(ctx, g):
        ### BEGIN SOLUTION
        (x,) = ctx.saved_tensors
        return 2 * x * g
        ### END SOLUTION


# %% [markdown]
# ## `GELU`
#
# `GELU.apply(x)` is `x · Φ(x)`, exact: Φ is the standard normal distribution, `Φ(x) = ½ (1 + erf(x / √2))`. Its
# derivative is the density `φ(x) = exp(−x² / 2) / √(2π)`. Any shape; finite for inputs as large as ±1000.
#
# It keeps **its input and nothing else**: `x`'s own bytes through `save_for_backward`, no copy of it, nothing in an
# attribute of `ctx`. As much of Φ and φ as `backward` needs is computed there again. Twice differentiable, as `Square`
# is. Not allowed: `torch.nn.functional.gelu` and its kernels.
# [Chapter section](../book/ch08_custom_functions.md#ch08-gelu)


# %% exercise="GELU"
class GELU(torch.autograd.Function):
    """x Φ(x) with the exact Φ, twice differentiable; keeps its input only."""

    @staticmethod
    def forward(ctx, x):
        ### BEGIN SOLUTION
        ctx.save_for_backward(x)
        return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
        ### END SOLUTION

    @staticmethod
    def backward(ctx, g):
        ### BEGIN SOLUTION
        (x,) = ctx.saved_tensors
        cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
        pdf = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
        return g * (cdf + x * pdf)
        ### END SOLUTION


# %% [markdown]
# ## `GELUTanh`
#
# The approximation that GPT-2 uses: `½ x (1 + tanh u)` with `u = √(2/π) (x + 0.044715 x³)`. `backward` gives the
# derivative of **this** function, not that of the exact one. Any shape; finite for inputs as large as ±1000, in both
# derivatives. Twice differentiable; what you save is up to you, so long as the second derivative is right. Not allowed:
# `torch.nn.functional.gelu` and its kernels.
# [Chapter section](../book/ch08_custom_functions.md#ch08-gelutanh)


# %% exercise="GELUTanh"
class GELUTanh(torch.autograd.Function):
    """½ x (1 + tanh(√(2/π) (x + 0.044715 x³))), twice differentiable."""

    @staticmethod
    def forward(ctx, x):
        ### BEGIN SOLUTION
        ctx.save_for_backward(x)
        u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + torch.tanh(u))
        ### END SOLUTION

    @staticmethod
    def backward(ctx, g):
        ### BEGIN SOLUTION
        (x,) = ctx.saved_tensors
        t = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
        du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
        return g * 0.5 * (1 + t + x * (1 - t**2) * du)
        ### END SOLUTION


# %% [markdown]
# ## `ISRU`
#
# `ISRU.apply(x)` is `x / √(1 + x²)`, a smooth activation without `exp`. You derive its slope, and the slope of the
# slope. `ISRUBackward.forward(ctx, g, x)` computes the gradient dx, and `ISRU.backward` returns what
# `ISRUBackward.apply` gives. `ISRUBackward.backward(ctx, gg)` gets the upstream gradient of dx, and returns two
# gradients: that of `g`, then that of `x`.
#
# - Any shape. For inputs as large as ±1000, both derivatives are finite and within 1 % of the exact values, in float32
#   too.
# - Between `forward` and `backward`, `x` is kept and nothing else: its own bytes, no copy.
# - With `create_graph=True`, `x` and `g` wait for the double backward, and no other tensor: no temporary of either
#   pass, and nothing in an attribute. A single `Function` keeps more, because autograd records each operation of its
#   `backward`.
# - A third derivative is not asked for.
#
# [Chapter section](../book/ch08_custom_functions.md#ch08-isru)


# %% exercise="ISRU"
class ISRU(torch.autograd.Function):
    """x / √(1 + x²), twice differentiable; keeps x alone, and for the double backward x and g."""

    @staticmethod
    def forward(ctx, x):
        ### BEGIN SOLUTION
        ctx.save_for_backward(x)
        return x * torch.rsqrt(1 + x * x)
        ### END SOLUTION

    @staticmethod
    def backward(ctx, g):
        ### BEGIN SOLUTION
        (x,) = ctx.saved_tensors
        return ISRUBackward.apply(g, x)
        ### END SOLUTION


class ISRUBackward(torch.autograd.Function):
    """dx from g and x, and a backward of its own."""

    @staticmethod
    def forward(ctx, g, x):
        ### BEGIN SOLUTION
        ctx.save_for_backward(g, x)
        return g * torch.rsqrt(1 + x * x) ** 3
        ### END SOLUTION

    @staticmethod
    def backward(ctx, gg):
        ### BEGIN SOLUTION
        g, x = ctx.saved_tensors
        s = torch.rsqrt(1 + x * x)
        return gg * s**3, -3 * gg * g * x * s**5
        ### END SOLUTION


# %% [markdown]
# ## `RoundSTE`
#
# The straight-through estimator. `RoundSTE.apply(x)` has the values of `torch.round(x)`; the gradient of `x` is `g`
# itself, as if nothing had been rounded. Any shape. It needs nothing for that, so it keeps nothing. A second derivative
# may run through `g`, in a loss that squares the result for one: return `g` with its graph.
#
# This rule is wrong on purpose: the derivative of `round` is 0 wherever it has one. So `gradcheck` must reject
# `RoundSTE`, and the check here sees to it that it does.
# [Chapter section](../book/ch08_custom_functions.md#ch08-roundste)


# %% exercise="RoundSTE"
class RoundSTE(torch.autograd.Function):
    """torch.round(x) forward, the identity backward."""

    @staticmethod
    def forward(ctx, x):
        ### BEGIN SOLUTION
        return torch.round(x)
        ### END SOLUTION

    @staticmethod
    def backward(ctx, g):
        ### BEGIN SOLUTION
        return g
        ### END SOLUTION


# %% [markdown]
# ## `FusedCrossEntropy`
#
# `FusedCrossEntropy.apply(logits, targets)` is the mean cross-entropy of `n` rows, a 0-d tensor: the mean of
# `logsumexp(logits[i]) − logits[i, targets[i]]`. `logits` is `(n, c)`; `targets` is `(n,)`, int64, from 0 to c − 1, and
# has no gradient: return `None` for it. The gradient of the logits is `g · (p − y) / n`, with `p` the softmax of each
# row, `y` its one-hot target and `g` the upstream gradient, a 0-d tensor that need not be 1.
#
# - Loss and gradient are finite for logits as large as ±1000.
# - Between the passes it keeps **one** `(n, c)` tensor, whichever you choose, and perhaps a few vectors of length `n`.
# - It asks `ctx.needs_input_grad[0]`. Where the logits need no gradient, `forward` saves nothing, and `backward`
#   returns `None` for them, too.
# - A second backward pass, with `retain_graph=True`, gives the same as the first: what was saved stays as it is.
#
# A double backward is not asked for; `@once_differentiable` refuses some, but take it away if you write a guard or keep
# `logits`. Not allowed:
# `torch.nn.functional.cross_entropy` and kernels for gradients. `torch.log_softmax`, `logsumexp` and `softmax` are
# fine.
# [Chapter section](../book/ch08_custom_functions.md#ch08-fusedcrossentropy)

# %%
from torch.autograd.function import once_differentiable


# %% exercise="FusedCrossEntropy"
class FusedCrossEntropy(torch.autograd.Function):
    """Mean cross-entropy of logits (n, c) and integer targets (n,); keeps one (n, c) tensor."""

    @staticmethod
    def forward(ctx, logits, targets):
        ### BEGIN SOLUTION
        log_p = torch.log_softmax(logits, dim=1)
        if ctx.needs_input_grad[0]:
            ctx.save_for_backward(log_p, targets)
        return -log_p.gather(1, targets.unsqueeze(1)).mean()
        ### END SOLUTION

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        ### BEGIN SOLUTION
        if not ctx.needs_input_grad[0]:
            return None, None
        log_p, targets = ctx.saved_tensors
        n = len(targets)
        difference = log_p.exp()
        difference[torch.arange(n), targets] -= 1
        return g / n * difference, None
        ### END SOLUTION


# %% [markdown]
# ## `run_gradcheck`
#
# Whether the gradients of `fn` are right, `True` or `False`: of first **and** of second order, as
# `torch.autograd.gradcheck` and `gradgradcheck` find them with the tolerances that they have by default. Both may be
# used. `fn(*tensors)` returns a tensor or a tuple of tensors. Of several outputs, those that need no gradient, integers
# among them, are ignored, as `gradcheck` ignores them.
#
# - `fn` is called on fresh copies in float64, each with memory of its own: a float32 tensor does not make a right `fn`
#   look wrong, nor does a tensor that was expanded.
# - Every such copy requires a gradient, whether or not the caller's tensor does.
# - Tensors that are not floating (indices, masks) are copied, too, and keep their dtype.
# - The caller's tensors stay as they are: values, `requires_grad`, `.grad`; even if `fn` writes into its arguments.
# - A check that raises any `Exception` is `False`.
#
# `fn` may be wrong in any way: in one entry, in one input, in the second order only; its forward pass may be random; it
# may write into its arguments, lose the graph on the way, or raise. All of that is `False` where those two checks see
# it.
# [Chapter section](../book/ch08_custom_functions.md#ch08-run-gradcheck)


# %% exercise="run_gradcheck"
def run_gradcheck(fn, *tensors):
    """Whether fn passes gradcheck and gradgradcheck on float64 copies of the tensors, a bool."""
    ### BEGIN SOLUTION
    copies = tuple(t.detach().clone() for t in tensors)
    copies = tuple(t.double().requires_grad_() if t.is_floating_point() else t for t in copies)
    try:
        return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)
    except Exception:
        return False
    ### END SOLUTION
