"""The reference of hvp against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch13_beyond_first_order.oracles.hessians import functions, hessian_of


@exercise("hvp")
def test_product_against_the_hessian(reference, rng):
    product = reference.implementations["hvp"]
    for f in functions(rng):
        x, v = (torch.tensor(rng.normal(size=(2, 3))) for _ in range(2))
        by_hessian = (hessian_of(f, x) @ v.reshape(-1)).reshape(2, 3)
        torch.testing.assert_close(product(f, x, v), by_hessian, rtol=1e-9, atol=1e-9)
