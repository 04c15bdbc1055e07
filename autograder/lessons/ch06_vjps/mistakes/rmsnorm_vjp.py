"""Wrong answers to rmsnorm_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.normalisation import DGAMMA_FROM_X, GAMMA_MISSING, eps_missing

RMS = "rms = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)"
RMS_DX = "dx = (dxhat - xhat * (dxhat * xhat).mean(axis=-1, keepdims=True)) / rms"
RMS_DX_WITH_MEAN = f"{RMS_DX}\ndx -= dxhat.mean(axis=-1, keepdims=True) / rms"
RMS_DGAMMA = "dgamma = (g * xhat).sum(axis=tuple(range(x.ndim - 1)))"

rmsnorm_constant_scale = mistake(
    "rmsnorm_vjp",
    {RMS_DX: "dx = dxhat / rms"},
    says="You treat the root mean square as a constant. It depends on every entry of the row, and the gradient "
    "through it takes off x̂ · mean(dx̂ x̂).",
)
rmsnorm_like_layernorm = mistake(
    "rmsnorm_vjp",
    {
        RMS: "rms = np.sqrt(x.var(axis=-1, keepdims=True) + eps)",
        "xhat = x / rms": "xhat = (x - x.mean(axis=-1, keepdims=True)) / rms",
        RMS_DX: RMS_DX_WITH_MEAN,
    },
    says="This takes off the mean as layer normalization does. RMS normalization does not center: x̂ = x / "
    "sqrt(mean(x²) + eps), and dx has no term mean(dx̂).",
)
rmsnorm_mean_term = mistake(
    "rmsnorm_vjp",
    {RMS_DX: RMS_DX_WITH_MEAN},
    says="dx has the term mean(dx̂) of layer normalization. RMS normalization takes off no mean: leave the term out.",
)
rmsnorm_sum_for_mean = mistake(
    "rmsnorm_vjp",
    {RMS_DX: "dx = (dxhat - xhat * (dxhat * xhat).sum(axis=-1, keepdims=True)) / rms"},
    says="The sum in dx is not divided by d: it is a mean over the row.",
)
rmsnorm_without_eps = mistake(
    "rmsnorm_vjp",
    {RMS: "rms = np.sqrt((x**2).mean(axis=-1, keepdims=True))"},
    says=eps_missing("row", "mean(x²)"),
)
rmsnorm_eps_outside_root = mistake(
    "rmsnorm_vjp",
    {RMS: "rms = np.sqrt((x**2).mean(axis=-1, keepdims=True)) + eps"},
    says="eps is added to the root. It belongs under it: sqrt(mean(x²) + eps).",
)
rmsnorm_without_gamma = mistake(
    "rmsnorm_vjp",
    {"dxhat = g * gamma": "dxhat = g"},
    says=GAMMA_MISSING,
)
rmsnorm_dgamma_not_summed = mistake(
    "rmsnorm_vjp",
    {RMS_DGAMMA: "dgamma = g * xhat"},
    says="dgamma is not summed. Every row uses the same gamma: sum over all leading axes.",
)
rmsnorm_first_axis_only = mistake(
    "rmsnorm_vjp",
    {RMS_DGAMMA: "dgamma = (g * xhat).sum(axis=0)"},
    says="dgamma is summed over the first axis only. Sum over all axes but the last, however many there are.",
)
rmsnorm_dgamma_from_x = mistake(
    "rmsnorm_vjp",
    {RMS_DGAMMA: "dgamma = (g * x).sum(axis=tuple(range(x.ndim - 1)))"},
    says=DGAMMA_FROM_X,
)

rms_row_term_along_columns = mistake(
    "rmsnorm_vjp",
    {RMS_DX: RMS_DX.replace("(dxhat * xhat).mean(axis=-1, keepdims=True)", "(dxhat * xhat).mean(axis=-1)")},
    says="The mean of dx̂ x̂ has lost its axis and goes along the columns. It is one number for each row: keepdims=True.",
)
rms_gamma_twice = mistake(
    "rmsnorm_vjp",
    {"dxhat = g * gamma": "dxhat = g * gamma * gamma"},
    says="gamma is in dx twice: dx̂ = g · gamma, once.",
)
rms_root_twice = mistake(
    "rmsnorm_vjp",
    {RMS: "rms = np.sqrt(1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) + eps)"},
    says="The reciprocal root was taken twice: what is kept is 1 / rms already.",
)
rmsnorm_xhat_from_y = mistake(
    "rmsnorm_vjp",
    {"xhat = x / rms": "y = gamma * x / rms\nxhat = y / gamma"},
    says="x̂ is computed from the output, as y / gamma. That is 0 / 0 where gamma is 0: compute it from x.",
)
