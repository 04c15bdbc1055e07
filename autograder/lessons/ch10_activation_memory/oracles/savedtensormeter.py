"""The reference of SavedTensorMeter against something independent."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from autograder.judging import exercise
from autograder.lessons.ch10_activation_memory.oracles.models import BF16, CONFIGS
from course.instruments.meter import SavedTensorMeter
from course.llama import Block, rope_angles


@exercise("SavedTensorMeter")
def test_meter_against_the_course_instrument(reference):
    for config in CONFIGS:
        with FakeTensorMode():
            block, angles = Block(config), rope_angles(config, 64, BF16)
            found = []
            for meter in (SavedTensorMeter(), reference.implementations["SavedTensorMeter"]()):
                x = torch.empty(2, 64, config.hidden, dtype=BF16, requires_grad=True)
                with meter:
                    block(x * 1.0, *angles)
                found.append(meter.bytes)
        assert found[0] == found[1] > 0
