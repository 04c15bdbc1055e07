"""Wrong answers to vjp_chain, with what is said of them."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake
from autograder.lessons.ch02_chain_rule.mistakes.chains import A_VECTOR_OUT, MATRICES_FIRST, RETURN_ENDS_THE_LOOP

CALLERS_LIST = (
    "The list is the caller's: Ws.reverse() turns it around, and Ws.pop() takes from it. reversed(Ws) leaves it as it "
    "is."
)


@misconception("vjp_chain", says=MATRICES_FIRST)
def vjp_matrices_first(Ws, u):
    J = np.eye(len(u)) if not Ws else Ws[0]
    for W in Ws[1:]:
        J = W @ J
    return u @ J


@misconception(
    "vjp_chain",
    says="The Jacobian is built row by row, by one VJP for each basis vector, and then multiplied by u. A single VJP "
    "with u itself is all you need.",
)
def vjp_from_the_jacobian(Ws, u):
    rows = []
    for e in np.eye(len(u)):
        for W in reversed(Ws):
            e = W.T @ e
        rows.append(e)
    return u @ np.stack(rows)


vjp_in_forward_order = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "for W in Ws:"},
    says="The first matrix comes first in your loop. u stands at the output's end, next to W_k: begin there.",
)

vjp_not_transposed = mistake(
    "vjp_chain",
    {"u = W.T @ u": "u = W @ u"},
    says="The order is right, but the transpose is missing. u on the left of W is W.T @ u, or u @ W.",
)

vjp_is_the_jvp = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "for W in Ws:", "u = W.T @ u": "u = W @ u"},
    says="This is the JVP: it starts at the input's end. A VJP starts at the output's end: u @ W_k first.",
)

vjp_not_passed_on = mistake(
    "vjp_chain",
    {"u = W.T @ u": "y = W.T @ u", "return u": "return y if Ws else u"},
    says="Every matrix meets the original u, and only the last product is kept. Each product is the next one's vector: "
    "u = W.T @ u.",
)

vjp_returned_in_the_loop = mistake(
    "vjp_chain",
    {"u = W.T @ u": "return W.T @ u", "return u": ""},
    says=f"Only the last matrix is used: {RETURN_ENDS_THE_LOOP}",
)

vjp_without_the_first = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "for W in reversed(Ws[1:]):"},
    says="The first matrix of the chain, W_1, is left out.",
)

vjp_reverses_the_list = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "Ws.reverse()\nfor W in Ws:"},
    says=CALLERS_LIST,
)

vjp_empties_the_list = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "while Ws:", "u = W.T @ u": "u = Ws.pop().T @ u"},
    says=CALLERS_LIST,
)

vjp_as_a_row = mistake(
    "vjp_chain",
    {"for W in reversed(Ws):": "u = u.reshape(1, -1)\nfor W in reversed(Ws):", "u = W.T @ u": "u = u @ W"},
    says=f"The result is a row of shape (1, n). {A_VECTOR_OUT}",
)
