"""The reference of measure against something independent."""

from __future__ import annotations

import pytest
import torch
import torch.utils.checkpoint

from autograder.judging import exercise
from course.experiments.costs import measure_bytes
from course.experiments.policies import POLICIES
from course.instruments.live import LiveStorages
from course.llama import LlamaConfig

MODEL = LlamaConfig(hidden=64, layers=9, heads=4, kv_heads=2, ffn=96, vocab=1)


@pytest.fixture
def module(reference):
    """The solutions, with another stack than the notebook's."""
    before = reference.module.CONFIG, reference.module.SEQ
    reference.module.CONFIG, reference.module.SEQ = MODEL, 40
    yield reference.module
    reference.module.CONFIG, reference.module.SEQ = before


@exercise("measure")
def test_measure_against_the_experiment(module):
    """The book's own experiment, which runs its policies by other code. It makes x in the step, so that x counts."""
    x_bytes = 4 * 40 * MODEL.hidden
    for policy in module.POLICIES:
        cost = measure_bytes(POLICIES[policy], MODEL, 40, dtype=torch.float32)
        got = module.measure(policy, "cpu")
        assert list(got) == ["saved_bytes", "flops", "seconds", "peak_bytes"]
        assert got["flops"] == cost.flops
        saved = cost.saved_bytes - (x_bytes if policy not in ("offload", "reversible") else 0)
        assert got["saved_bytes"] == saved
        assert cost.peak_bytes - 3 * x_bytes <= got["peak_bytes"] <= cost.peak_bytes
        assert got["seconds"] > 0


@exercise("measure")
def test_policies_against_the_plain_stack(module):
    """Gradients bit for bit, in every policy but the one that is another function."""
    gradients = {}
    for policy in module.POLICIES:
        forward, x, g = module.prepared(policy, "cpu", LiveStorages())
        forward(x).backward(g)
        gradients[policy] = x.grad
    for policy, gradient in gradients.items():
        assert torch.equal(gradient, gradients["none"]) == (policy != "reversible")


@exercise("measure")
def test_reversible_against_two_streams(module):
    """What autograd makes of the two streams."""
    forward, x, g = module.prepared("reversible", "cpu", LiveStorages())
    forward(x).backward(g)
    stack, other, g = module.fresh("cpu")
    x1 = x2 = other
    for block in stack.blocks:
        x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
        x2 = x2 + block.mlp_branch(x1)
    (x1 + x2).backward(g)
    torch.testing.assert_close(x.grad, other.grad, rtol=1e-4, atol=1e-5)
