"""The reference of expert_layer_bytes against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from course.experts import expert_layer
from course.instruments.meter import SavedTensorMeter

SIZES = (1, 1, 1, 1, 1), (40, 16, 24, 8, 2), (1, 3, 5, 4, 1), (7, 4, 6, 3, 3), (300, 8, 16, 64, 6)


def measured(n: int, h: int, f: int, experts: int, k: int, router: bool, trained: bool, dtype: torch.dtype) -> int:
    """The bytes that the course's instrument counts when PyTorch runs the layer."""

    def parameter(*shape: int, trained: bool) -> torch.nn.Parameter:
        return torch.nn.Parameter(torch.randn(*shape, dtype=dtype), requires_grad=trained)

    x = torch.randn(n, h, dtype=dtype, requires_grad=True) * 1.0
    shapes = (experts, h, f), (experts, h, f), (experts, f, h)
    gate, up, down = (parameter(*shape, trained=trained) for shape in shapes)
    with SavedTensorMeter() as meter:
        expert_layer(x, parameter(h, experts, trained=router), gate, up, down, k)
    return meter.bytes


@exercise("expert_layer_bytes")
def test_prediction_against_the_layer(reference):
    """All sizes, dtypes, frozen and trained: to the byte."""
    count = reference.implementations["expert_layer_bytes"]
    torch.manual_seed(0)
    for sizes in SIZES:
        for router in (True, False):
            for trained in (True, False):
                for dtype in (torch.bfloat16, torch.float32, torch.float64):
                    expected = measured(*sizes, router, trained, dtype)
                    assert count(*sizes, router, trained, dtype.itemsize) == expected, (sizes, router, trained, dtype)
