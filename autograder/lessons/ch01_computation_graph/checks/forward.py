"""Checks of forward."""

from __future__ import annotations

from autograder.judging import check_kinds, exercise, expect_close
from autograder.lessons.ch01_computation_graph.checks.one_neuron import WORKED, cancelling, numbers
from autograder.lessons.ch01_computation_graph.checks.tolerances import EXACT


@exercise("forward")
def test_worked_example(learner, reference, rng):
    """d = a·b, e = d + c, L = e²: a=2, b=-3, c=10, and random numbers."""
    for case, arguments in [("the worked example", WORKED), *[("random numbers", numbers(rng, 3)) for _ in range(3)]]:
        expect_close(learner.forward(*arguments), reference.forward(*arguments), case=case, **EXACT)


@exercise("forward")
def test_forward_with_zeros(learner, reference, rng):
    """A factor of 0, a sum of 0, and a sum below 0, whose square is positive."""
    x, y = (abs(number) for number in numbers(rng, 2))
    cases = {
        "a is 0": (0.0, x, y),
        "b is 0": (x, 0.0, -y),
        "c is 0": (x, -y, 0.0),
        "e is exactly 0": cancelling(rng),
        "e is negative": (x, -y, -x),
    }
    for case, arguments in cases.items():
        expect_close(learner.forward(*arguments), reference.forward(*arguments), case=case, **EXACT)


@exercise("forward")
def test_large_and_small(learner, reference, rng):
    """Numbers of very different sizes."""
    x, y, z = numbers(rng, 3)
    for case, arguments in {
        "large numbers": (1e3 * x, 1e3 * y, 1e6 * z),
        "a small and a large factor": (1e-3 * x, 1e3 * y, z),
    }.items():
        expect_close(learner.forward(*arguments), reference.forward(*arguments), case=case, **EXACT)


@exercise("forward")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of 0, small, large and plain numbers; one number twice."""
    check_kinds(learner, reference, kinds, "forward", by_entry=True)
