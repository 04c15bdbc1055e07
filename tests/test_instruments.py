"""The instruments on real and fake programs that are small enough to count by hand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
    noop_context_fn,
)
from torch.utils.flop_counter import FlopCounterMode

from course.instruments.flops import FlopCounter
from course.instruments.live import LiveStorages, storage_bytes
from course.instruments.meter import SavedTensorMeter

N = 4 * 100  # bytes of a float32 vector of 100


def vector() -> Tensor:
    return torch.ones(100, requires_grad=True)


# SavedTensorMeter


def test_a_product_saves_both_factors_and_a_sum_neither() -> None:
    a, b = vector(), vector()
    with SavedTensorMeter() as meter:
        a * b
    assert meter.bytes == 2 * N
    with SavedTensorMeter() as meter:
        a + b
    assert meter.bytes == 0


def test_a_storage_counts_once_and_whole() -> None:
    x = torch.ones(10, 10, requires_grad=True)
    with SavedTensorMeter() as meter:
        (x[0] * x[1]).sum() + (x.T * 2.0).exp().sum()
    assert meter.entries == [(N, (10,), torch.float32), (N, (10, 10), torch.float32)]  # x, and the output of exp


def test_parameters_and_their_views_do_not_count() -> None:
    layer = nn.Linear(10, 10)
    x = torch.ones(10, 10, requires_grad=True)
    with SavedTensorMeter() as meter:
        layer(x)
        (x * layer.weight.T).sum()
    assert meter.bytes == N


def test_excluded_tensors_do_not_count() -> None:
    x = vector()
    with SavedTensorMeter(exclude=[x]) as meter:
        x.view(10, 10) * x.view(10, 10)
    assert meter.bytes == 0


def test_successive_storages_at_one_address_count_separately() -> None:
    with SavedTensorMeter() as meter:
        for _ in range(50):
            vector().exp()
    assert meter.bytes == 50 * N


def test_the_meter_keeps_nothing_alive() -> None:
    x = vector()
    with LiveStorages() as live, SavedTensorMeter() as meter:
        y = x.exp()
        assert live.bytes == N
        del y
        assert live.bytes == 0
    assert meter.bytes == N


def test_fake_tensors_are_distinguished() -> None:
    with FakeTensorMode():
        a, b = vector(), vector()
        with SavedTensorMeter() as meter:
            (a * b) * a
    assert meter.bytes == 3 * N


@pytest.mark.parametrize("fake", [False, True])
def test_writing_into_a_saved_tensor_is_an_error(fake: bool) -> None:
    """The hooks switch PyTorch's own check off: formerly 3.718 was used instead of exp's 2.718."""
    with FakeTensorMode() if fake else nullcontext(), SavedTensorMeter():
        x = vector()
        y = x.exp()
        z = y.view(10, 10).sin()
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()
        x = vector()
        y = (2 * x).relu()
        y.detach().clone().add_(1)
        (y + 1).sum().backward()
    assert x.grad is not None


def test_the_hooks_are_gone_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), SavedTensorMeter() as meter:
        raise ZeroDivisionError
    vector().exp()
    assert meter.bytes == 0


# LiveStorages


def test_live_bytes_and_peak() -> None:
    x = vector()
    with LiveStorages() as live:
        y = x.detach() * 2
        assert (live.bytes, live.peak) == (N, N)
        z = y + y
        assert live.bytes == 2 * N
        view = z.view(10, 10)
        del y, z
        assert (live.bytes, live.peak) == (N, 2 * N)  # the view keeps its storage alive
        del view
    assert live.timeline == [0, N, 2 * N, N, 0]


def test_existing_tensors_do_not_count() -> None:
    x = vector()
    with LiveStorages() as live:
        x.detach().add_(1)
        x.view(10, 10)
    assert (live.bytes, live.peak) == (0, 0)


def test_tensors_made_from_python_numbers_count() -> None:
    with LiveStorages() as live:
        x = torch.tensor([1.0, 2.0])
        assert live.bytes == 8
        del x
    assert live.bytes == 0


def test_aliases_of_other_memory_do_not_count() -> None:
    x = vector()
    with LiveStorages() as live:
        with live.not_counting():
            elsewhere = x.detach().clone()
        elsewhere.mul_(2)
        assert live.peak == 0
        here = elsewhere.clone()
        assert live.bytes == N
        del here, elsewhere
    assert live.bytes == 0


@pytest.mark.parametrize("fake", [False, True])
def test_a_storage_grown_by_an_operation_counts(fake: bool) -> None:
    """Formerly, if `out=` made 4 MB of an empty tensor, none of it was counted."""
    with FakeTensorMode() if fake else nullcontext():
        x = vector().detach()
        with LiveStorages() as live:
            out = torch.empty(0)
            assert live.bytes == 0
            torch.exp(x, out=out)
            assert (live.bytes, live.peak) == (N, N)
            out.resize_(150)
            assert live.bytes == 150 * 4
            out.resize_(10)  # fewer elements in the same memory
            assert live.bytes == 150 * 4
            torch.mul(x, x, out=torch.empty(0))
            assert (live.bytes, live.peak) == (150 * 4, 150 * 4 + N)
            del out
        assert live.timeline == [0, N, 150 * 4, 150 * 4 + N, 150 * 4, 0]


def test_memory_is_measured_where_no_operation_changes_it() -> None:
    before = vector().detach()
    with LiveStorages() as live:
        x = before * 2
        x.untyped_storage().resize_(0)  # sharded training frees memory like this, to gather it again later
        assert (live.bytes, live.peak) == (0, N)
        x.untyped_storage().resize_(3 * N)
        x.sum()
        assert (live.bytes, live.peak) == (3 * N, 3 * N + 4)
        x.untyped_storage().resize_(2 * N)
        del x
        assert live.bytes == 0


def test_of_existing_storages_only_growth_counts() -> None:
    x, scratch = vector().detach(), torch.empty(20)
    with LiveStorages() as live:
        torch.exp(x[:10], out=scratch.resize_(10))
        assert live.bytes == 0
        torch.exp(x, out=scratch.resize_(0))
        assert live.bytes == N - 20 * 4
        scratch.untyped_storage().resize_(0)
        assert live.bytes == 0
        scratch.untyped_storage().resize_(20 * 4)
        assert live.bytes == 0


def test_a_tensor_set_to_other_memory_frees_its_own() -> None:
    before = vector().detach()
    with LiveStorages() as live:
        x, other = torch.ones(50), torch.ones(200)
        assert live.bytes == N // 2 + 2 * N
        x.set_(other)  # type: ignore[call-overload]  # its stub lacks this form
        assert live.bytes == 2 * N
        del other
        x.set_(before)  # type: ignore[call-overload]  # its stub lacks this form
        assert (live.bytes, live.peak) == (0, N // 2 + 2 * N)
        x.set_(torch.UntypedStorage(N))
        assert live.bytes == N


def test_aliases_of_other_memory_do_not_count_when_they_grow() -> None:
    x = vector().detach()
    with LiveStorages() as live:
        elsewhere = torch.empty(0)
        with live.not_counting():
            torch.exp(x, out=elsewhere)
        elsewhere.mul_(2)
        assert live.peak == 0
        elsewhere.resize_(150)
        assert live.bytes == 50 * 4


def chain(x: Tensor) -> Tensor:
    return x.exp().sin().exp().sin()


def test_it_counts_what_a_policy_keeps_unlike_the_meter() -> None:
    def keep_exp(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        return CheckpointPolicy.MUST_SAVE if op is torch.ops.aten.exp.default else CheckpointPolicy.PREFER_RECOMPUTE

    x = torch.full((100,), 0.1, requires_grad=True)
    selective = partial(create_selective_checkpoint_contexts, keep_exp)
    for contexts, alive in ((noop_context_fn, 2), (selective, 4)):  # input and output; and two outputs of exp
        with LiveStorages() as live, SavedTensorMeter() as meter:
            y: Any = checkpoint(chain, x * 1.0, use_reentrant=False, context_fn=contexts)
            assert (live.bytes, meter.bytes) == (alive * N, N)
            del y
    with LiveStorages() as live, SavedTensorMeter() as meter:
        y = chain(x * 1.0)
        assert (live.bytes, meter.bytes) == (3 * N, 2 * N)  # exp's outputs, which sin saves, too; and the last output
    assert y.requires_grad


def test_fake_and_real_runs_have_the_same_live_bytes() -> None:
    def timeline() -> list[int]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(20, 30), nn.Tanh(), nn.Linear(30, 10))
        x = torch.ones(8, 20)
        with LiveStorages() as live:
            model(x).sum().backward()
        return live.timeline

    with FakeTensorMode():
        fake = timeline()
    assert fake == timeline()


def test_bytes_of_tensors_that_share_storages() -> None:
    x = torch.ones(10, 10)
    assert storage_bytes([x, x.T, x[0], torch.ones(5)]) == N + 20


# FlopCounter


def flops(program: Callable[[], Any]) -> int:
    with FlopCounter() as counter:
        program()
    return counter.total


def test_matrix_products_and_convolutions() -> None:
    a, b = torch.ones(3, 4), torch.ones(4, 5)
    assert flops(lambda: a @ b) == 2 * 3 * 4 * 5
    assert flops(lambda: a + a) == 0
    image, kernel = torch.ones(2, 3, 8, 8), torch.ones(5, 3, 3, 3)
    assert flops(lambda: nn.functional.conv2d(image, kernel)) == 2 * (2 * 5 * 6 * 6) * (3 * 3 * 3)


def test_flops_agree_with_pytorchs_counter() -> None:
    model = nn.Sequential(nn.Linear(20, 30), nn.SiLU(), nn.Linear(30, 10))
    x = torch.ones(8, 20, requires_grad=True)
    with FlopCounterMode(display=False) as theirs:
        model(x).sum().backward()
    assert flops(lambda: model(x).sum().backward()) == theirs.get_total_flops() == 3 * 2 * 8 * (20 * 30 + 30 * 10)


@pytest.mark.parametrize("kv_heads", [4, 2])
def test_attention_on_a_cpu(kv_heads: int) -> None:
    """Two matrix products of 2 · b · h · s · s · d forward and five backward; PyTorch's own counter gives 0."""
    q = torch.ones(2, 4, 6, 8, requires_grad=True)
    k, v = (torch.ones(2, kv_heads, 6, 8, requires_grad=True) for _ in range(2))

    def forward() -> Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=kv_heads < 4)

    with FlopCounterMode(display=False) as theirs:
        out = forward()
    assert theirs.get_total_flops() == 0  # once this fails, course/instruments/flops.py no longer needs its formulas
    product = 2 * 2 * 4 * 6 * 6 * 8
    assert flops(forward) == 2 * product
    assert flops(lambda: out.sum().backward()) == 5 * product


def test_operations_in_inference_mode_count_as_elsewhere() -> None:
    layer, x = nn.Linear(8, 8), torch.ones(4, 8)

    def run() -> None:
        with torch.inference_mode():
            layer(x)

    assert flops(run) == flops(lambda: layer(x)) == 2 * 4 * 8 * 8


def test_flops_and_bytes_can_be_measured_together() -> None:
    def peak(counting: bool) -> int:
        model = nn.Sequential(nn.Linear(20, 30), nn.SiLU(), nn.Linear(30, 10))
        x = torch.ones(8, 20)
        with LiveStorages() as live:
            if counting:
                with FlopCounter():
                    model(x).sum().backward()
            else:
                model(x).sum().backward()
        return live.peak

    assert peak(counting=True) == peak(counting=False)
