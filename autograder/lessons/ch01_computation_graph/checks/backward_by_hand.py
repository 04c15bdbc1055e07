"""Checks of backward_by_hand."""

from __future__ import annotations

from autograder.judging import check_kinds, exercise
from autograder.lessons.ch01_computation_graph.checks.one_neuron import (
    WORKED,
    cancelling,
    expect_exact,
    nearly_cancelling,
    numbers,
)


@exercise("backward_by_hand")
def test_worked_gradients(learner, reference, rng):
    """dL/de = 2e; e = d + c passes it on as it is, d = a·b times the other factor."""
    for case, arguments in [("the worked example", WORKED), *[("random numbers", numbers(rng, 3)) for _ in range(3)]]:
        expect_exact(learner.backward_by_hand(*arguments), reference.backward_by_hand(*arguments), case)


@exercise("backward_by_hand")
def test_gradients_with_zeros(learner, reference, rng):
    """A factor of 0 stops the other factor's gradient, not its own; at e = 0 all but dL/dL are 0."""
    x, y = (abs(number) for number in numbers(rng, 2))
    cases = {
        "a is 0": (0.0, x, y),
        "b is 0": (x, 0.0, -y),
        "c is 0": (x, -y, 0.0),
        "e is exactly 0": cancelling(rng),
        "e is negative": (x, -y, -x),
        "a·b and c nearly cancel": nearly_cancelling(rng),
    }
    for case, arguments in cases.items():
        expect_exact(learner.backward_by_hand(*arguments), reference.backward_by_hand(*arguments), case)


@exercise("backward_by_hand")
def test_gradients_of_large_and_small(learner, reference, rng):
    """Exact derivatives, whatever the sizes of the numbers."""
    x, y, z = numbers(rng, 3)
    for case, arguments in {
        "large numbers": (1e3 * x, 1e3 * y, 1e6 * z),
        "a small and a large factor": (1e-3 * x, 1e3 * y, z),
    }.items():
        expect_exact(learner.backward_by_hand(*arguments), reference.backward_by_hand(*arguments), case)


@exercise("backward_by_hand")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of 0, small, large and plain numbers; one number twice."""
    check_kinds(learner, reference, kinds, "backward_by_hand", by_entry=True)
