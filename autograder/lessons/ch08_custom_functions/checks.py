"""Checks of ch08_custom_functions: rules of one's own, differentiated once and twice, and a test for them.

A `Function` and its graph stay beside the submission. Scenarios apply it there, and what comes back is numbers: also
those of the double backward, which are compared here. What PyTorch's own gradcheck says there is asked as well, but a
submission could have replaced it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.judging import F32, F64, agree, compare, exercise, expect
from autograder.judging.errors import Missing, Raised
from autograder.lessons.ch08_custom_functions.gradcheck_operations import (
    NO_SECOND_ORDER,
    Operation,
    cube,
    product,
    scaled,
    vector,
)
from autograder.values import summarise

SINGLE = {"rtol": 2e-5, "atol": 1e-5}
SHAPES = {
    "one entry": (1,),
    "a vector": (4,),
    "a 0-d tensor": (),
    "a matrix": (2, 3),
    "three axes": (2, 1, 3),
    "an empty tensor": (0, 3),
}


def spread(rng, shape, dtype=F64):
    """Numbers of both signs between 0.3 and 2.3 in size: none where a derivative is 0 by accident."""
    return np.asarray(rng.uniform(0.3, 2.3, size=shape) * rng.choice([-1.0, 1.0], size=shape), dtype=dtype)


def upstream(rng, shape, dtype=F64):
    return np.asarray(rng.normal(size=shape), dtype=dtype)


def check_layouts(name: str, learner, reference, rng):
    """x and g that are views: transposed, expanded."""
    for case, shape in {"2 x 3": (2, 3), "3 x 2": (3, 2)}.items():
        arguments = spread(rng, shape), upstream(rng, shape)
        agree("other_layouts", learner, reference, name, *arguments, case=f"views, {case}")


def check_no_gradient(name: str, learner, reference, rng):
    """An x that requires no gradient gives a result that requires none."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        agree("constant", learner, reference, name, spread(rng, shape), case=f"{case}, requires_grad=False")


def away_from_halves(rng, shape, dtype=F64):
    """Numbers at least 0.1 away from every whole number and every half: floor, trunc and round all differ somewhere."""
    whole = rng.integers(-3, 3, size=shape)
    return np.asarray(whole + rng.choice([0.0, 0.5], size=shape) + rng.uniform(0.1, 0.4, size=shape), dtype=dtype)


def far_out(rng):
    """Where exp, cosh and powers overflow or vanish; ±1000 among them."""
    sizes = np.array([1000.0, 1000.0, *rng.uniform(6, 12, 2), *rng.uniform(20, 60, 2), *rng.uniform(100, 900, 2)])
    return sizes * np.tile([1.0, -1.0], 4)


# Square, GELU and GELUTanh; RoundSTE, too, where the same is asked of it


@exercise("Square", "GELU", "GELUTanh")
def test_once(learner, reference, rng, name):
    """Value and gradient, on every shape."""
    for case, shape in SHAPES.items():
        agree("once", learner, reference, name, spread(rng, shape), upstream(rng, shape), case=case)


@exercise("Square", "GELU", "GELUTanh")
def test_twice(learner, reference, rng, name):
    """The gradient differentiated again, by x and by g, on every shape."""
    for case, shape in SHAPES.items():
        arguments = spread(rng, shape), upstream(rng, shape), upstream(rng, shape)
        agree("twice", learner, reference, name, *arguments, case=f"double backward, {case}")


@exercise("Square", "GELU", "GELUTanh")
def test_in_a_graph(learner, reference, rng, name):
    """x = a · b in the middle of a graph, gradients and second derivatives of a and b."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        arguments = spread(rng, shape), spread(rng, shape), upstream(rng, shape), upstream(rng, shape)
        case = f"x = a · b, the result squared, {case}"
        agree("in_a_graph", learner, reference, name, *arguments, case=case)


@exercise("Square", "GELU", "GELUTanh", "RoundSTE", promise="instrumented")
def test_calls(learner, reference, rng, name):
    """The technique: apply gives what forward returns, and a backward pass what backward returns, right or wrong."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        arguments = (spread(rng, shape),), upstream(rng, shape), not_one(rng)
        agree("calls", learner, reference, name, *arguments, case=case)


@exercise("Square", "GELU", "RoundSTE", promise="instrumented")
def test_keeps(learner, reference, rng, name):
    """What is kept between the passes, in bytes: x, once, by save_for_backward; RoundSTE keeps nothing."""
    for case, shape, dtype, tolerance in [("float64", (3, 4), F64, {}), ("float32", (5, 4), F32, SINGLE)]:
        case = f"between the passes, {case}"
        agree("kept", learner, reference, name, spread(rng, shape, dtype), case=case, **tolerance)


@exercise("GELU", "GELUTanh")
def test_far_out(learner, reference, rng, name):
    """Up to ±1000, where the curve is straight: finite, and right."""
    x, g, h = far_out(rng), upstream(rng, 8), upstream(rng, 8)
    agree("once", learner, reference, name, x, g, case="entries up to ±1000")
    agree("twice", learner, reference, name, x, g, h, case="double backward, entries up to ±1000")
    x, g, h = (array.astype(F32) for array in (x, g, h))
    agree("once", learner, reference, name, x, g, case="float32, entries up to ±1000", **SINGLE)
    agree("twice", learner, reference, name, x, g, h, case="float32, double backward, entries up to ±1000", **SINGLE)


@exercise("Square", "GELU", "GELUTanh", promise="instrumented")
def test_notices_changes(learner, reference, rng, name):
    """What save_for_backward is for: x is changed in place before the backward pass."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        agree("changed_in_between", learner, reference, name, spread(rng, shape), upstream(rng, shape), case=case)


@exercise("Square", "GELU", "GELUTanh")
def test_two_at_once(learner, reference, rng, name):
    """Two forward passes before the first backward pass: each call has a ctx of its own."""
    for case, shape, other in [("the same shape twice", (3,), (3,)), ("two shapes", (2,), (2, 3))]:
        xs, gs = ([draw(rng, of) for of in (shape, other)] for draw in (spread, upstream))
        case = f"two forward passes, then two backward passes, {case}"
        agree("two_at_once", learner, reference, name, *xs, *gs, case=case)


@exercise("Square", "GELU", "GELUTanh")
def test_in_float32(learner, reference, rng, name):
    """float32 stays float32, in the second derivatives, too."""
    for case, shape in {"one entry": (1,), "a 0-d tensor": (), "a matrix": (2, 3)}.items():
        x, g, h = spread(rng, shape, F32), upstream(rng, shape, F32), upstream(rng, shape, F32)
        agree("once", learner, reference, name, x, g, case=f"float32, {case}", **SINGLE)
        agree("twice", learner, reference, name, x, g, h, case=f"float32, double backward, {case}", **SINGLE)


@exercise("Square", "GELU", "GELUTanh")
def test_of_views(learner, reference, rng, name):
    """Transposed and expanded; and no gradient where none is asked for."""
    check_layouts(name, learner, reference, rng)
    check_no_gradient(name, learner, reference, rng)


@exercise("Square", "GELU", "GELUTanh", "RoundSTE", promise="instrumented")
def test_gradchecked(learner, reference, rng, name):
    """What PyTorch's gradcheck and gradgradcheck say (RoundSTE they must reject), and the numbers it is about."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 2)}.items():
        x, g, h = away_from_halves(rng, shape), upstream(rng, shape), upstream(rng, shape)
        case = f"torch.autograd.gradcheck and gradgradcheck, {case}"
        agree("checked", learner, reference, name, x, g, h, case=case)


# RoundSTE


@exercise("RoundSTE")
def test_rounded(learner, reference, rng):
    """round(x) forward, g backward."""
    for case, shape in SHAPES.items():
        arguments = away_from_halves(rng, shape), upstream(rng, shape)
        agree("once", learner, reference, "RoundSTE", *arguments, case=case)


@exercise("RoundSTE")
def test_rounded_halves(learner, reference, rng):
    """A half goes to the even neighbour, and the gradient there is g, too."""
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5])
    for case, x in {
        "halves": halves,
        "halves further out": halves + 2 * rng.integers(2, 50),
        "whole numbers": np.arange(-3.0, 4.0) * rng.integers(1, 50),
        "large numbers": rng.uniform(1e3, 1e6, size=6),
    }.items():
        agree("once", learner, reference, "RoundSTE", x, upstream(rng, x.shape), case=case)


@exercise("RoundSTE")
def test_rounded_in_a_graph(learner, reference, rng):
    """x = a · b, and the rounded values squared: a second derivative comes from the square alone."""
    for case, shape in {"one entry": (1,), "a matrix": (2, 3)}.items():
        b = rng.uniform(0.5, 2, size=shape)
        a = np.asarray((np.abs(away_from_halves(rng, shape)) + 1) / b)
        arguments = a, b, upstream(rng, shape), upstream(rng, shape)
        case = f"x = a · b, the result squared, {case}"
        agree("in_a_graph", learner, reference, "RoundSTE", *arguments, case=case)


@exercise("RoundSTE")
def test_rounded_in_float32(learner, reference, rng):
    """float32, views, and no gradient where none is asked for."""
    for case, shape in {"one entry": (1,), "a 0-d tensor": (), "a matrix": (2, 3)}.items():
        arguments = away_from_halves(rng, shape, F32), upstream(rng, shape, F32)
        agree("once", learner, reference, "RoundSTE", *arguments, case=f"float32, {case}")
    check_layouts("RoundSTE", learner, reference, rng)
    check_no_gradient("RoundSTE", learner, reference, rng)


# FusedCrossEntropy


def batch(rng, n, c, scale=2.0):
    """Logits and targets; where n allows, two rows have one target and some class has none."""
    targets = rng.integers(c, size=n)
    if n > 2:
        targets[1] = targets[0]
    return rng.normal(scale=scale, size=(n, c)), targets


def not_one(rng):
    """An upstream gradient that is neither 0 nor 1, of either sign."""
    return float(rng.uniform(1.5, 3.5) * rng.choice([-1, 1]))


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


@exercise("FusedCrossEntropy")
def test_large_logits(learner, reference, rng):
    """Finite at ±1000."""
    for case, shift in {"logits near 1000": 1000.0, "logits near −1000": -1000.0}.items():
        logits, targets = batch(rng, 3, 4)
        agree("cross_entropy", learner, reference, logits + shift, targets, not_one(rng), case=case, atol=1e-11)
    logits, targets = batch(rng, 3, 4)
    logits += np.array([[1000.0], [0.0], [-1000.0]])  # what keeps one row from overflowing empties another
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
        }.items():
            size = got[where]
            whole = isinstance(size, int) and not isinstance(size, bool)
            of = f"{size:,}" if whole else summarise(size)
            message = f"{of} bytes {what}; one (n, c) tensor has {one:,}, and vectors of length n are few."
            expect(whole and size <= one + few, message, case=case)
        numbers = {"saved", "made"}
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


# run_gradcheck


def _known(reference, rng, operations: list[Operation]) -> list[dict[str, Any]]:
    """What is known of them beforehand, computed once: each of a class's submissions is asked about the same."""
    state = str(rng.bit_generator.state["state"]["state"])
    known: list[dict[str, Any]] = reference.answer(["operations", state], lambda: [op.known() for op in operations])
    return known


def ask(
    learner, reference, rng, operations: list[Operation], *, may_raise: bool = True, look_after: bool = False
) -> None:
    """Expect the learner's run_gradcheck to accept what is right and to reject what is wrong.

    Whoever asks an operation what gradcheck asks is told what is known beforehand; only where more is asked is the
    whole question put again, with call-backs.
    It is asked in any order, lest the order be the answer; what it got wrong is said in the order given.

    Args:
        may_raise: an exception for an fn that is wrong counts as a rejection, so that a missing `try` fails one check
            and not all.
        look_after: also look at what became of the caller's tensors.
    """
    answers: dict[int, dict[str, Any] | Raised | Missing | None] = {}
    order = rng.permutation(len(operations)).tolist()
    known = _known(reference, rng, operations)
    for may_ask in (False, True):
        for i in order:
            if answers.get(i) is not None:
                continue
            op = operations[i]
            wants = [op.wants and array.dtype.kind == "f" for array in op.arrays]
            ask_it = op.answer if may_ask else None
            try:
                answers[i] = learner.scenario.verdict(known[i], ask_it, op.arrays, wants, op.rows)
            except (Raised, Missing) as error:  # a NotImplementedError of fn looks like an exercise not written
                if op.right:
                    raise
                answers[i] = error
    for i, op in enumerate(operations):
        answer = answers[i]
        if not isinstance(answer, dict):
            what, why = f"{op.words}, {op.mistake}", answer if isinstance(answer, Raised) else ""
            expect(may_raise, f"The answer for an fn that is wrong ({what}) is False, not an exception. {why}".strip())
            continue
        said = answer.pop("verdict")
        of_bool = isinstance(said, bool)
        expect(of_bool, f"run_gradcheck returned {summarise(said)}: it must return True or False.", case=op.words)
        if not of_bool:
            continue
        if op.right:
            expect(said, f"run_gradcheck rejected an fn that is right: {op.words}.")
        else:
            expect(not said, f"run_gradcheck accepted an fn that is wrong: {op.words}, {op.mistake}.")
        if look_after:
            compare(answer, dict.fromkeys(answer, False), case=op.words)


@exercise("run_gradcheck")
def test_first_order(learner, reference, rng):
    """A wrong gradient, in whole or in part. Its second order fits to it, so that order alone does not tell."""
    one_entry = np.array([1.0, 1.0, 1.1])

    def of_one_entry(right, gs, tensors):
        import torch

        return [right[0] * torch.tensor(one_entry)]

    def of_negative_x(right, gs, tensors):
        return [right[0] * (1 + (tensors[0] < 0))]

    signs = [np.array([-1.0, 1.0]) * np.abs(vector(rng, 2))]
    questions = [
        cube(rng, 1),
        cube(rng, 1, mistake="its gradient half of what it should be", first=scaled(0.5)),
        cube(rng, 3),
        cube(rng, 3, mistake="its gradient 5 percent too large", first=scaled(1.05)),
        cube(rng, 3, mistake="its gradient wrong in one entry", first=of_one_entry),
        Operation("x³", lambda x: x**3, signs, mistake="its gradient too large where x < 0", first=of_negative_x),
        product(rng),
        product(rng, mistake="the gradient of b without its sign", first=lambda right, gs, xs: [right[0], -right[1]]),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_second_order(learner, reference, rng):
    """A gradient that is right, and wrong when it is differentiated again."""
    questions = [
        cube(rng, 1),
        cube(rng, 1, **NO_SECOND_ORDER),
        cube(rng, 3),
        cube(
            rng,
            3,
            mistake="its gradient right, the second derivative 10 percent too large",
            again=lambda of_g, of_x: [*of_g, *(1.1 * value for value in of_x)],
        ),
        cube(
            rng,
            3,
            mistake="its gradient right, but a double backward gives nothing for g",
            again=lambda of_g, of_x: [*(0 * value for value in of_g), *of_x],
        ),
        product(rng),
        product(
            rng,
            mistake="its gradients right, the second derivative of b missing",
            again=lambda of_g, of_x: [*of_g, of_x[0], 0 * of_x[1]],
        ),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_small_errors(learner, reference, rng):
    """Half a percent: the tolerances that gradcheck has by default find it, wider ones do not."""
    questions = [
        cube(rng, 3),
        cube(rng, 3, mistake="its gradient 0.5 percent too large", first=scaled(1.005)),
        cube(rng, 3, mistake="its gradient 0.5 percent too small", first=scaled(0.995)),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_one_entry_of_many(learner, reference, rng):
    """One entry of 8, 0.15 percent off: it drowns in a random combination of all of them, which fast mode takes.

    Of 300 draws the full check rejected all, in either order, and fast mode none; with 0.2 percent it sees some.
    """
    factors = np.ones(8)
    factors[rng.integers(8)] = 1.0015

    def of_one_entry(right, gs, tensors):
        import torch

        return [right[0] * torch.tensor(factors)]

    def again_of_one_entry(of_g, of_x):
        import torch

        return [of_g[0] * torch.tensor(factors), *of_x]

    words = "x³ of 8 entries"
    silent = "its gradient right, but what a double backward gives for g 0.15 percent off in one entry"
    questions = [
        cube(rng, 8, words=words),
        cube(rng, 8, words=words, mistake="its gradient 0.15 percent off in one entry", first=of_one_entry),
        cube(rng, 8, words=words, mistake=silent, again=again_of_one_entry),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_float32_tensors(learner, reference, rng):
    """A right fn is right for float32 tensors too, and a wrong one wrong: what is checked is float64."""
    questions = [
        cube(rng, 3, dtype=F32, words="x³, the tensor in float32"),
        cube(
            rng, 3, dtype=F32, words="x³, the tensor in float32", mistake="its gradient too small", first=scaled(0.98)
        ),
        Operation(
            "a b, the first tensor in float32, the second in float64",
            lambda a, b: a * b,
            [vector(rng, 2, dtype=F32), vector(rng, 2)],
        ),
        cube(rng, 3),
        cube(rng, 3, dtype=F32, words="x³, the tensor in float32", **NO_SECOND_ORDER),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_precision_inside(learner, reference, rng):
    """An fn that computes in float32 inside, whatever it is given."""

    def in_float32(x):
        return (x.float() ** 3).to(x.dtype)

    x = vector(rng, 6)
    questions = [
        Operation("x³", lambda x: x**3, [x]),
        Operation("x³", in_float32, [x], mistake="computed in float32 inside, so that no difference is exact"),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_all_floating_tensors(learner, reference, rng):
    """Each is checked, whether or not the caller's tensor requires a gradient."""
    second = "the gradient of b twice what it should be"
    questions = []
    for wants in (False, True):
        questions += [
            product(rng, wants=wants),
            product(rng, wants=wants, mistake=second, first=lambda right, gs, tensors: [right[0], 2 * right[1]]),
            product(rng, wants=wants, **NO_SECOND_ORDER),
        ]
        for op in questions[-3:]:
            op.words += f", its tensors with requires_grad={wants}"
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_other_tensors(learner, reference, rng):
    """Indices and masks are passed through."""
    ids, mask = np.array([2, 0, 2]), np.array([True, False, True])

    def rows(table, ids):
        return table[ids] ** 2

    def chosen(mask, x):
        return (x**3).where(mask, x**2)

    twice = {"mistake": "its gradient twice what it should be", "first": scaled(2.0)}
    table = vector(rng, 3, 2)
    questions = [
        Operation("table[ids]², the ids int64", rows, [table, ids]),
        Operation("table[ids]², the ids int64", rows, [table, ids], **twice),
        Operation("table[ids]², the ids int64", rows, [table, ids], **NO_SECOND_ORDER),
        Operation("x³ where a mask of bools says so, else x²", chosen, [mask, vector(rng, 3)]),
        Operation("x³ where a mask of bools says so, else x²", chosen, [mask, vector(rng, 3)], **twice),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_shapes_and_outputs(learner, reference, rng):
    """0-d tensors, a sum, a matrix product, several outputs, integers among them."""

    def two(a, b):
        return a * b, a.sin()

    def largest(x):
        values, where = (x**2).max(dim=1)
        return values, where

    half = {"mistake": "its gradient half of what it should be", "first": scaled(0.5)}
    steep = {
        "mistake": "the second derivatives of a missing",
        "again": lambda of_g, of_x: [*of_g, 0 * of_x[0], *of_x[1:]],
    }
    A, B = vector(rng, 2, 2), vector(rng, 2, 1)
    x = np.sort(rng.uniform(0.5, 1.5, size=(2, 2)), axis=1) + np.array([0.0, 0.2])
    numbers = [vector(rng), vector(rng)]
    questions = [
        cube(rng, words="x³ of a 0-d tensor"),
        cube(rng, words="x³ of a 0-d tensor", **half),
        Operation("2x, whose second derivative is 0", lambda x: 2 * x, [vector(rng, 2)]),
        Operation("2x", lambda x: 2 * x, [vector(rng, 2)], **half),
        Operation("the sum of x³", lambda x: (x**3).sum(), [vector(rng, 3)]),
        Operation("the sum of x³", lambda x: (x**3).sum(), [vector(rng, 3)], **half),
        Operation("the matrix product A B", lambda A, B: A @ B, [A, B]),
        Operation("the matrix product A B", lambda A, B: A @ B, [A, B], **half),
        Operation("the two outputs a b and sin a", two, numbers),
        Operation("the two outputs a b and sin a", two, numbers, **steep),
        Operation("the maxima of the rows of x², and where they are", largest, [x]),
        Operation("the maxima of the rows of x², and where they are", largest, [x], **half),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_expanded_tensors(learner, reference, rng):
    """A tensor whose rows share memory: a copy must have memory of its own."""
    words = "x³, the tensor expanded to 2 rows"
    questions = [
        cube(rng, 2, rows=2, words=words),
        cube(rng, 2, rows=2, words=words, mistake="its gradient half of what it should be", first=scaled(0.5)),
        cube(rng, 1, dtype=F32, rows=2, words=f"{words} of float32"),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_random_functions(learner, reference, rng):
    """A forward pass that is not the same twice, and a backward pass that is not."""
    noise = np.random.default_rng(int(rng.integers(2**31)))

    def dropout(x):
        import torch

        return x**3 * torch.tensor(noise.integers(1, 4, size=x.shape), dtype=x.dtype)

    def noisy(right, gs, tensors):
        return [gradient * float(noise.uniform(0.5, 1.5)) for gradient in right]

    x = vector(rng, 6)
    questions = [
        Operation("x³", lambda x: x**3, [x]),
        Operation("x³ times a random whole number", dropout, [x], mistake="another one in each call", rounds=5),
        Operation(
            "x³", lambda x: x**3, [x], mistake="its gradient another one in each backward pass", first=noisy, rounds=5
        ),
    ]
    ask(learner, reference, rng, questions)


@exercise("run_gradcheck")
def test_functions_that_write(learner, reference, rng):
    """An fn that writes into its argument is wrong, and the caller's tensor stays what it was, integers too."""
    written = {"mistake": "its forward pass adds 1 to x, in place", "writes": lambda x: x + 1}
    moved = Operation(
        "rows of a table by ids, squared",
        lambda ids, table: table[ids] ** 2,
        [np.array([2, 0]), vector(rng, 3, 2)],
        mistake="its forward pass moves the ids on, in place",
        writes=lambda ids: (ids + 1) % 3,
    )
    questions = [
        cube(rng, 2),
        cube(rng, 2, **written),
        cube(rng, 2, wants=False, words="x³, the tensor with requires_grad=False"),
        cube(rng, 2, wants=False, words="x³, the tensor with requires_grad=False", **written),
        cube(rng, 2, dtype=F32, words="x³, the tensor in float32", **written),
        moved,
    ]
    ask(learner, reference, rng, questions, look_after=True)


@exercise("run_gradcheck")
def test_graphs_that_are_lost(learner, reference, rng):
    """A result that depends on x, and has no graph."""
    lost = {"mistake": "its result detached", "differentiable": False}
    ask(learner, reference, rng, [cube(rng, 1), cube(rng, 1, **lost), cube(rng, 3), cube(rng, 3, **lost)])


@exercise("run_gradcheck")
def test_functions_that_raise(learner, reference, rng):
    """An exception is a False, wherever it comes from and whatever its class."""

    def raising(error: Exception) -> Callable[..., Any]:
        def raise_it(*arguments: Any) -> Any:
            raise error

        return raise_it

    x = [vector(rng, 2)]
    half = "its gradient half of what it should be"
    questions = [cube(rng, 2), cube(rng, 2, mistake=half, first=scaled(0.5))]
    for error in (RuntimeError("no"), ValueError("no"), NotImplementedError("no")):
        kind = type(error).__name__
        questions += [
            Operation("x³", raising(error), x, mistake=f"a {kind} in its forward pass"),
            cube(rng, 2, mistake=f"a {kind} in its backward pass", first=raising(error)),
            cube(rng, 2, mistake=f"a {kind} in its double backward", again=raising(error)),
        ]
    ask(learner, reference, rng, questions, may_raise=False)
