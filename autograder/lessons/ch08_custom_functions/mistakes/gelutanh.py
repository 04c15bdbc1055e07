"""Wrong answers to GELUTanh, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch08_custom_functions.mistakes.functions_of_x import (
    AN_ATTRIBUTE,
    BY_TANH,
    CDF,
    DETACHED,
    DU,
    GELU,
    GELU_RULE,
    ONLY_ONCE,
    PDF,
    SAVE,
    SAVED,
    SAYS_AN_ATTRIBUTE,
    SAYS_G_IS_MISSING,
    SAYS_NOTHING_RETURNED,
    SAYS_ONLY_ONCE,
    SAYS_RIGHT_ONCE,
    TANH_RULE,
    T,
    U,
)

BACKWARD_OF_THE_EXACT = {T: CDF, DU: PDF, TANH_RULE: GELU_RULE}


def _constant(old, new):
    """Edits: replace a constant everywhere."""
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
