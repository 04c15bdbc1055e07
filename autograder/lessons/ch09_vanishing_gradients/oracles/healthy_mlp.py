"""The reference of healthy_mlp against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch09_vanishing_gradients.oracles.networks import output_by_hand


@exercise("healthy_mlp")
def test_healthy_network_is_one_of_make_mlp(reference, rng):
    """With the same parameters it computes what make_mlp's network with ReLU, residuals and BatchNorm does."""
    options = {"activation": "relu", "residual": True, "norm": True}
    for sizes in [(3, 2, 1, 4), (5, 3, 30, 16)]:
        healthy = reference.implementations["healthy_mlp"](*sizes)
        other = reference.implementations["make_mlp"](*sizes, **options)
        with torch.no_grad():
            for mine, its in zip(healthy.parameters(), other.parameters(), strict=True):
                mine.copy_(its)
        X = torch.tensor(rng.normal(size=(8, sizes[0])), dtype=torch.float32)
        torch.testing.assert_close(healthy(X), other(X))
        np.testing.assert_allclose(
            healthy.double()(X.double()).detach(), output_by_hand(healthy, X.double().numpy(), "relu", True, True)
        )
