"""Lines that several of the classes share, and messages for them."""

from __future__ import annotations

SAVE = "ctx.save_for_backward(x)"
SAVED = "(x,) = ctx.saved_tensors"

DETACHED = {SAVED: f"{SAVED}\nx = x.detach()"}
ONLY_ONCE = {"def backward(ctx, g):": "@torch.autograd.function.once_differentiable\ndef backward(ctx, g):"}
AN_ATTRIBUTE = {SAVE: "ctx.x = x", SAVED: "x = ctx.x"}


def on_the_class(exercise):
    """Edits: keep x in an attribute of the class."""
    return {SAVE: f"{exercise}.x = x", SAVED: f"x = {exercise}.x"}


SAYS_G_IS_MISSING = "g is missing: multiply the derivative by the upstream g."
SAYS_NOTHING_RETURNED = "backward computes the gradient and does not return it: without `return` it gives None."
SAYS_RIGHT_ONCE = "The first derivative is right, and the second one wrong without a word:"
SAYS_DETACHED = (
    f"{SAYS_RIGHT_ONCE} the derivative has no graph back to x, as if x were detached, read from .data, or used under "
    "no_grad. Compute it from the saved x as it is, with gradients on."
)
SAYS_ONLY_ONCE = (
    "@once_differentiable forbids the double backward. It is asked for here, and needs nothing more than tensor "
    "operations on x and g."
)
SAYS_AN_ATTRIBUTE = (
    "x is kept as an attribute of ctx. Then autograd cannot tell when x is changed in place before the backward pass. "
    "ctx.save_for_backward(x) watches it."
)
SAYS_ON_THE_CLASS = (
    "x is kept on the class, so the next call of apply overwrites it. Each call has a ctx of its own: "
    "ctx.save_for_backward(x)."
)


GELU = "return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))"
CDF = "cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))"
PDF = "pdf = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)"
GELU_RULE = "return g * (cdf + x * pdf)"

U = "u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)"
BY_TANH = "return 0.5 * x * (1 + torch.tanh(u))"
T = "t = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))"
DU = "du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)"
TANH_RULE = "return g * 0.5 * (1 + t + x * (1 - t**2) * du)"
