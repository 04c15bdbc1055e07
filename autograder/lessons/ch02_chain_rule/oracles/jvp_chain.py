"""The reference of jvp_chain against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch02_chain_rule.oracles.chains import CHAINS, chain, product


@exercise("jvp_chain")
def test_jvp_against_torch(reference, rng):
    for dims in CHAINS:
        Ws, v = chain(rng, dims), rng.normal(size=dims[0])

        def f(x, Ws=Ws):
            for W in Ws:
                x = torch.tensor(W) @ x
            return x

        _, expected = torch.func.jvp(f, (torch.tensor(rng.normal(size=dims[0])),), (torch.tensor(v),))
        np.testing.assert_allclose(reference.jvp_chain(Ws, v), expected.numpy(), **EXACT)
        np.testing.assert_allclose(reference.jvp_chain(Ws, v), product(Ws, dims[0]) @ v, **EXACT)
