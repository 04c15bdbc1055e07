"""The reference of make_mlp against something independent."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from autograder.judging import exercise
from autograder.lessons.ch09_vanishing_gradients.oracles.networks import output_by_hand


@exercise("make_mlp")
def test_outputs_against_numpy(reference, rng):
    for activation, init, residual, norm in itertools.product(
        ("sigmoid", "tanh", "relu"), ("default", "xavier", "he"), (False, True), (False, True)
    ):
        options = {"activation": activation, "init": init, "residual": residual, "norm": norm}
        model = reference.implementations["make_mlp"](3, 4, depth=3, width=5, **options).double()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.tensor(rng.normal(size=parameter.shape)))
        X = rng.normal(size=(6, 3))
        expected = output_by_hand(model, X, activation, residual, norm)
        np.testing.assert_allclose(model(torch.tensor(X)).detach(), expected, rtol=1e-9)


@exercise("make_mlp")
def test_parameters_counted(reference):
    for norm in (False, True):
        model = reference.implementations["make_mlp"](20, 10, norm=norm)
        expected = 20 * 64 + 64 + 30 * (64 * 64 + 64 + norm * 2 * 64) + 64 * 10 + 10
        assert sum(parameter.numel() for parameter in model.parameters()) == expected
    with pytest.raises(ValueError, match="gelu"):
        reference.implementations["make_mlp"](3, 2, activation="gelu")
