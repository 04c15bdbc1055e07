"""Wrong answers to GELU, with what is said of them."""

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
    SAYS_DETACHED,
    SAYS_G_IS_MISSING,
    SAYS_NOTHING_RETURNED,
    SAYS_ON_THE_CLASS,
    SAYS_ONLY_ONCE,
    TANH_RULE,
    T,
    U,
    on_the_class,
)

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
    says="x is kept as an attribute of ctx. It holds the same memory, but autograd does not know of it: it cannot tell "
    "when x is changed in place, and no meter sees it. ctx.save_for_backward(x).",
)
GELUKeepsItOnTheClass = mistake("GELU", on_the_class("GELU"), says=SAYS_ON_THE_CLASS)
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
gelu_reciprocal_of_the_density = mistake(
    "GELU",
    {PDF: "pdf = 1 / (math.sqrt(2 * math.pi) * torch.exp(0.5 * x * x))"},
    says="The density is written with exp(x²/2) in the denominator, which overflows to inf where |x| is large. 1 / "
    "inf is the right 0, but differentiated again it is 0 · inf, nan. Write exp(−x²/2): it becomes 0, and so does "
    "its derivative.",
)
