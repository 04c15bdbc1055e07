"""Checks of matmul_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import F64, check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE, agree_on
from autograder.lessons.ch06_vjps.checks.broadcasting import OPERAND_DTYPES
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


def agree_matmul(learner, reference, rng, shapes, dtypes=(F64, F64, F64), **tolerance):
    for case, (A_shape, B_shape) in shapes.items():
        A, B = random(rng, A_shape, dtypes[1]), random(rng, B_shape, dtypes[2])
        g = random(rng, np.matmul(A, B).shape, dtypes[0])
        agree_on(learner.matmul_vjp, reference.matmul_vjp, g, A, B, names=("dA", "dB"), case=case, **tolerance)


@exercise("matmul_vjp")
def test_matrices(learner, reference, rng):
    """dA = g Bᵀ and dB = Aᵀ g."""
    shapes = {
        "1 × 1 matrices": ((1, 1), (1, 1)),
        "square matrices": ((3, 3), (3, 3)),
        "a row times a matrix": ((1, 3), (3, 2)),
        "a column times a row": ((2, 1), (1, 3)),
        "plain matrices": ((4, 3), (3, 5)),
        "an empty batch of rows": ((0, 3), (3, 2)),
    }
    agree_matmul(learner, reference, rng, shapes)


@exercise("matmul_vjp")
def test_stacks_of_matrices(learner, reference, rng):
    """One product for each pair of matrices in two equal stacks."""
    shapes = {
        "a stack of one": ((1, 2, 3), (1, 3, 2)),
        "a stack": ((4, 2, 3), (4, 3, 5)),
        "a cube": ((3, 3, 3), (3, 3, 3)),
        "two leading axes": ((2, 3, 1, 4), (2, 3, 4, 2)),
    }
    agree_matmul(learner, reference, rng, shapes)


@exercise("matmul_vjp")
def test_one_matrix_for_the_whole_stack(learner, reference, rng):
    """A matrix that every product of the stack uses gets the sum of the gradients."""
    shapes = {
        "B one matrix, A a stack": ((2, 1, 3), (3, 2)),
        "A one matrix, B a stack": ((1, 3), (2, 3, 2)),
        "B one matrix, A a cube": ((3, 3, 3), (3, 3)),
        "A one matrix, B with two leading axes": ((2, 3), (4, 2, 3, 2)),
        "B one matrix, A with two leading axes": ((4, 2, 5, 3), (3, 2)),
    }
    agree_matmul(learner, reference, rng, shapes)


@exercise("matmul_vjp")
def test_broadcast_stacks(learner, reference, rng):
    """Leading axes of size 1 are stretched, in A, in B and in both."""
    shapes = {
        "A a stack of one": ((1, 2, 3), (4, 3, 2)),
        "B a stack of one": ((4, 2, 3), (1, 3, 2)),
        "A stretched along its second axis": ((2, 1, 3, 4), (2, 5, 4, 2)),
        "A stretched, B lacks an axis": ((2, 1, 3, 4), (5, 4, 2)),
        "both stretched": ((3, 1, 2, 2), (1, 3, 2, 2)),
        "both stretched, with rows and columns of size 1": ((2, 1, 1, 3), (4, 3, 1)),
    }
    agree_matmul(learner, reference, rng, shapes)


@exercise("matmul_vjp")
def test_matmul_dtypes(learner, reference, rng):
    """Each gradient has the dtype of its matrix."""
    for case, dtypes in OPERAND_DTYPES.items():
        words = case.replace("a float", "A float").replace("b float", "B float").replace("operands", "matrices")
        agree_matmul(learner, reference, rng, {words: ((2, 3), (3, 4))}, dtypes, **SINGLE)


@exercise("matmul_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "matmul_vjp", names=("dA", "dB"))


@exercise("matmul_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "matmul_vjp")
