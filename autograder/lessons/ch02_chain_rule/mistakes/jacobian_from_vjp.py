"""Wrong answers to jacobian_from_vjp, with what is said of them."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch02_chain_rule.mistakes.jacobians import ONE_AT_A_TIME

ROWS = "rows = [vjp(e) for e in np.eye(n_out)]"

rows_as_columns = mistake(
    "jacobian_from_vjp",
    {"return np.stack(rows)": "return np.stack(rows, axis=1)"},
    says="The Jacobian is transposed. A VJP with a basis vector is a row: stack them along axis 0.",
)


@misconception(
    "jacobian_from_vjp",
    says="One call too many, to learn the number of inputs. Collect the rows in a list and stack them: each row has "
    "that length.",
)
def vjp_called_for_the_shape(vjp, n_out):
    J = np.zeros((n_out, len(vjp(np.zeros(n_out)))))
    for i, e in enumerate(np.eye(n_out)):
        J[i] = vjp(e)
    return J


rows_in_one_row = mistake(
    "jacobian_from_vjp",
    {"return np.stack(rows)": "return np.concatenate(rows)"},
    says="The rows stand one after the other, on one axis: np.hstack and np.concatenate add no axis. np.stack(rows) "
    "sets them below each other.",
)

vjp_with_ones = mistake(
    "jacobian_from_vjp",
    {ROWS: "rows = [vjp(np.ones(n_out)) for _ in range(n_out)]"},
    says=f"A VJP with all ones is the sum of the rows. {ONE_AT_A_TIME}",
)

rows_add_up = mistake(
    "jacobian_from_vjp",
    {
        ROWS: """
u, rows = np.zeros(n_out), []
for i in range(n_out):
    u[i] = 1
    rows.append(vjp(u.copy()))
"""
    },
    says="The 1 of the last basis vector is still there when the next one is set, so the rows add up. Start each "
    "vector from zeros.",
)

differences_of_vjps = mistake(
    "jacobian_from_vjp",
    {ROWS: "rows = [(vjp(e) - vjp(-e)) / 2 for e in np.eye(n_out)]"},
    says="A VJP is linear: it needs no differences. vjp(e) alone is the row, in half the calls.",
)
