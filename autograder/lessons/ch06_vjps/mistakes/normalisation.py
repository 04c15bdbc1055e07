"""Lines of the rules for normalisations, and messages that several mistakes share."""

from __future__ import annotations

CONSTANT_VARIANCE = "You treat the variance as a constant: the term x̂ · mean(dx̂ x̂) is missing."
CONSTANT_MEAN = "You treat the mean as a constant: the term mean(dx̂) is missing."
EPS_OUTSIDE_ROOT = "eps is added to the standard deviation. It belongs under the root: sqrt(var + eps)."
GAMMA_MISSING = "gamma is missing in dx: start from dx̂ = g * gamma, not from g."
DGAMMA_FROM_X = "dgamma uses x. gamma multiplies the normalized x̂: dgamma sums g x̂."


def eps_missing(divided: str, root: str) -> str:
    return f"eps is missing: the {divided} is divided by sqrt({root} + eps), in the backward pass too."


ROW_STD = "std = np.sqrt(x.var(axis=-1, keepdims=True) + eps)"
