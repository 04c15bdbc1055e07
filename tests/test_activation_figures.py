"""The chapters' figures on activation memory and FLOPs agree with the instruments' measurements.

GB means 10⁹ bytes. Exact formulas must agree to the byte, other figures to the printed digits.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from course.experiments.checkpointing import SMALL, SMALL_SEQ
from course.experiments.costs import Cost, measure_bytes, predict, predict_at_depth
from course.experiments.policies import (
    POLICIES,
    best_segment_count,
    every_layer,
    layer_bytes,
    segment_model,
    segments,
)
from course.gpt import GPTBlock
from course.instruments.flops import FlopCounter
from course.instruments.live import LiveStorages
from course.instruments.meter import SavedTensorMeter
from course.llama import LLAMA_2_7B, LLAMA_3_1_70B, Block, LlamaConfig, Stack, rope_angles

pytestmark = pytest.mark.slow

SEQ = 8192
MODELS = {"7B": LLAMA_2_7B, "70B": LLAMA_3_1_70B}


@cache
def cost(model: str, policy: str, *, head: bool = False) -> Cost:
    """Cost of all layers; extrapolated from three small depths if layers are treated alike (see the next test)."""
    of = predict if "segments" in policy else partial(predict_at_depth, first=2 if policy == "offload" else 1)
    return of(POLICIES[policy], MODELS[model], SEQ, head=head)


@pytest.mark.parametrize(
    ("model", "policy", "head"),
    [("7B", "none", True), ("7B", "selective_half", False), ("70B", "every_layer", True)],
)
def test_extrapolation_is_exact_at_full_depth(model: str, policy: str, head: bool) -> None:
    """All 32 and all 80 layers, traced one by one, cost exactly what three small depths predict."""
    assert cost(model, policy, head=head) == predict(POLICIES[policy], MODELS[model], SEQ, head=head)


def test_grouped_policies_are_not_linear_in_depth() -> None:
    with pytest.raises(ValueError, match=r"saved_bytes of 6, 7 and 8 layers are on no straight line"):
        predict_at_depth(POLICIES["sqrt_segments"], LLAMA_2_7B, SEQ, first=6)


def layer(config: LlamaConfig, **options: Any) -> int:
    """Bytes that one block saves at the full sequence length, including its input."""
    with FakeTensorMode():
        block = Block(config, **options)
        cos, sin = rope_angles(config, SEQ, torch.bfloat16)
        x = torch.empty(1, SEQ, config.hidden, dtype=torch.bfloat16, requires_grad=True)
        with SavedTensorMeter(exclude=[cos, sin]) as meter:
            block(x * 1.0, cos, sin)
    return meter.bytes


# Memory of a layer


@pytest.mark.parametrize(("model", "n_bytes"), [("7B", 1_259_405_312), ("70B", 2_720_071_680)])
def test_a_llama_layer_keeps_as_much_as_the_formula(model: str, n_bytes: int) -> None:
    config = MODELS[model]
    assert layer(config) == SEQ * layer_bytes(config) == n_bytes


@pytest.mark.parametrize(
    ("options", "small", "large"),
    [
        ({"fused_swiglu": True}, 34.60, 180.16),
        ({"fused_norm": False}, 48.96, 260.69),
        ({"fused_attention": False}, 452.6, 2298),
    ],
    ids=["fused SwiGLU", "norms as compositions", "attention as a composition"],
)
def test_fusing_changes_saved_bytes(options: dict[str, bool], small: float, large: float) -> None:
    for config, total in ((LLAMA_2_7B, small), (LLAMA_3_1_70B, large)):
        result = 2 * SEQ * config.hidden  # for the stack's output, alive as well
        assert (config.layers * layer(config, **options) + result) / 1e9 == pytest.approx(total, rel=2e-3)


@pytest.mark.parametrize(("model", "n_params"), [("7B", 6_738_415_616), ("70B", 70_553_706_496)])
def test_parameters(model: str, n_params: int) -> None:
    assert MODELS[model].n_params == n_params


def test_real_and_fake_runs_keep_the_same() -> None:
    config = LlamaConfig(hidden=256, layers=1, heads=4, kv_heads=2, ffn=688, vocab=10)
    real = measure_bytes(POLICIES["none"], config, 512)
    assert real == predict(POLICIES["none"], config, 512)
    result = 2 * 512 * 256
    assert real.saved_bytes == 512 * layer_bytes(config) + result == 4_665_344 + result


@pytest.mark.parametrize(("s", "h", "a"), [(8192, 8192, 64), (2048, 6144, 64), (2048, 12288, 96)])
def test_the_published_formula_of_a_gpt_layer_is_in_bytes(s: int, h: int, a: int) -> None:
    """s b h (34 + 5 a s / h), Korthikanti et al. 2022, equation 1: no further factor for 16 bits."""
    with FakeTensorMode():
        block = GPTBlock(h, a)
        x = torch.empty(1, s, h, dtype=torch.bfloat16, requires_grad=True)
        with SavedTensorMeter() as meter:
            block(x * 1.0)
    formula = s * h * (34 + 5 * a * s / h)
    assert meter.bytes == pytest.approx(formula, rel=1e-4)
    assert meter.bytes != pytest.approx(2 * formula, rel=0.4)


# Memory of policies

KEPT = {
    # By policy: kept, peak of the layers alone, peak with the head; in GB
    "7B": {
        "none": (40.37, 40.80, 43.58),
        "every_layer": (2.21, 3.83, 5.43),
        "attention_core": (40.33, 40.76, None),
        "attention_block": (29.60, 30.02, 32.81),
        "selective": (4.40, 5.95, 7.61),
        "selective_matmuls": (26.68, 27.60, 29.89),
        "selective_half": (16.61, 17.85, 19.82),
        "sqrt_segments": (0.47, 8.39, 8.25),
    },
    "70B": {
        "none": (217.74, 218.81, None),
        "every_layer": (10.87, 14.53, 23.61),
        "sqrt_segments": (1.34, 26.76, None),
        "best_segments": (5.50, 11.88, None),
    },
}
ROWS = [(model, policy) for model, rows in KEPT.items() for policy in rows]


@pytest.mark.parametrize(("model", "policy"), ROWS, ids=[f"{model} {policy}" for model, policy in ROWS])
def test_bytes_of_a_policy(model: str, policy: str) -> None:
    kept, peak, with_head = KEPT[model][policy]
    measured = cost(model, policy)
    assert measured.saved_bytes / 1e9 == pytest.approx(kept, abs=0.006)
    assert measured.peak_bytes / 1e9 == pytest.approx(peak, abs=0.006)
    if with_head is not None:
        assert cost(model, policy, head=True).peak_bytes / 1e9 == pytest.approx(with_head, abs=0.006)


def test_the_loss_sets_the_peak_of_a_checkpointed_model() -> None:
    """Three float32 tensors (s, vocabulary) at once take more than all checkpoints of 80 layers."""
    config = LLAMA_3_1_70B
    assert 3 * 4 * SEQ * config.vocab > config.layers * 2 * SEQ * config.hidden
    layers, model = (cost("70B", "every_layer", head=head).peak_bytes for head in (False, True))
    assert model - layers > 2 * 4 * SEQ * config.vocab


@pytest.mark.parametrize(("model", "best"), [("7B", 24.5), ("70B", 40.3)])
def test_the_best_number_of_segments(model: str, best: float) -> None:
    config = MODELS[model]
    K = layer_bytes(config) / config.hidden
    assert (K * config.layers / 2) ** 0.5 == pytest.approx(best, abs=0.1)
    least = best_segment_count(config)
    assert segment_model(config, least) < segment_model(config, round(config.layers**0.5)) / 1.9


@pytest.mark.parametrize("n", [4, 8, 16])
def test_the_segment_model_differs_from_the_peak_by_a_constant(n: int) -> None:
    rest = predict(segments(n), LLAMA_2_7B, SEQ).peak_bytes - SEQ * segment_model(LLAMA_2_7B, n)
    assert rest / 1e9 == pytest.approx(0.43, abs=0.02)


# FLOPs


@pytest.mark.parametrize("depth", [2, 3, 10])
def test_backward_costs_twice_forward_less_an_unneeded_input_gradient(depth: int) -> None:
    model = nn.Sequential(*(nn.Linear(16, 16) for _ in range(depth)))
    for asked in (True, False):
        x = torch.ones(4, 16, requires_grad=asked)
        with FlopCounter() as forward:
            y = model(x)
        with FlopCounter() as backward:
            y.sum().backward()
        assert backward.total / forward.total == pytest.approx(2 if asked else 2 - 1 / depth, rel=1e-12)


@pytest.mark.parametrize(
    ("model", "forward", "ratio", "step"), [("7B", 143.43, 2.1226, 447.9), ("70B", 1314.6, 2.0669, 4031.9)]
)
def test_flops_of_a_step(model: str, forward: float, ratio: float, step: float) -> None:
    measured = cost(model, "none", head=True)
    assert measured.forward_flops / 1e12 == pytest.approx(forward, rel=1e-4)
    assert measured.backward_flops / measured.forward_flops == pytest.approx(ratio, abs=1e-4)
    assert measured.flops / 1e12 == pytest.approx(step, rel=1e-4)


FLOPS = {"every_layer": 1.263, "attention_core": 1.079, "attention_block": 1.138, "selective": 1.184}
FLOPS |= {"selective_matmuls": 1.000, "selective_half": 1.092, "sqrt_segments": 1.306}


@pytest.mark.parametrize("policy", FLOPS)
def test_flops_of_a_policy(policy: str) -> None:
    ratio = cost("7B", policy, head=True).flops / cost("7B", "none", head=True).flops
    assert ratio == pytest.approx(FLOPS[policy], abs=1e-3)


def test_full_recomputation_costs_four_thirds() -> None:
    """Exactly 4/3 with attention as a composition and without early stop; less with early stop."""
    options: dict[str, Any] = {"dtype": torch.float32, "fused_attention": False}
    base = predict(POLICIES["none"], SMALL, SMALL_SEQ, **options)
    assert base.backward_flops == 2 * base.forward_flops
    whole = predict(partial(every_layer, early_stop=False), SMALL, SMALL_SEQ, **options)
    assert 3 * whole.flops == 4 * base.flops
    early = predict(every_layer, SMALL, SMALL_SEQ, **options)
    assert 1.2 < early.flops / base.flops < 1.3


# Equal gradients


def gradients(policy: str) -> tuple[list[Tensor], Tensor]:
    """Gradients of all parameters and of the input, for a small real stack in float32."""
    torch.manual_seed(0)
    config = LlamaConfig(hidden=32, layers=5, heads=4, kv_heads=2, ffn=48, vocab=10)
    stack = Stack(config, 16, dtype=torch.float32)
    x = torch.randn(2, 16, 32, requires_grad=True)
    out = POLICIES[policy](stack, None)(x * 1.0)
    out.backward(torch.randn(out.shape, generator=torch.Generator().manual_seed(1)))
    assert x.grad is not None
    return [p.grad for p in stack.parameters() if p.grad is not None], x.grad


@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in ("none", "reversible")])
def test_gradients_are_bitwise_equal(policy: str) -> None:
    (weights, x), (expected_weights, expected_x) = gradients(policy), gradients("none")
    assert len(weights) == len(expected_weights) == 5 * 9
    assert all(torch.equal(a, b) for a, b in zip(weights, expected_weights, strict=True))
    assert torch.equal(x, expected_x)


def test_a_reversible_stack_has_its_streams_gradients_up_to_rounding() -> None:
    weights, dx = gradients("reversible")
    torch.manual_seed(0)
    stack = Stack(LlamaConfig(hidden=32, layers=5, heads=4, kv_heads=2, ffn=48, vocab=10), 16, dtype=torch.float32)
    x = torch.randn(2, 16, 32, requires_grad=True)
    x1 = x2 = x * 1.0
    block: Any
    for block in stack.blocks:
        x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
        x2 = x2 + block.mlp_branch(x1)
    out = x1 + x2
    out.backward(torch.randn(out.shape, generator=torch.Generator().manual_seed(1)))
    torch.testing.assert_close(dx, x.grad, rtol=1e-4, atol=1e-5)
    for ours, parameter in zip(weights, stack.parameters(), strict=True):
        torch.testing.assert_close(ours, parameter.grad, rtol=1e-4, atol=1e-5)


def test_offloaded_activations_leave_the_device() -> None:
    kept = cost("7B", "offload")
    assert kept.saved_bytes == 2 * SEQ * LLAMA_2_7B.hidden  # only the stack's output
    assert kept.flops == cost("7B", "none").flops


def test_the_tracker_sees_saved_tensors_freed_one_by_one() -> None:
    """Backward frees saved tensors after each node, so layer after layer, not at the end."""
    torch.manual_seed(0)
    layers = [nn.Sequential(nn.Linear(64, 64), nn.Tanh()) for _ in range(8)]
    alive: list[int] = []
    h = torch.randn(512, 64)
    with LiveStorages() as live:
        for one in layers:
            h = one(h)
            h.register_hook(lambda _: alive.append(live.bytes))
        loss = h.sum()
        del h
        loss.backward()
    tensor = 4 * 512 * 64
    steps = [before - after for before, after in pairwise(alive[1:])]
    assert steps == pytest.approx([tensor] * len(steps), rel=0.15)  # minus a layer's weight gradients, which stay
