"""Wrong answers to max_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch06_vjps.mistakes.reduced_axes import restored_last

WINNERS = "winners = x == x.max(axis=axis, keepdims=True)"
SHARE = "share = winners / winners.sum(axis=axis, keepdims=True)"
MAX = "return (np.expand_dims(g, axis) * share).astype(x.dtype)"

max_full_to_each = mistake(
    "max_vjp",
    {SHARE: "share = winners"},
    says="Every entry of a tie gets all of the gradient, so more comes out than g brought in. Divide by the number of "
    "entries in the tie.",
)
max_first_only = mistake(
    "max_vjp",
    {SHARE: "share = winners & (winners.cumsum(axis=axis) == 1)"},
    says="Only the first entry of a tie gets the gradient, as argmax finds it. Here the entries of a tie share it "
    "equally.",
)
max_near_ties = mistake(
    "max_vjp",
    {WINNERS: "winners = np.isclose(x, x.max(axis=axis, keepdims=True))"},
    says="Entries that are only close to the maximum take part in the tie. Compare with ==: a smaller entry gets "
    "nothing.",
)
max_of_everything = mistake(
    "max_vjp",
    {
        WINNERS: "winners = x == x.max(initial=-np.inf)",
        SHARE: "share = winners / np.maximum(winners.sum(axis=axis, keepdims=True), 1)",
    },
    says="You compare with the largest entry of all of x. Each maximum is taken along the axis: x.max(axis=axis, "
    "keepdims=True).",
)
max_axis_restored_last = mistake(
    "max_vjp",
    {MAX: "return (g[..., None] * share).astype(x.dtype)"},
    says=restored_last("of the maximum"),
)
max_ignores_g = mistake(
    "max_vjp",
    {MAX: "return share.astype(x.dtype)"},
    says="Your gradient marks the winners but does not depend on g. Multiply by g, along the axis.",
)
max_like_sum = mistake(
    "max_vjp",
    {MAX: "return np.broadcast_to(np.expand_dims(g, axis), x.shape).astype(x.dtype)"},
    says="Every entry gets g, as in a sum. Only the largest entry moved the output: the others get 0.",
)
