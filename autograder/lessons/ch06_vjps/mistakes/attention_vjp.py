"""Wrong answers to attention_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.softmax import OVERFLOWS

SCALE = "scale = q.shape[-1] ** -0.5"
SCORES = "scores = scale * (q @ k.swapaxes(-1, -2))"
SEEN = "seen = np.tril(np.ones(scores.shape[-2:], dtype=bool))"
MASKED = "scores = np.where(seen, scores, -np.inf)"
DP = "dp = g @ v.swapaxes(-1, -2)"
DV = "dv = p.swapaxes(-1, -2) @ g"
DSCORES = "dscores = p * (dp - (dp * p).sum(axis=-1, keepdims=True))"
DQ = "dq = scale * (dscores @ k)"
DK = "dk = scale * (dscores.swapaxes(-1, -2) @ q)"
ATTENTION = "return dq.astype(q.dtype), dk.astype(k.dtype), dv.astype(v.dtype)"

attention_without_scale = mistake(
    "attention_vjp",
    {SCALE: "scale = 1.0"},
    says="The scale 1/√d is missing, forward and backward: the scores are q kᵀ / √d.",
)
attention_scale_missing_in_backward = mistake(
    "attention_vjp",
    {DQ: "dq = dscores @ k", DK: "dk = dscores.swapaxes(-1, -2) @ q"},
    says="The scale 1/√d is used going forward but not coming back: dq and dk are multiplied by it too.",
)
attention_scaled_by_d = mistake(
    "attention_vjp", {SCALE: "scale = 1 / q.shape[-1]"}, says="You divide the scores by d. The scale is 1/√d."
)
attention_scaled_by_width_of_v = mistake(
    "attention_vjp",
    {SCALE: "scale = v.shape[-1] ** -0.5"},
    says="The scale takes the width of v. In 1/√d, d is the width of q and k.",
)
attention_softmax_diagonal_only = mistake(
    "attention_vjp",
    {DSCORES: "dscores = dp * p * (1 - p)"},
    says="The softmax's backward is its diagonal only, dp p (1 − p). The probabilities of a row depend on all its "
    "scores: p (dp − Σ dp p).",
)
attention_softmax_not_centered = mistake(
    "attention_vjp",
    {DSCORES: "dscores = dp * p"},
    says="The sum is missing in the softmax's backward: the gradient of the scores is p (dp − Σ dp p), not p dp.",
)
attention_softmax_skipped = mistake(
    "attention_vjp",
    {DSCORES: "dscores = dp"},
    says="The softmax's backward is left out: dp = g vᵀ is the gradient of the probabilities, not yet that of the "
    "scores.",
)
attention_ignores_causal = mistake(
    "attention_vjp",
    {f"if causal:\n    {SEEN}\n    {MASKED}": ""},
    says="causal is ignored: with causal=True query i sees the keys 0 to i only.",
)
attention_mask_upside_down = mistake(
    "attention_vjp",
    {SEEN: "seen = np.triu(np.ones(scores.shape[-2:], dtype=bool))"},
    says="The mask is the wrong way round: query i sees the keys up to i (np.tril), not those from i on (np.triu).",
)
attention_mask_without_diagonal = mistake(
    "attention_vjp",
    {
        SEEN: "seen = np.tril(np.ones(scores.shape[-2:], dtype=bool), k=-1)",
        "p = softmax(scores)": 'with np.errstate(invalid="ignore"):\n    p = softmax(scores)',
    },
    says="The mask hides a query's own position, and from the first query everything. Query i sees key i too.",
)
attention_masked_with_zero = mistake(
    "attention_vjp",
    {MASKED: "scores = np.where(seen, scores, 0)", DQ: f"if causal:\n    dscores = np.where(seen, dscores, 0)\n{DQ}"},
    says="Masked scores are set to 0, and exp(0) is 1: they still get a weight. Set them to -inf before the softmax.",
)
attention_masked_after_softmax = mistake(
    "attention_vjp",
    {
        f"if causal:\n    {SEEN}\n    {MASKED}": "seen = np.tril(np.ones(scores.shape[-2:])) if causal else 1",
        DP: "dp = seen * (g @ v.swapaxes(-1, -2))",
        DV: "dv = (seen * p).swapaxes(-1, -2) @ g",
    },
    says="The mask comes after the softmax, so the weights of a row no longer add up to 1. Set the masked scores to "
    "-inf before the softmax.",
)
attention_mask_missing_in_backward = mistake(
    "attention_vjp",
    {
        SCORES: f"{SCORES}\nunmasked = softmax(scores)",
        DSCORES: "dscores = unmasked * (dp - (dp * unmasked).sum(axis=-1, keepdims=True))",
    },
    says="The mask is used going forward, but the backward pass uses the probabilities without it. A key that was not "
    "seen gets no gradient.",
)
attention_dq_dk_swapped = mistake(
    "attention_vjp",
    {ATTENTION: "return dk.astype(k.dtype), dq.astype(q.dtype), dv.astype(v.dtype)"},
    says="dq and dk are swapped: the order is dq, dk, dv.",
)
attention_dk_not_transposed = mistake(
    "attention_vjp",
    {DK: "dk = scale * (dscores @ q)"},
    says="In dk the gradient of the scores is not transposed: dk = dsᵀ q / √d, one row for each key.",
)
attention_dv_not_transposed = mistake(
    "attention_vjp",
    {DV: "dv = p @ g"},
    says="In dv the probabilities are not transposed: dv = pᵀ g, one row for each key.",
)
attention_softmax_over_queries = mistake(
    "attention_vjp",
    {
        "p = softmax(scores)": "p = softmax(scores, -2)",
        DSCORES: "dscores = p * (dp - (dp * p).sum(axis=-2, keepdims=True))",
    },
    says="The softmax runs over the queries. Each query distributes its weights over the keys: the last axis.",
)
attention_overflows = mistake(
    "attention_vjp",
    OVERFLOWS,
    where="softmax",
    says="exp overflows for large scores, and inf / inf is nan. Subtract each row's maximum before exp.",
)
attention_all_axes_reversed = mistake(
    "attention_vjp",
    {SCORES: "scores = scale * (q @ k.T)", DP: "dp = g @ v.T", DV: "dv = p.T @ g", DK: "dk = scale * (dscores.T @ q)"},
    says=".T reverses all axes, batch and heads included. Transpose only the last two: k.swapaxes(-1, -2) or k.mT.",
)
