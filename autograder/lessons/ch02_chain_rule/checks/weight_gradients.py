"""Checks of weight_gradients."""

from __future__ import annotations

from functools import partial

import numpy as np

from autograder.judging import check_kinds, exercise, expect, expect_close, on_case
from autograder.judging.checking.measured import shown_as
from autograder.lessons.ch02_chain_rule.checks.chains import CHAINS, SQUARE, Products, chain
from autograder.lessons.ch02_chain_rule.checks.tolerances import EXACT


def drawn(rng, dims) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """A chain of these widths, what enters it, and the loss's weights of its outputs."""
    return chain(rng, dims), rng.normal(size=dims[0]), rng.normal(size=dims[-1])


def compare(got, expected, case) -> None:
    names = tuple(f"the gradient of W_{number}" for number in range(1, len(expected) + 1)) or ("the result",)
    expect_close(got, expected, names=names, case=case, **EXACT)


@exercise("weight_gradients")
def test_gradients_of_a_chain(learner, reference, rng):
    """An array in the shape of each W, in the order of Ws."""
    for case, dims in CHAINS.items():
        asked = drawn(rng, dims)
        compare(learner.weight_gradients(*asked), reference.weight_gradients(*asked), case)


@exercise("weight_gradients")
def test_gradients_of_square_matrices(learner, reference, rng):
    """Where neither a transpose nor another order changes a shape."""
    for case, dims in SQUARE.items():
        asked = drawn(rng, dims)
        compare(learner.weight_gradients(*asked), reference.weight_gradients(*asked), case)


@exercise("weight_gradients")
def test_gradients_of_degenerate_chains(learner, reference, rng):
    """No matrix at all; a width of 0, through which nothing passes."""
    for case, dims in {"two matrices": (2, 2, 3), "an empty chain": (3,), "a width of 0": (2, 0, 3)}.items():
        asked = drawn(rng, dims)
        with on_case(case):
            got = learner.weight_gradients(*asked)
        compare(got, reference.weight_gradients(*asked), case)


@exercise("weight_gradients")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers and small entries beside large ones, in chains of every length, and views."""
    for kind in kinds:
        names = tuple(f"the gradient of W_{number}" for number in range(1, len(kind.drawn["Ws"]) + 1))
        check_kinds(learner, reference, [kind], "weight_gradients", names=names)


@exercise("weight_gradients")
def test_two_products_per_matrix(learner, reference, rng):
    """At most one product in each direction for each matrix, and no matrix times a matrix."""
    chains = {"two matrices": (2, 3, 4), **CHAINS, **SQUARE, "20 matrices": (3,) * 21}
    for case, dims in chains.items():
        Ws, x, u = drawn(rng, dims)
        products = Products(Ws)
        ask = partial(learner.scenario.weights_one_vector_at_a_time, [W.shape for W in Ws], products.multiply, x, u)
        got = shown_as(ask, {"Ws": Ws, "x": x, "u": u})
        compare(got, reference.weight_gradients(Ws, x, u), case)
        for written, count in products.in_each_direction().items():
            message = f"{written} was computed {count} times with one matrix; once is enough"
            expect(count <= 1, message, case=case, instead=written)
