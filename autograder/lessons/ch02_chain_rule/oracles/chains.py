"""Random chains, dense, and what they cost."""

from __future__ import annotations

import itertools

import numpy as np

CHAINS = [(1, 1), (3, 2), (2, 3, 4), (3, 4, 2, 1), (1, 5), (2, 4, 3, 5, 2)]


def chain(rng, dims):
    return [rng.normal(size=(rows, columns)) for columns, rows in itertools.pairwise(dims)]


def product(Ws, n):
    """W_k … W_1, a dense matrix."""
    J = np.eye(n)
    for W in Ws:
        J = W @ J
    return J


def counted(dims, mode):
    """Multiply–adds for the full Jacobian, counted for each basis vector, each matrix and each of its entries."""
    count = 0
    for _ in range(dims[0] if mode == "forward" else dims[-1]):
        for columns, rows in itertools.pairwise(dims):
            for _ in range(rows):
                for _ in range(columns):
                    count += 1
    return count
