"""Wrong answers to slopes, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

MOVES = "moves = list(zip(model.parameters(), direction, strict=True))"
CLAIMED = "claimed = sum(((p.grad * v).sum().item() for p, v in moves if p.grad is not None), 0.0)"
START = "start = [p.detach().clone() for p, _ in moves]"
SIGNS = "for sign in (1, -1):"
MOVE = "p.copy_(at + sign * eps * v)"
LOSS = "losses.append(loss_of().item())"
BACK = """\
finally:
    with torch.no_grad():
        for (p, _), at in zip(moves, start, strict=True):
            p.copy_(at)"""
RETURN = "return claimed, (losses[0] - losses[1]) / (2 * eps)"

only_parameters_with_a_gradient = mistake(
    "slopes",
    {MOVES: "moves = [(p, v) for p, v in zip(model.parameters(), direction, strict=True) if p.grad is not None]"},
    says="Only the parameters that have a `.grad` were moved. Then the slope of the loss lacks the same part as the "
    "gradient, and a branch that was cut off goes unnoticed. Move every parameter.",
)
frozen_left_out = mistake(
    "slopes",
    {MOVES: "moves = [(p, v) for p, v in zip(model.parameters(), direction, strict=True) if p.requires_grad]"},
    says="Parameters that are frozen now were left out. They have a `.grad` or not, and the loss depends on them: all "
    "parameters count in both slopes.",
)
one_sided = mistake(
    "slopes",
    {SIGNS: "for sign in (1, 0):", RETURN: "return claimed, (losses[0] - losses[1]) / eps"},
    says="The loss was taken at θ + eps · v and at θ, on one side. The formula takes both sides, whose errors of order "
    "eps cancel.",
)
one_eps_apart = mistake(
    "slopes",
    {RETURN: "return claimed, (losses[0] - losses[1]) / eps"},
    says="The difference of the losses was divided by eps. The two ends are 2 · eps apart.",
)
ends_swapped = mistake(
    "slopes",
    {RETURN: "return claimed, (losses[1] - losses[0]) / (2 * eps)"},
    says="The slope of the loss has the wrong sign: the loss at θ + eps · v comes first, minus the one at θ − eps · v.",
)
slopes_swapped = mistake(
    "slopes",
    {RETURN: "return (losses[0] - losses[1]) / (2 * eps), claimed"},
    says="The two slopes were returned in the other order. The one that `.grad` claims comes first.",
)
step_of_its_own = mistake(
    "slopes",
    {START: "start, eps = [p.detach().clone() for p, _ in moves], 1e-6"},
    says="The argument eps was not used: the step is 1e-6 whatever the call says.",
)
unit_direction = mistake(
    "slopes",
    {
        MOVES: "length = math.sqrt(sum(float((v.double() ** 2).sum()) for v in direction)) or 1.0\n"
        "moves = list(zip(model.parameters(), [v / length for v in direction], strict=True))"
    },
    says="The direction was divided by its length. It is used as it is given: the loss moves from θ − eps · v to "
    "θ + eps · v.",
)
norm_not_product = mistake(
    "slopes",
    {CLAIMED: "claimed = math.sqrt(sum(float((p.grad.double() ** 2).sum()) for p, _ in moves if p.grad is not None))"},
    says="The length of the gradient was returned for its slope along the direction: multiply `.grad` and direction "
    "entry by entry, and add.",
)
gradient_of_the_step = mistake(
    "slopes",
    {CLAIMED: CLAIMED.replace("(p.grad * v)", "(p.grad * v * eps)")},
    says="The product of `.grad` and direction was multiplied by eps. A slope is a change per unit, without the step.",
)
not_cloned = mistake(
    "slopes",
    {START: "start = [p.detach() for p, _ in moves]"},
    says="`detach()` gives a tensor that shares the parameter's memory, so the copy of the start moves with the "
    "parameter. Clone it.",
)
not_put_back = mistake(
    "slopes",
    {BACK: "finally:\n    pass"},
    says="The parameters stayed at the second end. Put them back after the two losses.",
)
put_back_by_subtraction = mistake(
    "slopes",
    {BACK: BACK.replace("(p, _), at", "(p, v), at").replace("p.copy_(at)", "p.add_(eps * v)")},
    says="The parameters were put back by adding the step again. Sums are rounded, so not every entry is bit for bit "
    "what it was: copy the parameters first, and copy them back.",
)
left_when_it_raises = mistake(
    "slopes",
    {
        """\
try:
    for sign in (1, -1):
        with torch.no_grad():
            for (p, v), at in zip(moves, start, strict=True):
                p.copy_(at + sign * eps * v)
        losses.append(loss_of().item())
"""
        + BACK: """\
for sign in (1, -1):
    with torch.no_grad():
        for (p, v), at in zip(moves, start, strict=True):
            p.copy_(at + sign * eps * v)
    losses.append(loss_of().item())
with torch.no_grad():
    for (p, _), at in zip(moves, start, strict=True):
        p.copy_(at)"""
    },
    says="When `loss_of` raises, the parameters stay where they were moved to. Put them back in a finally block.",
)
exception_swallowed = mistake(
    "slopes",
    {BACK: "except ValueError:\n    losses = [0.0, 0.0]\n" + BACK},
    says="The exception of `loss_of` was caught. The caller must see it: finally, not except.",
)
backward_again = mistake(
    "slopes",
    {
        RETURN: "loss = loss_of()\n"
        "grads = torch.autograd.grad(loss, [p for p, _ in moves if p.requires_grad], allow_unused=True)\n"
        "along = [v for p, v in moves if p.requires_grad]\n"
        "found = [float((g * v).sum()) for g, v in zip(grads, along, strict=True) if g is not None]\n"
        "return claimed, sum(found, 0.0)"
    },
    says="The slope of the loss comes from a second backward pass. It repeats a fault of the graph, such as a detached "
    "branch, so both slopes agree: use two values of the loss.",
)
grad_filled_again = mistake(
    "slopes",
    {LOSS: "loss = loss_of()\nif loss.requires_grad:\n    loss.backward()\nlosses.append(loss.item())"},
    says="A backward pass ran for each loss, and added to `.grad`. Two values of the loss are all that is needed.",
)
grads_cleared = mistake(
    "slopes",
    {RETURN: "model.zero_grad()\n" + RETURN},
    says="The gradients were cleared. The caller still needs them: leave each `.grad` as it is.",
)
switched_to_eval = mistake(
    "slopes",
    {START: "model.eval()\n" + START},
    says="The model was switched to eval mode, and left in it. Leave the mode as it is.",
)
first_parameter_alone = mistake(
    "slopes",
    {MOVES: "moves = list(zip(model.parameters(), direction, strict=True))[:1]"},
    says="Only the first parameter was moved. The direction has a part for each one.",
)
