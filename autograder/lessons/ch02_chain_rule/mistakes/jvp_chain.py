"""Wrong answers to jvp_chain, with what is said of them."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch02_chain_rule.mistakes.chains import A_VECTOR_OUT, MATRICES_FIRST, RETURN_ENDS_THE_LOOP


@misconception("jvp_chain", says=MATRICES_FIRST)
def jvp_matrices_first(Ws, v):
    J = np.eye(len(v)) if not Ws else Ws[0]
    for W in Ws[1:]:
        J = W @ J
    return J @ v


@misconception(
    "jvp_chain",
    says="The Jacobian is built column by column, by one JVP for each basis vector, and then multiplied by v. A "
    "single JVP with v itself is all you need.",
)
def jvp_from_the_jacobian(Ws, v):
    columns = []
    for e in np.eye(len(v)):
        for W in Ws:
            e = W @ e
        columns.append(e)
    return np.stack(columns, axis=1) @ v


jvp_in_reverse_order = mistake(
    "jvp_chain",
    {"for W in Ws:": "for W in reversed(Ws):"},
    says="The last matrix comes first in your loop. W_1 stands next to x, so v meets it first.",
)

jvp_is_the_vjp = mistake(
    "jvp_chain",
    {"for W in Ws:": "for W in reversed(Ws):", "v = W @ v": "v = W.T @ v"},
    says="This is the VJP: it starts at the output's end, with transposes. A JVP starts at the input's end: v = W @ v.",
)

jvp_transposed = mistake(
    "jvp_chain",
    {"v = W @ v": "v = W.T @ v"},
    says="The matrices are transposed. A JVP multiplies by W itself: v = W @ v.",
)

jvp_not_passed_on = mistake(
    "jvp_chain",
    {"v = W @ v": "y = W @ v", "return v": "return y if Ws else v"},
    says="Every matrix meets the original v, and only the last product is kept. Each product is the next one's vector: "
    "v = W @ v.",
)

jvp_returned_in_the_loop = mistake(
    "jvp_chain",
    {"v = W @ v": "return W @ v", "return v": ""},
    says=f"Only the first matrix is used: {RETURN_ENDS_THE_LOOP}",
)

jvp_without_the_last = mistake(
    "jvp_chain",
    {"for W in Ws:": "for W in Ws[:-1]:"},
    says="The last matrix of the chain is left out.",
)

jvp_as_a_column = mistake(
    "jvp_chain",
    {"for W in Ws:": "v = v.reshape(-1, 1)\nfor W in Ws:"},
    says=f"The result is a column of shape (n, 1). {A_VECTOR_OUT}",
)
