"""Checks of concatenate."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise
from autograder.judging.checking.measured import shown_as
from autograder.lessons.ch05_autograd_engine.checks.code_cells import check_program, expect_answers, normal
from autograder.lessons.ch05_autograd_engine.checks.every_kind import check_every_kind
from autograder.lessons.ch05_autograd_engine.checks.expressions import check_expression


def check_joined(learner, reference, rng, shapes, axis, *, case):
    """Check tensors a, b, c … of these shapes, at most six, joined along an axis."""
    leaves = {name: rng.normal(size=shape) for name, shape in zip("abcdef", shapes, strict=False)}
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
    for axis in (3, -1, -4):
        check_joined(learner, reference, rng, [(2, 2, 2, 2)] * 2, axis, case=f"two arrays of four axes, axis={axis}")


@exercise("concatenate")
def test_sizes_that_differ(learner, reference, rng):
    """Tensors that differ in size along the axis, some of them empty."""
    check_joined(learner, reference, rng, [(1,), (3,)], 0, case="one entry and three")
    check_joined(learner, reference, rng, [(3,), (1,), (2,)], 0, case="3, 1 and 2 entries")
    check_joined(learner, reference, rng, [(2, 1), (2, 3), (2, 2)], 1, case="1, 3 and 2 columns")
    check_joined(learner, reference, rng, [(2, 3), (0, 3), (1, 3)], -2, case="2 rows, none and 1")
    check_joined(learner, reference, rng, [(1,), (2,), (1,), (3,), (2,), (1,)], 0, case="six vectors")


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
    cases = {
        "none requires one": "y = concatenate([Tensor(a.data), Tensor(a.data)])",
        "one does": "y = concatenate([Tensor(a.data), a])",
        "while Tensor.recording is False": "Tensor.recording = False\ny = concatenate([a, Tensor(a.data)])",
    }
    for case, code in cases.items():
        ask = ["y.data", "len(y.edges)"] + ["bool(y.requires_grad)"] * ("recording" not in code)
        check_program(learner, reference, code, normal(rng, "a"), ask, case=case)


@exercise("concatenate")
def test_kept_for_later(learner, reference, rng):
    """The result's array is new, each VJP works more than once, and the caller changes the list afterwards."""
    cases = {
        "one tensor alone": "y = concatenate([a])",
        "one that has entries": "y = concatenate([Tensor(np.ones(0)), a])",
    }
    for case, code in cases.items():
        check_program(learner, reference, code, normal(rng, "a"), ["np.shares_memory(y.data, a.data)"], case=case)
    leaves = {"a": rng.normal(size=1), "b": rng.normal(size=3)}
    cases = {"the list is turned around afterwards": ["g"], "each VJP is called twice": ["g", "another g"]}
    for case, names in cases.items():
        asked = (leaves, normal(rng, *names, shape=4), len(names) == 1)
        got = shown_as(lambda asked=asked: learner.scenario.joined_in_a_list(*asked), leaves | asked[1])
        expect_answers(got, reference.scenario.joined_in_a_list(*asked), case=case, **EXACT)


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
