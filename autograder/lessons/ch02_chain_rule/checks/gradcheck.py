"""Checks of gradcheck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.judging import exercise, expect
from autograder.judging.records.errors import Raised
from autograder.lessons.ch02_chain_rule.gradcheck_bank import (
    Function,
    Question,
    Vjp,
    array,
    elementwise_rules,
    large_rules,
    normalizations,
    products_and_lookups,
    right,
    rules_along_an_axis,
    wrong,
)
from autograder.lessons.ch02_chain_rule.scenarios import gradcheck as ops
from autograder.lessons.ch02_chain_rule.scenarios.gradcheck import taken
from autograder.values import summarise

FEW = 20
"""A check asks for at least this many verdicts: fewer could be memorised or guessed."""


class Asked:
    """A question to a learner's checker: a `vjp` that is right, or wrong in one way.

    Only its numbers may reveal whether it is right. So it accepts only float64 arrays of the inputs' shapes and refuses
    all others with the same message, and each call computes all the VJPs in question for this `f` and returns one, so
    that its duration depends only on `f`.
    """

    def __init__(self, question: Question, beside: list[Question]) -> None:
        self._question = question
        self._about_f = [other for other in beside if other.f is question.f]
        self._shapes = [x.shape for x in question.f.inputs]
        self._output = np.shape(question.f(*question.f.inputs))

    def vjp(self, g: Any, *inputs: Any) -> tuple[np.ndarray, ...]:
        g, *at = taken((g, *inputs), [self._output, *self._shapes])
        for other in self._about_f:
            gradients = other.vjp(g.copy(), *map(np.copy, at))  # a wrong one may write into them
            if other is self._question:
                asked = gradients
        # C order and no -0.0, because either could reveal which VJP this is.
        return tuple(np.array(gradient, dtype=np.float64, order="C") + 0.0 for gradient in asked)

    def verdict(self, learner, seed: int) -> Any:
        """The learner's verdict on this VJP."""
        f, layout = self._question.f, self._question.layout
        learner = learner.in_layout(layout) if layout else learner
        return learner.scenario.gradcheck(f.name, f.arguments, self.vjp, f.inputs, seed)


def ask(learner, rng, questions: list[Question]) -> None:
    """Expect the learner's gradcheck to accept what is right and to reject what is wrong.

    Questions are asked in random order, and repeated if they are few, so that their order does not give the answers
    away; wrong verdicts are reported in the given order.
    """
    kinds = [[i for i, question in enumerate(questions) if question.right is right] for right in (True, False)]
    again = [int(rng.choice(kinds[rng.integers(2)])) for _ in range(len(questions), FEW)]
    asked = rng.permutation([*range(len(questions)), *again]).tolist()
    verdicts: list[tuple[int, Any]] = []
    for i, seed in zip(asked, rng.integers(2**31, size=len(asked)).tolist(), strict=True):
        question = questions[i]
        try:
            verdicts.append((i, Asked(question, questions).verdict(learner, seed)))
        except Raised as error:
            if not question.right:
                of = f"of {question.f.words}, {question.words}"
                expect(False, f"A wrong VJP: {of}. The answer is False, not an exception. {error}")
            raise
    for i, got in sorted(verdicts, key=lambda verdict: verdict[0]):
        question, of = questions[i], f"of {questions[i].f.words}"
        if not isinstance(got, bool) and not (isinstance(got, np.ndarray) and got.shape == () and got.dtype == bool):
            expect(False, f"gradcheck returned {summarise(got)}: it must return True or False.")
        elif question.right:
            expect(bool(got), f"gradcheck rejected a right VJP: {of}.")
        else:
            expect(not got, f"gradcheck accepted a wrong VJP: {of}, {question.words}.")


# The rules of the next part come on hidden inputs only: the questions are many, and what they ask for is the same.


@exercise("gradcheck", visible=False)
def test_elementwise_rules(learner, rng):
    """Sums, products and activations, with the mistakes that learners make in them."""
    ask(learner, rng, elementwise_rules(int(rng.integers(2**31))))


@exercise("gradcheck", visible=False)
def test_rules_along_an_axis(learner, rng):
    """Sum, maximum, softmax, logsumexp and cross-entropy, with the mistakes that learners make in them."""
    ask(learner, rng, rules_along_an_axis(int(rng.integers(2**31))))


@exercise("gradcheck", visible=False)
def test_matrix_products_and_lookups(learner, rng):
    """Products of matrices and of stacks of them, and rows of a table, with the mistakes that learners make in them."""
    ask(learner, rng, products_and_lookups(int(rng.integers(2**31))))


@exercise("gradcheck", visible=False)
def test_normalizations(learner, rng):
    """Layer, RMS and batch normalization, with the mistakes that learners make in them."""
    ask(learner, rng, normalizations(int(rng.integers(2**31))))


@exercise("gradcheck", visible=False)
def test_convolution_pooling_and_attention(learner, rng):
    """The largest rules, with the mistakes that learners make in them."""
    ask(learner, rng, large_rules(int(rng.integers(2**31))))


def scaled(factor: float, f: Function) -> Vjp:
    """The right VJP times a factor."""
    return lambda g, *inputs: tuple(factor * gradient for gradient in f.vjp(g, *inputs))


@exercise("gradcheck")
def test_large_and_small_gradients(learner, rng):
    """A mistake of one percent in a large gradient, of one half in a small one: what counts is relative."""
    questions = []
    for words, scale, factors in [
        ("x²", 1.0, {"one percent too large": 1.01, "with the wrong sign": -1.0}),
        ("500,000 x²", 5e5, {"one percent too large": 1.01, "twice what it should be": 2.0}),
        (
            "3e-7 x², with gradients of less than 1e-6",
            3e-7,
            {"half of what it should be": 0.5, "twice what it should be": 2.0},
        ),
    ]:
        f = Function(words, ops.power, (array(rng, 3),), (2, scale))
        questions += [right(f), *(wrong(f, what, scaled(factor, f)) for what, factor in factors.items())]
    many = Function("3e-7 x² of 60 entries", ops.power, (array(rng, 60),), (2, 3e-7))
    ask(learner, rng, [*questions, right(many), wrong(many, "twice what it should be", scaled(2.0, many))])


@exercise("gradcheck")
def test_a_small_gradient_beside_a_large_one(learner, rng):
    """A mistake in a gradient of size 0.01, beside one of size 1: in one array, and in two."""
    # Larger ratios, or a larger scale, would drown the small gradient in what rounding leaves of the differences.
    factors = np.array([1.0, 0.01, 1.0, 0.01]) * rng.uniform(0.5, 1.5, size=4)
    product = Function("x c, with c near 1 and near 0.01", ops.multiply, (array(rng, 4), factors))
    arguments = array(rng, 3), 0.01 * array(rng, 3), array(rng, 3)
    sums = Function("a b + c, with b near 0.01", ops.multiply_and_add, arguments)
    uneven = np.tile([1.0, 3e-4], 20) * rng.uniform(0.5, 1.5, size=40)
    many = Function("x c of 40 entries, with c near 1 and near 3e-4", ops.multiply, (array(rng, 40), uneven))
    somewhere = np.split(1 + 2 * rng.permutation(20)[:18], 3)

    # The entry with the largest gradient of those: one where g happens to be 0 is right whatever its factor.
    def off(f: Function, which: int, entries: Sequence[int], factor: float) -> Vjp:
        def vjp(g, *inputs):
            gradients = [np.array(d) for d in f.vjp(g, *inputs)]
            gradients[which][max(entries, key=lambda entry: abs(gradients[which][entry]))] *= factor
            return tuple(gradients)

        return vjp

    questions = [right(product), right(sums), right(many)]
    questions += [
        wrong(many, f"one small entry {words}", off(many, 0, list(entries), factor))
        for entries, words, factor in zip(
            somewhere,
            ("2 percent too large", "2 percent too small", "twice what it should be"),
            (1.02, 0.98, 2.0),
            strict=True,
        )
    ]
    questions += [
        wrong(product, f"one small entry {words} what it should be", off(product, 0, (1, 3), factor))
        for words, factor in (("half of", 0.5), ("twice", 2.0), ("the negative of", -1.0))
    ]
    questions += [
        wrong(sums, f"an entry of the small gradient, that of a, {words}", off(sums, 0, range(3), factor))
        for words, factor in (("5 percent too large", 1.05), ("5 percent too small", 0.95))
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_curved_functions(learner, rng):
    """Steep valleys, where one-sided differences are off, and fast waves, where a large step is."""
    bottom, questions = 1e-5 * array(rng, 3), []
    for f in (
        Function("50,000 x² close to its minimum", ops.power, (bottom,), (2, 5e4)),
        Function("sin(30 x)", ops.sine, (0.02 * array(rng, 2, 2),), (30,)),
        Function("exp(20 x)", ops.exponential, (0.02 * array(rng, 2),), (20,)),
    ):
        questions += [right(f), wrong(f, "one percent too small", scaled(0.99, f))]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_gradients_of_zero(learner, rng):
    """A function that does not depend on an input, and one that does not change although it seems to."""
    x, y = array(rng, 3), array(rng, 2)
    unused = Function("y², which does not depend on x", ops.square_of_the_second, (x, y))
    total = Function("the sum of a softmax, always 1", ops.sum_of_softmax, (x,))
    questions = [
        right(unused),
        wrong(unused, "with x for the gradient of x", lambda g, x, y: (x, 2 * g * y)),
        right(total),
        wrong(total, "as if it were the sum of exponentials", lambda g, x: g * np.exp(x)),
        wrong(unused, "zeros for both inputs", lambda g, x, y: (0 * x, 0 * y)),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_upstream_gradients_that_hide_nothing(learner, rng):
    """Wrong VJPs that are right for a g of all ones, for a constant, a symmetric or a one-hot g."""
    x = array(rng, 3)
    square = Function("x²", ops.power, (x,), (2, 1.0))
    probabilities = Function("the softmax", ops.softmax, (x,))
    gram = Function("A Aᵀ", ops.gram, (array(rng, 3, 2),))
    sums = Function("the cumulative sum", ops.cumulative_sum, (x,))
    questions = [
        right(square),
        wrong(square, "2x, without g", lambda g, x: 2 * x),
        wrong(square, "with the mean of g for g", lambda g, x: 2 * x * g.mean()),
        wrong(square, "from the first output only", lambda g, x: 2 * x * g * np.eye(len(x))[0]),
        right(probabilities),
        wrong(probabilities, "all zeros, as for a constant g", lambda g, x: np.zeros_like(x)),
        wrong(probabilities, "with the plain mean of g", lambda g, x: ops.softmax(x) * (g - g.mean())),
        right(gram),
        wrong(gram, "2 g A, right for a symmetric g", lambda g, A: 2 * g @ A),
        right(sums),
        wrong(sums, "g itself", lambda g, x: g),
        wrong(sums, "the cumulative sum of g", lambda g, x: np.cumsum(g)),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_every_input(learner, rng):
    """One wrong input among right ones."""
    f = Function("a * b + c", ops.multiply_and_add, (array(rng, 2, 3), array(rng, 3), array(rng)))

    def wrong_in(which: int) -> Vjp:
        return lambda g, *inputs: tuple(d * 1.5 if i == which else d for i, d in enumerate(f.vjp(g, *inputs)))

    names = ("first", "second", "last")
    ask(learner, rng, [right(f), *(wrong(f, f"for the {name} input", wrong_in(i)) for i, name in enumerate(names))])


@exercise("gradcheck")
def test_every_entry(learner, rng):
    """One wrong entry among right ones, and gradients whose sum, norm or direction is right."""
    f = Function("x³", ops.power, (np.sort(rng.uniform(0.4, 1.6, size=4)),), (3, 1.0))

    def off_by(*amounts: float) -> Vjp:
        return lambda g, x: 3 * g * x**2 + amounts

    questions = [
        right(f),
        wrong(f, "in its first entry only", off_by(0.3, 0, 0, 0)),
        wrong(f, "in its last entry only", off_by(0, 0, 0, -0.3)),
        wrong(f, "in its second entry only", off_by(0, 0.3, 0, 0)),
        wrong(f, "with its sum right and its entries wrong", off_by(0.3, -0.2, -0.2, 0.1)),
        wrong(f, "with the wrong sign", lambda g, x: -3 * g * x**2),
        wrong(f, "with its entries in reverse order", lambda g, x: (3 * g * x**2)[::-1]),
        wrong(f, "without the factor 3", lambda g, x: g * x**2),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_shapes(learner, rng):
    """0-d inputs and outputs, rows, and gradients that have another shape than their input."""
    number = Function("x³ of a 0-d array", ops.power, (array(rng),), (3, 1.0))
    spread = Function("x c, a 0-d array times three numbers", ops.multiply, (array(rng), array(rng, 3)))
    row = Function("x² of a row", ops.power, (array(rng, 1, 3),), (2, 1.0))
    bias = Function("X + b", ops.add, (array(rng, 2, 2), array(rng, 2)))
    questions = [
        *map(right, (number, spread, row, bias)),
        wrong(number, "3x², without g", lambda g, x: 3 * x**2),
        wrong(row, "a gradient of shape (3,) for an input of shape (1, 3)", lambda g, x: (2 * g * x).ravel()),
        wrong(number, "a gradient of shape (1,) for an input of shape ()", lambda g, x: np.reshape(3 * g * x**2, 1)),
        wrong(row, "a gradient of shape (3, 1) for an input of shape (1, 3)", lambda g, x: (2 * g * x).T),
        wrong(bias, "one gradient for two inputs, that of b is missing", lambda g, X, b: (g,)),
        wrong(bias, "the gradient of b not summed: shape (2, 2) for an input of shape (2,)", lambda g, X, b: (g, g)),
        wrong(
            spread, "the gradient of x not summed: shape (3,) for an input of shape ()", lambda g, x, c: (g * c, g * x)
        ),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_every_kind_of_input(learner, rng, kinds):
    """Inputs with 0, -0 and denormal numbers, in every shape, and views: none of it changes a verdict."""
    questions = []
    for kind in kinds:
        f = Function(f"sin(2 x), x {kind.label}", ops.sine, (kind.drawn["inputs"],), (2,))
        layout = kind.layout_of("", "", "", "inputs", "")
        right_one, wrong_one = right(f), wrong(f, "one and a half of what it should be", scaled(1.5, f))
        questions += [replace(right_one, layout=layout), replace(wrong_one, layout=layout)]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_gradients_that_are_no_numbers(learner, rng):
    """A nan or an infinity is never right, wherever it is."""
    f = Function("x²", ops.power, (array(rng, 3),), (2, 1.0))
    questions = [
        right(f),
        wrong(f, "x, without g and the factor 2", lambda g, x: x),
        wrong(f, "nan in every entry", lambda g, x: np.full_like(x, np.nan)),
        wrong(f, "nan in its last entry", lambda g, x: np.where([True, True, False], 2 * g * x, np.nan)),
        wrong(f, "infinite in its first entry", lambda g, x: np.where([False, True, True], 2 * g * x, np.inf)),
    ]
    ask(learner, rng, questions)


@exercise("gradcheck")
def test_the_same_seed(learner, rng):
    """The same seed gives the same g. (That the inputs stay as they are, every check of gradcheck sees.)"""
    f = Function("a * b", ops.multiply, (array(rng, 2, 3), array(rng, 3)))
    questions = [right(f), wrong(f, "without the sum for b", lambda g, a, b: (g * b, (g * a)[0]))]
    ask(learner, rng, questions)
    asked, seed, seen = Asked(questions[0], questions), int(rng.integers(2**31)), []

    def vjp(g, *inputs):
        gradients = asked.vjp(g, *inputs)  # refuses what has another shape, which would take long
        seen[-1].append(np.array(g, dtype=np.float64).tolist())
        return gradients

    for _ in range(2):
        seen.append([])
        learner.scenario.gradcheck(f.name, f.arguments, vjp, f.inputs, seed)
    expect(bool(seen[0]), "gradcheck did not call vjp.")
    same = "gradcheck called twice with generators of the same seed used different g: draw all that is random from rng."
    expect(seen[0] == seen[1], same)
