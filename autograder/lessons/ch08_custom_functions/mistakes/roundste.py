"""Wrong answers to RoundSTE, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch08_custom_functions.mistakes.functions_of_x import SAVE, SAVED

ROUND = "return torch.round(x)"

ste_derivative_of_round = mistake(
    "RoundSTE",
    {"return g": "return torch.zeros_like(g)"},
    says="The gradient is zero: that is the derivative of round, and gradcheck would accept it. Straight through means "
    "that g comes back as it is.",
)
ste_rounds_the_gradient = mistake(
    "RoundSTE",
    {"return g": "return torch.round(g)"},
    says="This rounds the gradient, too. g comes back as it is.",
)
ste_returns_ones = mistake(
    "RoundSTE",
    {"return g": "return torch.ones_like(g)"},
    says="Ones come back, the derivative of x. Multiply: g · 1 = g.",
)
ste_returns_none = mistake(
    "RoundSTE",
    {"return g": "return None"},
    says="backward returns None, so x gets no gradient at all. Return g.",
)
ste_minus = mistake(
    "RoundSTE",
    {"return g": "return -g"},
    says="The sign is wrong: g comes back as it is, not −g.",
)
ClippedSTE = mistake(
    "RoundSTE",
    {ROUND: f"{SAVE}\n{ROUND}", "return g": f"{SAVED}\nreturn g * (x.abs() <= 1)"},
    says="The gradient is clipped: it passes only where |x| ≤ 1. That estimator exists, for signs; this one lets g "
    "through everywhere, and needs no x.",
)
ste_halves_up = mistake(
    "RoundSTE",
    {ROUND: "return torch.floor(x + 0.5)"},
    says="Halves are rounded up here. torch.round goes to the even neighbour.",
)
ste_halves_away_from_zero = mistake(
    "RoundSTE",
    {ROUND: "return torch.sign(x) * torch.floor(x.abs() + 0.5)"},
    says="Halves are rounded away from 0 here. torch.round goes to the even neighbour.",
)
ste_detaches_g = mistake(
    "RoundSTE",
    {"return g": "return g.detach()"},
    says="What backward returns has the value of g and no graph, as g.detach() has, or whatever once_differentiable "
    "lets through: a second derivative through g is lost. Return g itself.",
)
ste_cut_off = mistake(
    "RoundSTE",
    {ROUND: "return torch.trunc(x)"},
    says="This cuts the decimals off. Use torch.round.",
)
ste_rounds_down = mistake(
    "RoundSTE",
    {ROUND: "return torch.floor(x)"},
    says="This rounds down. Use torch.round.",
)
ste_rounds_nothing = mistake(
    "RoundSTE",
    {ROUND: "return x.clone()"},
    says="Nothing is rounded: forward returns x. Only backward is the identity.",
)
ste_saves_its_input = mistake(
    "RoundSTE",
    {ROUND: f"{SAVE}\n{ROUND}"},
    says="x is saved, and backward does not need it: it would stay in memory for nothing.",
)
ste_in_place = mistake(
    "RoundSTE",
    {ROUND: "return x.round_().clone()"},
    says="x itself was rounded, in place, and the caller has lost it. torch.round(x) makes a new tensor.",
)
