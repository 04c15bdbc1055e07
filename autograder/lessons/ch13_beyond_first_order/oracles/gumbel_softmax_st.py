"""The reference of gumbel_softmax_st against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise


@exercise("gumbel_softmax_st")
def test_gumbel_softmax_against_numpy(reference, rng):
    choose = reference.implementations["gumbel_softmax_st"]
    for shape, tau in [((3,), 0.5), ((2, 4), 2.0), ((2, 1, 3), 1e-3)]:
        logits, gumbels, g = rng.normal(size=shape), rng.gumbel(size=shape), rng.normal(size=shape)
        leaf = torch.tensor(logits, requires_grad=True)
        y = choose(leaf, tau, torch.tensor(gumbels))
        y.backward(torch.tensor(g))
        s = (logits + gumbels) / tau
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        hard = np.eye(shape[-1])[(logits + gumbels).argmax(axis=-1)]
        np.testing.assert_array_equal(y.detach().numpy(), hard)
        by_hand = p * (g - (p * g).sum(axis=-1, keepdims=True)) / tau
        np.testing.assert_allclose(leaf.grad.numpy(), by_hand, rtol=1e-9, atol=1e-12)


@exercise("gumbel_softmax_st")
def test_choices_are_draws_from_the_softmax(reference):
    """Frequencies of 20,000 choices, each within six standard errors."""
    rng, n = np.random.default_rng(0), 20_000
    logits = np.array([0.5, -1.0, 1.5])
    y = reference.implementations["gumbel_softmax_st"](
        torch.tensor(np.broadcast_to(logits, (n, 3)).copy()), 0.7, torch.tensor(rng.gumbel(size=(n, 3)))
    )
    p = np.exp(logits) / np.exp(logits).sum()
    assert (np.abs(y.numpy().mean(axis=0) - p) <= 6 * np.sqrt(p * (1 - p) / n)).all()
