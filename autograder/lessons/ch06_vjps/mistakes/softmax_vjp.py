"""Wrong answers to softmax_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.softmax import OVERFLOWS, SHIFTED

SOFTMAX = "dx = p * (g - (g * p).sum(axis=axis, keepdims=True))"

softmax_diagonal_only = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = g * p * (1 - p)"},
    says="This is the diagonal of the Jacobian only, g p (1 − p). Raising one entry lowers the probability of all "
    "others, and what that does to the loss is missing.",
)
softmax_not_centered = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = g * p"},
    says="The normalization is left out: g p is right for a numerator alone. Every entry changes the sum that all of "
    "them are divided by.",
)
softmax_plain_mean = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = p * (g - g.mean(axis=axis, keepdims=True))"},
    says="You take the plain mean off g. It is the mean weighted by p that counts: Σ g p.",
)
softmax_sum_over_everything = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = p * (g - (g * p).sum())"},
    says="Σ g p runs over all of the array. Each row has its own sum: use the axis, with keepdims=True.",
)
softmax_ignores_axis = mistake(
    "softmax_vjp",
    {"p = softmax(x, axis)": "p = softmax(x)", SOFTMAX: "dx = p * (g - (g * p).sum(axis=-1, keepdims=True))"},
    says="The softmax and its sum always run along the last axis. Use the argument axis.",
)
softmax_sum_along_last_axis = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = p * (g - (g * p).sum(axis=-1, keepdims=True))"},
    says="The softmax runs along axis, but Σ g p always along the last one. Both need the same axis.",
)
softmax_sum_along_first_axis = mistake(
    "softmax_vjp",
    {SOFTMAX: "dx = p * (g - (g * p).sum(axis=0, keepdims=True))"},
    says="The softmax runs along axis, but Σ g p always along axis 0. Both need the same axis.",
)
softmax_overflows = mistake(
    "softmax_vjp",
    OVERFLOWS,
    where="softmax",
    says="exp overflows for large entries, and inf / inf is nan. Subtract the maximum along the axis first: the "
    "softmax stays the same.",
)
softmax_global_maximum = mistake(
    "softmax_vjp",
    {SHIFTED: "e = np.exp(x - x.max(initial=-np.inf))"},
    where="softmax",
    says="Only the largest entry of the whole array is subtracted. A row far below it then underflows to 0 / 0: "
    "subtract the maximum along the axis.",
)

softmax_last_of_the_row = mistake(
    "softmax_vjp",
    {
        SOFTMAX: """\
s, n = np.moveaxis(p, axis, -1), p.shape[axis]
rows = np.zeros_like(s)
for i in range(n):
    for j in range(n):
        rows[..., i] = s[..., i] * (1 - s[..., i]) if i == j else -s[..., i] * s[..., j]
dx = g * np.moveaxis(rows, -1, axis)"""
    },
    says="Each entry of the Jacobian's row replaces the one before: only the last one is left. dx is the sum over the "
    "row, each entry times its own g: p (g − Σ g p).",
)
