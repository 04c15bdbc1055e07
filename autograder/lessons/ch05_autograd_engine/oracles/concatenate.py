"""The reference of concatenate against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import exercise
from autograder.lessons.ch05_autograd_engine.oracles.engines import same, torch_leaf


@exercise("concatenate")
def test_concatenate_against_torch(reference, rng):
    """Sizes from 0 to 3 along each axis, a tensor that occurs twice, a constant."""
    Tensor, concatenate = reference.module.Tensor, reference.module.concatenate
    for axis in (0, 1, 2, -1, -2, -3):
        for sizes in ((1,), (2, 1), (0, 3), (3, 1, 2)):
            arrays = [rng.normal(size=np.insert([2, 2], axis % 3, size)) for size in sizes]
            ours, theirs = ([make(a) for a in arrays] for make in (lambda a: Tensor(a, requires_grad=True), torch_leaf))
            constant = rng.normal(size=arrays[0].shape)
            y = concatenate([ours[0], Tensor(constant), *ours], axis)
            expected = torch.cat([theirs[0], torch.tensor(constant), *theirs], axis)
            same(y.data, expected)
            g = rng.normal(size=y.shape)
            y.backward(g)
            expected.backward(torch.tensor(g))
            for a, b in zip(ours, theirs, strict=True):
                same(a.grad, b.grad)
