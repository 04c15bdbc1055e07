"""Checks of all_reduce_gradients."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, F32, F64, agree, compare, exercise, expect, random
from autograder.lessons.ch14_scaling_out.checks.pieces import cut


def network(rng, d, h, o, dtype=F64):
    """W1, b and W2, with one dtype or one for each."""
    dtypes = dtype if isinstance(dtype, tuple) else (dtype,) * 3
    return [random(rng, shape, of) for shape, of in zip(((d, h), (h,), (h, o)), dtypes, strict=True)]


def shards(rng, rows, d, o, dtype=F64):
    """X and y for each rank."""
    return [[random(rng, (n, d), dtype), random(rng, (n, o), dtype)] for n in rows]


def counted(rows) -> str:
    return f"{' + '.join(map(str, rows))} row{'s' * (sum(rows) > 1)} on {cut(len(rows))}"


def agree_on_gradients(learner, reference, rng, rows, told="", *, nan=False, spare=False, dtype=F64, **tolerance):
    d, h, o = (int(size) for size in rng.integers(1, 4, size=3))
    of_data = F64 if isinstance(dtype, tuple) else dtype
    arguments = network(rng, d, h, o, dtype), shards(rng, rows, d, o, of_data), nan, spare
    case = f"{told}{', ' * bool(told)}{counted(rows)}"
    agree("gradients", learner, reference, *arguments, case=case, **{**EXACT, **tolerance})


@exercise("all_reduce_gradients")
def test_even_shards(learner, reference, rng):
    """As many rows on each rank, one rank included."""
    for rows in ((1, 1), (3, 3), (2, 2, 2), (4,)):
        agree_on_gradients(learner, reference, rng, rows)


@exercise("all_reduce_gradients")
def test_uneven_shards(learner, reference, rng):
    """Each row counts as much as any other, wherever it is."""
    for rows in ((1, 2), (5, 1), (1, 4, 2), tuple(int(n) for n in rng.integers(1, 7, size=4))):
        agree_on_gradients(learner, reference, rng, rows)


@exercise("all_reduce_gradients")
def test_ranks_without_rows(learner, reference, rng):
    """They have no gradient, or nan, and take part."""
    for nan, told in [(False, "None without rows"), (True, "nan without rows")]:
        for rows in ((2, 0), (0, 3, 1), (0, 0, 2)):
            agree_on_gradients(learner, reference, rng, rows, f".grad is {told}", nan=nan)


@exercise("all_reduce_gradients")
def test_gradients_that_are_no_numbers(learner, reference, rng):
    """A nan or an infinity of a rank with rows is the gradient: all ranks have it."""
    for rows, value in (((1, 2), np.nan), ((2, 1), np.inf), ((2, 0, 1), np.nan)):
        arguments = network(rng, 2, 1, 1), shards(rng, rows, 2, 1)
        arguments[1][0][1][0] = value
        case = f"{value} among the targets of the first rank, {counted(rows)}"
        agree("gradients", learner, reference, *arguments, True, False, case=case)


@exercise("all_reduce_gradients")
def test_parameters_without_a_gradient(learner, reference, rng):
    """One that no loss reaches gets zeros; a frozen one, which stands before others, nothing."""
    for rows in ((1,), (1, 2), (3, 0)):
        told = "a frozen parameter, and one that no loss reaches"
        agree_on_gradients(learner, reference, rng, rows, told, spare=True)


@exercise("all_reduce_gradients")
def test_every_kind_of_model(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; frozen and tied parameters, eval mode, buffers; ranks without rows."""
    for kind in kinds:
        (grads,), counts = kind.drawn.values(), kind.options["counts"]
        arguments, tolerance = (grads, counts, kind.states), kind.tolerance((), grads)
        agree("gradients_in_states", learner, reference, *arguments, case=kind.label, **tolerance)


@exercise("all_reduce_gradients")
def test_parameters_of_two_dtypes(learner, reference, rng):
    """Each .grad has the dtype of its own parameter."""
    for rows in ((2, 2), (1, 3), (2, 0)):
        agree_on_gradients(
            learner, reference, rng, rows, "float64 and float32 in turn", dtype=(F64, F32, F64), rtol=1e-4, atol=1e-5
        )


@exercise("all_reduce_gradients")
def test_large_gradients_in_float16(learner, reference, rng):
    """The sum over rows is more than float16 holds, their mean is not."""
    for rows in ((4, 4), (8, 2)):
        arguments = network(rng, 1, 1, 1, np.float16), shards(rng, rows, 1, 1, np.float16)
        for _, y in arguments[1]:
            y[...] = np.where(y < 0, -190, 190) + np.clip(y, -3, 3)
        case = f"float16, targets of ±190, {counted(rows)}"
        agree("gradients", learner, reference, *arguments, False, False, case=case, rtol=2e-2, atol=1e-2)


@exercise("all_reduce_gradients")
def test_many_rows(learner, reference, rng):
    """Numbers of rows that are no float16 and no 16-bit integer, for parameters of any dtype."""
    for dtype, tolerance in [(F64, EXACT), (np.float16, {"rtol": 2e-2, "atol": 1e-2})]:
        for rows in ((1025, 2), (3001, 0, 1), (70_001, 30_001)):
            counts = [n and n + 2 * int(rng.integers(100)) for n in rows]
            grads = [network(rng, 2, 1, 1, dtype) for _ in counts]
            case = f"{np.dtype(dtype)}, {counted(counts)}"
            agree("gradients_of_counts", learner, reference, grads, counts, case=case, **tolerance)


@exercise("all_reduce_gradients")
def test_two_groups_at_once(learner, reference, rng):
    """What a rank knows of the others comes by the messages of its group: another group runs at the same time."""
    for rows in ((1, 2), (3, 1, 2)):
        weights, groups = network(rng, 2, 1, 1), [shards(rng, rows, 2, 1) for _ in range(2)]
        case = f"two groups at the same time, each with {counted(rows)}"
        agree("gradients_of_two_groups", learner, reference, weights, groups, case=case, **EXACT)


@exercise("all_reduce_gradients")
def test_gradients_come_by_messages(learner, reference, rng):
    """Numbers that are changed on their way give other gradients, on every rank and in every entry."""
    for rows in ((2, 1), (1, 3, 2)):
        weights, data = network(rng, 3, 2, 2), shards(rng, rows, 3, 2)
        case = f"each message is multiplied by drawn numbers on its way, {counted(rows)}"
        plain, changed = (
            learner.scenario.gradients_of_messages(weights, data, seed) for seed in (None, int(rng.integers(2**31)))
        )
        compare(plain, reference.scenario.gradients_of_messages(weights, data, None), case=counted(rows), **EXACT)
        alike = [
            name
            for name, value in plain.items()
            if np.isclose(np.asarray(value, dtype=F64), np.asarray(changed[name], dtype=F64), rtol=1e-9, atol=0).any()
        ]
        expect(
            not alike,
            f"{alike[0] if alike else ''} stays what it is when the messages are changed: what a rank knows of the "
            "others comes through the group.",
            case=case,
        )
