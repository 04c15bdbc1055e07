"""Functions whose Jacobian is built from products, which are counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.judging import expect_close
from autograder.lessons.ch02_chain_rule.checks.tolerances import EXACT

JACOBIANS = {  # n_out and n_in, smallest first
    "one input, one output": (1, 1),
    "two inputs, two outputs": (2, 2),
    "more inputs than outputs": (2, 4),
    "more outputs than inputs": (4, 2),
    "a square Jacobian": (4, 4),
}


class Product:
    """The product with a fixed Jacobian, on its left or right, and how often it was taken."""

    def __init__(self, jacobian: np.ndarray, left: bool) -> None:
        self.matrix = jacobian.T if left else jacobian
        self.calls = 0

    def __call__(self, vector: Any) -> np.ndarray:
        self.calls += 1
        vector = np.asarray(vector, dtype=np.float64)
        if vector.shape != self.matrix.shape[1:]:
            wanted = self.matrix.shape[1:]
            raise ValueError(f"a vector of shape {wanted} is expected here, not an array of shape {vector.shape}")
        return self.matrix @ vector


def agree_on_jacobian(function, rng, shapes, *, left):
    for case, (n_out, n_in) in shapes.items():
        jacobian = rng.normal(size=(n_out, n_in))
        got = function(Product(jacobian, left), n_out if left else n_in)
        expect_close(got, jacobian, names=("the Jacobian",), case=case, **EXACT)


def expect_calls(function, rng, shapes, *, left):
    """Expect exactly one call per vector, and a right Jacobian, so that calls were not saved at its expense."""
    for case, (n_out, n_in) in shapes.items():
        jacobian = rng.normal(size=(n_out, n_in))
        product, n = Product(jacobian, left), n_out if left else n_in
        got = function(product, n)
        expect_close(product.calls, n, names=("the number of calls",), case=case, rtol=0, atol=0)
        expect_close(got, jacobian, names=("the Jacobian",), case=case, **EXACT)
