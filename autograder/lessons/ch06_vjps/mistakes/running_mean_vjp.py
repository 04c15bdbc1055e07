"""Wrong answers to running_mean_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

SHARES = "shares = np.moveaxis(g, axis, -1) / np.arange(1, x.shape[axis] + 1)"
SUMS = "from_the_end = np.cumsum(shares[..., ::-1], axis=-1)[..., ::-1]"
RETURN = "return np.moveaxis(from_the_end, -1, axis).astype(x.dtype)"

running_mean_of_g = mistake(
    "running_mean_vjp",
    {
        SHARES: "shares = np.moveaxis(g, axis, -1)",
        SUMS: "from_the_end = np.cumsum(shares, axis=-1) / np.arange(1, x.shape[axis] + 1)",
    },
    says="This is the running mean of g: the forward pass once more. Entry j of x is in the means j, j + 1, … to the "
    "last, so its gradient adds up shares of g from j to the end, not from the start to j.",
)
running_mean_sums_from_the_start = mistake(
    "running_mean_vjp",
    {SUMS: "from_the_end = np.cumsum(shares, axis=-1)"},
    says="You add up the shares from the start to j. Entry j of x is in the means j, j + 1, … to the last: add up from "
    "j to the end.",
)
running_mean_divided_last = mistake(
    "running_mean_vjp",
    {
        SHARES: "shares = np.moveaxis(g, axis, -1)",
        SUMS: "from_the_end = np.cumsum(shares[..., ::-1], axis=-1)[..., ::-1] / np.arange(1, x.shape[axis] + 1)",
    },
    says="You sum first and divide the sums. Forward sums and then divides, so backward divides g first and then sums: "
    "each entry of g has the count of its own mean.",
)
running_mean_not_divided = mistake(
    "running_mean_vjp",
    {SHARES: "shares = np.moveaxis(g, axis, -1)"},
    says="This is the VJP of a running sum. Mean i divides by the number of its entries, so the same factor belongs to "
    "g[i].",
)
running_mean_not_turned_back = mistake(
    "running_mean_vjp",
    {SUMS: "from_the_end = np.cumsum(shares[..., ::-1], axis=-1)"},
    says="The sums start at the end, and dx is left in that order. Flip it back along the axis.",
)
running_mean_counts_from_the_end = mistake(
    "running_mean_vjp",
    {SHARES: "shares = np.moveaxis(g, axis, -1) / np.arange(x.shape[axis], 0, -1)"},
    says="The counts run the wrong way: the first mean has one entry and the last has all of them.",
)
running_mean_one_divisor = mistake(
    "running_mean_vjp",
    {SHARES: "shares = np.moveaxis(g, axis, -1) / max(x.shape[axis], 1)"},
    says="You divide all of g by the length of the axis. Mean i has i + 1 entries, counted from 0: each has its own "
    "divisor.",
)
running_mean_without_its_own = mistake(
    "running_mean_vjp",
    {SUMS: "from_the_end = np.cumsum(shares[..., ::-1], axis=-1)[..., ::-1] - shares"},
    says="You leave out the mean that ends at the entry itself. Entry j is in mean j as well as in all later ones.",
)
running_mean_own_share_alone = mistake(
    "running_mean_vjp",
    {SUMS: "from_the_end = shares"},
    says="You give each entry the share of one mean, the one that ends there. It is in every later mean, too: add "
    "their shares.",
)
running_mean_ignores_axis = mistake(
    "running_mean_vjp",
    {
        SHARES: "shares = g / np.arange(1, x.shape[-1] + 1)",
        RETURN: "return from_the_end.astype(x.dtype)",
    },
    says="The means always run along the last axis. Use the argument axis.",
)
running_mean_ignores_g = mistake(
    "running_mean_vjp",
    {SHARES: "shares = np.moveaxis(np.ones_like(g), axis, -1) / np.arange(1, x.shape[axis] + 1)"},
    says="Your gradient does not depend on g. Multiply each share by its entry of g before you sum.",
)
running_mean_dtype_of_g = mistake(
    "running_mean_vjp",
    {RETURN: "return np.moveaxis(from_the_end, -1, axis).astype(g.dtype)"},
    says="dx has the dtype of g. It needs that of x.",
)
