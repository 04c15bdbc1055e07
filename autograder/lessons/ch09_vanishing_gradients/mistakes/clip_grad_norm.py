"""Wrong answers to clip_grad_norm, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake
from autograder.lessons.ch09_vanishing_gradients.mistakes.powers import POWER_OF_ONE

TOTAL = "total_norm = math.sqrt(sum(grad.double().square().sum().item() for grad in grads))"
NOT_FINITE = "if not math.isfinite(total_norm):"
NO_DIRECTION = 'raise ValueError(f"the gradients have the norm {total_norm}")'
BELOW = "if total_norm <= max_norm:"
UNCLIPPED = "return list(grads), total_norm"
CLIPPED = "return [grad * (max_norm / total_norm) for grad in grads], total_norm"

NORM_NOT_IN_FLOAT64 = (
    "The norm was taken in float32 (or float16): squares of 1e-27 are 0 there, and those of 1e30 are inf. Convert "
    "first, grad.double()."
)
DIVIDED_BY_ZERO = (
    "A norm of 0 was divided by. Where the norm is not above max_norm the factor is 1, and there is nothing to divide."
)

epsilon_in_the_denominator = mistake(
    "clip_grad_norm",
    {
        f"{BELOW}\n{UNCLIPPED}": "",
        CLIPPED: "return [grad * min(1.0, max_norm / (total_norm + 1e-6)) for grad in grads], total_norm",
    },
    says="There is an epsilon in the denominator, as in PyTorch: the clipped norm is a little less than max_norm, and "
    "much less where the gradients are small. Leave it out.",
)
each_by_itself = mistake(
    "clip_grad_norm",
    {
        CLIPPED: """\
norms = [grad.double().norm().item() for grad in grads]
return [grad * min(1.0, max_norm / norm) if norm else grad for grad, norm in zip(grads, norms)], total_norm"""
    },
    says="Each gradient was clipped by its own norm, which changes the direction of the step. One norm of all of them, "
    "one factor for all.",
)
clipped_by_value = mistake(
    "clip_grad_norm",
    {CLIPPED: "return [grad.clamp(-max_norm, max_norm) for grad in grads], total_norm"},
    says="The entries were cut off at ±max_norm: that is clipping by value, and it changes the direction. Scale all of "
    "them by one factor.",
)
scaled_up = mistake(
    "clip_grad_norm",
    {BELOW: "if total_norm == 0:"},
    says="Gradients below max_norm were scaled up. The factor is at most 1: min(1, max_norm / total_norm).",
)
norms_added = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = float(sum(grad.double().norm().item() for grad in grads))"},
    says="The norms of the tensors were added up. Their squares add up, then the root: the norm of everything in one "
    "row.",
)
largest_norm = mistake(
    "clip_grad_norm",
    {BELOW: f"total_norm = max((grad.double().norm().item() for grad in grads), default=0.0)\n{BELOW}"},
    says="This is the largest of the tensors' norms. All entries count together.",
)
norm_halved = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = sum(grad.double().square().sum().item() for grad in grads) ** 1 / 2"},
    says=POWER_OF_ONE,
)
mean_squares = mistake(
    "clip_grad_norm",
    {TOTAL: TOTAL.replace(".square().sum()", ".square().mean()")},
    says="The mean of each tensor's squares was taken. The norm has the sum of all squares.",
)
factor_upside_down = mistake(
    "clip_grad_norm",
    {CLIPPED: CLIPPED.replace("max_norm / total_norm", "total_norm / max_norm")},
    says="The factor is upside down, and gradients that are too large become larger: max_norm / total_norm.",
)
squared_norm = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = float(sum(grad.double().square().sum().item() for grad in grads))"},
    says="The norm is squared. Take the root of the sum of squares.",
)
norm_afterwards = mistake(
    "clip_grad_norm",
    {CLIPPED: "return [grad * (max_norm / total_norm) for grad in grads], max_norm"},
    says="total_norm is the norm after clipping. Return the norm before clipping: it says how large the gradients "
    "were.",
)
clipped_in_place = mistake(
    "clip_grad_norm",
    {CLIPPED: "for grad in grads:\n    grad.mul_(max_norm / total_norm)\nreturn grads, total_norm"},
    says="The gradients were scaled in place. Return new tensors: grad * factor, not grad.mul_(factor).",
)
norm_in_the_dtype_of_the_gradients = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = math.sqrt(sum(grad.square().sum().item() for grad in grads))"},
    says=NORM_NOT_IN_FLOAT64,
)
norm_method_of_the_gradients = mistake(
    "clip_grad_norm",
    {TOTAL: "total_norm = math.hypot(*[grad.norm().item() for grad in grads])"},
    says=NORM_NOT_IN_FLOAT64,
)
clipped_in_float64 = mistake(
    "clip_grad_norm",
    {
        UNCLIPPED: "return [grad.double() for grad in grads], total_norm",
        CLIPPED: "return [grad.double() * (max_norm / total_norm) for grad in grads], total_norm",
    },
    says="The clipped gradients are float64. Take the norm in float64 and scale the gradient itself: it keeps its "
    "dtype.",
)
divided_by_zero = mistake(
    "clip_grad_norm",
    {
        f"{BELOW}\n{UNCLIPPED}": "",
        CLIPPED: "return [grad / total_norm * min(total_norm, max_norm) for grad in grads], total_norm",
    },
    says=DIVIDED_BY_ZERO,
)
division_that_raises = mistake(
    "clip_grad_norm",
    {
        f"{BELOW}\n{UNCLIPPED}": "factor = min(1.0, max_norm / total_norm)",
        CLIPPED: "return [grad * factor for grad in grads], total_norm",
    },
    says=DIVIDED_BY_ZERO,
)
not_finite_let_through = mistake(
    "clip_grad_norm",
    {f"{NOT_FINITE}\n{NO_DIRECTION}": ""},
    says="A norm that is inf or nan went through: the clipped gradients are then 0 or nan, and training goes on with "
    "them. It is a ValueError.",
)
inf_let_through = mistake(
    "clip_grad_norm",
    {NOT_FINITE: "if math.isnan(total_norm):"},
    says="nan was found, inf was not. math.isfinite knows both.",
)
nan_norm_let_through = mistake(
    "clip_grad_norm",
    {NOT_FINITE: "if total_norm == math.inf:"},
    says="inf was found, nan was not: nan == inf is False. math.isfinite knows both.",
)
empty_list_refused = mistake(
    "clip_grad_norm",
    {NOT_FINITE: "if not grads or not math.isfinite(total_norm):"},
    says="An empty list was refused. Its norm is 0.0, and there is nothing to clip: ([], 0.0).",
)
results_swapped = mistake(
    "clip_grad_norm",
    {
        UNCLIPPED: "return total_norm, list(grads)",
        CLIPPED: "return total_norm, [grad * (max_norm / total_norm) for grad in grads]",
    },
    says="The two results are in the wrong order: (clipped, total_norm).",
)
norm_not_returned = mistake(
    "clip_grad_norm",
    {UNCLIPPED: "return list(grads)", CLIPPED: "return [grad * (max_norm / total_norm) for grad in grads]"},
    says="Only the gradients were returned. The norm before clipping comes with them.",
)
each_by_itself_with_an_epsilon = mistake(
    "clip_grad_norm",
    {
        f"{BELOW}\n{UNCLIPPED}": "",
        CLIPPED: """\
norms = [grad.double().norm().item() for grad in grads]
return [grad * min(1.0, max_norm / (norm + 1e-6)) for grad, norm in zip(grads, norms)], total_norm""",
    },
    says="Two things. Each gradient was clipped by its own norm, which changes the direction of the step: one norm "
    "of all of them, one factor for all. And there is an epsilon in the denominator, so the clipped norm is less "
    "than max_norm: leave it out.",
)
