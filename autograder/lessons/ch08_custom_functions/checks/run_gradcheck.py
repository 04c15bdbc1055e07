"""Checks of run_gradcheck."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.judging import F32, compare, exercise, expect
from autograder.judging.records.errors import Missing, Raised
from autograder.lessons.ch08_custom_functions.gradcheck_operations import (
    NO_SECOND_ORDER,
    Operation,
    cube,
    product,
    scaled,
    vector,
)
from autograder.values import summarise


def _known(reference, rng, operations: list[Operation]) -> list[dict[str, Any]]:
    """The operations' precomputed answers, computed once for all submissions of a class."""
    state = str(rng.bit_generator.state["state"]["state"])
    known: list[dict[str, Any]] = reference.answer(["operations", state], lambda: [op.known() for op in operations])
    return known


def ask(
    learner, reference, rng, operations: list[Operation], *, may_raise: bool = True, look_after: bool = False
) -> None:
    """Expect the learner's run_gradcheck to accept what is right and to reject what is wrong.

    An answer that evaluates the operation only where gradcheck does gets precomputed values; if it asks for others, it
    is called again with call-backs. Operations are asked about in random order, so that the order does not give the
    answers away; wrong verdicts are reported in the given order.

    Args:
        may_raise: an exception for a wrong fn counts as a rejection, so that a missing `try` fails one check, not all.
        look_after: also check what became of the caller's tensors.
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
            except (Raised, Missing) as error:  # fn's NotImplementedError looks like an unwritten exercise
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
    mixed = {  # a sum of the outputs has ones for g, in whatever order
        "mistake": "its gradient with the entries of g in reverse order",
        "first": lambda right, gs, tensors: [3 * tensors[0] ** 2 * gs[0].flip(0)],
    }
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
        cube(rng, 3),
        cube(rng, 3, **mixed),
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
    factors = rng.integers(1, 4, size=(5, 6)).astype(np.float64)
    factors[:, 0] = rng.permutation(5) + 1  # no two rounds are alike

    def of_a_round(x):
        import torch

        return x**3 * torch.tensor(factors[drawn.turn])

    words = "x³ times whole numbers that PyTorch's generator draws"
    drawn = Operation(words, of_a_round, [x], mistake="others in each call", rounds=len(factors), drawn=True)
    questions = [
        Operation("x³", lambda x: x**3, [x]),
        Operation("x³ times a random whole number", dropout, [x], mistake="another one in each call", rounds=5),
        drawn,
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
    questions.append(Operation("x³", raising(KeyError("no")), x, mistake="a KeyError in its forward pass"))
    ask(learner, reference, rng, questions, may_raise=False)
