"""Checks of dead_relu_fraction."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, agree, compare, exercise, expect_close, random
from autograder.lessons.ch09_vanishing_gradients.checks.layers import layer, layers


def relu_layer(rng, fan_in, dead, alive, mixed, dtype=F64):
    """A Linear with `dead` units that are always negative, `alive` ones that never are, and `mixed` ones."""
    units = dead + alive + mixed
    found = {"W": 0.01 * random(rng, (units, fan_in)), "b": np.concatenate([-np.ones(dead), np.ones(alive + mixed)])}
    found["W"][dead + alive :] *= 100
    found["b"][dead + alive :] = 0.1 * random(rng, mixed)
    order = rng.permutation(units)
    return {name: values[order].astype(dtype) for name, values in found.items()}


def relu_layers(rng, d, *kinds, dtype=F64):
    """Linears with these numbers of (dead, alive, mixed) units, and a last one with two outputs."""
    found, fan_in = [], d
    for kind in kinds:
        found.append(relu_layer(rng, fan_in, *kind, dtype=dtype))
        fan_in = sum(kind)
    return [*found, layer(rng, fan_in, 2, dtype)]


def some_kinds(rng, layers, mixed=3):
    """Random numbers of dead, alive and (at most `mixed`) mixed units for each layer."""
    return [
        (dead, alive, int(rng.integers(mixed + 1))) for dead, alive in rng.integers(1, 30, size=(layers, 2)).tolist()
    ]


def check_share(learner, reference, kind, stack, X, training=True, *, case):
    got, expected = (who.scenario.dead_fraction(kind, stack, X, training) for who in (learner, reference))
    expect_close(got, expected, names=("dead_relu_fraction",), case=case, rtol=1e-6, atol=1e-9)


def points(rng, n, d, dtype=F64):
    """Numbers between −2 and 2, so that no dead unit wakes up."""
    return rng.uniform(-2, 2, size=(n, d)).astype(dtype)


@exercise("dead_relu_fraction")
def test_share_of_units(learner, reference, rng):
    """Units that are 0 on every row, of all units behind all ReLUs."""
    for case, count, n in [("one ReLU", 1, 8), ("two ReLUs", 2, 8), ("three ReLUs of different widths", 3, 12)]:
        stack = relu_layers(rng, 3, *some_kinds(rng, count))
        check_share(learner, reference, "relu", stack, points(rng, n, 3), case=case)


@exercise("dead_relu_fraction")
def test_none_and_all(learner, reference, rng):
    """No dead unit, only dead ones, and a model without any ReLU."""
    X = points(rng, 6, 3)
    check_share(learner, reference, "relu", relu_layers(rng, 3, *some_kinds(rng, 1, 0)), X, case="some units dead")
    check_share(learner, reference, "relu", relu_layers(rng, 3, (3, 0, 0)), X, case="all units dead")
    check_share(learner, reference, "relu", relu_layers(rng, 3, (0, 3, 0)), X, case="no unit dead")
    check_share(learner, reference, "sigmoid", relu_layers(rng, 3, (2, 1, 0)), X, case="a model without ReLU")
    check_share(
        learner, reference, "relu", relu_layers(rng, 3, *some_kinds(rng, 2, 0)), X, case="some units of two ReLUs"
    )


@exercise("dead_relu_fraction")
def test_one_row_is_enough(learner, reference, rng):
    """A unit that is 1e-12 or denormal on a single row is not dead; with one row alone, a 0 is."""

    def stack():
        """Some units that are dead or alive, and three that show one input each."""
        first, _ = relu_layers(rng, 3, *some_kinds(rng, 1, 0))
        first = {"W": np.vstack([first["W"], np.eye(3)]), "b": np.append(first["b"], np.zeros(3))}
        return [first, layer(rng, len(first["b"]), 2)]

    X = points(rng, 7, 3)
    X[:, 1] = -np.abs(X[:, 1])
    for case, least in [("1e-12", 1e-12), ("the smallest positive number", 5e-324)]:
        X[:, 0] = np.eye(7)[int(rng.integers(7))] * least  # the mean of such numbers is 0
        check_share(learner, reference, "relu", stack(), X, case=f"a unit of {case} on one row, and 0 on six")
    X = points(rng, 1, 3) * np.array([1, 0, 0]) + np.array([0, -1, 1])
    check_share(learner, reference, "relu", stack(), X, case="a single row")


@exercise("dead_relu_fraction")
def test_relus_inside_of_modules(learner, reference, rng):
    """modules() finds what children() does not; a ReLU that runs twice is two layers, one that never runs is none."""
    stack = relu_layers(rng, 3, *some_kinds(rng, 2))
    check_share(learner, reference, "nested", stack, points(rng, 8, 3), case="a ReLU inside of a module")
    stack = relu_layers(rng, 3, *some_kinds(rng, 2))
    check_share(learner, reference, "twice", stack, points(rng, 8, 3), case="one ReLU module that runs twice")
    stack = relu_layers(rng, 3, *some_kinds(rng, 2))
    case = "a ReLU of a class derived from torch.nn.ReLU"
    check_share(learner, reference, "derived", stack, points(rng, 8, 3), case=case)
    dead, units = int(rng.integers(1, 20)), int(rng.integers(20, 40))
    X = np.where(np.arange(units) < dead, -1, 1) * (np.abs(points(rng, 8, units)) + 0.1)
    check_share(learner, reference, "alone", [], X, case="the model is a ReLU itself")


@exercise("dead_relu_fraction")
def test_relus_alone_count(learner, reference, rng):
    """Sigmoid units are never 0, and no part of the units that are counted; nor are those of a Linear."""
    for _ in range(2):  # one share is easily met by chance
        stack = relu_layers(rng, 3, *some_kinds(rng, 2))
        check_share(learner, reference, "mixed", stack, points(rng, 8, 3), case="a ReLU and a Sigmoid in one model")


@exercise("dead_relu_fraction")
def test_outputs_that_are_written_into(learner, reference, rng):
    """h += 1 behind the ReLU: whoever looks after the run sees no zeros."""
    for _ in range(2):  # one share is easily met by chance
        stack = relu_layers(rng, 3, *some_kinds(rng, 2))
        case = "the model does h += 1 after its ReLUs"
        check_share(learner, reference, "in place", stack, points(rng, 8, 3), case=case)


def batchnorm_layers(rng, dtype=F64):
    """Units that are negative on every row with the running statistics, but never dead with the batch's statistics."""
    units = int(rng.integers(6, 50))
    stack = layers(rng, 3, units, 2, dtype=dtype)
    stack[0]["b"] = np.where(np.arange(units) < int(rng.integers(2, units - 1)), -9.0, 9.0).astype(dtype)
    return stack


@exercise("dead_relu_fraction")
def test_dead_in_the_mode_of_the_model(learner, reference, rng):
    """BatchNorm: in train mode and in eval mode other units are dead."""
    for mode in ("eval", "train"):
        case = f"BatchNorm, the model is in {mode} mode"
        arguments = batchnorm_layers(rng), points(rng, 6, 3), mode == "train"
        check_share(learner, reference, "batchnorm", *arguments, case=case)


@exercise("dead_relu_fraction", promise="instrumented")
def test_no_hook_is_left(learner, reference, rng):
    """Hooks, parameters, .grad and mode are those from before, also where the model raises."""
    for case, kind, dtype, training in [
        ("after the call, two ReLUs", "relu", F64, True),
        ("after the call, a model in eval mode", "batchnorm", F64, False),
        ("after the call, float32", "relu", F32, True),
        ("the model raises an exception", "raises", F64, True),
    ]:
        stack = batchnorm_layers(rng, dtype) if kind == "batchnorm" else relu_layers(rng, 3, (1, 2, 1), (2, 2, 1))
        stack = [{name: values.astype(dtype) for name, values in part.items()} for part in stack]
        arguments = kind, stack, points(rng, 6, 3, dtype), training
        got, expected = (who.scenario.after_dead_fraction(*arguments) for who in (learner, reference))
        compare(got, expected, case=case, rtol=1e-6, atol=0)


@exercise("dead_relu_fraction")
def test_every_kind_of_model(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; frozen models, old grads, modes, a ReLU at two places, half precision."""
    for kind in kinds:
        arguments = kind.drawn["X"], kind.states
        agree("dead_in_states", learner, reference, *arguments, case=kind.label, rtol=1e-6, atol=1e-9)
