"""The simulated GPU refuses exactly what does not fit, and the memory of a sharded step adds up."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import torch

from course.experiments.budget import Card, sharded_step
from course.experiments.costs import at_depth
from course.experiments.policies import POLICIES
from course.llama import LlamaConfig

SMALL = LlamaConfig(hidden=64, layers=3, heads=4, kv_heads=4, ffn=172, vocab=100)
N = 400  # bytes of a float32 vector of 100


def test_a_gpu_accepts_its_capacity_and_refuses_a_byte_more() -> None:
    x = torch.ones(100)
    with Card(capacity=3 * N, held=N) as card:
        kept = [x * 2, x * 3]
        assert card.bytes == 2 * N
    with Card(capacity=3 * N - 1, held=N):
        kept = [x * 2]
        with pytest.raises(torch.OutOfMemoryError, match="wanted"):
            x * 3
    assert len(kept) == 1


def test_freed_memory_can_be_reused() -> None:
    x = torch.ones(100)
    with Card(capacity=2 * N) as card:
        for _ in range(5):
            y = x * 2
            del y
    assert card.peak == N


@pytest.mark.parametrize("policy", ["none", "every_layer"])
def test_a_step_fits_its_own_peak_and_not_a_byte_less(policy: str) -> None:
    free = sharded_step(SMALL, 32, 2, policy=POLICIES[policy])
    assert free.refused == ""
    assert free.held < free.forward < free.backward
    peak = max(free.forward, free.backward)
    assert sharded_step(SMALL, 32, 2, peak, policy=POLICIES[policy]) == free
    short = sharded_step(SMALL, 32, 2, peak - 1, policy=POLICIES[policy])
    assert short.refused
    assert short.forward == free.forward


def test_a_deep_model_s_step_is_on_the_line_of_three_shallow_ones() -> None:
    deep = replace(SMALL, layers=8)
    for policy in (POLICIES["none"], POLICIES["every_layer"]):
        run = partial(sharded_step, seq=32, gpus=2, policy=policy)
        assert at_depth(run, deep) == run(deep)
    with pytest.raises(ValueError, match="on no straight line"):
        at_depth(partial(sharded_step, seq=32, gpus=2, card_bytes=sharded_step(SMALL, 32, 2).forward), deep)


def test_a_step_that_ends_in_forward_has_no_backward() -> None:
    free = sharded_step(SMALL, 32, 2)
    short = sharded_step(SMALL, 32, 2, free.forward - 1)
    assert short.refused
    assert short.backward == 0


def test_sharding_divides_the_states_and_leaves_the_activations() -> None:
    one, four = (sharded_step(SMALL, 32, n) for n in (1, 4))
    block = (SMALL.n_params - 2 * SMALL.vocab * SMALL.hidden - SMALL.hidden) // SMALL.layers
    assert (one.held - 2 * block, four.held - 2 * block) == (14 * SMALL.n_params, 14 * SMALL.n_params // 4)
    assert one.forward - one.held == four.forward - four.held


@pytest.mark.slow
def test_full_gradients_are_freed() -> None:
    """With eight GPUs, one layer's gradients and an eighth of the rest are alive at the end of backward."""
    wide = LlamaConfig(hidden=64, layers=40, heads=4, kv_heads=4, ffn=172, vocab=100)
    step = sharded_step(wide, 1, 8)
    assert step.backward - step.held < 0.6 * 2 * wide.n_params
