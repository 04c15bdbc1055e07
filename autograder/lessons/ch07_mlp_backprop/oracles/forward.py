"""The reference of forward against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch07_mlp_backprop.oracles.networks import ACTIVATIONS, SHAPES, random_params, torch_logits


@exercise("forward")
def test_logits_against_torch(reference, rng):
    for activation in ACTIVATIONS:
        for n, d, m, o in SHAPES:
            for scale in (1, 300):
                params, X = random_params(rng, d, m, o), scale * rng.normal(size=(n, d))
                expected = torch_logits({k: torch.tensor(v) for k, v in params.items()}, X, activation)
                np.testing.assert_allclose(reference.forward(params, X, activation)[0], expected, **EXACT)
