"""Checks of repeated_batches."""

from __future__ import annotations

import math

import numpy as np

from autograder.judging import F32, F64, exercise, expect_close, random
from autograder.lessons.ch12_debugging.checks.tolerances import IDENTICAL


def tensors(*arrays):
    import torch

    return [torch.tensor(array) for array in arrays]


def check_pairs(learner, reference, batches, case):
    got, expected = learner.repeated_batches(batches), reference.repeated_batches(batches)
    expect_close(got, expected, names=("the pairs",), case=case, **IDENTICAL)


def copies(rng, make, counts):
    """Batches from `make` in random order, with `counts` copies of each."""
    kinds = [kind for kind, count in enumerate(counts) for _ in range(count)]
    made = [make() for _ in counts]
    again = [made[kind] for kind in rng.permutation(kinds)]
    return [tuple(part.clone() for part in batch) if isinstance(batch, tuple) else batch.clone() for batch in again]


@exercise("repeated_batches")
def test_pairs_of_tensors(learner, reference, rng):
    """All pairs, in order; three equal batches are three pairs."""
    for counts in [(2,), (2, 1), (3, 1, 1), (2, 3, 1, 2), (1, 1, 1, 4)]:
        batches = copies(rng, lambda: tensors(random(rng, (2, 3)))[0], counts)
        check_pairs(learner, reference, batches, f"{len(batches)} tensors")


@exercise("repeated_batches")
def test_pairs_of_tuples(learner, reference, rng):
    """Tuples (X, y), all tensors of which must be equal."""
    for counts in [(2, 1), (1, 3, 2)]:
        make = lambda: tuple(tensors(random(rng, (2, 3)), rng.integers(1000, size=2)))  # noqa: E731
        batches = copies(rng, make, counts)
        check_pairs(learner, reference, batches, f"{len(batches)} tuples (X, y)")
    X, Z, y, w = tensors(
        random(rng, (2, 3)), random(rng, (2, 3)), rng.integers(9, size=2), rng.integers(10, 19, size=2)
    )
    batches = [(X, y), (X.clone(), w), (Z, y), (Z.clone(), y.clone())]
    order = rng.permutation(4)
    check_pairs(learner, reference, [batches[i] for i in order], "the same X with another y")
    arguments = random(rng, (2, 3)), rng.integers(9, size=2)
    expected, got = (who.scenario.pairs_of_one_batch(*arguments) for who in (reference, learner))
    case = "one tensor again and again, alone and in tuples, also column by column in memory"
    expect_close(got, expected, names=("the pairs",), case=case, **IDENTICAL)


@exercise("repeated_batches")
def test_tuples_that_are_not_alike(learner, reference, rng):
    """Tuples of several lengths, and tensors beside tuples."""
    X, y, w = tensors(random(rng, (2, 3)), rng.integers(9, size=2), random(rng, 2))
    for case, batches in [
        ("tuples of one and of two tensors", [(X,), (X, y), (X,), (X, y)]),
        ("tuples of two and of three tensors", [(X, y), (X, y, w), (X, y, w)]),
        ("tensors and tuples of one tensor", [X, (X,), X.clone(), (X.clone(),)]),
        ("a tensor and a tuple of its rows", [X, tuple(X), X.clone()]),
    ]:
        order = rng.permutation(len(batches))
        check_pairs(learner, reference, [batches[i] for i in order], case)


@exercise("repeated_batches")
def test_shapes_and_dtypes(learner, reference, rng):
    """The same numbers in another shape or dtype are another batch; shapes that broadcast, too."""
    row = random(rng, (1, 3))
    whole = rng.integers(5, size=(2, 2))
    for case, arrays in [
        ("two shapes of the same numbers", [row, row.reshape(3), row.reshape(3, 1), row.copy()]),
        ("a row, and a matrix of that row", [row, np.repeat(row, 2, axis=0), np.repeat(row, 2, axis=0)]),
        ("one number, and a vector of it", [row[0, :1], np.repeat(row[0, :1], 3), row[0, 0], row[0, :1].copy()]),
        ("integers and floats", [whole, whole.astype(F64), whole.astype(F32), whole.copy()]),
        ("float32 and float64", [whole.astype(F32), whole.astype(F64), whole.astype(F32)]),
        ("integers of two kinds", [whole, whole.astype(np.int32), whole.astype(np.int32)]),
        ("bools", [whole > 2, whole > 2, whole.astype(np.uint8)]),
        ("0-d tensors", [row[0, 0], row[0, 1], row[0, 0].copy()]),
        ("empty tensors of two shapes", [np.zeros((0, 3)), np.zeros((0, 2)), np.zeros((0, 3))]),
    ]:
        order = rng.permutation(len(arrays))
        check_pairs(learner, reference, tensors(*(arrays[i] for i in order)), case)


@exercise("repeated_batches")
def test_nan_and_small_differences(learner, reference, rng):
    """A nan is equal to a nan in the same place; numbers that are close are not equal; order within a batch counts."""
    x = random(rng, 4)
    holes, other = x.copy(), x.copy()
    holes[int(rng.integers(1, 3))] = math.nan
    other[0] = math.nan
    infinite = x.copy()
    infinite[1] = math.inf
    for case, arrays in [
        ("a nan in the same place", [holes, holes, x]),
        ("a nan in another place", [holes, other, holes]),
        ("nan, and the number 0", [np.nan_to_num(holes), holes, holes]),
        ("inf, and nan", [infinite, np.where(np.isinf(infinite), math.nan, x), infinite]),
        ("inf, and −inf", [infinite, -infinite, np.where(np.isinf(infinite), -math.inf, x)]),
        ("one entry is 1e-9 larger", [x, x + np.array([0, 0, 1e-9, 0]), x]),
        ("the same rows in another order", [x, x[::-1].copy(), x]),
        ("0.0 and −0.0", [0 * np.abs(x), -0.0 * np.abs(x), x]),
    ]:
        order = rng.permutation(len(arrays))
        check_pairs(learner, reference, tensors(*(arrays[i] for i in order)), case)


@exercise("repeated_batches")
def test_a_loader(learner, reference, rng):
    """What it is for: one list of batches that are nearly alike, some of them equal."""
    x = random(rng, (2, 3))
    x[0, int(rng.integers(3))] = math.nan
    other = np.nan_to_num(x, nan=math.inf)
    moved, zeroed = np.roll(x, 1, axis=1), np.nan_to_num(x)
    X, Z, y, w = tensors(x, x[::-1].copy(), rng.integers(9, size=2), rng.integers(10, 19, size=2))
    kinds = [
        *((X, y), (X.clone(), y.clone()), (X, w), (Z, y), (X,), X, (X.clone(),), (X, y, y), (X, y.clone())),
        *tensors(
            x.astype(F32), x[None], other, moved, zeroed, x, np.zeros((0, 3)), np.zeros((0, 2)), x[1, 1], x[1, 1:2]
        ),
        *tensors(np.repeat(x[1:2, 1:2], 6).reshape(2, 3), x + np.array([0, 1e-9, 0])),
    ]
    for count in (6, len(kinds)):
        batches = [kinds[i] for i in rng.permutation(len(kinds))[:count]]
        check_pairs(learner, reference, batches, f"{count} batches of all kinds")


@exercise("repeated_batches")
def test_few_batches(learner, reference, rng):
    """None, one, and none that are equal."""
    check_pairs(learner, reference, copies(rng, lambda: tensors(random(rng, 2))[0], (2, 1)), "three batches")
    check_pairs(learner, reference, [], "no batches")
    check_pairs(learner, reference, tensors(random(rng, 3)), "one batch")
    check_pairs(learner, reference, tensors(*(random(rng, 3) for _ in range(4))), "four batches, none equal")


@exercise("repeated_batches")
def test_every_kind_of_input(learner, reference, kinds, rng):
    """All pairs of shapes, dtypes, layouts; tensors and tuples; an object twice; the next float."""
    for kind in kinds:
        order = rng.permutation(3 * len(kind.drawn["batches"])).tolist()
        arguments = *kind.drawn.values(), order, kind.states
        expected, got = (who.scenario.pairs_in_states(*arguments) for who in (reference, learner))
        expect_close(got, expected, names=("the pairs",), case=kind.label, **IDENTICAL)
