"""Wrong answers to batchnorm_vjp, with what is said of them."""

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

COLUMN_STD = "std = np.sqrt(x.var(axis=0) + eps)"
BATCH_DX = "dx = (dxhat - dxhat.mean(axis=0) - xhat * (dxhat * xhat).mean(axis=0)) / std"
BATCH_PARAMETERS = "dgamma, dbeta = (g * xhat).sum(axis=0), g.sum(axis=0)"

batchnorm_over_features = mistake(
    "batchnorm_vjp",
    {
        COLUMN_STD: ROW_STD,
        "xhat = (x - x.mean(axis=0)) / std": "xhat = (x - x.mean(axis=-1, keepdims=True)) / std",
        BATCH_DX: (
            "dx = (dxhat - xhat * (dxhat * xhat).mean(axis=-1, keepdims=True)) / std\n"
            "dx -= dxhat.mean(axis=-1, keepdims=True) / std"
        ),
    },
    says="Mean and variance are taken along each row, as in layer normalization. Here they belong to a column: axis "
    "0, the batch.",
)
batchnorm_constant_statistics = mistake(
    "batchnorm_vjp",
    {BATCH_DX: "dx = dxhat / std"},
    says="You treat mean and variance as constants, as they are in evaluation. In training they depend on the whole "
    "batch, and the gradient through them takes off mean(dx̂) and x̂ · mean(dx̂ x̂).",
)
batchnorm_constant_variance = mistake(
    "batchnorm_vjp",
    {BATCH_DX: "dx = (dxhat - dxhat.mean(axis=0)) / std"},
    says=CONSTANT_VARIANCE,
)
batchnorm_constant_mean = mistake(
    "batchnorm_vjp",
    {BATCH_DX: "dx = (dxhat - xhat * (dxhat * xhat).mean(axis=0)) / std"},
    says=CONSTANT_MEAN,
)
batchnorm_sums_for_means = mistake(
    "batchnorm_vjp",
    {BATCH_DX: "dx = (dxhat - dxhat.sum(axis=0) - xhat * (dxhat * xhat).sum(axis=0)) / std"},
    says="The two sums in dx are not divided by n: they are means over the batch.",
)
batchnorm_without_eps = mistake(
    "batchnorm_vjp",
    {COLUMN_STD: "std = np.sqrt(x.var(axis=0))"},
    says=eps_missing("column", "var"),
)
batchnorm_eps_outside_root = mistake(
    "batchnorm_vjp",
    {COLUMN_STD: "std = np.sqrt(x.var(axis=0)) + eps"},
    says=EPS_OUTSIDE_ROOT,
)
batchnorm_unbiased_variance = mistake(
    "batchnorm_vjp",
    {COLUMN_STD: "std = np.sqrt(x.var(axis=0, ddof=1) + eps)"},
    says="The variance is divided by n − 1. Batch normalization divides by n when it normalizes (only the running "
    "variance is unbiased).",
)
batchnorm_without_gamma = mistake(
    "batchnorm_vjp",
    {"dxhat = g * gamma": "dxhat = g"},
    says=GAMMA_MISSING,
)
batchnorm_dgamma_from_x = mistake(
    "batchnorm_vjp",
    {BATCH_PARAMETERS: "dgamma, dbeta = (g * x).sum(axis=0), g.sum(axis=0)"},
    says=DGAMMA_FROM_X,
)
batchnorm_parameters_averaged = mistake(
    "batchnorm_vjp",
    {BATCH_PARAMETERS: "dgamma, dbeta = (g * xhat).mean(axis=0), g.mean(axis=0)"},
    says="The gradients of gamma and beta are averaged over the batch. They are sums: every example adds its own.",
)

batch_root_twice = mistake(
    "batchnorm_vjp",
    {COLUMN_STD: "std = np.sqrt(1 / np.sqrt(x.var(axis=0) + eps) + eps)"},
    says="The reciprocal root was taken twice: what is kept is 1 / std already.",
)
batch_gamma_twice = mistake(
    "batchnorm_vjp",
    {"dxhat = g * gamma": "dxhat = g * gamma * gamma"},
    says="gamma is in dx twice: dx̂ = g · gamma, once.",
)

batch_unbiased_throughout = mistake(
    "batchnorm_vjp",
    {
        COLUMN_STD: "d = max(len(x) - 1, 1)\nstd = np.sqrt(x.var(axis=0) * len(x) / d + eps)",
        BATCH_DX: "dx = (dxhat - dxhat.mean(axis=0) - xhat * (dxhat * xhat).sum(axis=0) / d) / std",
    },
    says="The variance is divided by n − 1, and its gradient as well. Batch normalization divides by n when it "
    "normalizes.",
)
