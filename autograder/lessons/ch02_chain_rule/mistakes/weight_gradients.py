"""Wrong answers to weight_gradients, with what is said of them."""

from __future__ import annotations

import numpy as np

from autograder.diagnosis import misconception, mistake

OUTER = "gradients.append(np.outer(u, h))"
BACK = "u = W.T @ u"
ENTERED = "entered.append(x)"
FORWARD = "x = W @ x"
LOOP = "for W, h in zip(reversed(Ws), reversed(entered), strict=True):"

weights_transposed = mistake(
    "weight_gradients",
    {OUTER: "gradients.append(np.outer(h, u))"},
    says="Each gradient is transposed. A row of W belongs to one of its outputs, so row a of the gradient has the "
    "factor u[a].",
)

weights_from_what_leaves = mistake(
    "weight_gradients",
    {ENTERED: FORWARD, FORWARD: ENTERED},
    says="You use the vector that leaves W. Entry (a, b) of W multiplies entry b of the vector that enters it: keep x "
    "before you multiply.",
)

weights_after_the_step_back = mistake(
    "weight_gradients",
    {OUTER: BACK, BACK: OUTER},
    says="u has already passed through W when you use it. W's gradient needs the gradient at W's output: use u first, "
    "then multiply it by W.",
)

weights_from_x_alone = mistake(
    "weight_gradients",
    {ENTERED: "entered.append(entered[0] if entered else x)"},
    says="Every gradient is computed with the x at the chain's start. Each W meets the vector that reaches it: keep "
    "one for each.",
)

weights_from_u_alone = mistake(
    "weight_gradients",
    {BACK: "pass"},
    says="Every gradient is computed with the u at the chain's end. Before the next matrix, carry u back through this "
    "one: u = W.T @ u.",
)

weights_last_first = mistake(
    "weight_gradients",
    {"return gradients[::-1]": "return gradients"},
    says="The last matrix's gradient comes first. The walk back finds them in this order: turn the list around at the "
    "end.",
)

weights_not_transposed_on_the_way = mistake(
    "weight_gradients",
    {BACK: "u = W @ u"},
    says="On the way back the transpose is missing: u on the left of W is W.T @ u, or u @ W.",
)

weights_in_forward_order = mistake(
    "weight_gradients",
    {
        LOOP: "for W, h in zip(Ws, entered, strict=True):",
        "return gradients[::-1]": "return gradients",
    },
    says="Your second loop begins at the first matrix. u belongs to the output: begin with the last matrix, and walk "
    "back.",
)

weights_pair_the_wrong_ends = mistake(
    "weight_gradients",
    {LOOP: "for W, h in zip(reversed(Ws), entered, strict=True):"},
    says="The matrices come from the last to the first, the vectors that entered them from the first to the last. "
    "Reverse both.",
)

weights_reverse_the_list = mistake(
    "weight_gradients",
    {LOOP: "Ws.reverse()\nfor W, h in zip(Ws, reversed(entered), strict=True):"},
    says="The list is the caller's: Ws.reverse() turns it around. reversed(Ws) leaves it as it is.",
)


@misconception(
    "weight_gradients",
    says="For every W you walk back from the output again, so W_k is multiplied k times. One walk back passes all of "
    "them: note each W's gradient when the walk reaches it.",
)
def weights_one_walk_each(Ws, x, u):
    entered = []
    for W in Ws:
        entered.append(x)
        x = W @ x
    gradients = []
    for i, h in enumerate(entered):
        g = u
        for W in reversed(Ws[i + 1 :]):
            g = W.T @ g
        gradients.append(np.outer(g, h))
    return gradients


@misconception(
    "weight_gradients",
    says="For every W you run the chain forward from x again. One run passes all of them: keep the vector that enters "
    "each W.",
)
def weights_run_again(Ws, x, u):
    gradients = []
    for i in reversed(range(len(Ws))):
        h = x
        for W in Ws[:i]:
            h = W @ h
        gradients.append(np.outer(u, h))
        u = Ws[i].T @ u
    return gradients[::-1]


@misconception(
    "weight_gradients",
    says="You multiply matrices with each other on the way. Carry u through them instead, one matrix at a time.",
)
def weights_matrices_first(Ws, x, u):
    entered = []
    for W in Ws:
        entered.append(x)
        x = W @ x
    gradients = []
    J = np.eye(len(u))
    for W, h in zip(reversed(Ws), reversed(entered), strict=True):
        gradients.append(np.outer(u @ J, h))
        J = J @ W
    return gradients[::-1]
