"""The reference of ColumnParallelLinear against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch14_scaling_out.oracles.parallel_layers import mlps


@exercise("ColumnParallelLinear")
def test_first_layer_against_one_mlp(reference):
    for found, whole in mlps(reference):
        for of in found:
            torch.testing.assert_close(of["dx"], whole["dx"])
        for name, axis in [("dW1", 0), ("db1", 0)]:
            torch.testing.assert_close(torch.cat([of[name] for of in found], dim=axis), whole[name])
