"""Checks of embedding_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE, agree_on
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


def agree_embedding(learner, reference, rng, table_shape, ids, case, dtypes=(F64, F64), **tolerance):
    ids, table = np.asarray(ids), random(rng, table_shape, dtypes[1])
    g = random(rng, (*ids.shape, table_shape[1]), dtypes[0])
    arguments = (learner.embedding_vjp, reference.embedding_vjp, g, table, ids)
    agree_on(*arguments, names=("dtable",), case=case, **tolerance)


@exercise("embedding_vjp")
def test_embedding_of_different_ids(learner, reference, rng):
    """Each row that was looked up gets its gradient, every other row 0."""
    for case, shape, ids in [
        ("one id", (2, 3), [1]),
        ("every row once, in another order", (3, 2), [2, 0, 1]),
        ("rows that no id uses", (6, 3), [4, 1]),
        ("rows of one entry", (4, 1), [3, 0]),
    ]:
        agree_embedding(learner, reference, rng, shape, ids, case)


@exercise("embedding_vjp")
def test_embedding_of_repeated_ids(learner, reference, rng):
    """An id that occurs several times gets the sum of the gradients."""
    for case, shape, ids in [
        ("one id twice", (2, 3), [1, 1]),
        ("a table of one row", (1, 2), [0, 0, 0]),
        ("repeated ids among others", (5, 2), [3, 0, 3, 4, 0, 3]),
        ("many ids", (4, 3), rng.integers(4, size=30)),
        ("a batch of sequences with repeated ids", (5, 3), [[0, 4, 4], [1, 0, 2]]),
    ]:
        agree_embedding(learner, reference, rng, shape, ids, case)


@exercise("embedding_vjp")
def test_embedding_ids_of_any_shape(learner, reference, rng):
    """A batch of sequences, a single id, no id at all."""
    for case, shape, ids in [
        ("a single id, a 0-d array", (3, 2), 2),
        ("a batch of sequences", (7, 3), [[0, 4, 6], [1, 5, 2]]),
        ("a batch of one", (4, 2), [[3, 1, 2]]),
        ("ids with three axes", (8, 2), rng.permutation(8)[:6].reshape(2, 1, 3)),
        ("no ids", (3, 2), np.zeros(0, dtype=np.int64)),
        ("an empty batch of sequences", (3, 2), np.zeros((0, 4), dtype=np.int64)),
    ]:
        agree_embedding(learner, reference, rng, shape, ids, case)


@exercise("embedding_vjp")
def test_embedding_dtypes(learner, reference, rng):
    """dtable has the dtype of the table; ids are integers of any width."""
    for case, dtypes in {
        "float32 throughout": (F32, F32),
        "a float32 table and a float64 g": (F64, F32),
    }.items():
        agree_embedding(learner, reference, rng, (4, 3), [2, 0, 3], case, dtypes, **SINGLE)
    agree_embedding(learner, reference, rng, (4, 3), np.array([1, 3, 0], dtype=np.int32), "int32 ids")


@exercise("embedding_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "embedding_vjp", names=("dtable",))


@exercise("embedding_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "embedding_vjp")
