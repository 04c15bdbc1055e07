"""The reference of weight_gradients against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch02_chain_rule.oracles.chains import CHAINS, chain


@exercise("weight_gradients")
def test_weights_against_torch(reference, rng):
    for dims in CHAINS:
        Ws, x, u = chain(rng, dims), rng.normal(size=dims[0]), rng.normal(size=dims[-1])
        leaves = [torch.tensor(W, requires_grad=True) for W in Ws]
        y = torch.tensor(x)
        for W in leaves:
            y = W @ y
        expected = torch.autograd.grad(torch.tensor(u) @ y, leaves)
        got = reference.weight_gradients(Ws, x, u)
        assert [one.shape for one in got] == [W.shape for W in Ws]
        for mine, its in zip(got, expected, strict=True):
            np.testing.assert_allclose(mine, its.numpy(), **EXACT)


@exercise("weight_gradients")
def test_weights_against_a_nudge_of_each_entry(reference, rng):
    """L is linear in each matrix, so a nudge of 1 gives the slope without truncation."""
    Ws, x, u = chain(rng, (3, 2, 4, 2)), rng.normal(size=3), rng.normal(size=2)

    def loss(Ws):
        y = x
        for W in Ws:
            y = W @ y
        return u @ y

    for number, gradient in enumerate(reference.weight_gradients(Ws, x, u)):
        for index in np.ndindex(gradient.shape):
            moved = [W.copy() for W in Ws]
            moved[number][index] += 1
            np.testing.assert_allclose(gradient[index], loss(moved) - loss(Ws), rtol=1e-9, atol=1e-10)
