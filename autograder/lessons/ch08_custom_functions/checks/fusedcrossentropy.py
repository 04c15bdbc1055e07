"""Checks of FusedCrossEntropy."""

from __future__ import annotations

import numpy as np

from autograder.judging import agree, compare, exercise, expect
from autograder.lessons.ch08_custom_functions.checks.upstream_gradients import SINGLE, not_one, upstream
from autograder.values import summarise


def batch(rng, n, c, scale=2.0):
    """Logits and targets; if n allows, two rows share a target and some class has none."""
    targets = rng.integers(c, size=n)
    if n > 2:
        targets[1] = targets[0]
    return rng.normal(scale=scale, size=(n, c)), targets


BATCHES = {  # what kind of batch: (n, c), smallest first
    "one row, two classes": (1, 2),
    "two rows": (2, 2),
    "a batch": (4, 3),
    "more classes than rows": (2, 5),
    "a single class": (3, 1),
}


@exercise("FusedCrossEntropy")
def test_loss_and_gradient(learner, reference, rng):
    """The mean loss and g (p − y) / n."""
    for case, (n, c) in BATCHES.items():
        agree("cross_entropy", learner, reference, *batch(rng, n, c), not_one(rng), case=case)
    logits, targets = batch(rng, 2, 300)[0], rng.integers(256, 300, size=2)  # more classes than 8 bits count
    agree("cross_entropy", learner, reference, logits, targets, not_one(rng), case="300 classes")


@exercise("FusedCrossEntropy")
def test_large_logits(learner, reference, rng):
    """Finite at ±1000."""
    for case, shift in {"logits near 1000": 1000.0, "logits near −1000": -1000.0}.items():
        logits, targets = batch(rng, 3, 4)
        agree("cross_entropy", learner, reference, logits + shift, targets, not_one(rng), case=case, atol=1e-11)
    logits, targets = batch(rng, 3, 4)
    logits += np.array([[1000.0], [0.0], [-1000.0]])  # one shift for all rows would make one underflow
    agree("cross_entropy", learner, reference, logits, targets, not_one(rng), case="rows far apart", atol=1e-11)
    logits = np.where(rng.permutation(np.arange(12) % 2).reshape(3, 4) == 1, 1000.0, -1000.0)
    for case, targets in {
        "logits of ±1000": rng.integers(4, size=3),
        "logits of ±1000, the least likely class": logits.argmin(axis=1),
        "logits of ±1000, the likeliest class": logits.argmax(axis=1),
    }.items():
        agree("cross_entropy", learner, reference, logits, targets, not_one(rng), case=case, atol=1e-11)
        arguments = logits, targets, not_one(rng), "float32"
        # at 1000 float32 has steps of 6e-5, and logsumexp may be one or two of them off
        agree("cross_entropy", learner, reference, *arguments, case=f"float32, {case}", rtol=1e-3, atol=1e-3)


@exercise("FusedCrossEntropy")
def test_in_a_classifier(learner, reference, rng):
    """Logits in the middle of a graph, not contiguous, and a loss that goes on."""
    for case, (n, d, c) in {"one row": (1, 2, 3), "a batch": (4, 2, 3)}.items():
        X, W, targets = upstream(rng, (n, d)), upstream(rng, (d, c)), rng.integers(c, size=n)
        case = f"logits = X W, the loss times g, {case}"
        agree("linear_classifier", learner, reference, X, W, targets, not_one(rng), case=case)


@exercise("FusedCrossEntropy")
def test_second_backward(learner, reference, rng):
    """retain_graph=True, and the same again."""
    for case, (n, c) in {"one row, two classes": (1, 2), "a batch": (4, 3)}.items():
        arguments = *batch(rng, n, c), not_one(rng), not_one(rng)
        agree("second_backward", learner, reference, *arguments, case=f"a second backward pass, {case}")


@exercise("FusedCrossEntropy")
def test_two_losses_at_once(learner, reference, rng):
    """Each call has a ctx of its own."""
    for case, sizes in {"the same shape twice": (3, 4, 3, 4), "two shapes": (1, 2, 3, 4)}.items():
        (logits, targets), (other, other_targets) = batch(rng, *sizes[:2]), batch(rng, *sizes[2:])
        case = f"two forward passes, then two backward passes, {case}"
        agree("two_losses", learner, reference, logits, other, targets, other_targets, case=case)


@exercise("FusedCrossEntropy", promise="instrumented")
def test_loss_calls(learner, reference, rng):
    """forward and backward are called."""
    for case, (n, c) in {"one row, two classes": (1, 2), "a batch": (4, 3)}.items():
        arguments = batch(rng, n, c), np.array(not_one(rng)), not_one(rng)
        agree("calls", learner, reference, "FusedCrossEntropy", *arguments, case=case)


@exercise("FusedCrossEntropy", promise="instrumented")
def test_keeps_one_tensor(learner, reference, rng):
    """One (n, c) tensor between the passes, and at most a few vectors of length n."""
    for n, c in [(6, 64), (3, 200)]:
        logits, targets = batch(rng, n, c)
        case = f"between the passes, logits of shape ({n}, {c})"
        expected, got = (who.scenario.kept_of_logits(logits, targets) for who in (reference, learner))
        one, few = logits.nbytes, 4 * targets.nbytes
        for where, what in {
            "saved": "are saved for backward",
            "made": "of new tensors are still alive after forward, the loss aside",
            "alive": "of tensors, the logits included, are still alive after forward, the loss aside",
        }.items():
            size = got[where]
            whole = isinstance(size, int) and not isinstance(size, bool)
            of = f"{size:,}" if whole else summarise(size)
            message = f"{of} bytes {what}; one (n, c) tensor has {one:,}, and vectors of length n are few."
            expect(whole and size <= one + few, message, case=case)
        numbers = {"saved", "made", "alive"}
        compare(*({k: v for k, v in of.items() if k not in numbers} for of in (got, expected)), case=case)


@exercise("FusedCrossEntropy", promise="instrumented")
def test_frozen_logits(learner, reference, rng):
    """needs_input_grad is asked."""
    for case, (n, c) in {"one row, two classes": (1, 2), "a batch": (4, 3)}.items():
        arguments = *batch(rng, n, c), not_one(rng)
        agree("frozen_logits", learner, reference, *arguments, case=f"logits that need no gradient, {case}")


@exercise("FusedCrossEntropy")
def test_loss_in_float32(learner, reference, rng):
    """float32 logits, float32 loss and gradient."""
    for case, (n, c) in BATCHES.items():
        arguments = *batch(rng, n, c), not_one(rng), "float32"
        agree("cross_entropy", learner, reference, *arguments, case=f"float32, {case}", **SINGLE)


@exercise("FusedCrossEntropy")
def test_every_kind_of_input(learner, reference, rng, kinds):
    """Logits in either dtype and any layout, with 0, -0, denormal, small and large entries."""
    for kind in kinds:
        logits, targets = kind.drawn.values()
        asked = learner.in_layout(kind.layout_of("logits", "targets", "", ""))
        arguments = logits, targets, not_one(rng), logits.dtype.name
        agree("cross_entropy", asked, reference, *arguments, case=kind.label, **kind.tolerance((), logits))
