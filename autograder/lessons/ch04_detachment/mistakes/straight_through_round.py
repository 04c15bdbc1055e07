"""Wrong answers to straight_through_round, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

ROUNDS = "return x + (torch.round(x) - x).detach()"

derivative_of_round = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x)"},
    says="The gradient is zero: round is flat, and its derivative is still in the graph. Detach what rounding "
    "changed, round(x) − x, and add it to x.",
)

detached_as_a_whole = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x).detach()"},
    says="The result is detached as a whole, so x gets no gradient at all. One x has to stay outside of the detach.",
)

a_fresh_leaf = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x).detach().requires_grad_()"},
    says="The result is a new leaf: its gradient is kept there and never reaches x. Build it from x by operations.",
)

detached_the_wrong_term = mistake(
    "straight_through_round",
    {ROUNDS: "return x.detach() + (torch.round(x) - x)"},
    says="The gradient is −g: the wrong term was detached. x itself must keep its graph; the difference round(x) − x "
    "must not.",
)

round_and_x_swapped = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x) + (x - torch.round(x)).detach()"},
    says="round(x) and x are swapped: the values are those of x, and the gradient is that of round, zero. x stays "
    "outside, and round(x) − x is detached.",
)

x_not_taken_off = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x).detach() + x"},
    says="The values are round(x) + x. Subtract the x that carries the gradient again, detached.",
)

sum_before_the_difference = mistake(
    "straight_through_round",
    {ROUNDS: "return torch.round(x).detach() + x - x.detach()"},
    says="The order of the terms costs the last bits: round(x) + x is rounded itself, so what is left after − x is "
    "not quite whole. Take the difference round(x) − x first; it is exact.",
)

rounded_in_place = mistake(
    "straight_through_round",
    {ROUNDS: "with torch.no_grad():\n    x.round_()\nreturn x"},
    says="x itself was rounded, in place. The result looks right, and the caller has lost x: return a new tensor.",
)

halves_up = mistake(
    "straight_through_round",
    {ROUNDS: "return x + (torch.floor(x + 0.5) - x).detach()"},
    says="Halves are rounded up here. torch.round goes to the even neighbour: 0.5 to 0, 1.5 to 2, 2.5 to 2.",
)

cut_off = mistake(
    "straight_through_round",
    {ROUNDS: "return x + (torch.trunc(x) - x).detach()"},
    says="This cuts the decimals off. torch.round goes to the nearest whole number.",
)

always_requires_grad = mistake(
    "straight_through_round",
    {ROUNDS: "y = x + (torch.round(x) - x).detach()\nreturn y if y.requires_grad else y.requires_grad_()"},
    says="The result requires a gradient although x did not. Leave requires_grad to the operations: it follows x.",
)
