"""The reference of RowParallelLinear against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch14_scaling_out.oracles.parallel_layers import mlps


@exercise("RowParallelLinear")
def test_second_layer_against_one_mlp(reference):
    for found, whole in mlps(reference):
        for of in found:
            torch.testing.assert_close(of["y"], whole["y"])
            torch.testing.assert_close(of["db2"], whole["db2"])
        torch.testing.assert_close(torch.cat([of["dW2"] for of in found], dim=1), whole["dW2"])
