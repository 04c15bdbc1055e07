"""The reference of train against something independent."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import nn

from autograder.judging import EXACT, exercise


@exercise("train")
def test_training_against_optim(reference, rng):
    """torch.optim.SGD on the mean of a group's losses, in one backward pass a group, from the same start."""
    train = reference.implementations["train"]
    for rows, accumulate in [([4], 1), ([3, 3, 3], 1), ([2, 5, 1, 4], 2), ([3, 3, 3, 2, 2], 3), ([2, 2], 7)]:
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
        for p in model.parameters():
            p.data = torch.tensor(rng.normal(size=tuple(p.shape)))
        twin = copy.deepcopy(model)
        batches = [(torch.tensor(rng.normal(size=(n, 3))), torch.tensor(rng.normal(size=(n, 2)))) for n in rows]
        losses = train(model, iter(batches), 0.2, accumulate)

        optimizer, expected = torch.optim.SGD(twin.parameters(), lr=0.2), []
        for i in range(0, len(batches), accumulate):
            of_group = [((twin(X) - y) ** 2).mean() for X, y in batches[i : i + accumulate]]
            optimizer.zero_grad()
            torch.stack(of_group).mean().backward()
            optimizer.step()
            expected += [loss.item() for loss in of_group]
        np.testing.assert_allclose(losses, expected, **EXACT)
        for mine, theirs in zip(model.parameters(), twin.parameters(), strict=True):
            np.testing.assert_allclose(mine.detach(), theirs.detach(), **EXACT)
