"""Checks of train."""

from __future__ import annotations

from autograder.judging import EXACT, exercise, expect, expect_close


def check_fit(learner, reference, rng, kind, rows, accumulate="left out", lr=0.1, how="fit", case=""):
    """Check the losses, and every parameter after the last step."""
    arguments = (kind, rows, lr, accumulate, int(rng.integers(2**31)))
    got = getattr(learner.scenario, how)(*arguments)
    expect_close(got, getattr(reference.scenario, how)(*arguments), case=case, **EXACT)


@exercise("train")
def test_one_step_for_each_batch(learner, reference, rng):
    """p -= lr * grad after every batch, each time with the gradient of that batch alone."""
    check_fit(learner, reference, rng, "linear", [2], case="one batch")
    check_fit(learner, reference, rng, "linear", [1, 1], case="two batches of one row")
    check_fit(learner, reference, rng, "linear", [3, 3, 3], case="three batches")
    check_fit(learner, reference, rng, "two layers", [4, 2, 3, 4], lr=0.05, case="two layers")
    check_fit(learner, reference, rng, "linear", [2, 2], accumulate=1, lr=0.3, case="accumulate=1")


@exercise("train")
def test_whole_groups(learner, reference, rng):
    """One step for a group of batches, with the mean of their gradients."""
    check_fit(learner, reference, rng, "linear", [2, 2], 2, case="one group of two")
    check_fit(learner, reference, rng, "linear", [2, 2, 2, 2], 2, case="two groups of two")
    check_fit(learner, reference, rng, "two layers", [3] * 9, 3, case="three groups of three")


@exercise("train")
def test_short_last_group(learner, reference, rng):
    """The last group steps with the mean over the batches that it has."""
    check_fit(learner, reference, rng, "linear", [2, 2, 2], 2, case="a group of two and one of one")
    check_fit(learner, reference, rng, "two layers", [3] * 8, 3, case="groups of three, three and two")
    check_fit(learner, reference, rng, "linear", [2, 2], 5, case="fewer batches than accumulate")


@exercise("train")
def test_batches_of_unequal_size(learner, reference, rng):
    """In the mean over a group every batch counts alike, however many rows it has."""
    check_fit(learner, reference, rng, "linear", [1, 5], 2, case="one row and five rows in a group")
    check_fit(learner, reference, rng, "two layers", [4, 1, 6, 2, 3], 2, case="batches of many sizes")


@exercise("train")
def test_stale_gradients(learner, reference, rng):
    """What stood in .grad before has no effect."""
    for kind, rows, accumulate, case in [
        ("linear", [2], "left out", "one batch, a .grad was there"),
        ("linear", [2, 2, 2], 2, "groups of two, a .grad was there"),
        ("a frozen layer", [2, 2], "left out", "a .grad was there, on a frozen layer too"),
        ("an unused layer", [2, 2], 2, "a .grad was there, on an unused layer too"),
    ]:
        check_fit(learner, reference, rng, kind, rows, accumulate, how="fit_with_stale_grads", case=case)


@exercise("train")
def test_frozen_and_unused(learner, reference, rng):
    """Parameters that get no gradient stay; one that is used twice has the sum of both uses."""
    for kind in ("a frozen layer", "an unused layer", "a tied layer", "two layers with one weight"):
        check_fit(learner, reference, rng, kind, [2, 2], case=kind)
        check_fit(learner, reference, rng, kind, [2, 2, 2], 2, case=f"{kind}, groups of two")


@exercise("train")
def test_any_iterable(learner, reference, rng):
    """A generator of batches: walked once, without a length."""
    for accumulate in ("left out", 2, 3):
        case = f"batches from a generator, accumulate {accumulate}"
        check_fit(learner, reference, rng, "linear", [2] * 4, accumulate, how="fit_from_generator", case=case)


@exercise("train")
def test_losses(learner, reference, rng):
    """Python floats, one per batch; none without batches."""
    check_fit(learner, reference, rng, "linear", [], case="no batch at all")
    for case, rows in [("one batch", [2]), ("three batches", [1, 3, 2])]:
        seed = int(rng.integers(2**31))
        kinds = learner.scenario.kinds_of_losses(rows, seed)
        right = all(kind == "float" for kind in kinds)
        expect(right, "a loss that train returned is no Python float; loss.item() is one", case=case)
        expect(len(kinds) == len(rows), "train must return one loss for each batch", case=case)
