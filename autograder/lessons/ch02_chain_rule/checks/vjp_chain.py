"""Checks of vjp_chain."""

from __future__ import annotations

from autograder.judging import check_kinds, exercise, expect_close, on_case
from autograder.lessons.ch02_chain_rule.checks.chains import CHAINS, SQUARE, chain, one_vector_at_a_time
from autograder.lessons.ch02_chain_rule.checks.tolerances import EXACT


@exercise("vjp_chain")
def test_vjp_of_a_chain(learner, reference, rng):
    """uᵀ W_k … W_1, shape (n_0,)."""
    for case, dims in CHAINS.items():
        Ws, u = chain(rng, dims), rng.normal(size=dims[-1])
        expect_close(learner.vjp_chain(Ws, u), reference.vjp_chain(Ws, u), case=case, **EXACT)


@exercise("vjp_chain")
def test_vjp_of_square_matrices(learner, reference, rng):
    """Where neither a missing transpose nor a wrong order changes a shape."""
    for case, dims in SQUARE.items():
        Ws, u = chain(rng, dims), rng.normal(size=dims[-1])
        expect_close(learner.vjp_chain(Ws, u), reference.vjp_chain(Ws, u), case=case, **EXACT)


@exercise("vjp_chain")
def test_vjp_of_degenerate_chains(learner, reference, rng):
    """No matrix at all; a width of 0, through which nothing passes."""
    for case, dims in {"two matrices": (2, 2, 3), "an empty chain": (3,), "a width of 0": (2, 0, 3)}.items():
        Ws, u = chain(rng, dims), rng.normal(size=dims[-1])
        with on_case(case):
            got = learner.vjp_chain(Ws, u)
        expect_close(got, reference.vjp_chain(Ws, u), case=case, **EXACT)


@exercise("vjp_chain")
def test_every_kind_of_input(learner, reference, kinds):
    """0, -0, denormal numbers and small entries beside large ones, in chains of every length, and views."""
    check_kinds(learner, reference, kinds, "vjp_chain")


@exercise("vjp_chain")
def test_vjp_one_vector_at_a_time(learner, reference, rng):
    """One matrix–vector product for each matrix, and no matrix times a matrix."""
    one_vector_at_a_time("vjp_chain", learner, reference, rng, -1)
