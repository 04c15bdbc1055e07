"""Checks of neuron_gradients."""

from __future__ import annotations

from autograder.judging import check_kinds, exercise
from autograder.lessons.ch01_computation_graph.checks.one_neuron import expect_exact, numbers


@exercise("neuron_gradients")
def test_neuron(learner, reference, rng):
    """With the error r = w·x + b − y: 2r·x, 2r·w, 2r and −2r."""
    cases = [("w=1, x=2, b=0, y=0", (1.0, 2.0, 0.0, 0.0)), *[("random numbers", numbers(rng, 4)) for _ in range(3)]]
    for case, arguments in cases:
        expect_exact(learner.neuron_gradients(*arguments), reference.neuron_gradients(*arguments), case)


@exercise("neuron_gradients")
def test_neuron_with_zeros(learner, reference, rng):
    """An input of 0, a weight of 0, a target of 0, and a target that is met: then all four are 0."""
    p, q, r = numbers(rng, 3)
    w, x = (float(number) for number in rng.integers(2, 9, size=2))
    cases = {
        "x is 0": (p, 0.0, q, r),
        "w is 0": (0.0, p, q, r),
        "b and y are 0": (p, q, 0.0, 0.0),
        "the target is met": (w, x, 1.0, w * x + 1.0),
    }
    for case, arguments in cases.items():
        expect_exact(learner.neuron_gradients(*arguments), reference.neuron_gradients(*arguments), case)


@exercise("neuron_gradients")
def test_signs_of_the_error(learner, reference, rng):
    """A prediction above its target, and one below: the gradients change sign with the error."""
    w, x, b = numbers(rng, 3)
    for case, above in {"a prediction that is too high": 2.0, "a prediction that is too low": -2.0}.items():
        arguments = (w, x, b, w * x + b - above)
        expect_exact(learner.neuron_gradients(*arguments), reference.neuron_gradients(*arguments), case)


@exercise("neuron_gradients")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of 0, small, large and plain numbers; one number twice."""
    check_kinds(learner, reference, kinds, "neuron_gradients", by_entry=True)
