"""Chains of matrices, and how wide they are.

Functions whose calls count (`f`, `jvp`, `vjp`) stay in this process and are called back, so that they are counted where
nobody can change the count.
"""

from __future__ import annotations

import itertools

import numpy as np

from autograder.judging import expect, expect_close
from autograder.lessons.ch02_chain_rule.checks.tolerances import EXACT

CHAINS = {  # widths n_0, …, n_k
    "one number": (1, 1),
    "one matrix": (3, 2),
    "two matrices": (2, 3, 4),
    "a scalar output": (3, 4, 2, 1),
    "a scalar input": (1, 3, 2),
    "a long chain": (2, 4, 3, 5, 2, 3),
}
SQUARE = {"one square matrix": (3, 3), "two square matrices": (2, 2, 2), "four square matrices": (3, 3, 3, 3, 3)}


def chain(rng, dims) -> list[np.ndarray]:
    return [rng.normal(size=(rows, columns)) for columns, rows in itertools.pairwise(dims)]


def one_vector_at_a_time(name, learner, reference, rng, end):
    """A chain's product with matrices that multiply vectors only: its value, and the number of products."""
    chains = {"two matrices": (2, 3, 4), **CHAINS, **SQUARE}  # a product of matrices shows in the first case
    for case, dims in chains.items():
        Ws, vector = chain(rng, dims), rng.normal(size=dims[end])
        got = getattr(learner.scenario, f"{name}_one_vector_at_a_time")(Ws, vector)
        expected = getattr(reference, name)(Ws, vector)
        expect_close(got["result"], expected, names=("the result",), case=case, **EXACT)
        products, enough = got["products"], len(Ws)
        message = f"{products} matrix–vector products for {enough} matrices: one for each is enough, and needed"
        expect(products == enough, message, case=case)


def widths(rng, count: int) -> list[int]:
    """Distinct widths between 2 and 30."""
    return [int(width) for width in rng.permutation(np.arange(2, 31))[:count]]
