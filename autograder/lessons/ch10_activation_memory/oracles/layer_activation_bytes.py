"""The reference of layer_activation_bytes against something independent."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from autograder.judging import exercise
from autograder.lessons.ch10_activation_memory.oracles.models import BF16
from course.gpt import GPTBlock
from course.instruments.meter import SavedTensorMeter


@exercise("layer_activation_bytes")
def test_layer_against_a_gpt_block(reference):
    """Within the two numbers per row that LayerNorms keep, which the formula leaves out."""
    count = reference.implementations["layer_activation_bytes"]
    for s, b, h, a in [(256, 1, 512, 8), (128, 3, 1024, 4)]:
        with FakeTensorMode():
            x = torch.empty(b, s, h, dtype=BF16, requires_grad=True)
            with SavedTensorMeter() as meter:
                GPTBlock(h, a)(x * 1.0)
        assert count(s, b, h, a, flash=False) == pytest.approx(meter.bytes, rel=1e-3)
