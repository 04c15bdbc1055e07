"""Checks of concatenate."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise
from autograder.lessons.ch05_autograd_engine.checks.code_cells import expect_answers, run
from autograder.lessons.ch05_autograd_engine.checks.every_kind import check_every_kind
from autograder.lessons.ch05_autograd_engine.checks.expressions import check_expression


def check_joined(learner, reference, rng, shapes, axis, *, case):
    """Check tensors a, b, c … of these shapes, joined along an axis."""
    leaves = {name: rng.normal(size=shape) for name, shape in zip("abcd", shapes, strict=False)}
    check_expression(learner, reference, rng, f"concatenate([{', '.join(leaves)}], axis={axis})", leaves, case=case)


@exercise("concatenate")
def test_two_vectors(learner, reference, rng):
    """Two vectors of one size, and one vector alone; without an axis, it is the first."""
    leaves = {"a": rng.normal(size=1), "b": rng.normal(size=1)}
    check_expression(learner, reference, rng, "concatenate([a, b])", leaves)
    check_joined(learner, reference, rng, [(2,), (2,)], 0, case="two vectors")
    check_joined(learner, reference, rng, [(3,)], 0, case="a vector alone")


@exercise("concatenate")
def test_other_axes(learner, reference, rng):
    """Matrices and stacks, along each of their axes, counted from either end."""
    for axis in (0, 1):
        check_joined(learner, reference, rng, [(2, 2), (2, 2)], axis, case=f"two square matrices, axis={axis}")
    for axis in (-1, -2):
        check_joined(learner, reference, rng, [(2, 2), (2, 2)], axis, case=f"two square matrices, axis={axis}")
    for axis in (1, 2, -2, -3):
        check_joined(learner, reference, rng, [(2, 2, 2), (2, 2, 2)], axis, case=f"two cubes, axis={axis}")


@exercise("concatenate")
def test_sizes_that_differ(learner, reference, rng):
    """Tensors that differ in size along the axis, some of them empty."""
    check_joined(learner, reference, rng, [(1,), (3,)], 0, case="one entry and three")
    check_joined(learner, reference, rng, [(3,), (1,), (2,)], 0, case="3, 1 and 2 entries")
    check_joined(learner, reference, rng, [(2, 1), (2, 3), (2, 2)], 1, case="1, 3 and 2 columns")
    check_joined(learner, reference, rng, [(2, 3), (0, 3), (1, 3)], -2, case="2 rows, none and 1")


@exercise("concatenate")
def test_one_tensor_more_than_once(learner, reference, rng):
    """A tensor that occurs more than once gets the sum of its parts."""
    for listed in ("a, a", "a, b, a", "b, a, a"):
        leaves = {"a": rng.normal(size=2), "b": rng.normal(size=2)}
        leaves = leaves if "b" in listed else {"a": leaves["a"]}
        check_expression(learner, reference, rng, f"concatenate([{listed}])", leaves)


@exercise("concatenate")
def test_some_require_no_gradient(learner, reference, rng):
    """A tensor that requires no gradient takes up its place all the same."""
    for listed in ("Tensor(c), a", "a, Tensor(c), b", "Tensor(c), a, Tensor(c), b"):
        leaves = {"a": rng.normal(size=2), "b": rng.normal(size=2)}
        leaves = leaves if "b" in listed else {"a": leaves["a"]}
        given = {"c": rng.normal(size=2)}
        check_expression(learner, reference, rng, f"concatenate([{listed}])", leaves, given=given)
    arguments = ("y = concatenate([Tensor(a.data), Tensor(a.data)])", {"a": rng.normal(size=2)})
    ask = ["y.data", "bool(y.requires_grad)", "len(y.edges)"]
    expected = reference.scenario.run(*arguments, ask, {})
    expect_answers(run(learner, *arguments, ask), expected, case="none requires one", **EXACT)


@exercise("concatenate")
def test_joined_results(learner, reference, rng):
    """Between other operations, and in float32."""
    leaves = {"a": rng.normal(size=(2, 2)), "b": rng.normal(size=(2, 2))}
    for expression in ("concatenate([a * b, b.tanh()]) * 2", "concatenate([concatenate([a, b], 1), (a @ b).T], 1)"):
        check_expression(learner, reference, rng, expression, leaves)
    single = {name: array.astype(np.float32) for name, array in leaves.items()}
    check_expression(learner, reference, rng, "concatenate([a, b])", single, case="in float32", **SINGLE)


@exercise("concatenate")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; one tensor in all places."""
    check_every_kind("joined_in_states", learner, reference, kinds, "axis")
