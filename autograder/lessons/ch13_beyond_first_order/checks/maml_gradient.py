"""Checks of maml_gradient."""

from __future__ import annotations

import numpy as np

from autograder.judging import F64, agree, exercise, random
from autograder.judging.checking.kinds import LARGEST
from autograder.lessons.ch13_beyond_first_order.checks.hessian_products import scaled
from autograder.lessons.ch13_beyond_first_order.checks.kinds_of_tensors import KINDS


def regression(rng, d, dtype=F64):
    return {"w": random(rng, d, dtype), "b": random(rng, (), dtype)}


def network(rng, d, h, o, dtype=F64):
    shapes = {"W1": (d, h), "b1": (h,), "W2": (h, o)}
    return {name: random(rng, shape, dtype) for name, shape in shapes.items()}


def task(rng, n, d, y_shape=(), dtype=F64):
    return {"X": random(rng, (n, d), dtype), "y": random(rng, (n, *y_shape), dtype)}


def step_size(rng) -> float:
    return float(rng.uniform(0.05, 0.3))


@exercise("maml_gradient")
def test_through_the_inner_step(learner, reference, rng):
    """Regressions and a network: the part of the gradient that comes through the inner gradient is in it."""
    for d, n, m in [(1, 1, 1), (2, 3, 3), (3, 5, 2)]:
        arguments = regression(rng, d), task(rng, n, d), task(rng, m, d), step_size(rng), "constant"
        case = f"a regression on {d} number{'s' * (d > 1)}, {n} and {m} examples"
        agree("maml", learner, reference, "regression", *arguments, case=case)
    for d, h, o, n, m in [(1, 1, 1, 1, 1), (2, 3, 2, 4, 3)]:
        data = task(rng, n, d, (o,)), task(rng, m, d, (o,))
        case = f"a network with {h} hidden unit{'s' * (h > 1)}"
        agree(
            "maml", learner, reference, "network", network(rng, d, h, o), *data, step_size(rng), "constant", case=case
        )


@exercise("maml_gradient")
def test_parameters_that_are_not_used(learner, reference, rng):
    """Parameters of the support alone, of the query alone, of neither: zeros where nothing depends on them."""
    for case, used in {
        "one is in the query alone": (["a", "b"], ["a", "b", "query_only"]),
        "one is in the support alone": (["a", "support_only"], ["a"]),
        "no parameter is in both": (["support_only"], ["query_only"]),
        "one is in neither": (["a"], ["a"]),
    }.items():
        names = ["spare", *sorted({*used[0], *used[1]}, reverse=True)]
        params = {name: random(rng, size) for name, size in zip(names, (2, 3, 1, 2), strict=False)}
        data = ({name: random(rng, params[name].shape) for name in side} for side in used)
        agree("maml", learner, reference, "some", params, *data, step_size(rng), "constant", case=case)


@exercise("maml_gradient")
def test_straight_losses(learner, reference, rng):
    """A support loss with a constant gradient, which has no graph; a query loss with one."""
    for shape in [(1,), (2, 2)]:
        params, slope, cubes = ({key: random(rng, shape)} for key in ("w", "slope", "cubes"))
        for case, data in {"the support loss is linear": (slope, cubes), "the query loss is": (cubes, slope)}.items():
            agree("maml", learner, reference, "straight", params, *data, step_size(rng), "constant", case=case)


@exercise("maml_gradient")
def test_step_sizes(learner, reference, rng):
    """A learning rate of 0 gives the query's gradient, a large one mostly second derivatives."""
    for inner_lr in (0.0, float(rng.uniform(1, 2))):
        arguments = regression(rng, 2), task(rng, 3, 2), task(rng, 3, 2), inner_lr, "constant"
        agree("maml", learner, reference, "regression", *arguments, case=f"inner_lr is {inner_lr:.1f}")


@exercise("maml_gradient")
def test_kinds_of_parameters(learner, reference, rng):
    """Leaves that require gradients, tensors in the middle of a graph, tensors that are not contiguous."""
    for kind in ("leaf", "middle", "strided"):
        data = task(rng, 3, 2, (2,)), task(rng, 2, 2, (2,))
        arguments = network(rng, 2, 3, 2), *data, step_size(rng), kind
        agree("maml", learner, reference, "network", *arguments, case=f"each parameter is {KINDS[kind]}")


@exercise("maml_gradient")
def test_every_kind_of_parameter(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; leaves, results; all at 0."""
    for kind in kinds:
        params = [scaled(value, kind.options.get("times", 1)) for value in kind.drawn["params"]]
        data = [{name: random(rng, of.shape, of.dtype) for name, of in zip("abc", params, strict=True)} for _ in "sq"]
        data[1]["shift"] = np.ones((), params[0].dtype)
        tolerance = kind.tolerance((), [LARGEST**2])
        agree("maml_in_states", learner, reference, params, *data, 0.125, kind.states, case=kind.label, **tolerance)


@exercise("maml_gradient", promise="instrumented")
def test_params_afterwards(learner, reference, rng):
    """Values, requires_grad and .grad of the parameters, the dict itself; loss_fn is called once with each data set."""
    for kind in ("constant", "leaf", "middle"):
        data = task(rng, 3, 2, (2,)), task(rng, 2, 2, (2,))
        arguments = network(rng, 2, 3, 2), *data, step_size(rng), kind
        agree("beside_maml", learner, reference, *arguments, case=f"each parameter is {KINDS[kind]}, afterwards")
