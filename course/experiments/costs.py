"""Computes the cost of a policy on any machine: saved bytes, peak bytes and FLOPs of one step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from course.experiments.policies import Policy
from course.instruments.flops import FlopCounter
from course.instruments.live import LiveStorages
from course.llama import Llama, LlamaConfig, Stack

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """The cost of one step. Bytes are those of activations and temporaries, without weights and their gradients."""

    saved_bytes: int
    """Bytes alive after the forward pass, its result included."""
    peak_bytes: int
    """The maximum of bytes alive during backward."""
    forward_flops: int
    backward_flops: int

    @property
    def flops(self) -> int:
        return self.forward_flops + self.backward_flops


def predict(
    policy: Policy,
    config: LlamaConfig,
    seq: int,
    *,
    batch: int = 1,
    head: bool = False,
    dtype: torch.dtype = torch.bfloat16,
    **options: bool,
) -> Cost:
    """The exact cost of one step, measured with fake tensors, which need no memory.

    Args:
        head: measure the whole model with embedding, head and float32 cross-entropy, not the layers alone.
        options: keywords of `Block`, such as `fused_attention=False`.
    """
    with FakeTensorMode():
        return _measure(policy, config, seq, batch=batch, head=head, dtype=dtype, device="cpu", **options)


def predict_at_depth(policy: Policy, config: LlamaConfig, seq: int, *, first: int = 1, **options: Any) -> Cost:
    """The result of `predict` in a fraction of the time: extrapolated linearly from `first` and the next two depths.

    Valid for policies that treat all layers alike, unlike `sqrt_segments`.

    Args:
        first: the number of layers from which on costs are linear; 2 for policies that work on pairs.
        options: as for `predict`.

    Raises:
        ValueError: the three costs are not on a straight line.
    """
    return at_depth(lambda shallow: predict(policy, shallow, seq, **options), config, first=first)


def at_depth(costs: Callable[[LlamaConfig], T], config: LlamaConfig, *, first: int = 1) -> T:
    """`costs(config)`, a dataclass, with its integers extrapolated linearly from `first` and the next two depths.

    Raises:
        ValueError: an integer of the three is not on a straight line, or another value is not the same in all.
    """
    low, middle, high = (costs(replace(config, layers=first + n)) for n in range(3))
    values: dict[str, Any] = {}
    for name in (field.name for field in fields(low)):  # type: ignore[arg-type]
        a, b, c = (getattr(one, name) for one in (low, middle, high))
        if not (c - b == b - a if isinstance(a, int) else a == b == c):
            raise ValueError(f"{name} of {first}, {first + 1} and {first + 2} layers are on no straight line")
        values[name] = a + (config.layers - first) * (b - a) if isinstance(a, int) else a
    return type(low)(**values)


def measure_bytes(
    policy: Policy, config: LlamaConfig, seq: int, *, batch: int = 1, dtype: torch.dtype = torch.bfloat16
) -> Cost:
    """The cost of a real step of the layers on the CPU."""
    return _measure(policy, config, seq, batch=batch, head=False, dtype=dtype, device="cpu")


def _measure(
    policy: Policy,
    config: LlamaConfig,
    seq: int,
    *,
    batch: int,
    head: bool,
    dtype: torch.dtype,
    device: str,
    **options: bool,
) -> Cost:
    live = LiveStorages()
    if head:
        model = Llama(config, seq, dtype=dtype, device=device, **options)
        ids = torch.zeros(batch, seq, dtype=torch.long, device=device)
        run = policy(model.stack, live)
        drop_weight_gradients(model)

        def step() -> Tensor:
            logits = model.head(model.norm(run(model.embedding(ids)))).float()
            return F.cross_entropy(logits.flatten(0, 1), ids.flatten())
    else:
        stack = Stack(config, seq, dtype=dtype, device=device, **options)
        x = torch.zeros(batch, seq, config.hidden, dtype=dtype, device=device, requires_grad=True)
        run = policy(stack, live)
        drop_weight_gradients(stack)

        def step() -> Tensor:
            return run(x * 1.0)

    with live, FlopCounter() as forward:
        out = step()
    saved, live.peak = live.bytes, live.bytes
    with live, FlopCounter() as backward:
        out.backward(torch.ones_like(out))
    return Cost(saved, live.peak, forward.total, backward.total)


def drop_weight_gradients(module: nn.Module) -> None:
    """Free each weight's gradient as soon as it is computed, as an optimizer fused into backward does."""

    def drop(parameter: Tensor) -> None:
        parameter.grad = None

    for parameter in module.parameters():
        parameter.register_post_accumulate_grad_hook(drop)
