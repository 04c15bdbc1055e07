"""The reference of checkpoint_sequential against something independent."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch
import torch.utils.checkpoint
from torch import nn

from autograder.judging import exercise
from autograder.lessons.ch11_checkpointing.oracles.feed_forward import assert_same, feed_forward, gradients_of
from course.instruments.live import LiveStorages


@exercise("checkpoint_sequential")
def test_sequential_against_none_and_against_pytorch(reference):
    """Bit for bit the plain loop, for every number of segments; and PyTorch's own, which cuts elsewhere."""
    function, theirs = (
        reference.implementations["checkpoint_sequential"],
        torch.utils.checkpoint.checkpoint_sequential,
    )
    model = feed_forward()
    layers = list(model)
    for wanted in (True, False):
        x = torch.randn(5, 6, dtype=torch.float64, requires_grad=wanted)
        expected = gradients_of(model, x, model)
        for segments in range(1, len(layers) + 1):
            assert_same(gradients_of(model, x, lambda x, n=segments: function(layers, x, n)), expected)
        assert_same(gradients_of(model, x, lambda x: theirs(model, 4, x, use_reentrant=False)), expected)


@exercise("checkpoint_sequential")
def test_sequential_against_array_split(reference):
    """What is kept in bytes, and the calls, follow from a cut as NumPy makes it."""
    for n_layers, segments in [(1, 1), (4, 2), (7, 3), (9, 5), (12, 5)]:
        log: list[int] = []

        class Noted(nn.Module):
            def __init__(self, number):
                super().__init__()
                self.number = number

            def forward(self, x):
                log.append(self.number)  # noqa: B023
                return torch.tanh(x * 0.9)

        x = torch.randn(100, requires_grad=True)
        with LiveStorages() as live:
            y = reference.implementations["checkpoint_sequential"]([Noted(i) for i in range(n_layers)], x, segments)
            assert live.bytes == segments * x.nbytes
        y.sum().backward()
        assert log[:n_layers] == list(range(n_layers))
        assert sorted(log[n_layers:]) == list(range(n_layers))
        starts = [i for before, i in pairwise([n_layers, *log[n_layers:]]) if i != before + 1]
        lengths = sorted(np.diff(sorted([*starts, n_layers])).tolist())
        assert lengths == sorted(len(part) for part in np.array_split(np.arange(n_layers), segments))
