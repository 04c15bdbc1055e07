"""Checks of cross_entropy_loss."""

from __future__ import annotations

import numpy as np

from autograder.judging import EXACT, SINGLE, exercise
from autograder.lessons.ch07_mlp_backprop.checks.losses import check_loss, check_losses_of_kinds


@exercise("cross_entropy_loss")
def test_softmax_minus_one_hot(learner, reference, rng):
    """The mean of −log p[target], and (p − one-hot)/n."""
    for case, n, o in [("one row", 1, 2), ("one row", 1, 4), ("a batch", 3, 2), ("a batch", 5, 4)]:
        logits, targets = 2 * rng.normal(size=(n, o)), rng.integers(o, size=n)
        got, expected = learner.cross_entropy_loss(logits, targets), reference.cross_entropy_loss(logits, targets)
        check_loss(got, expected, "dlogits", case, **EXACT)


@exercise("cross_entropy_loss")
def test_every_row_has_its_own_target(learner, reference, rng):
    """Targets that repeat, that are all the same, and that name each class once."""
    for case, targets in [
        ("all targets the same", [1, 1, 1]),
        ("each class once", [2, 0, 1]),
        ("more rows than classes", [0, 2, 2, 1, 0]),
    ]:
        logits = rng.normal(size=(len(targets), 3))
        got = learner.cross_entropy_loss(logits, np.array(targets))
        check_loss(got, reference.cross_entropy_loss(logits, np.array(targets)), "dlogits", case, **EXACT)


@exercise("cross_entropy_loss")
def test_extreme_logits(learner, reference, rng):
    """Logits of ±1000: the loss is about 0 or about 2000, never inf or nan."""
    extremes = np.array([[1000.0, 0, -1000], [-1000, 0, 1000], [-1000, -1001, -1002], [1000, 999, 1000]])
    cases = [("the target has the largest logit", 0), ("the target's probability underflows to 0", 2)]
    for case, target in cases:
        logits, targets = extremes[:1], np.array([target])
        got, expected = learner.cross_entropy_loss(logits, targets), reference.cross_entropy_loss(logits, targets)
        check_loss(got, expected, "dlogits", case, **EXACT)
    logits, targets = extremes + rng.normal(size=(4, 3)), rng.integers(3, size=4)
    got, expected = learner.cross_entropy_loss(logits, targets), reference.cross_entropy_loss(logits, targets)
    check_loss(got, expected, "dlogits", "rows near 1000 and near −1000 in one batch", **EXACT)


@exercise("cross_entropy_loss")
def test_class_counts(learner, reference, rng):
    """Two classes, ten classes, and a single one, whose loss is 0."""
    for case, o in [("two classes", 2), ("ten classes", 10), ("a single class", 1)]:
        logits, targets = rng.normal(size=(4, o)), rng.integers(o, size=4)
        got, expected = learner.cross_entropy_loss(logits, targets), reference.cross_entropy_loss(logits, targets)
        check_loss(got, expected, "dlogits", case, **EXACT)


@exercise("cross_entropy_loss")
def test_cross_entropy_in_float32(learner, reference, rng):
    """float32 logits have a float32 gradient; targets are of any integer type."""
    for case, integer in [("float32 logits", np.int64), ("float32 logits, int32 targets", np.int32)]:
        logits, targets = rng.normal(size=(4, 3)).astype(np.float32), rng.integers(3, size=4).astype(integer)
        got, expected = learner.cross_entropy_loss(logits, targets), reference.cross_entropy_loss(logits, targets)
        check_loss(got, expected, "dlogits", case, **SINGLE)


@exercise("cross_entropy_loss")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers and small entries beside large ones, in either dtype, and views."""
    check_losses_of_kinds(learner, reference, kinds, "cross_entropy_loss", "dlogits")
