"""Checks of gumbel_softmax_st."""

from __future__ import annotations

import numpy as np

from autograder.judging import F32, F64, agree, exercise, random
from autograder.lessons.ch13_beyond_first_order.checks.kinds_of_tensors import KINDS


def noise(rng, shape, dtype=F64):
    return rng.gumbel(size=shape).astype(dtype)


def agree_on_choice(learner, reference, rng, shape, tau, case, dtype=F64, logits=None, gumbels=None):
    gumbels = noise(rng, shape, dtype) if gumbels is None else gumbels
    logits = random(rng, shape, dtype) if logits is None else logits
    g = random(rng, shape, dtype)
    tolerance = of_the_softmax(logits + gumbels, tau, g)
    agree("chosen", learner, reference, logits, tau, gumbels, g, case=case, **tolerance)


def of_the_softmax(scores, tau, g):
    """The tolerance for gradients p (g − Σ g p) / tau.

    Each p has the relative error of its exponent, the rounding of the largest score / tau. If one p is nearly 1, g and
    Σ g p cancel, and the remaining error is that of g / tau, which is large compared with an entry of 1e-14. If the
    scores are so far apart for tau that all p are 0 or 1, all formulas give 0.
    """
    eps = float(np.finfo(g.dtype).eps)
    size, largest = np.abs(scores).max(initial=0.0) / tau, np.abs(g).max(initial=0.0) / tau
    return {
        "rtol": 1e-9 if g.dtype == F64 else 1e-4,
        "atol": 16 * eps * max(1.0, size) * largest if size < 1e9 else 0.0,
    }


def temperature(rng) -> float:
    return float(rng.uniform(0.3, 0.8))


@exercise("gumbel_softmax_st")
def test_choices(learner, reference, rng):
    """One-hot forward, the gradient of the softmax backward; choices among two categories and more."""
    for k in (2, 3, 5):
        agree_on_choice(learner, reference, rng, (k,), temperature(rng), f"{k} categories")
        agree_on_choice(learner, reference, rng, (k,), 1.0, f"{k} categories, tau = 1")


@exercise("gumbel_softmax_st")
def test_batches(learner, reference, rng):
    """Leading axes, a batch of one, a single category."""
    for shape in [(3, 2), (2, 3), (1, 3), (2, 1, 4), (1, 2, 1, 2, 3), (3, 3), (0, 3)]:
        agree_on_choice(learner, reference, rng, shape, temperature(rng), f"logits have shape {shape}")
    for shape in [(1,), (2, 1)]:
        agree_on_choice(learner, reference, rng, shape, temperature(rng), f"a single category, shape {shape}")


@exercise("gumbel_softmax_st")
def test_exactly_one_hot(learner, reference, rng):
    """1 and 0 to the last bit, in float64 and in float32."""
    # hard + soft − soft misses 31 or more of 800 entries in each of 300 seeds, at tau = 0.5; other orders miss none
    for dtype in (F64, F32):
        arguments = random(rng, (200, 4), dtype), temperature(rng), noise(rng, (200, 4), dtype)
        case = f"{np.dtype(dtype)}, values exact to the last bit"
        agree("only_chosen", learner, reference, *arguments, case=case, rtol=0, atol=0)


@exercise("gumbel_softmax_st")
def test_ties(learner, reference, rng):
    """Of several equal scores the first is chosen; and one category only."""
    whole = rng.integers(-2, 3, size=(2, 1)).astype(F64)
    for case, logits, gumbels in [
        ("two equal scores", whole[:1, 0] * np.ones(2), np.zeros(2)),
        ("three equal scores", np.zeros(3), whole[:1, 0] * np.ones(3)),
        ("equal sums of different terms", np.array([[-1.0, 1.0, 2.0]]) + whole, np.array([[0.0, 3.0, 2.0]]) - whole),
    ]:
        arguments = logits, temperature(rng), gumbels, random(rng, logits.shape)
        agree("chosen", learner, reference, *arguments, case=case)


@exercise("gumbel_softmax_st")
def test_scores_that_hardly_differ(learner, reference, rng):
    """The largest score is larger by its last bit: an exponential or a quotient of it may be the same number."""
    for dtype in (F64, F32):
        about = rng.uniform(0.5, 3, size=(6, 1)).astype(dtype) * rng.choice([-1, 1], size=(6, 1)).astype(dtype)
        tiny = dtype(1e-17) * rng.uniform(1, 9, size=(6, 1)).astype(dtype)
        for told, logits in [
            ("neighbours among the floats", np.hstack([about, np.nextafter(about, dtype(9)), about])),
            ("of about 1e-17", np.hstack([-tiny, tiny, 2 * tiny])),
        ]:
            arguments = rng.permuted(logits, axis=1), temperature(rng), np.zeros_like(logits)
            case = f"scores that are {told}, {np.dtype(dtype)}"
            agree("only_chosen", learner, reference, *arguments, case=case, rtol=0, atol=0)


@exercise("gumbel_softmax_st")
def test_temperatures(learner, reference, rng):
    """A tiny tau and a huge one: the same choice, and the gradient that belongs to the temperature."""
    for case, tau, dtype in [
        ("tau = 10", 10.0, F64),
        ("tau = 1e-30", 1e-30, F64),
        ("tau = 1e9", 1e9, F64),
        ("tau = 1e9, float32", 1e9, F32),
        ("tau = 1e20", 1e20, F64),
    ]:
        for shape in [(3,), (4, 3)]:
            agree_on_choice(learner, reference, rng, shape, tau, f"{case}, shape {shape}", dtype)
    # 1e45 is no float32, and 3e38 makes quotients that float32 hardly tells apart; gradients are 0, denormal or both
    for tau, dtype in [(1e45, F32), (3e38, F32), (1.5e308, F64)]:
        arguments = random(rng, (8, 3), dtype), tau, noise(rng, (8, 3), dtype)
        agree("only_chosen", learner, reference, *arguments, case=f"tau = {tau:g}, {np.dtype(dtype)}", rtol=0, atol=0)
    for shape in [(3,), (4, 3)]:  # otherwise all probabilities are 0 or 1, and the gradient is 0
        tau, gumbels = 1e-3, noise(rng, shape)
        logits = 1e-3 * random(rng, shape) + 1.0 - gumbels
        case = f"tau = 1e-3, sums that are a few tau apart, shape {shape}"
        agree_on_choice(learner, reference, rng, shape, tau, case, logits=logits, gumbels=gumbels)


@exercise("gumbel_softmax_st")
def test_in_the_middle_of_a_graph(learner, reference, rng):
    """logits = a · b, and a loss that is not linear in the choice."""
    for shape in [(3,), (2, 4)]:
        a, b = (rng.uniform(0.5, 2, size=shape) for _ in range(2))
        arguments = a, b, temperature(rng), noise(rng, shape), random(rng, (shape[-1], 3)), ["constant"]
        agree("chosen_on_the_way", learner, reference, *arguments, case=f"logits = a · b, shape {shape}")


@exercise("gumbel_softmax_st")
def test_every_kind_of_logits(learner, reference, kinds):
    """All pairs of shapes, dtypes, layouts; 0, -0, denormal, small and large entries; logits of every origin."""
    for kind in kinds:
        logits, gumbels, g = kind.drawn.values()
        arguments = logits, 0.5, gumbels, g, kind.states
        tolerance = of_the_softmax(logits + gumbels, 0.5, g)
        agree("chosen_in_states", learner, reference, *arguments, case=kind.label, **tolerance)


@exercise("gumbel_softmax_st", promise="instrumented")
def test_logits_afterwards(learner, reference, rng):
    """Logits and noise as they were, no random numbers; and no gradient required of logits that require none."""
    for kind in ("constant", "leaf", "middle", "strided"):
        arguments = random(rng, (2, 3)), temperature(rng), noise(rng, (2, 3)), kind, random(rng, (2, 3))
        agree("beside_choice", learner, reference, *arguments, case=f"logits are {KINDS[kind]}, afterwards")
