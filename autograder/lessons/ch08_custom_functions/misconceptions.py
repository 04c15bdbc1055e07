"""Wrong answers to ch08_custom_functions that learners write."""

from __future__ import annotations

from autograder.diagnosis import mistake

# What several of the classes have in common


SAVE = "ctx.save_for_backward(x)"
SAVED = "(x,) = ctx.saved_tensors"

DETACHED = {SAVED: f"{SAVED}\nx = x.detach()"}
ONLY_ONCE = {"def backward(ctx, g):": "@torch.autograd.function.once_differentiable\ndef backward(ctx, g):"}
AN_ATTRIBUTE = {SAVE: "ctx.x = x", SAVED: "x = ctx.x"}


def _on_the_class(exercise):
    """Edits: x is kept there."""
    return {SAVE: f"{exercise}.x = x", SAVED: f"x = {exercise}.x"}


SAYS_G_IS_MISSING = "g is missing: multiply the derivative by the upstream g."
SAYS_NOTHING_RETURNED = "backward computes the gradient and does not return it: without `return` it gives None."
SAYS_RIGHT_ONCE = "The first derivative is right, and the second one wrong without a word:"
SAYS_DETACHED = (
    f"{SAYS_RIGHT_ONCE} detached, or read from .data, x is a constant to the double backward. Compute with the saved x "
    "as it is: it has its graph."
)
SAYS_ONLY_ONCE = (
    "@once_differentiable forbids the double backward. It is asked for here, and needs nothing more than tensor "
    "operations on x and g."
)
SAYS_AN_ATTRIBUTE = (
    "x is kept as ctx.x. Then autograd cannot tell when x is changed in place before the backward pass. "
    "ctx.save_for_backward(x) watches it."
)
SAYS_ON_THE_CLASS = (
    "x is kept on the class, so the next call of apply overwrites it. Each call has a ctx of its own: "
    "ctx.save_for_backward(x)."
)


# Square


SQUARE = "return x * x"
SQUARE_RULE = "return 2 * x * g"

square_without_g = mistake(
    "Square",
    {SQUARE_RULE: "return 2 * x"},
    says="g is missing: this is dy/dx. What comes back is 2x times the upstream g.",
)
square_without_the_two = mistake(
    "Square",
    {SQUARE_RULE: "return x * g"},
    says="The factor 2 is missing: x² = x · x, and each of the two x has its share.",
)
square_times_itself = mistake(
    "Square",
    {SQUARE_RULE: "return x * x * g"},
    says="g is multiplied by x², the function itself. Its derivative is 2x.",
)
square_lets_g_through = mistake(
    "Square",
    {f"{SAVED}\n{SQUARE_RULE}": "return g"},
    says="g comes back as it is, as if y were x. Multiply it by dy/dx, 2x.",
)
square_returns_the_derivative = mistake(
    "Square",
    {SQUARE: "return 2 * x"},
    says="forward returns 2x, the derivative. It computes x².",
)
square_returns_no_gradient = mistake("Square", {SQUARE_RULE: "2 * x * g"}, says=SAYS_NOTHING_RETURNED)
square_of_a_detached_input = mistake("Square", DETACHED, says=SAYS_DETACHED)
SquareSavesTheDerivative = mistake(
    "Square",
    {SAVE: "ctx.save_for_backward(2 * x)", SAVED: "(slope,) = ctx.saved_tensors", SQUARE_RULE: "return slope * g"},
    says=f"{SAYS_RIGHT_ONCE} what is saved was made in forward (2x, or a copy of x). Nothing is recorded there, so the "
    "double backward takes it for a constant. Save x itself.",
)
square_backward_in_numpy = mistake(
    "Square",
    {SQUARE_RULE: "return torch.tensor(2 * x.detach().numpy() * g.detach().numpy())"},
    says="backward leaves autograd: in NumPy, or under no_grad, nothing is recorded, and the gradient cannot be "
    "differentiated again. Write it with tensor operations.",
)
square_backward_from_numpy = mistake(
    "Square",
    {SQUARE_RULE: "return torch.from_numpy(2 * x.detach().numpy() * g.detach().numpy())"},
    says="backward leaves autograd: what NumPy computes is not recorded, and the gradient cannot be differentiated "
    "again. Write it with tensor operations, which take 0-d tensors, too.",
)
SquareSavesTheSquare = mistake(
    "Square",
    {
        SAVE: "y = x * x\nctx.save_for_backward(y)",
        SQUARE: "return y",
        SAVED: "(y,) = ctx.saved_tensors",
        SQUARE_RULE: "return 2 * torch.sqrt(y) * g",
    },
    says="The root of what was saved, x², is |x|: the sign of x is lost. And x² is a constant to the double backward, "
    "because forward computed it. Save x itself.",
)
square_only_once = mistake("Square", ONLY_ONCE, says=SAYS_ONLY_ONCE)
SquareKeepsAnAttribute = mistake("Square", AN_ATTRIBUTE, says=SAYS_AN_ATTRIBUTE)
SquareKeepsItOnTheClass = mistake("Square", _on_the_class("Square"), says=SAYS_ON_THE_CLASS)
SquareSavesTheResult = mistake(
    "Square",
    {
        SAVE: "y = x * x\nctx.save_for_backward(x, y)",
        SQUARE: "return y",
        SAVED: "x, _ = ctx.saved_tensors",
    },
    says="The result is saved as well, and backward does not need it. It would stay in memory until the backward pass.",
)
square_writes_into_g = mistake(
    "Square",
    {SQUARE_RULE: "with torch.no_grad():\n    g.mul_(2 * x)\nreturn g"},
    says="backward writes into g, which belongs to autograd: others may still read it. Return a new tensor.",
)


# GELU


GELU = "return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))"
CDF = "cdf = 0.5 * (1 + torch.erf(x / math.sqrt(2)))"
PDF = "pdf = torch.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)"
GELU_RULE = "return g * (cdf + x * pdf)"

U = "u = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)"
BY_TANH = "return 0.5 * x * (1 + torch.tanh(u))"
T = "t = torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))"
DU = "du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)"
TANH_RULE = "return g * 0.5 * (1 + t + x * (1 - t**2) * du)"

FORWARD_BY_TANH = {GELU: f"{U}\n{BY_TANH}"}
BACKWARD_OF_TANH = {CDF: T, PDF: DU, GELU_RULE: TANH_RULE}
FORWARD_WITHOUT_THE_ROOT = {GELU: "return 0.5 * x * (1 + torch.erf(x))"}
CDF_WITHOUT_THE_ROOT = {CDF: "cdf = 0.5 * (1 + torch.erf(x))"}
SAVES_THE_DISTRIBUTION = {SAVE: f"{CDF}\nctx.save_for_backward(x, cdf)", GELU: "return x * cdf"}

gelu_without_g = mistake("GELU", {GELU_RULE: "return cdf + x * pdf"}, says=SAYS_G_IS_MISSING)
gelu_returns_no_gradient = mistake("GELU", {GELU_RULE: "g * (cdf + x * pdf)"}, says=SAYS_NOTHING_RETURNED)
gelu_forward_without_the_half = mistake(
    "GELU",
    {GELU: "return x * (1 + torch.erf(x / math.sqrt(2)))"},
    says="forward lacks the ½: Φ(x) = ½ (1 + erf(x / √2)). backward has it.",
)
gelu_first_term_only = mistake(
    "GELU",
    {GELU_RULE: "return g * cdf"},
    says="Half of the product rule: x stands inside Φ, too. (x Φ(x))′ = Φ(x) + x φ(x).",
)
gelu_second_term_only = mistake(
    "GELU",
    {GELU_RULE: "return g * x * pdf"},
    says="Half of the product rule: the factor x has a derivative, too, and that term is Φ(x).",
)
gelu_density_without_x = mistake(
    "GELU",
    {GELU_RULE: "return g * (cdf + pdf)"},
    says="The product rule lacks a factor x: the second term is x φ(x), not φ(x).",
)
gelu_minus = mistake(
    "GELU",
    {GELU_RULE: "return g * (cdf - x * pdf)"},
    says="A sign: the derivative is Φ(x) + x φ(x), with a plus.",
)
gelu_swapped = mistake(
    "GELU",
    {GELU_RULE: "return g * (pdf + x * cdf)"},
    says="The two are swapped: Φ(x) stands alone and φ(x) has the factor x.",
)
gelu_density_not_normalised = mistake(
    "GELU",
    {PDF: "pdf = torch.exp(-0.5 * x * x)"},
    says="The density is not normalised: divide exp(−x²/2) by √(2π).",
)
gelu_density_without_the_half = mistake(
    "GELU",
    {PDF: "pdf = torch.exp(-x * x) / math.sqrt(2 * math.pi)"},
    says="The exponent is −x²/2: a half is missing.",
)
gelu_without_the_inner_derivative = mistake(
    "GELU",
    {PDF: "pdf = torch.exp(-0.5 * x * x) / math.sqrt(math.pi)"},
    says="The derivative of erf(x/√2) has the inner derivative 1/√2, which is missing: the density is "
    "exp(−x²/2) / √(2π).",
)
GELUWithoutTheRoot = mistake(
    "GELU",
    {**FORWARD_WITHOUT_THE_ROOT, **CDF_WITHOUT_THE_ROOT, PDF: "pdf = torch.exp(-x * x) / math.sqrt(math.pi)"},
    says="erf takes x/√2: Φ(x) = ½ (1 + erf(x/√2)). Without √2 it is another distribution.",
)
gelu_forward_without_the_root = mistake(
    "GELU",
    FORWARD_WITHOUT_THE_ROOT,
    says="erf takes x/√2 in forward, too: Φ(x) = ½ (1 + erf(x/√2)). backward has the √2.",
)
GELUWithoutTheRootInErf = mistake(
    "GELU",
    {**FORWARD_WITHOUT_THE_ROOT, **CDF_WITHOUT_THE_ROOT},
    says="erf takes x/√2, in both passes: Φ(x) = ½ (1 + erf(x/√2)). The density is right.",
)
gelu_forward_by_tanh = mistake(
    "GELU",
    FORWARD_BY_TANH,
    says="forward is the tanh approximation, and backward the derivative of the exact function. A rule belongs to one "
    "function: use erf in both.",
)
GELUByTanh = mistake(
    "GELU",
    {**FORWARD_BY_TANH, **BACKWARD_OF_TANH},
    says="This is the tanh approximation, some 0.0005 off. The exact function is x · ½ (1 + erf(x/√2)).",
)
gelu_backward_of_tanh = mistake(
    "GELU",
    BACKWARD_OF_TANH,
    says="forward is exact, and backward the derivative of the tanh approximation. A rule belongs to one function: use "
    "erf and its density in both.",
)
GELUBySigmoid = mistake(
    "GELU",
    {
        GELU: "return x * torch.sigmoid(1.702 * x)",
        f"{CDF}\n{PDF}": "s = torch.sigmoid(1.702 * x)",
        GELU_RULE: "return g * (s + 1.702 * x * s * (1 - s))",
    },
    says="x σ(1.702 x) is a rough approximation. The exact function is x · ½ (1 + erf(x/√2)).",
)
gelu_of_a_detached_input = mistake("GELU", DETACHED, says=SAYS_DETACHED)
GELUSavesTheDerivative = mistake(
    "GELU",
    {
        f"{CDF}\n{PDF}\n{GELU_RULE}": "return g * slope",
        SAVED: "(slope,) = ctx.saved_tensors",
        SAVE: f"{CDF}\n{PDF}\nctx.save_for_backward(cdf + x * pdf)",
        GELU: "return x * cdf",
    },
    says="The derivative is computed in forward and saved. That is one tensor, but the double backward takes it for a "
    "constant, and gives 0. Save x, compute the derivative in backward.",
)
GELUSavesTheDistribution = mistake(
    "GELU",
    {f"{SAVED}\n{CDF}": "x, cdf = ctx.saved_tensors", **SAVES_THE_DISTRIBUTION},
    says="Φ(x) is saved beside x. That is twice the memory, and to the double backward Φ(x) is a constant, because "
    "nothing is recorded inside forward. Save x alone and compute Φ(x) again.",
)
GELUSavesMoreThanItUses = mistake(
    "GELU",
    {SAVED: "x, _ = ctx.saved_tensors", **SAVES_THE_DISTRIBUTION},
    says="Φ(x) is saved beside x: twice the memory. The exercise is to keep the input alone and to compute Φ(x) again.",
)
GELUKeepsAnAttribute = mistake(
    "GELU",
    AN_ATTRIBUTE,
    says="x is kept as ctx.x. It holds the same memory, but autograd does not know of it: it cannot tell when x is "
    "changed in place, and no meter sees it. ctx.save_for_backward(x).",
)
GELUKeepsItOnTheClass = mistake("GELU", _on_the_class("GELU"), says=SAYS_ON_THE_CLASS)
gelu_only_once = mistake("GELU", ONLY_ONCE, says=SAYS_ONLY_ONCE)
gelu_backward_without_grad = mistake(
    "GELU",
    {GELU_RULE: f"with torch.no_grad():\n    {GELU_RULE}"},
    says="backward runs under no_grad, or in NumPy: nothing is recorded, and the gradient cannot be differentiated "
    "again.",
)
gelu_constants_in_float32 = mistake(
    "GELU",
    {
        CDF: "cdf = 0.5 * (1 + torch.erf(x / torch.sqrt(torch.tensor(2.0))))",
        PDF: "pdf = torch.exp(-0.5 * x * x) / torch.sqrt(torch.tensor(2 * math.pi))",
    },
    says="Constants of torch.tensor(…) are float32, and right to 8 digits only, which float64 and gradcheck notice. "
    "Take math.sqrt(2) and math.pi.",
)


# GELUTanh


BACKWARD_OF_THE_EXACT = {T: CDF, DU: PDF, TANH_RULE: GELU_RULE}


def _constant(old, new):
    """Edits: another constant, wherever it stands."""
    return {line: line.replace(old, new) for line in (U, T, DU)}


tanh_without_g = mistake("GELUTanh", {TANH_RULE: "return 0.5 * (1 + t + x * (1 - t**2) * du)"}, says=SAYS_G_IS_MISSING)
tanh_returns_no_gradient = mistake(
    "GELUTanh", {TANH_RULE: "g * 0.5 * (1 + t + x * (1 - t**2) * du)"}, says=SAYS_NOTHING_RETURNED
)
tanh_root_upside_down = mistake(
    "GELUTanh",
    _constant("2 / math.pi", "math.pi / 2"),
    says="The constant is √(2/π), about 0.80: this is its reciprocal, √(π/2).",
)
tanh_backward_of_the_exact = mistake(
    "GELUTanh",
    BACKWARD_OF_THE_EXACT,
    says="This is the derivative of the exact GELU. forward computes the approximation, and backward has to be its "
    "derivative: gradcheck compares the two.",
)
TanhExact = mistake(
    "GELUTanh",
    {f"{U}\n{BY_TANH}": GELU, **BACKWARD_OF_THE_EXACT},
    says="This is the exact GELU. The exercise is the approximation ½ x (1 + tanh u).",
)
tanh_first_term_only = mistake(
    "GELUTanh",
    {TANH_RULE: "return g * 0.5 * (1 + t)"},
    says="Half of the product rule: x stands inside tanh, too. The second term is ½ x (1 − tanh² u) u′.",
)
tanh_without_the_inner_derivative = mistake(
    "GELUTanh",
    {TANH_RULE: "return g * 0.5 * (1 + t + x * (1 - t**2))"},
    says="The chain rule stops at tanh: its derivative 1 − tanh² u has to be multiplied by u′ = √(2/π) (1 + 3 · "
    "0.044715 x²).",
)
tanh_without_the_three = mistake(
    "GELUTanh",
    {DU: "du = math.sqrt(2 / math.pi) * (1 + 0.044715 * x**2)"},
    says="The derivative of x³ is 3x²: the factor 3 is missing in u′.",
)
tanh_without_the_root = mistake(
    "GELUTanh",
    {DU: "du = 1 + 3 * 0.044715 * x**2"},
    says="u′ has the factor √(2/π), as u has: it is missing here.",
)
tanh_derivative_without_the_square = mistake(
    "GELUTanh",
    {TANH_RULE: "return g * 0.5 * (1 + t + x * (1 - t) * du)"},
    says="The derivative of tanh u is 1 − tanh² u: the square is missing.",
)
tanh_cube_not_differentiated = mistake(
    "GELUTanh",
    {DU: "du = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**3)"},
    says="u′ has 3 · 0.044715 x², from 0.044715 x³: this is another power of x.",
)
TanhSavesItsTanh = mistake(
    "GELUTanh",
    {
        f"{SAVED}\n{T}": "x, t = ctx.saved_tensors",
        f"{SAVE}\n{U}": f"{T}\nctx.save_for_backward(x, t)",
        BY_TANH: "return 0.5 * x * (1 + t)",
    },
    says="tanh u was computed in forward and saved, so the double backward takes it for a constant: the second "
    "derivative is wrong without a word. Compute it again in backward, from the saved x.",
)
tanh_of_a_detached_input = mistake(
    "GELUTanh",
    DETACHED,
    says=f"{SAYS_RIGHT_ONCE} detached, or saved as a finished derivative, what backward uses is a constant to the "
    "double backward. Compute from the saved x as it is.",
)
tanh_by_cosh = mistake(
    "GELUTanh",
    {
        T: f"{U}\nt = torch.tanh(u)",
        TANH_RULE: "return g * 0.5 * (1 + t + x * du / torch.cosh(u) ** 2)",
    },
    says="1 / cosh² u overflows where u is large: inf / inf in the second derivative is nan. 1 − tanh² u is the same, "
    "and finite.",
)
tanh_only_once = mistake("GELUTanh", ONLY_ONCE, says=SAYS_ONLY_ONCE)
TanhKeepsAnAttribute = mistake("GELUTanh", AN_ATTRIBUTE, says=SAYS_AN_ATTRIBUTE)
tanh_second_term_without_the_half = mistake(
    "GELUTanh",
    {TANH_RULE: "return g * (0.5 * (1 + t) + x * (1 - t**2) * du)"},
    says="The second term of the product rule has the ½, too: ½ (1 + tanh u) + ½ x (1 − tanh² u) u′.",
)
tanh_forward_without_the_half = mistake(
    "GELUTanh",
    {BY_TANH: "return x * (1 + torch.tanh(u))"},
    says="The ½ is missing in forward: ½ x (1 + tanh u). backward has it.",
)
TanhWithoutTheHalf = mistake(
    "GELUTanh",
    {BY_TANH: "return x * (1 + torch.tanh(u))", TANH_RULE: "return g * (1 + t + x * (1 - t**2) * du)"},
    says="The ½ is missing, in both passes: the function is ½ x (1 + tanh u).",
)
TanhWithTheOtherRoot = mistake(
    "GELUTanh",
    _constant("2 / math.pi", "2 * math.pi"),
    says="The factor of u is √(2/π), some 0.8. This is √(2π), some 2.5.",
)
TanhWithTenTimesTheConstant = mistake(
    "GELUTanh",
    _constant("0.044715", "0.44715"),
    says="The constant is 0.044715: this is ten times as much, 0.44715.",
)
TanhWithARoundedConstant = mistake(
    "GELUTanh",
    _constant("0.044715", "0.0447"),
    says="The constant is 0.044715; a digit is missing.",
)


# RoundSTE


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
    says="g.detach() has the value of g and no graph: a second derivative through g is lost. Return g itself.",
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


# FusedCrossEntropy


LOG_P = "log_p = torch.log_softmax(logits, dim=1)"
ASKS = "if ctx.needs_input_grad[0]:"
SAVE_BOTH = "ctx.save_for_backward(log_p, targets)"
LOSS = "return -log_p.gather(1, targets.unsqueeze(1)).mean()"

STOPS = "if not ctx.needs_input_grad[0]:\n    return None, None"
SAVED_BOTH = "log_p, targets = ctx.saved_tensors"
ROWS = "n = len(targets)"
P = "difference = log_p.exp()"
MINUS_Y = "difference[torch.arange(n), targets] -= 1"
ENTROPY_RULE = "return g / n * difference, None"

TARGETS_OF_CTX = {SAVED_BOTH: "(log_p,), targets = ctx.saved_tensors, ctx.targets"}

entropy_without_g = mistake(
    "FusedCrossEntropy",
    {ENTROPY_RULE: "return difference / n, None"},
    says="g is not used: right only where the loss is the end of the graph. Multiply by it: g (p − y) / n.",
)
entropy_not_divided = mistake(
    "FusedCrossEntropy",
    {ENTROPY_RULE: "return g * difference, None"},
    says="The loss is a mean over n rows, and the gradient is that of the sum: divide by n.",
)
entropy_divided_by_all = mistake(
    "FusedCrossEntropy",
    {ENTROPY_RULE: "return g * difference / difference.numel(), None"},
    says="Divided by the number of logits. The mean is over the n rows: divide by n.",
)
entropy_minus = mistake(
    "FusedCrossEntropy",
    {ENTROPY_RULE: "return -g / n * difference, None"},
    says="The sign is wrong: y − p. The loss falls where the target's logit rises, so the gradient is p − y.",
)
entropy_adds_the_target = mistake(
    "FusedCrossEntropy",
    {MINUS_Y: MINUS_Y.replace("-= 1", "+= 1")},
    says="The gradient is (p − y) / n: the 1 at the target is taken off p, not added to it.",
)
entropy_without_the_target = mistake(
    "FusedCrossEntropy",
    {MINUS_Y: ""},
    says="This is p alone: the target's logit stands in the loss by itself, too, which takes 1 off: p − y.",
)
entropy_whole_columns = mistake(
    "FusedCrossEntropy",
    {MINUS_Y: "difference[:, targets] -= 1"},
    says="p[:, targets] −= 1 takes 1 off every row in each of these columns. Each row has one target: "
    "p[torch.arange(n), targets] −= 1.",
)
entropy_one_gradient = mistake(
    "FusedCrossEntropy",
    {"return None, None": "return None", ENTROPY_RULE: "return g / n * difference"},
    says="backward returns one gradient for two inputs. Return a pair: the logits' gradient, and None for targets.",
)
EntropyWritesIntoWhatItSaved = mistake(
    "FusedCrossEntropy",
    {
        SAVE_BOTH: "ctx.save_for_backward(log_p.exp(), targets)",
        SAVED_BOTH: "difference, targets = ctx.saved_tensors",
        P: "",
    },
    says="backward takes the 1 off in the saved tensor itself. The second backward pass finds it changed, and autograd "
    "refuses. Work on a copy: p.clone().",
)
EntropyKeepsAnAttribute = mistake(
    "FusedCrossEntropy",
    {SAVE_BOTH: "ctx.targets = targets\nctx.save_for_backward(log_p)", **TARGETS_OF_CTX},
    says="A tensor is an attribute of ctx. The gradients are right, but autograd does not know of it: it cannot tell "
    "when the tensor is changed in place. Any tensor that backward needs goes through ctx.save_for_backward.",
)
EntropyKeepsAnAttributeAlways = mistake(
    "FusedCrossEntropy",
    {ASKS: f"ctx.targets = targets\n{ASKS}", SAVE_BOTH: "ctx.save_for_backward(log_p)", **TARGETS_OF_CTX},
    says="A tensor is an attribute of ctx, and it is put there although ctx.needs_input_grad[0] is False. Any tensor "
    "that backward needs goes through ctx.save_for_backward, and only where the logits need a gradient.",
)
EntropyWritesIntoAnAttribute = mistake(
    "FusedCrossEntropy",
    {
        SAVE_BOTH: "ctx.p, ctx.targets = log_p.exp(), targets",
        SAVED_BOTH: "difference, targets = ctx.p, ctx.targets",
        P: "",
    },
    says="p is an attribute of ctx, and backward takes the 1 off in it: the second backward pass takes it off again, "
    "and nobody notices. Save with ctx.save_for_backward, and work on a copy.",
)
EntropyScalesWhatItSaved = mistake(
    "FusedCrossEntropy",
    {
        f"{SAVED_BOTH}\n{ROWS}\n{P}\n{MINUS_Y}\n{ENTROPY_RULE}": """\
(gradient,) = ctx.saved_tensors
return gradient.mul_(g), None""",
        SAVE_BOTH: f"{ROWS}\n{P}\n{MINUS_Y}\nctx.save_for_backward(difference / n)",
    },
    says="The gradient is scaled by g where it is kept, so the second backward pass scales it again. Multiply into a "
    "new tensor: g * gradient.",
)
EntropySavesTwo = mistake(
    "FusedCrossEntropy",
    {
        SAVE_BOTH: "ctx.save_for_backward(logits, log_p.exp(), targets)",
        SAVED_BOTH: "_, p, targets = ctx.saved_tensors",
        P: "difference = p.clone()",
    },
    says="Two (n, c) tensors are kept, the logits and their softmax. One is enough: each can be computed from what "
    "is saved of the other.",
)
EntropySavesTheOneHots = mistake(
    "FusedCrossEntropy",
    {
        SAVE_BOTH: """\
y = torch.zeros_like(log_p).scatter_(1, targets.unsqueeze(1), 1)
ctx.save_for_backward(log_p.exp(), y)""",
        f"{SAVED_BOTH}\n{ROWS}\n{P}\n{MINUS_Y}": "p, y = ctx.saved_tensors\nn, difference = len(y), p - y",
    },
    says="A second (n, c) tensor is kept: the one-hot targets, for which the n integers are enough, or the softmax and "
    "its logarithm, one of which gives the other. Build the rest in backward.",
)
entropy_overflows = mistake(
    "FusedCrossEntropy",
    {LOG_P: "e = torch.exp(logits)\nlog_p = torch.log(e / e.sum(dim=1, keepdim=True))"},
    says="exp of 1000 is infinite, and inf / inf is nan. Take the maximum of each row off first, or use "
    "torch.log_softmax, which does.",
)
entropy_log_of_softmax = mistake(
    "FusedCrossEntropy",
    {LOG_P: "log_p = torch.log(torch.softmax(logits, dim=1))"},
    says="softmax is stable, and its log is not: where p is 0 the loss is infinite. torch.log_softmax never forms p.",
)
entropy_one_maximum_for_all_rows = mistake(
    "FusedCrossEntropy",
    {LOG_P: "shifted = logits - logits.max()\nlog_p = shifted - shifted.exp().sum(dim=1, keepdim=True).log()"},
    says="One maximum is taken off all rows. Of a row far below it nothing is left: every exp is 0, and the log of "
    "their sum −inf. Each row needs its own, as torch.log_softmax takes it.",
)
entropy_with_an_epsilon = mistake(
    "FusedCrossEntropy",
    {
        LOSS: """\
p = torch.softmax(logits, dim=1)
return -torch.log(p.gather(1, targets.unsqueeze(1)) + 1e-9).mean()"""
    },
    says="A small number under the log hides the overflow and bends the loss: where p is 0 it stops at −log of that "
    "number. torch.log_softmax needs none.",
)
entropy_sum = mistake(
    "FusedCrossEntropy",
    {LOSS: "return -log_p.gather(1, targets.unsqueeze(1)).sum()"},
    says="The loss is a sum over the rows. It has to be their mean.",
)
entropy_along_the_rows = mistake(
    "FusedCrossEntropy",
    {LOG_P: "log_p = torch.log_softmax(logits, dim=0)"},
    says="The softmax runs over dim 0, the rows. Each row is a distribution of its own: dim=1.",
)
entropy_not_reduced = mistake(
    "FusedCrossEntropy",
    {LOSS: "return -log_p.gather(1, targets.unsqueeze(1)).squeeze(1)"},
    says="The loss of each row comes back, a vector. It has to be their mean, a 0-d tensor.",
)
EntropyNeverAsks = mistake(
    "FusedCrossEntropy",
    {f"{ASKS}\n{SAVE_BOTH}": SAVE_BOTH, STOPS: ""},
    says="ctx.needs_input_grad is never asked: where the logits need no gradient, forward saves all the same, and "
    "backward computes what nobody uses.",
)
entropy_asks_too_late = mistake(
    "FusedCrossEntropy",
    {STOPS: "", ENTROPY_RULE: "return (g / n * difference if ctx.needs_input_grad[0] else None), None"},
    says="backward asks for saved tensors before it asks ctx.needs_input_grad: where the logits need no gradient, "
    "nothing was saved. Ask first.",
)


# run_gradcheck


COPIES = "copies = tuple(t.detach().clone() for t in tensors)"
FLOATS = "copies = tuple(t.double().requires_grad_() if t.is_floating_point() else t for t in copies)"
CHECKS = "return torch.autograd.gradcheck(fn, copies) and torch.autograd.gradgradcheck(fn, copies)"
CATCHES = f"try:\n    {CHECKS}\nexcept Exception:\n    return False"


def _checks(options):
    """The line of the two checks, with options for both."""
    return CHECKS.replace("copies)", f"copies, {options})")


first_order_only = mistake(
    "run_gradcheck",
    {CHECKS: "return torch.autograd.gradcheck(fn, copies)"},
    says="Only the first order is checked. A gradient that is right, but wrong when differentiated again, passes: "
    "gradgradcheck as well.",
)
second_order_only = mistake(
    "run_gradcheck",
    {CHECKS: "return torch.autograd.gradgradcheck(fn, copies)"},
    says="A wrong first order is not noticed. gradgradcheck alone checks whether the second order fits to the first, "
    "and both can be wrong together: what gradcheck says has to count as well.",
)
either_order = mistake(
    "run_gradcheck",
    {
        CATCHES: """\
for check in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
    try:
        if check(fn, copies):
            return True
    except Exception:
        continue
return False"""
    },
    says="One of the two checks is enough to pass here. Both orders have to be right: and, not or.",
)
float32_passes_through = mistake(
    "run_gradcheck",
    {FLOATS: "copies = tuple(t.requires_grad_() if t.is_floating_point() else t for t in copies)"},
    says="float32 tensors are passed on as they are. Differences of float32 numbers are mostly noise, so a right fn is "
    "rejected: check float64 copies.",
)
wide_tolerances = mistake(
    "run_gradcheck",
    {CHECKS: _checks("atol=0.2, rtol=0.2")},
    says="The tolerances are wide: a gradient that is some percent off passes. Copy to float64 and keep the defaults, "
    "which are meant for it.",
)
tolerances_of_a_percent = mistake(
    "run_gradcheck",
    {CHECKS: _checks("atol=1e-2, rtol=1e-2")},
    says="With tolerances of 1e-2 a gradient that is 0.5 percent off passes. Keep the defaults, rtol=1e-3 and "
    "atol=1e-5: they are meant for float64.",
)
fast_mode = mistake(
    "run_gradcheck",
    {CHECKS: _checks("fast_mode=True")},
    says="fast_mode=True compares one random combination of all entries. One wrong entry of many drowns in it. The "
    "full check takes longer and sees every entry: leave fast_mode off.",
)
fast_mode_for_the_second_order = mistake(
    "run_gradcheck",
    {CHECKS: CHECKS.replace("gradgradcheck(fn, copies)", "gradgradcheck(fn, copies, fast_mode=True)")},
    says="fast_mode=True in gradgradcheck compares one random combination of all entries. One wrong entry of many "
    "drowns in it: leave fast_mode off there, too.",
)
only_the_first_requires_grad = mistake(
    "run_gradcheck",
    {
        FLOATS: """\
copies = tuple(t.double() if t.is_floating_point() else t for t in copies)
next(copy for copy in copies if copy.is_floating_point()).requires_grad_()"""
    },
    says="Only the first tensor requires a gradient, so the gradients of the others are never checked. Let every "
    "floating copy require one.",
)
the_callers_own_tensors = mistake(
    "run_gradcheck",
    {COPIES: "copies = tuple(t if t.is_floating_point() else t.clone() for t in tensors)"},
    says=".double() copies nothing where the tensor is float64 already: then requires_grad_ changes the caller's own "
    "tensor, and an fn that writes into its argument would write into it. detach, clone, then the rest.",
)
detached_but_shared = mistake(
    "run_gradcheck",
    {COPIES: "copies = tuple(t.detach() if t.is_floating_point() else t.clone() for t in tensors)"},
    says="detach() and double() share memory with a float64 tensor. An fn that writes into its argument writes into "
    "the caller's tensor, and expanded rows stay one row: clone.",
)
integers_are_shared = mistake(
    "run_gradcheck",
    {COPIES: "copies = tuple(t.detach().clone() if t.is_floating_point() else t for t in tensors)"},
    says="Tensors that are not floating are passed on themselves: an fn that writes into its indices writes into the "
    "caller's. Clone them, too, in their own dtype.",
)
only_what_required_grad = mistake(
    "run_gradcheck",
    {
        FLOATS: """\
copies = tuple(
    copy.double().requires_grad_(t.requires_grad) if t.is_floating_point() else copy
    for copy, t in zip(copies, tensors)
)"""
    },
    says="The copies require a gradient only where the caller's tensors did. The gradients of the others are not "
    "checked, and where none requires one, gradcheck refuses even a right fn. Let every floating copy require one.",
)
all_become_float64 = mistake(
    "run_gradcheck",
    {FLOATS: "copies = tuple(t.double().requires_grad_() for t in copies)"},
    says="Indices and masks become float64 as well, and fn can no longer use them. Convert only what "
    "is_floating_point().",
)
nothing_is_caught = mistake(
    "run_gradcheck",
    {CATCHES: CHECKS},
    says="A check that fails raises, and nothing catches it: the caller gets an exception. The answer is False.",
)
raise_exception_is_false = mistake(
    "run_gradcheck",
    {CATCHES: _checks("raise_exception=False")},
    says="raise_exception=False silences gradcheck's own verdict alone. What fn raises comes through, and that is a "
    "False, too: catch Exception.",
)
runtime_errors_only = mistake(
    "run_gradcheck",
    {"except Exception:": "except RuntimeError:"},
    says="Only RuntimeError is caught, which is what gradcheck raises. fn may raise anything: catch Exception.",
)
caught_is_true = mistake(
    "run_gradcheck",
    {"return False": "return True"},
    says="What was caught counts as a pass. An fn that cannot be checked is not right: False.",
)
none_for_false = mistake(
    "run_gradcheck",
    {"return False": "return None"},
    says="There is no answer where a check fails: None. Return False there.",
)
no_answer = mistake(
    "run_gradcheck",
    {CHECKS: CHECKS.removeprefix("return "), "return False": "pass"},
    says="Both checks run, but their answer is not returned. True or False is asked for.",
)
