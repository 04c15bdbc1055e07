"""The reference of freeze_midway against something independent."""

from __future__ import annotations

import numpy as np
import torch

from autograder.judging import EXACT, exercise
from autograder.lessons.ch04_detachment.scenarios.freeze_midway import (
    AFTER,
    BEFORE,
    FROZEN,
    OPTIMIZERS,
    UNFROZEN_BETWEEN,
    ZEROS,
    _pulled,
)


@exercise("freeze_midway")
def test_midway_against_two_optimizers(reference, rng):
    """To freeze is to leave out one of two optimizers; to unfreeze is to make a new one."""
    rates = {"lr": 0.08, "momentum": 0.8, "decay": 0.2}
    for kind, make in OPTIMIZERS.items():
        for loop in ("plain", ZEROS, UNFROZEN_BETWEEN):
            end = BEFORE + FROZEN + (loop == UNFROZEN_BETWEEN)  # the first step that moves the parameters again
            mine, other, *targets = (rng.normal(size=shape) for shape in ((2, 3), (3,), (2, 3), (3,)))
            states = {"optimizer kind": kind, "optimizer loop": loop}
            got = reference.scenario.frozen_midway([mine], [other], targets, rates, states)
            tensors = [torch.tensor(array, requires_grad=True) for array in (mine, other)]
            first, second = (make([tensor], **rates) for tensor in tensors)
            for step in range(BEFORE + FROZEN + AFTER):
                if step == end:
                    first = make(tensors[:1], **rates)
                for tensor, slope in zip(tensors, torch.autograd.grad(_pulled(tensors, targets), tensors), strict=True):
                    tensor.grad = slope
                second.step()
                if not BEFORE <= step < end:
                    first.step()
            for name, tensor in zip(("parameters", "others"), tensors, strict=True):
                np.testing.assert_allclose(got[f"{name}[0] after unfreezing"], tensor.detach(), **EXACT)


@exercise("freeze_midway")
def test_midway_against_momentum_by_hand(reference):
    """(p − 1)² / 2 + p² / 20 from p = 0, beside a parameter without entries, lr 0.1, momentum 0.5."""
    rates = {"lr": 0.1, "momentum": 0.5, "decay": 0.0}
    targets = [np.ones(()), np.zeros(0)]
    got = reference.scenario.frozen_midway([np.zeros(())], [np.zeros(0)], targets, rates, {})
    p, velocity, first = 0.0, 0.0, True
    for step in range(BEFORE + AFTER):
        first = first or step == BEFORE
        slope = p - 1 + p / 10
        velocity = slope if first else 0.5 * velocity + 0.8 * slope  # dampening 0.2, but not of the first
        p, first = p - 0.1 * velocity, False
    np.testing.assert_allclose(got["parameters[0] after unfreezing"], p, **EXACT)
