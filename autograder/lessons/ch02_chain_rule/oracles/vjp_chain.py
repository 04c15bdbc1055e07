"""The reference of vjp_chain against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch02_chain_rule.oracles.chains import CHAINS, chain, product


@exercise("vjp_chain")
def test_vjp_against_torch(reference, rng):
    for dims in CHAINS:
        Ws, u = chain(rng, dims), rng.normal(size=dims[-1])
        x = torch.tensor(rng.normal(size=dims[0]), requires_grad=True)
        y = x
        for W in Ws:
            y = torch.tensor(W) @ y
        (expected,) = torch.autograd.grad(y, x, torch.tensor(u))
        np.testing.assert_allclose(reference.vjp_chain(Ws, u), expected.numpy(), **EXACT)
        np.testing.assert_allclose(reference.vjp_chain(Ws, u), u @ product(Ws, dims[0]), **EXACT)
