"""Wrong answers to Square, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch08_custom_functions.mistakes.functions_of_x import (
    AN_ATTRIBUTE,
    DETACHED,
    ONLY_ONCE,
    SAVE,
    SAVED,
    SAYS_AN_ATTRIBUTE,
    SAYS_DETACHED,
    SAYS_NOTHING_RETURNED,
    SAYS_ON_THE_CLASS,
    SAYS_ONLY_ONCE,
    SAYS_RIGHT_ONCE,
    on_the_class,
)

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
SquareKeepsItOnTheClass = mistake("Square", on_the_class("Square"), says=SAYS_ON_THE_CLASS)
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
