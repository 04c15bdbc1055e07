"""Wrong answers to embedding_vjp, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

ZEROS = "dtable = np.zeros_like(table)"
ADDED = "np.add.at(dtable, ids, g)"

embedding_assigned = mistake(
    "embedding_vjp",
    {ADDED: "dtable[ids] = g"},
    says="dtable[ids] = g, and dtable[ids] += g as well, count a repeated id only once. Its gradients must add up: "
    "np.add.at(dtable, ids, g).",
)
embedding_averaged = mistake(
    "embedding_vjp",
    {
        "return dtable": (
            "count = np.bincount(ids.ravel(), minlength=len(table))\n"
            "return (dtable / np.maximum(count, 1)[:, None]).astype(table.dtype)"
        )
    },
    says="The gradients of a repeated id are averaged. Every use of a row adds its gradient: do not divide by the "
    "count.",
)
embedding_loop_over_first_axis = mistake(
    "embedding_vjp",
    {ADDED: "for row, index in zip(g, ids, strict=True):\n    dtable[index] += row"},
    says="You loop over the first axis of ids only. A row of ids is then an index array, whose repeated ids count "
    "once, and a 0-d array has no first axis. Flatten ids, and g with them, or use np.add.at.",
)
embedding_added_to_table = mistake(
    "embedding_vjp",
    {ZEROS: "dtable = table.copy()"},
    says="The gradients are added to the table itself. Start from zeros: the gradient does not depend on the table's "
    "values.",
)
embedding_returns_g = mistake(
    "embedding_vjp",
    {"return dtable": "return g.astype(table.dtype)"},
    says="You return the gradient of the rows that were looked up. The gradient of the table has the table's shape: "
    "add each row of g to the row of its id, in an array of zeros.",
)
embedding_always_float64 = mistake(
    "embedding_vjp",
    {ZEROS: "dtable = np.zeros(table.shape)"},
    says="The array of zeros is float64 whatever the table is. np.zeros_like(table) has its shape and its dtype.",
)
