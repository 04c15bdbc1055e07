"""The reference of zero_step against something independent."""

from __future__ import annotations

import copy

import torch

from autograder.judging import exercise
from autograder.lessons.ch14_scaling_out.oracles.parallel_layers import rows
from course.process_groups import in_threads


@exercise("zero_step")
def test_zero_step_against_pytorch(reference):
    """torch.optim.SGD and clip_grad_norm_ in one process that has the rows of all ranks."""
    X, y = rows(12, 3), rows(12, 2)
    for size in (1, 2, 3, 4):
        model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()

        def step(group, model=model):
            mine = copy.deepcopy(model)
            own, n = [part.chunk(group.size)[group.rank] for part in (X, y)], sum(p.numel() for p in mine.parameters())
            momentum = torch.zeros(-(-n // group.size), dtype=torch.float64)
            for _ in range(3):
                grads = torch.autograd.grad((mine(own[0]) - own[1]).square().mean(), list(mine.parameters()))
                zero_step = reference.implementations["zero_step"]
                zero_step(list(mine.parameters()), list(grads), momentum, group, 0.1, 0.9, 0.05)
            return [parameter.detach() for parameter in mine.parameters()]

        alone = copy.deepcopy(model)
        optimizer = torch.optim.SGD(alone.parameters(), lr=0.1, momentum=0.9)
        for _ in range(3):
            optimizer.zero_grad()
            (alone(X) - y).square().mean().backward()
            assert torch.nn.utils.clip_grad_norm_(alone.parameters(), 0.05) > 0.05
            optimizer.step()
        for params in in_threads(step, size):
            for parameter, whole in zip(params, alone.parameters(), strict=True):
                torch.testing.assert_close(parameter, whole, rtol=1e-4, atol=1e-6)
