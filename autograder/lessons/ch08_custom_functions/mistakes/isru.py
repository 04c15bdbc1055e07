"""Wrong answers to ISRU, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch08_custom_functions.mistakes.functions_of_x import (
    AN_ATTRIBUTE,
    DETACHED,
    ONLY_ONCE,
    SAVE,
    SAVED,
    SAYS_AN_ATTRIBUTE,
    SAYS_NOTHING_RETURNED,
    SAYS_ON_THE_CLASS,
    SAYS_ONLY_ONCE,
    SAYS_RIGHT_ONCE,
    on_the_class,
)

VALUE = "return x * torch.rsqrt(1 + x * x)"
CALL = "return ISRUBackward.apply(g, x)"
SAVE_BOTH = "ctx.save_for_backward(g, x)"
SAVED_BOTH = "g, x = ctx.saved_tensors"
RULE = "return g * torch.rsqrt(1 + x * x) ** 3"
S = "s = torch.rsqrt(1 + x * x)"
SECOND = "return gg * s**3, -3 * gg * g * x * s**5"


def _second(line, says):
    """A wrong pair of gradients, returned by ISRUBackward."""
    return mistake("ISRU", {SECOND: line}, says=says, where="ISRUBackward")


isru_without_the_root = mistake(
    "ISRU",
    {VALUE: "return x / (1 + x * x)"},
    says="forward divides by 1 + x², without the root.",
)
isru_first_term_only = mistake(
    "ISRU",
    {RULE: "return g * torch.rsqrt(1 + x * x)"},
    says="Half of the product rule: x is inside the root, too. The slope is 1/√(1 + x²) plus x times the derivative of "
    "1/√(1 + x²).",
    where="ISRUBackward",
)
isru_slope_of_the_result = mistake(
    "ISRU",
    {RULE: "y = x * torch.rsqrt(1 + x * x)\nreturn g * (1 - y * y) ** 1.5"},
    says="The slope is (1 − y²) to the power 3/2, but far out y² is almost 1, and the difference loses its digits: at "
    "x = 1000, float32 leaves an error of 10 %. Compute the slope from 1 + x².",
    where="ISRUBackward",
)
isru_without_g = mistake(
    "ISRU",
    {RULE: "return torch.rsqrt(1 + x * x) ** 3"},
    says="ISRUBackward.forward returns the slope alone: dx is g times the slope.",
    where="ISRUBackward",
)
isru_arguments_swapped = mistake(
    "ISRU",
    {CALL: "return ISRUBackward.apply(x, g)"},
    says="ISRUBackward.forward takes g, then x; backward hands them over the other way round.",
)
isru_returns_no_gradient = mistake("ISRU", {CALL: "ISRUBackward.apply(g, x)"}, says=SAYS_NOTHING_RETURNED)
isru_backward_in_one = mistake(
    "ISRU",
    {CALL: "return g * torch.rsqrt(1 + x * x) ** 3"},
    says="Both derivatives are right, but backward is made of recorded operations, and these keep temporaries for the "
    "double backward. Return ISRUBackward.apply(g, x): one node, which keeps g and x.",
)
ISRUSavesTheSlope = mistake(
    "ISRU",
    {
        SAVE: "ctx.save_for_backward(torch.rsqrt(1 + x * x) ** 3)",
        SAVED: "(slope,) = ctx.saved_tensors",
        CALL: "return g * slope",
    },
    says=f"{SAYS_RIGHT_ONCE} forward computes the slope and saves it, and nothing is recorded in forward, so the "
    "double backward takes the slope for a constant. Save x, and hand g and x to ISRUBackward.",
)
isru_of_a_detached_input = mistake(
    "ISRU",
    DETACHED,
    says=f"{SAYS_RIGHT_ONCE} x is detached before ISRUBackward gets it, so no path leads from dx to x. Pass on the "
    "saved x as it is.",
)
isru_only_once = mistake("ISRU", ONLY_ONCE, says=SAYS_ONLY_ONCE)
ISRUKeepsAnAttribute = mistake("ISRU", AN_ATTRIBUTE, says=SAYS_AN_ATTRIBUTE)
ISRUKeepsItOnTheClass = mistake("ISRU", on_the_class("ISRU"), says=SAYS_ON_THE_CLASS)
isru_second_saves_s = mistake(
    "ISRU",
    {
        SAVE_BOTH: "s = torch.rsqrt(1 + x * x)\nctx.save_for_backward(g, x, s)",
        RULE: "return g * s**3",
        SAVED_BOTH: "g, x, s = ctx.saved_tensors",
        f"{S}\n{SECOND}": SECOND,
    },
    says="ISRUBackward saves 1/√(1 + x²) beside g and x: a third tensor waits for the double backward. Save g and x, "
    "and compute the root again.",
    where="ISRUBackward",
)
ISRUBackwardKeepsThemOnTheClass = mistake(
    "ISRU",
    {SAVE_BOTH: "ISRUBackward.kept = g, x", SAVED_BOTH: "g, x = ISRUBackward.kept"},
    says="ISRUBackward keeps g and x on the class, so its next call overwrites them. Each call has a ctx of its own: "
    "ctx.save_for_backward(g, x).",
    where="ISRUBackward",
)
ISRUBackwardKeepsAttributes = mistake(
    "ISRU",
    {SAVE_BOTH: "ctx.g, ctx.x = g, x", SAVED_BOTH: "g, x = ctx.g, ctx.x"},
    says="ISRUBackward keeps g and x as attributes of ctx, where autograd cannot tell when they are changed in place. "
    "ctx.save_for_backward(g, x) watches them.",
    where="ISRUBackward",
)
isru_writes_into_gg = mistake(
    "ISRU",
    {SECOND: "by_x = -3 * gg * g * x * s**5\nreturn gg.mul_(s**3), by_x"},
    says="ISRUBackward.backward writes into gg, which belongs to autograd: others may still read it. Return a new "
    "tensor.",
    where="ISRUBackward",
)
isru_no_gradient_of_g = _second(
    "return None, -3 * gg * g * x * s**5",
    "ISRUBackward.backward returns no gradient of g. dx is g times the slope, so its gradient by g is gg times the "
    "slope.",
)
isru_no_gradient_of_x = _second(
    "return gg * s**3, None",
    "ISRUBackward.backward returns no gradient of x, so the slope counts as a constant: gg · g times the derivative of "
    "the slope is missing.",
)
isru_second_swapped = _second(
    "return -3 * gg * g * x * s**5, gg * s**3",
    "The gradients of ISRUBackward are swapped. forward takes g, then x: backward returns that of g, then that of x.",
)
isru_second_without_g = _second(
    "return gg * s**3, -3 * gg * x * s**5",
    "The gradient of x lacks g: dx is g times the slope, so its derivative by x has the factor g, too.",
)
isru_second_without_gg = _second(
    "return s**3, -3 * g * x * s**5",
    "ISRUBackward.backward lacks gg, its own upstream gradient, which multiplies both gradients.",
)
isru_second_without_the_three = _second(
    "return gg * s**3, -gg * g * x * s**5",
    "The factor 3 is missing in the gradient of x: it comes down from the third power in the slope.",
)
isru_second_sign = _second(
    "return gg * s**3, 3 * gg * g * x * s**5",
    "A sign in the gradient of x: the slope falls as |x| grows, so its derivative has the sign of −x.",
)
isru_second_without_x = _second(
    "return gg * s**3, -3 * gg * g * s**5",
    "The gradient of x lacks the factor x: the inner derivative of 1 + x² is 2x.",
)
isru_second_power = _second(
    "return gg * s**3, -3 * gg * g * x * s**4",
    "The power in the gradient of x is wrong. The slope is (1 + x²) to the power −3/2; differentiating lowers it to "
    "−5/2.",
)
