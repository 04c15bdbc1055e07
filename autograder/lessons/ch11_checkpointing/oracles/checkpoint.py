"""The reference of checkpoint against something independent."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.utils.checkpoint

from autograder.judging import exercise
from autograder.lessons.ch11_checkpointing.oracles.feed_forward import assert_same, feed_forward, gradients_of
from course.instruments.live import LiveStorages


@exercise("checkpoint")
def test_checkpoint_against_none_and_against_pytorch(reference):
    """Bit for bit what there is without a checkpoint, and with both of PyTorch's."""
    checkpoint, theirs = reference.implementations["checkpoint"], torch.utils.checkpoint.checkpoint
    model = feed_forward()
    for wanted in (True, False):
        x = torch.randn(5, 6, dtype=torch.float64, requires_grad=wanted)
        expected = gradients_of(model, x, model)
        assert_same(gradients_of(model, x, lambda x: checkpoint(model, x)), expected)
        assert_same(gradients_of(model, x, lambda x: theirs(model, x, use_reentrant=False)), expected)
        first, second = model[:6], model[6:]

        def outer(x, first=first, second=second):
            return second(checkpoint(first, x))

        inner = gradients_of(model, x, lambda x, outer=outer: checkpoint(outer, x))
        assert_same(inner, expected)


@exercise("checkpoint")
def test_checkpoint_against_finite_differences(reference):
    checkpoint = reference.implementations["checkpoint"]
    leaves = [torch.randn(3, 2, dtype=torch.float64, requires_grad=True) for _ in range(2)]

    def loss(a, b):
        return checkpoint(lambda u, v: (torch.sin(u * v) * u).sum(), a * b, b)

    loss(*leaves).backward()
    for i, leaf in enumerate(leaves):
        for index in np.ndindex(3, 2):
            values = []
            for step in (1e-6, -1e-6):
                moved = [other.detach().clone() for other in leaves]
                moved[i][index] += step
                values.append(float(loss(*moved).detach()))
            assert math.isclose(float(leaf.grad[index]), (values[0] - values[1]) / 2e-6, rel_tol=1e-6, abs_tol=1e-8)


@exercise("checkpoint")
def test_checkpoint_keeps_its_input_alone(reference):
    """Of a network that keeps 12 tensors as large as x autograd keeps none; the peak stays below it."""
    model, x = feed_forward(64, dropout=0.0), torch.randn(256, 64, dtype=torch.float64, requires_grad=True)
    kept = {}
    for name, run in {
        "plain": model,
        "checkpoint": lambda x: reference.implementations["checkpoint"](model, x),
    }.items():
        with LiveStorages() as live:
            y = run(x)
            kept[name] = live.bytes - y.untyped_storage().nbytes()
    assert kept["plain"] > 8 * x.nbytes
    assert kept["checkpoint"] == 0
