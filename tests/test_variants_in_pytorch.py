"""Newcomers' mistakes in the PyTorch lessons are named."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from newcomers import DEBUGGING, FUNCTIONS, MEMORY, EntropyOfLogarithms, Meter, _of_a_reversible_block, mistakes_named

pytestmark = pytest.mark.slow

SCALING = "ch14_scaling_out"


class HookedInput(torch.nn.Module):
    """A ColumnParallelLinear that registers a hook on the caller's x, in one line."""

    def __init__(self, weight: Any, bias: Any, group: Any) -> None:
        super().__init__()
        if len(weight) % group.size:
            raise ValueError(len(weight))
        self.group = group
        self.weight = torch.nn.Parameter(weight.chunk(group.size)[group.rank].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.chunk(group.size)[group.rank].clone())

    def forward(self, x: Any) -> Any:
        x.register_hook(lambda g: self.group.all_reduce(g))
        return torch.nn.functional.linear(x, self.weight, self.bias)


class SummedBothWays(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, y: Any, group: Any) -> Any:
        ctx.group = group
        group.all_reduce(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        ctx.group.all_reduce(g)
        return g, None


class ReducedBothWays(torch.nn.Module):
    """A RowParallelLinear whose backward reduces like its forward."""

    def __init__(self, weight: Any, bias: Any, group: Any) -> None:
        super().__init__()
        if weight.shape[1] % group.size:
            raise ValueError(weight.shape)
        self.group = group
        self.weight = torch.nn.Parameter(weight.chunk(group.size, dim=1)[group.rank].clone())
        self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

    def forward(self, x: Any) -> Any:
        y = SummedBothWays.apply(x @ self.weight.T, self.group)
        return y if self.bias is None else y + self.bias


def ranks_without_gradients_skipped(model: Any, group: Any, n_local: int) -> None:
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad *= n_local
            group.all_reduce(parameter.grad)
            n_rows = torch.tensor(n_local)
            group.all_reduce(n_rows)
            parameter.grad /= n_rows


def square_times_t(s: int, b: int, h: int, a: int, flash: bool = True, tensor_parallel: int = 1, **how: bool) -> float:
    t = tensor_parallel
    whole, shared = (0, 34) if how.get("sequence_parallel") else (10, 24)
    return s * b * h * (whole + shared / t + (0 if flash else 5 * a * s / h * t))


def shares_cut(s: int, b: int, h: int, a: int, flash: bool = True, tensor_parallel: int = 1, **how: bool) -> int:
    t = tensor_parallel
    kept = 34 * s * b * h // t if how.get("sequence_parallel") else 10 * s * b * h + 24 * s * b * h // t
    return kept if flash else kept + 5 * a * s * s * b // t


class WatchesTensors(Meter):
    def watch(self, tensor: Any) -> None:
        weakref.finalize(tensor, self.known.discard, tensor.untyped_storage()._cdata)


def open_bucket_left(grads: Any, bucket_bytes: int, all_reduce: Callable[[Any], None]) -> list[Any]:
    buckets: list[list[Any]] = []
    bucket: list[Any] = []
    for grad in grads:
        full = sum(one.nbytes for one in bucket) + grad.nbytes > bucket_bytes
        if bucket and (full or grad.dtype != bucket[0].dtype):
            buckets.append(bucket)
            bucket = []
        bucket.append(grad)
    reduced = []
    for bucket in buckets:
        flat = torch.cat([grad.flatten() for grad in bucket])
        all_reduce(flat)
        pieces = flat.split([grad.numel() for grad in bucket])
        reduced += [piece.view_as(grad) for piece, grad in zip(pieces, bucket, strict=True)]
    return reduced


def scaled_nowhere(g: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, block: int) -> Any:
    dq, dk, dv = map(torch.zeros_like, (q, k, v))
    for i in range(0, k.shape[-2], block):
        keys, values = (of[..., i : i + block, :] for of in (k, v))
        p = torch.exp(q @ keys.mT - lse[..., None])
        ds = p * (g @ values.mT - (g * out).sum(-1, keepdim=True))
        dq += ds @ keys
        dk[..., i : i + block, :] = ds.mT @ q
        dv[..., i : i + block, :] = p.mT @ g
    return dq, dk, dv


def sum_without_parentheses(n_params: int, ranks: int, stage: int) -> float:
    weights, gradients, states = 2.0, 2.0, 12.0
    if stage >= 1:
        states /= ranks
    if stage >= 2:
        gradients /= ranks
    if stage >= 3:
        weights /= ranks
    return n_params * weights + gradients + states


class SquareWithoutReturn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        dx = g * 2 * x  # noqa: F841


class EntropyAddsTargets(EntropyOfLogarithms):
    sign = 1


class TanhOfTheReciprocal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x / 2 * (1 + torch.tanh(math.sqrt(math.pi / 2) * (x + 0.044715 * x**3)))

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        t = torch.tanh(math.sqrt(math.pi / 2) * (x + 0.044715 * x**3))
        return g * ((1 + t) / 2 + x / 2 * (1 - t * t) * math.sqrt(math.pi / 2) * (1 + 3 * 0.044715 * x**2))


def report_of_squares(model: Any) -> Any:
    rows: list[dict[str, Any]] = []
    for name, parameter in model.named_parameters():
        grad = parameter.grad
        rows.append({"name": name, "norm": None if grad is None else (grad.double() ** 2).sum().item()})
    finite = sorted(row["norm"] for row in rows if row["norm"] and math.isfinite(row["norm"]))
    median = (finite[(len(finite) - 1) // 2] + finite[len(finite) // 2]) / 2 if finite else math.inf
    for row in rows:
        norm = row["norm"]
        if norm is None:
            row["status"] = "none"
        elif not math.isfinite(norm):
            row["status"] = "nonfinite"
        else:
            row["status"] = "zero" if norm == 0 else "exploding" if norm > 1000 * median else "ok"
    return rows


@pytest.mark.parametrize(
    ("lesson", "exercise", "answer", "named"),
    [
        (MEMORY, "layer_activation_bytes", lambda _: square_times_t, "square_times_devices"),
        (MEMORY, "layer_activation_bytes", lambda _: shares_cut, "parts_cut_to_ints"),
        (SCALING, "all_reduce_gradients", lambda _: ranks_without_gradients_skipped, "rank_leaves_out, sum_overflows"),
        (MEMORY, "SavedTensorMeter", lambda _: WatchesTensors, "tensor_watched"),
        (SCALING, "bucketed_all_reduce", lambda _: open_bucket_left, "last_bucket_left"),
        (SCALING, "chunked_attention_vjp", lambda _: scaled_nowhere, "no_scale_at_all"),
        (SCALING, "zero_bytes_per_rank", lambda _: sum_without_parentheses, "weights_of_all_alone, any_stage"),
        (SCALING, "ColumnParallelLinear", lambda _: HookedInput, "hook_on_x_itself"),
        (SCALING, "RowParallelLinear", lambda _: ReducedBothWays, "reduced_backward_in_place"),
        (FUNCTIONS, "Square", lambda _: SquareWithoutReturn, "square_returns_no_gradient"),
        (FUNCTIONS, "FusedCrossEntropy", lambda _: EntropyAddsTargets, "entropy_adds_the_target"),
        (FUNCTIONS, "GELUTanh", lambda _: TanhOfTheReciprocal, "tanh_root_upside_down"),
        (DEBUGGING, "gradient_report", lambda _: report_of_squares, "norm_squared"),
    ],
)
def test_what_newcomers_wrote_in_pytorch_has_a_name(lesson: str, exercise: str, answer: Any, named: str) -> None:
    """Such answers used to be shown only numbers."""
    assert mistakes_named(lesson, exercise, answer) == tuple(named.split(", "))


@pytest.mark.parametrize(
    ("edits", "named"),
    [
        ({"y1 = x1 + f(x2)": "y1 = x1 + f(x1)"}, "f_of_x1"),
        (
            {"y1 = x1 + f(x2)": "y2 = x2 + g(x1)", "y2 = x2 + g(y1)": "y1 = x1 + f(y2)"},
            "half_blocks_in_the_other_order",
        ),
        ({"y2 = x2 + g(y1)": "y2 = x2 - g(y1)"}, "subtracted_in_forward"),
        ({"return Reversible.apply(f, g, x1, x2)": "return Reversible.apply(f, g, x2, x1)"}, "inputs_swapped"),
        ({"return Reversible.apply(f, g, x1, x2)": "return Reversible.apply(g, f, x1, x2)"}, "f_and_g_swapped"),
        ({"y1, y2 = ctx.saved_tensors": "y2, y1 = ctx.saved_tensors"}, "saved_in_another_order"),
        ({"f_of_x2.backward(dx1)": "f_of_x2.backward(dy2)"}, "dy2_into_f"),
        ({"g_of_y1.backward(dy2)": "g_of_y1.backward(dy1)"}, "dy1_through_g"),
    ],
)
def test_what_newcomers_wrote_of_a_reversible_block_has_a_name(edits: dict[str, str], named: str) -> None:
    """Such answers used to be shown only numbers."""
    assert _of_a_reversible_block(edits).misconceptions == tuple(named.split(", "))
