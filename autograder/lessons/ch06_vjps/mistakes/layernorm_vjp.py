"""Wrong answers to layernorm_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.normalisation import (
    CONSTANT_MEAN,
    CONSTANT_VARIANCE,
    DGAMMA_FROM_X,
    EPS_OUTSIDE_ROOT,
    GAMMA_MISSING,
    ROW_STD,
    eps_missing,
)

LAYER_DX = "dx = (dxhat - mean_dxhat - xhat * mean_dxhat_xhat) / std"
MEAN_DXHAT_XHAT = "mean_dxhat_xhat = (dxhat * xhat).mean(axis=-1, keepdims=True)"
LAYER_PARAMETERS = "dgamma, dbeta = (g * xhat).sum(axis=rows), g.sum(axis=rows)"
LAYER_GRADIENTS = "return dx.astype(x.dtype), dgamma.astype(gamma.dtype), dbeta.astype(beta.dtype)"

layernorm_constant_statistics = mistake(
    "layernorm_vjp",
    {LAYER_DX: "dx = dxhat / std"},
    says="You treat mean and variance as constants. Both depend on every entry of the row, and the gradient through "
    "them takes off mean(dx̂) and x̂ · mean(dx̂ x̂).",
)
layernorm_constant_variance = mistake(
    "layernorm_vjp",
    {LAYER_DX: "dx = (dxhat - mean_dxhat) / std"},
    says=CONSTANT_VARIANCE,
)
layernorm_constant_mean = mistake(
    "layernorm_vjp",
    {LAYER_DX: "dx = (dxhat - xhat * mean_dxhat_xhat) / std"},
    says=CONSTANT_MEAN,
)
layernorm_sums_for_means = mistake(
    "layernorm_vjp",
    {
        "mean_dxhat = dxhat.mean(axis=-1, keepdims=True)": "mean_dxhat = dxhat.sum(axis=-1, keepdims=True)",
        MEAN_DXHAT_XHAT: "mean_dxhat_xhat = (dxhat * xhat).sum(axis=-1, keepdims=True)",
    },
    says="The two sums in dx are not divided by d: they are means over the row.",
)
layernorm_without_eps = mistake(
    "layernorm_vjp",
    {ROW_STD: "std = np.sqrt(x.var(axis=-1, keepdims=True))"},
    says=eps_missing("row", "var"),
)
layernorm_eps_outside_root = mistake(
    "layernorm_vjp",
    {ROW_STD: "std = np.sqrt(x.var(axis=-1, keepdims=True)) + eps"},
    says=EPS_OUTSIDE_ROOT,
)
layernorm_unbiased_variance = mistake(
    "layernorm_vjp",
    {ROW_STD: "std = np.sqrt(x.var(axis=-1, ddof=1, keepdims=True) + eps)"},
    says="The variance is divided by d − 1. Layer normalization divides by d.",
)
layernorm_without_gamma = mistake(
    "layernorm_vjp",
    {"dxhat = g * gamma": "dxhat = g"},
    says=GAMMA_MISSING,
)
layernorm_parameters_not_summed = mistake(
    "layernorm_vjp",
    {LAYER_PARAMETERS: "dgamma, dbeta = g * xhat, g"},
    says="The gradients of gamma and beta are not summed. Every row uses the same parameters: sum over all leading "
    "axes.",
)
layernorm_first_axis_only = mistake(
    "layernorm_vjp",
    {"rows = tuple(range(x.ndim - 1))": "rows = 0"},
    says="The gradients of gamma and beta are summed over the first axis only. Sum over all axes but the last, "
    "however many there are.",
)
layernorm_parameters_averaged = mistake(
    "layernorm_vjp",
    {
        LAYER_PARAMETERS: (
            f"{LAYER_PARAMETERS}\ncount = max(x.size // x.shape[-1], 1)\ndgamma, dbeta = dgamma / count, dbeta / count"
        )
    },
    says="The gradients of gamma and beta are averaged over the rows. They are sums: every row adds its own.",
)
layernorm_dgamma_from_x = mistake(
    "layernorm_vjp",
    {LAYER_PARAMETERS: "dgamma, dbeta = (g * x).sum(axis=rows), g.sum(axis=rows)"},
    says=DGAMMA_FROM_X,
)
layernorm_parameters_swapped = mistake(
    "layernorm_vjp",
    {LAYER_GRADIENTS: "return dx.astype(x.dtype), dbeta.astype(beta.dtype), dgamma.astype(gamma.dtype)"},
    says="dgamma and dbeta are swapped: the order is dx, dgamma, dbeta.",
)

layer_gamma_twice = mistake(
    "layernorm_vjp",
    {"dxhat = g * gamma": "dxhat = g * gamma * gamma"},
    says="gamma is in dx twice: dx̂ = g · gamma, once.",
)
layer_root_twice = mistake(
    "layernorm_vjp",
    {ROW_STD: "std = np.sqrt(1 / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + eps)"},
    says="The reciprocal root was taken twice: what is kept is 1 / std already.",
)
layer_mean_twice = mistake(
    "layernorm_vjp",
    {LAYER_DX: LAYER_DX.replace("dxhat - mean_dxhat -", "dxhat - 2 * mean_dxhat -")},
    says="mean(dx̂) is subtracted twice.",
)
