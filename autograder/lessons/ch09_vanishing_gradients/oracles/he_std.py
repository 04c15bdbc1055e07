"""The reference of he_std against something independent."""

from __future__ import annotations

import math

import torch

from autograder.judging import exercise


@exercise("he_std")
def test_he_against_torch(reference):
    """The deviation of what kaiming_normal_ and kaiming_uniform_ draw; the mean square survives ReLU."""
    torch.manual_seed(0)
    for fan_in, fan_out in [(300, 500), (1000, 100), (40, 4000)]:
        for draw in (torch.nn.init.kaiming_normal_, torch.nn.init.kaiming_uniform_):
            drawn = draw(torch.empty(fan_out, fan_in), nonlinearity="relu").double().std().item()
            assert math.isclose(drawn, reference.he_std(fan_in), rel_tol=0.02)
    z = torch.randn(500, 1000)
    following = torch.relu(z) @ (reference.he_std(1000) * torch.randn(1000, 1000))
    assert math.isclose(following.square().mean().item(), 1, rel_tol=0.03)
