"""Policies: ways to run a stack of layers that save less for backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from course.instruments.live import LiveStorages
from course.instruments.saved import is_of_parameter
from course.llama import LlamaConfig, Stack

Forward = Callable[[Tensor], Tensor]
"""Runs the layers: takes x (batch, seq, hidden), and returns the same shape."""
Policy = Callable[[Stack, LiveStorages | None], Forward]
"""Prepares a new stack, perhaps by wrapping its parts; the tracker is used to leave out tensors moved to the host."""


def none(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Save everything that backward needs."""
    return stack


def every_layer(stack: Stack, live: LiveStorages | None = None, *, early_stop: bool = True, **options: Any) -> Forward:
    """Save only each layer's input. `early_stop` ends a recomputation when backward has all that it needs."""
    run: Any = partial(checkpoint, use_reentrant=False, early_stop=early_stop, **options)

    def forward(x: Tensor) -> Tensor:
        for block in stack.blocks:
            x = run(block, x, stack.cos, stack.sin)
        return x

    return forward


def attention_core(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Recompute only softmax(q kᵀ) v (Korthikanti et al. 2022, selective)."""
    return _wrapped(stack, "attention_core")


def attention_block(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Recompute the whole attention branch: norm, projections, attention."""
    return _wrapped(stack, "attention_branch")


def selective(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Recompute each layer except its fused attention, whose result is saved."""
    return _saving(stack, lambda op, count: op in _ATTENTION)


def selective_matmuls(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Recompute elementwise operations; save the results of all matrix products and of attention."""
    return _saving(stack, lambda op, count: op in _ATTENTION or op in _MATMULS)


def selective_half(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Save the results of attention and of every second matrix product."""
    return _saving(stack, lambda op, count: op in _ATTENTION or (op in _MATMULS and count % 2 == 1))


def segments(n: int) -> Policy:
    """Save the inputs of n segments, whose sizes differ by at most one."""

    def policy(stack: Stack, live: LiveStorages | None = None) -> Forward:
        return partial(_run_segments, stack, n)

    return policy


def sqrt_segments(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """About √L segments (Chen et al. 2016)."""
    return partial(_run_segments, stack, round(len(stack.blocks) ** 0.5))


def best_segments(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """The number of segments with the least peak according to `segment_model`."""
    return partial(_run_segments, stack, best_segment_count(stack.config, stack.cos.element_size()))


def offload(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Save everything that backward needs in the host's memory."""

    def forward(x: Tensor) -> Tensor:
        with _on_host({id(buffer) for buffer in stack.buffers()}, live):
            return stack(x)

    return forward


def reversible(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Two streams, from whose outputs each layer's inputs are recomputed (Gomez et al. 2017).

    The layers are the stack's, but the function is a different one.
    """

    def forward(x: Tensor) -> Tensor:
        y1, y2 = _Reversible.apply(x, x, stack)
        return y1 + y2

    return forward


POLICIES: dict[str, Policy] = {
    policy.__name__: policy
    for policy in (
        *(none, every_layer, attention_core, attention_block),
        *(selective, selective_matmuls, selective_half, sqrt_segments, best_segments, offload, reversible),
    )
}


_A = torch.ops.aten
_MATMULS = {_A.mm.default, _A.addmm.default, _A.bmm.default}
_ATTENTION = {
    _A._scaled_dot_product_flash_attention_for_cpu.default,
    _A._scaled_dot_product_flash_attention.default,
    _A._scaled_dot_product_efficient_attention.default,
    _A._scaled_dot_product_cudnn_attention.default,
}


def _wrapped(stack: Stack, part: str) -> Forward:
    for block in stack.blocks:
        setattr(block, part, partial(checkpoint, getattr(block, part), use_reentrant=False))
    return stack


def _saving(stack: Stack, keeps: Callable[[Any, int], bool]) -> Forward:
    """Every layer checkpointed, saving results where `keeps(op, count)`; `count` is its number of matrix products."""

    def contexts() -> Any:
        counts = {False: 0, True: 0}  # in the layer's forward run, and in its recomputation

        def decide(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            counts[ctx.is_recompute] += op in _MATMULS
            kept = keeps(op, counts[ctx.is_recompute])
            return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(decide)

    return every_layer(stack, context_fn=contexts)


def _run_segments(stack: Stack, n: int, x: Tensor) -> Tensor:
    ends = [round(i * len(stack.blocks) / n) for i in range(n + 1)]
    for start, end in pairwise(ends):
        x = checkpoint(_run_blocks, stack, start, end, x, use_reentrant=False)
    return x


def _run_blocks(stack: Stack, start: int, end: int, x: Tensor) -> Tensor:
    for block in stack.blocks[start:end]:
        x = block(x, stack.cos, stack.sin)
    return x


@contextmanager
def _on_host(shared: set[int], live: LiveStorages | None) -> Iterator[None]:
    """Move saved tensors to the host's memory, except parameters and the tensors with ids in `shared`."""

    def pack(tensor: Tensor) -> Any:
        if is_of_parameter(tensor) or id(tensor) in shared:
            return tensor
        with live.not_counting() if live else nullcontext():  # with fake tensors the device is the CPU as well
            host = torch.empty_like(tensor, device="cpu", pin_memory=tensor.is_cuda)
            host.copy_(tensor, non_blocking=True)  # the stream keeps the order: later kernels cannot overwrite it first
        return tensor.device, host

    def unpack(kept: Any) -> Tensor:
        if isinstance(kept, Tensor):
            return kept
        device, host = kept
        return host.to(device, non_blocking=True) if device != host.device else host.clone()

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        yield


class _Reversible(torch.autograd.Function):
    """y1 = x1 + attention(x2), y2 = x2 + mlp(y1) in every layer; saves only the last y1 and y2."""

    @staticmethod
    def forward(ctx: Any, x1: Tensor, x2: Tensor, stack: Stack) -> tuple[Tensor, Tensor]:
        block: Any
        for block in stack.blocks:
            x1 = x1 + block.attention_branch(x2, stack.cos, stack.sin)
            x2 = x2 + block.mlp_branch(x1)
        ctx.stack = stack
        ctx.save_for_backward(x1, x2)
        return x1, x2

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor, None]:
        g1, g2 = grad_outputs
        y1, y2 = ctx.saved_tensors
        for block in reversed(ctx.stack.blocks):
            y2, g1 = _step_back(block.mlp_branch, y1, y2, g1, g2)  # now x2
            attend = partial(block.attention_branch, cos=ctx.stack.cos, sin=ctx.stack.sin)
            y1, g2 = _step_back(attend, y2, y1, g2, g1)  # now x1
        return g1, g2, None


def _step_back(branch: Forward, x: Tensor, y: Tensor, gx: Tensor, gy: Tensor) -> tuple[Tensor, Tensor]:
    """Undo y = u + branch(x): return u, and gx plus the branch's gradient; accumulates the parameters' gradients."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        out = branch(x)
    u = y - out.detach()
    out.backward(gy)
    assert x.grad is not None
    return u, gx + x.grad


# how many segments


def segment_model(config: LlamaConfig, n: int, itemsize: int = 2) -> float:
    """Peak bytes per token with n segments: all their inputs, and the activations of one recomputed segment."""
    longest = -(-config.layers // n)
    return n * config.hidden * itemsize + longest * layer_bytes(config, itemsize)


def layer_bytes(config: LlamaConfig, itemsize: int = 2) -> int:
    """Bytes per token that a layer saves with fused attention and norms: 12h + 4h_kv + 8f + 8 + 4a at 16 bits."""
    per_item = 6 * config.hidden + 2 * config.kv_heads * config.head_dim + 4 * config.ffn
    return itemsize * per_item + 8 + 4 * config.heads


def best_segment_count(config: LlamaConfig, itemsize: int = 2) -> int:
    """The number of segments with the least peak according to `segment_model`; the smallest if several are equal."""
    return min(range(1, config.layers + 1), key=lambda n: segment_model(config, n, itemsize))
