"""The reference of running_mean_loss against something independent."""

from __future__ import annotations

import math
import statistics

import torch

from autograder.judging import exercise


@exercise("running_mean_loss")
def test_mean_against_the_standard_library(reference, rng):
    running_mean_loss = reference.implementations["running_mean_loss"]
    for count in (1, 2, 3, 1000):
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            losses = torch.tensor(rng.lognormal(sigma=3, size=count), requires_grad=True).to(dtype)
            numbers = losses.tolist()
            got = running_mean_loss(loss * 1 for loss in losses)
            assert type(got) is float
            assert math.isclose(got, statistics.fmean(numbers), rel_tol=1e-12)
            assert math.isclose(got, math.fsum(numbers) / count, rel_tol=1e-12)
