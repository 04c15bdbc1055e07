"""The reference of token_gradient against something independent."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional

from autograder.judging import EXACT, exercise
from autograder.lessons.ch03_accumulation.oracles.graphs import leaf


@exercise("token_gradient")
def test_tokens_against_cross_entropy(reference, rng):
    """A classifier of tokens in PyTorch, whose cross-entropy leaves out targets of -100, over all texts at once."""
    params = {"w": rng.normal(size=(3, 4)), "b": rng.normal(size=4)}

    def grad_fn(params, X, y, mask):
        leaves = {name: leaf(value) for name, value in params.items()}
        logits = torch.tanh(torch.tensor(X) @ leaves["w"] + leaves["b"])
        targets = torch.tensor(np.where(mask, y, -100))
        functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100).backward()
        return {name: value.grad.numpy() for name, value in leaves.items()}

    for n, t in ((1, 1), (2, 3), (7, 5)):
        X, y = rng.normal(size=(n, t, 3)), rng.integers(4, size=(n, t))
        mask = rng.random((n, t)) < 0.5
        mask[-1, 0] = True
        for batch_size in (1, 2, 3, 100):
            got = reference.token_gradient(grad_fn, params, X, y, mask, batch_size)
            for name, expected in grad_fn(params, X, y, mask).items():
                np.testing.assert_allclose(got[name], expected, **EXACT)
