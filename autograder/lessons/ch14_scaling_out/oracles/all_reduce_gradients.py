"""The reference of all_reduce_gradients against something independent."""

from __future__ import annotations

import copy

import torch

from autograder.judging import exercise
from autograder.lessons.ch14_scaling_out.oracles.parallel_layers import rows
from course.process_groups import in_threads


@exercise("all_reduce_gradients")
def test_gradients_against_one_process(reference):
    whole = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    X, y = rows(7, 3), rows(7, 2)
    for ends in ([3, 7], [7, 7], [0, 2, 7]):
        alone = copy.deepcopy(whole)
        (alone(X) - y).square().mean().backward()

        def step(group, ends=ends):
            start, end = [0, *ends][group.rank], ends[group.rank]
            mine = copy.deepcopy(whole)
            if end > start:
                (mine(X[start:end]) - y[start:end]).square().mean().backward()
            reference.implementations["all_reduce_gradients"](mine, group, end - start)
            return [parameter.grad for parameter in mine.parameters()]

        for grads in in_threads(step, len(ends)):
            for grad, parameter in zip(grads, alone.parameters(), strict=True):
                torch.testing.assert_close(grad, parameter.grad)
