"""The reference of hvp_forward_over_reverse against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch13_beyond_first_order.oracles.hessians import functions, hessian_of


@exercise("hvp_forward_over_reverse")
def test_forward_over_reverse_by_hand(reference, rng):
    """f = ½ xᵀ A x + b·x with A not symmetric has the Hessian (A + Aᵀ) / 2; and as the Hessian of the others has it."""
    product = reference.implementations["hvp_forward_over_reverse"]
    A, b, x, v = (torch.tensor(rng.normal(size=shape)) for shape in ((4, 4), 4, 4, 4))
    torch.testing.assert_close(product(lambda x: 0.5 * x @ A @ x + b @ x, x, v), (A + A.T) @ v / 2)
    for f in functions(rng):
        x, v = (torch.tensor(rng.normal(size=(2, 3))) for _ in range(2))
        by_hessian = (hessian_of(f, x) @ v.reshape(-1)).reshape(2, 3)
        torch.testing.assert_close(product(f, x, v), by_hessian, rtol=1e-9, atol=1e-9)
