"""Wrong answers to logsumexp_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.reduced_axes import restored_last
from autograder.lessons.ch06_vjps.mistakes.softmax import OVERFLOWS

LOGSUMEXP = "return (np.expand_dims(g, axis) * softmax(x, axis)).astype(x.dtype)"

logsumexp_ignores_g = mistake(
    "logsumexp_vjp",
    {LOGSUMEXP: "return softmax(x, axis).astype(x.dtype)"},
    says="Your gradient is the softmax alone. Multiply it by g, spread along the axis.",
)
logsumexp_axis_restored_last = mistake(
    "logsumexp_vjp",
    {LOGSUMEXP: "return (g[..., None] * softmax(x, axis)).astype(x.dtype)"},
    says=restored_last("that was summed"),
)
logsumexp_ignores_axis = mistake(
    "logsumexp_vjp",
    {LOGSUMEXP: "return (np.expand_dims(g, axis) * softmax(x)).astype(x.dtype)"},
    says="The softmax always runs along the last axis. It must run along the axis that was summed.",
)
logsumexp_overflows = mistake(
    "logsumexp_vjp",
    OVERFLOWS,
    where="softmax",
    says="exp overflows or underflows for large entries, and the quotient is nan. Subtract the maximum along the axis "
    "first.",
)
logsumexp_without_inner_derivative = mistake(
    "logsumexp_vjp",
    {
        LOGSUMEXP: (
            "dx = np.expand_dims(g, axis) / np.exp(x).sum(axis=axis, keepdims=True)\n"
            "return (dx * np.ones_like(x)).astype(x.dtype)"
        )
    },
    says="This is the derivative of the log alone, 1 / Σ exp(x). Multiply by the derivative of exp, which is exp(x): "
    "together they are the softmax.",
)
logsumexp_equal_shares = mistake(
    "logsumexp_vjp",
    {LOGSUMEXP: "return (np.expand_dims(g, axis) * np.ones_like(x) / x.shape[axis]).astype(x.dtype)"},
    says="g is divided among the entries equally. Each entry's share is its softmax: the largest gets most.",
)

logsumexp_as_softmax = mistake(
    "logsumexp_vjp",
    {
        LOGSUMEXP: "p, g = softmax(x, axis), np.expand_dims(g, axis)\n"
        "return (p * (g - (g * p).sum(axis=axis, keepdims=True))).astype(x.dtype)",
    },
    says="This is the rule of softmax, which gives 0 for one g a row. The gradient of logsumexp is the softmax itself: "
    "dx = g p.",
)
