"""The reference of predicted_factor against something independent."""

from __future__ import annotations

import math
import statistics

import torch

from autograder.judging import exercise


def autograd_factor(slopes, fan_in, fan_out, variance, branch, seed):
    """What autograd gives for a random block and a random gradient of its output."""
    torch.manual_seed(seed)
    left, right = slopes
    linear = torch.nn.Linear(fan_in, fan_out, bias=False, dtype=torch.float64)
    torch.nn.init.normal_(linear.weight, std=math.sqrt(variance))
    x = torch.randn(128, fan_in, dtype=torch.float64, requires_grad=True)
    z = linear(x)
    f = torch.where(z < 0, left * z, right * z)
    output = f if branch is None else x + branch * f
    g = torch.randn_like(output)
    (dx,) = torch.autograd.grad(output, x, g)
    return (dx.square().mean() / g.square().mean()).sqrt().item()


@exercise("predicted_factor")
def test_predicted_against_autograd(reference):
    """Random blocks, medians of five: within 2 %."""
    for slopes in ((0, 1), (0.3, 1), (-1, 1), (1, 1), (-0.5, 1.7)):
        for fan_in, fan_out, branch in (
            (300, 300, None),
            (400, 150, None),
            (300, 300, 1.0),
            (300, 300, -0.4),
            (300, 300, 0.0),
        ):
            block = (slopes, fan_in, fan_out, 2 / fan_in, branch)
            measured = statistics.median(autograd_factor(*block, seed) for seed in range(5))
            assert math.isclose(reference.predicted_factor(*block), measured, rel_tol=0.02), block


@exercise("predicted_factor")
def test_predicted_against_he_and_nothing(reference):
    """He's variance with ReLU, and 1 / fan_out without an activation, leave the gradient as large as it was."""
    assert math.isclose(reference.predicted_factor((0, 1), 64, 64, 2 / 64), 1)
    assert math.isclose(reference.predicted_factor((1, 1), 64, 50, 1 / 50), 1)
    assert math.isclose(reference.predicted_factor((1, 1), 64, 64, 1 / 64, 1.0), math.sqrt(2))
