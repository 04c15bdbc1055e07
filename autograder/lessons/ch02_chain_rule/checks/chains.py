"""Chains of matrices, and how wide they are.

Functions whose calls count (`f`, `jvp`, `vjp`, products) stay in this process and are called back, because a submission
could change counts in its own process.
"""

from __future__ import annotations

import itertools
from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from autograder.judging import expect, expect_close
from autograder.judging.checking.measured import shown_as
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


class Products:
    """Matrices that a submission can only multiply by one vector at a time; products are computed and counted here."""

    def __init__(self, Ws: list[np.ndarray]) -> None:
        self._Ws = Ws
        self._taken: Counter[tuple[int, bool]] = Counter()

    @property
    def count(self) -> int:
        """How many products were taken, of all matrices."""
        return self._taken.total()

    def in_each_direction(self) -> dict[str, int]:
        """The most products that a single matrix was in, as they are written, in either direction."""
        ways = {"W @ v": False, "v @ W": True}
        return {
            written: max((n for (_, left), n in self._taken.items() if left is way), default=0)
            for written, way in ways.items()
        }

    def multiply(self, number: Any, vector: Any, from_the_left: Any) -> np.ndarray:
        """`vector @ W` or `W @ vector`, of the matrix of this number, which may count from the end."""
        number = range(len(self._Ws))[number]  # one key for each matrix
        W, v = self._Ws[number], np.asarray(vector, dtype=np.float64)
        if v.ndim != 1:
            raise ValueError("the vector must have one axis")
        self._taken[number, bool(from_the_left)] += 1
        return np.asarray(v @ W if from_the_left else W @ v)


def one_vector_at_a_time(name, learner, reference, rng, end):
    """Check the value of a chain's product with matrices that only multiply vectors, and the number of products."""
    chains = {
        "two matrices": (2, 3, 4),
        **CHAINS,
        **SQUARE,
        "20 matrices": (3,) * 21,
    }  # a product of matrices shows in the first case
    for case, dims in chains.items():
        Ws, vector = chain(rng, dims), rng.normal(size=dims[end])
        products = Products(Ws)
        arguments = name, [W.shape for W in Ws], products.multiply, vector
        ask = partial(learner.scenario.chain_one_vector_at_a_time, *arguments)
        got = shown_as(ask, {"Ws": Ws, "v" if name == "jvp_chain" else "u": vector})
        expected = getattr(reference, name)(Ws, vector)
        expect_close(got, expected, names=("the result",), case=case, **EXACT)
        count, enough = products.count, len(Ws)
        message = f"{count} matrix–vector products for {enough} matrices: one for each is enough, and needed"
        expect(count == enough, message, case=case)


def widths(rng, count: int) -> list[int]:
    """Distinct widths between 2 and 30."""
    return [int(width) for width in rng.permutation(np.arange(2, 31))[:count]]
