"""Checks of attention_vjp."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, check_kinds, exercise, random
from autograder.lessons.ch06_vjps.checks.agreement import SINGLE, agree_on
from autograder.lessons.ch06_vjps.checks.many_entries import check_many_entries


def attention_arguments(rng, leading, n, m, d, e, dtypes=(F64,) * 4):
    """g, q, k and v for n queries and m keys."""
    shapes = [(n, e), (n, d), (m, d), (m, e)]
    return tuple(random(rng, (*leading, *shape), dtype) for shape, dtype in zip(shapes, dtypes, strict=True))


def agree_attention(learner, reference, arguments, case, **options):
    names = ("dq", "dk", "dv")
    agree_on(learner.attention_vjp, reference.attention_vjp, *arguments, names=names, case=case, **options)


@exercise("attention_vjp")
def test_attention(learner, reference, rng):
    """dv = pᵀ g; dq and dk through the softmax and the scale 1/√d."""
    for case, n, d in [
        ("one query, one key", 1, 2),
        ("two positions", 2, 1),
        ("a square q", 3, 3),
        ("a sequence", 5, 4),
    ]:
        agree_attention(learner, reference, attention_arguments(rng, (), n, n, d, d), case)


@exercise("attention_vjp")
def test_attention_to_other_keys(learner, reference, rng):
    """Queries and keys of different numbers, values of another width."""
    for case, n, m, d, e in [
        ("one query, several keys", 1, 3, 2, 2),
        ("several queries, one key", 3, 1, 2, 2),
        ("values wider than the keys", 3, 3, 2, 5),
        ("values narrower than the keys", 4, 2, 5, 1),
        ("fewer queries than keys", 2, 5, 4, 3),
    ]:
        agree_attention(learner, reference, attention_arguments(rng, (), n, m, d, e), case)


@exercise("attention_vjp")
def test_causal_attention(learner, reference, rng):
    """A key after the query has no weight and gets no gradient from it."""
    for case, n, d, e in [
        ("causal, two positions", 2, 2, 2),
        ("causal, all sizes equal", 3, 3, 3),
        ("causal, a sequence", 5, 3, 2),
    ]:
        agree_attention(learner, reference, attention_arguments(rng, (), n, n, d, e), case, causal=True)
    g, _, _, v = attention_arguments(rng, (), 3, 3, 2, 2)
    q, k = rng.uniform(20, 20.1, size=(3, 2)), -rng.uniform(20, 20.1, size=(3, 2))
    agree_attention(learner, reference, (g, q, k, v), "causal, scores below -500", causal=True)
    for case, leading in {"causal, a batch": (2,), "causal, a batch and heads": (2, 2)}.items():
        agree_attention(learner, reference, attention_arguments(rng, leading, 3, 3, 2, 4), case, causal=True)


@exercise("attention_vjp")
def test_attention_with_batch_and_heads(learner, reference, rng):
    """Every head of every example attends on its own."""
    for case, leading, n, m, d, e in [
        ("a batch of one", (1,), 2, 2, 3, 3),
        ("a batch, all sizes equal", (3,), 3, 3, 3, 3),
        ("a batch and heads", (2, 3), 4, 2, 3, 2),
    ]:
        agree_attention(learner, reference, attention_arguments(rng, leading, n, m, d, e), case)


@exercise("attention_vjp")
def test_attention_with_extreme_scores(learner, reference, rng):
    """Right, not nan, for scores of ±1000."""
    d = 4
    for case, causal in {"scores of ±1000": False, "causal, scores of ±1000": True}.items():
        g, q, k, v = attention_arguments(rng, (), 4, 4, d, 3)
        k /= np.linalg.norm(k, axis=-1, keepdims=True)
        k[1] = k[0] + 1e-3 * rng.normal(size=d)  # two keys with nearly the same, largest score
        q = 1000 * np.sqrt(d) * k[0] * np.array([[1], [1], [-1], [1]]) + q
        agree_attention(learner, reference, (g, q, k, v), case, causal=causal)
    # a mask that takes off a number, instead of all, leaves the later key the largest weight
    k[-1], q[:2] = -k[0], -1000 * np.sqrt(d) * k[0]
    case = "causal, scores of -1000 and a later key of 1000"
    agree_attention(learner, reference, (g, q, k, v), case, causal=True)


@exercise("attention_vjp")
def test_attention_dtypes(learner, reference, rng):
    """dq, dk and dv have the dtypes of q, k and v."""
    for case, dtypes in {
        "float32 throughout": (F32, F32, F32, F32),
        "float32 inputs and a float64 g": (F64, F32, F32, F32),
        "float32 queries, the rest float64": (F64, F32, F64, F64),
        "float32 keys, the rest float64": (F64, F64, F32, F64),
        "float32 values, the rest float64": (F64, F64, F64, F32),
    }.items():
        for n, m, d, e in [(2, 2, 2, 2), (3, 3, 4, 4)]:
            arguments = attention_arguments(rng, (), n, m, d, e, dtypes)
            agree_attention(learner, reference, arguments, case, **SINGLE)


@exercise("attention_vjp")
def test_every_kind_of_input(learner, reference, kinds):
    """All pairs of shapes, dtypes, 0 and -0, denormal numbers, small beside large ones, views of each layout."""
    check_kinds(learner, reference, kinds, "attention_vjp", names=("dq", "dk", "dv"))


@exercise("attention_vjp")
def test_many_entries(learner, reference, rng):
    """The technique: thousands of entries, for which there is no time entry by entry."""
    check_many_entries(learner, reference, rng, "attention_vjp")
