"""The reference of maml_gradient against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise


@exercise("maml_gradient")
def test_maml_against_finite_differences(reference, rng):
    maml = reference.implementations["maml_gradient"]

    def loss(params, data):
        return ((torch.tanh(data[0] @ params["w"]) - data[1]) ** 2).mean() + params["b"] ** 2 * data[1].sum()

    support, query = ((torch.tensor(rng.normal(size=(4, 2))), torch.tensor(rng.normal(size=4))) for _ in range(2))
    params = {"w": torch.tensor(rng.normal(size=2)), "b": torch.tensor(rng.normal(), dtype=torch.float64)}

    def after_the_step(w, b):
        leaves = {"w": w.detach().requires_grad_(), "b": b.detach().requires_grad_()}
        loss(leaves, support).backward()
        return loss({name: leaf.detach() - 0.3 * leaf.grad for name, leaf in leaves.items()}, query)

    got = maml(loss, params, support, query, 0.3)
    for name, value in params.items():
        flat = value.reshape(-1)
        for i in range(flat.numel()):
            step = torch.zeros_like(flat)
            step[i] = 1e-5
            ends = [after_the_step(**{**params, name: (flat + sign * step).reshape(value.shape)}) for sign in (1, -1)]
            difference = (ends[0] - ends[1]).item() / 2e-5
            np.testing.assert_allclose(got[name].reshape(-1)[i], difference, rtol=1e-6, atol=1e-8)
