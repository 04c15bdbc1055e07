"""Wrong answers to maxpool2d_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

PASSED = "dx[entry] = np.where(first, g, 0)"
CLAIMED = "unclaimed &= ~first"

pool_ties_to_all = mistake(
    "maxpool2d_vjp",
    {CLAIMED: ""},
    says="Every entry of a tie gets all of the gradient. Only the first one in row order gets it.",
)
pool_ties_shared = mistake(
    "maxpool2d_vjp",
    {
        "y = inside.reshape(n, c, rows, size, cols, size).max(axis=(3, 5))": (
            "windows = inside.reshape(n, c, rows, size, cols, size)\n"
            "y = windows.max(axis=(3, 5))\n"
            "ties = (windows == y[:, :, :, None, :, None]).sum(axis=(3, 5))"
        ),
        PASSED: "dx[entry] = np.where(first, g / ties, 0)",
        CLAIMED: "",
    },
    says="The entries of a tie share the gradient, as in max_vjp. Here the first one in row order gets all of it.",
)
pool_ties_to_last = mistake(
    "maxpool2d_vjp",
    {
        "for i in range(size):": "for i in reversed(range(size)):",
        "for j in range(size):": "for j in reversed(range(size)):",
    },
    says="In a tie the last entry gets the gradient. It goes to the first one in row order.",
)
pool_ties_in_column_order = mistake(
    "maxpool2d_vjp",
    {"for i in range(size):\n    for j in range(size):": "for j in range(size):\n    for i in range(size):"},
    says="In a tie the window is searched column by column. Row order comes first: (0, 1) before (1, 0).",
)
pool_ignores_g = mistake(
    "maxpool2d_vjp",
    {PASSED: "dx[entry] = first"},
    says="Your gradient marks the winners but does not depend on g. Multiply by g.",
)
pool_like_average = mistake(
    "maxpool2d_vjp",
    {PASSED: "dx[entry] = g / size**2"},
    says="Every entry of a window gets an equal share, as in average pooling. Only the largest entry gets the "
    "gradient.",
)
pool_without_leftovers = mistake(
    "maxpool2d_vjp",
    {"inside = x[:, :, : rows * size, : cols * size]": "inside = x"},
    says="x is cut into windows as if they filled it. Drop the rows and columns left over first: x[:, :, :rows * "
    "size, :cols * size]; their gradient is 0.",
)
pool_leftovers_missing = mistake(
    "maxpool2d_vjp",
    {"dx = np.zeros_like(x)": "dx = np.zeros_like(inside)"},
    says="dx lacks the rows and columns that filled no window. It has the shape of x: their gradient is 0.",
)

pool_first_window_alone = mistake(
    "maxpool2d_vjp",
    {"return dx": "dx[:, :, size:] = 0\nreturn dx"},
    says="Only the first windows have a gradient: `return` stands inside the loop, which ends after one round.",
)
