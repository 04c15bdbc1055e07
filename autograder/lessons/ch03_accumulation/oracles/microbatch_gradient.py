"""The reference of microbatch_gradient against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch03_accumulation.oracles.graphs import leaf


@exercise("microbatch_gradient")
def test_microbatches_against_autograd(reference, rng):
    """A network in PyTorch: the gradient of its mean loss over all rows, whatever the batch size."""
    params = {"w": rng.normal(size=(3, 2)), "b": rng.normal(size=2), "scale": np.array(rng.normal())}

    def grad_fn(params, X, y):
        leaves = {name: leaf(value) for name, value in params.items()}
        outputs = leaves["scale"] * torch.tanh(torch.tensor(X) @ leaves["w"] + leaves["b"])
        (outputs.sum(dim=1) - torch.tensor(y)).square().mean().backward()
        return {name: value.grad.numpy() for name, value in leaves.items()}

    for n in (1, 2, 7, 12):
        X, y = rng.normal(size=(n, 3)), rng.normal(size=n)
        for batch_size in (1, 2, 3, 5, 12, 100):
            got = reference.microbatch_gradient(grad_fn, params, X, y, batch_size)
            for name, expected in grad_fn(params, X, y).items():
                np.testing.assert_allclose(got[name], expected, **EXACT)
