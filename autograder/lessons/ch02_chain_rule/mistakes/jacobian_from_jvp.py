"""Wrong answers to jacobian_from_jvp, with what is said of them."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch02_chain_rule.mistakes.jacobians import ONE_AT_A_TIME

COLUMNS = "columns = [jvp(e) for e in np.eye(n_in)]"

columns_as_rows = mistake(
    "jacobian_from_jvp",
    {"return np.stack(columns, axis=1)": "return np.stack(columns)"},
    says="The Jacobian is transposed. A JVP with a basis vector is a column: stack them along axis 1.",
)


@misconception(
    "jacobian_from_jvp",
    says="One call too many, to learn the number of outputs. Collect the columns in a list and stack them: each "
    "column has that length.",
)
def jvp_called_for_the_shape(jvp, n_in):
    J = np.zeros((len(jvp(np.zeros(n_in))), n_in))
    for j, e in enumerate(np.eye(n_in)):
        J[:, j] = jvp(e)
    return J


columns_in_one_row = mistake(
    "jacobian_from_jvp",
    {"return np.stack(columns, axis=1)": "return np.concatenate(columns)"},
    says="The columns stand one after the other, on one axis: np.hstack and np.concatenate add no axis. "
    "np.stack(columns, axis=1) sets them side by side.",
)

jvp_with_ones = mistake(
    "jacobian_from_jvp",
    {COLUMNS: "columns = [jvp(np.ones(n_in)) for _ in range(n_in)]"},
    says=f"A JVP with all ones is the sum of the columns. {ONE_AT_A_TIME}",
)

columns_add_up = mistake(
    "jacobian_from_jvp",
    {
        COLUMNS: """
e, columns = np.zeros(n_in), []
for j in range(n_in):
    e[j] = 1
    columns.append(jvp(e.copy()))
"""
    },
    says="The 1 of the last basis vector is still there when the next one is set, so the columns add up. Start each "
    "vector from zeros.",
)

differences_of_jvps = mistake(
    "jacobian_from_jvp",
    {COLUMNS: "columns = [(jvp(e) - jvp(-e)) / 2 for e in np.eye(n_in)]"},
    says="A JVP is linear: it needs no differences. jvp(e) alone is the column, in half the calls.",
)
