"""The reference of hessian_trace against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch13_beyond_first_order.oracles.hessians import functions, hessian_of


@exercise("hessian_trace")
def test_trace_against_the_hessian(reference, rng):
    """Exact for diagonal Hessians; within six standard errors, of the known variance, for full ones."""
    trace, generator = reference.implementations["hessian_trace"], torch.Generator().manual_seed(1)
    for f in functions(rng):
        x, samples = torch.tensor(rng.normal(size=(2, 3))), 400
        H = hessian_of(f, x)
        off = H - torch.diag(H.diagonal())
        error = (2 * (off**2).sum() / samples).sqrt().item()  # var z·Hz = 2 Σ H_ij² off the diagonal
        assert abs(trace(f, x, samples, generator) - H.trace().item()) <= 6 * error + 1e-9
