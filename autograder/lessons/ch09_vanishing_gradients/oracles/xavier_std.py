"""The reference of xavier_std against something independent."""

from __future__ import annotations

import math

import torch

from autograder.judging import exercise


@exercise("xavier_std")
def test_xavier_against_torch(reference):
    """The deviation of what xavier_normal_ and xavier_uniform_ draw."""
    torch.manual_seed(0)
    for fan_in, fan_out in [(300, 500), (1000, 100), (40, 4000)]:
        for draw in (torch.nn.init.xavier_normal_, torch.nn.init.xavier_uniform_):
            drawn = draw(torch.empty(fan_out, fan_in)).double().std().item()
            assert math.isclose(drawn, reference.xavier_std(fan_in, fan_out), rel_tol=0.02)
