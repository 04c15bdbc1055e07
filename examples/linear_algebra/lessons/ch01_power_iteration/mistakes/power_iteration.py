"""Wrong answers to power_iteration, with what is said of them."""

from __future__ import annotations

from autograder.diagnosis import mistake

START = "x = x / np.linalg.norm(x)\n    for _ in range(steps):"
STEP = "x = A @ x\n        x = x / np.linalg.norm(x)"
RETURN = "return x @ (A @ x), x"

iteration_normalised_at_the_end = mistake(
    "power_iteration",
    {STEP: "x = A @ x", RETURN: "x = x / np.linalg.norm(x)\nreturn x @ (A @ x), x"},
    says="The length is made 1 only at the end: after many steps the entries have overflowed, or vanished.",
)
iteration_from_any_length = mistake(
    "power_iteration",
    {START: "for _ in range(steps):"},
    says="x has its own length before the first step. Without a step it is returned so: make the length 1 first.",
)
iteration_value_is_a_length = mistake(
    "power_iteration",
    {RETURN: "return np.linalg.norm(A @ x), x"},
    says="The value is the length of A x, which has no sign. Take the Rayleigh quotient of the last vector.",
)
iteration_one_step_more = mistake(
    "power_iteration",
    {"for _ in range(steps):": "for _ in range(steps + 1):"},
    says="You take one step more than `steps`.",
)
iteration_divided_by_the_largest = mistake(
    "power_iteration",
    {STEP: "x = A @ x\nx = x / np.abs(x).max()"},
    says="You divide by the largest entry. The vector must have the length 1: divide by its norm.",
)
