"""What each way to save activation memory costs: bytes kept, peak bytes, FLOPs, and on a real device seconds.

    python -m course.experiments.checkpointing --device cuda --out FILE

On a GPU it measures layers of Llama-2-7B at a sequence of 8,192 in bfloat16, as many as fit; on a CPU a small model.
Beside each measurement stands the prediction: the same step with fake tensors.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from course.experiments.recording import UnusableDevice, record, require_device
from course.instruments.flops import FlopCounter
from course.instruments.live import LiveStorages
from course.instruments.saved import is_of_parameter
from course.llama import LLAMA_2_7B, Llama, LlamaConfig, Stack

Forward = Callable[[Tensor], Tensor]
"""Runs the layers: x (batch, seq, hidden) to the same shape."""
Policy = Callable[[Stack, LiveStorages | None], Forward]
"""Prepares a fresh stack, and may wrap its parts; the tracker is for those that move tensors to the host."""

SMALL = LlamaConfig(hidden=128, layers=8, heads=4, kv_heads=4, ffn=344, vocab=1024)
"""What a CPU measures in seconds."""
SMALL_SEQ, FULL_SEQ = 512, 8192
SMALL_DTYPE, FULL_DTYPE = torch.float32, torch.bfloat16


# policies


def none(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Keep all that backward needs."""
    return stack


def every_layer(stack: Stack, live: LiveStorages | None = None, *, early_stop: bool = True, **options: Any) -> Forward:
    """Keep each layer's input alone. `early_stop` ends a recomputation when backward has all that it needs."""
    run: Any = partial(checkpoint, use_reentrant=False, early_stop=early_stop, **options)

    def forward(x: Tensor) -> Tensor:
        for block in stack.blocks:
            x = run(block, x, stack.cos, stack.sin)
        return x

    return forward


def attention_core(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Recompute softmax(q kᵀ) v alone (Korthikanti et al. 2022, selective)."""
    return _wrapped(stack, "attention_core")


def attention_block(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Recompute the whole attention branch: norm, projections, attention."""
    return _wrapped(stack, "attention_branch")


def selective(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Recompute each layer but for the result of its fused attention, which is kept."""
    return _saving(stack, lambda op, count: op in _ATTENTION)


def selective_matmuls(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Recompute what is elementwise; keep the results of all matrix products and of attention."""
    return _saving(stack, lambda op, count: op in _ATTENTION or op in _MATMULS)


def selective_half(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Keep attention's result and that of every second matrix product."""
    return _saving(stack, lambda op, count: op in _ATTENTION or (op in _MATMULS and count % 2 == 1))


def segments(n: int) -> Policy:
    """Keep the inputs of n segments, whose sizes differ by at most one."""

    def policy(stack: Stack, live: LiveStorages | None = None) -> Forward:
        return partial(_run_segments, stack, n)

    return policy


def sqrt_segments(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """About √L segments (Chen et al. 2016)."""
    return partial(_run_segments, stack, round(len(stack.blocks) ** 0.5))


def best_segments(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """The number of segments with the least peak, by the segment model."""
    return partial(_run_segments, stack, best_segment_count(stack.config, stack.cos.element_size()))


def offload(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Keep all that backward needs in the memory of the host."""

    def forward(x: Tensor) -> Tensor:
        with _on_host({id(buffer) for buffer in stack.buffers()}, live):
            return stack(x)

    return forward


def reversible(stack: Stack, live: LiveStorages | None = None) -> Forward:
    """Two streams, each layer's inputs computed back from its outputs (Gomez et al. 2017): another function than the
    stack's, with the same layers."""

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
    """The stack with one part of each block checkpointed."""
    for block in stack.blocks:
        setattr(block, part, partial(checkpoint, getattr(block, part), use_reentrant=False))
    return stack


def _saving(stack: Stack, keeps: Callable[[Any, int], bool]) -> Forward:
    """Every layer checkpointed, but for what `keeps(op, count)` says; count is 1 for a layer's first matrix product."""

    def contexts() -> Any:
        counts = {False: 0, True: 0}  # the layer's first run, and its second

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
    """Keep saved tensors in the host's memory, but for parameters and what is `shared` by all layers (by id)."""

    def pack(tensor: Tensor) -> Any:
        if is_of_parameter(tensor) or id(tensor) in shared:
            return tensor
        with live.not_counting() if live else nullcontext():  # under fake tensors the host is the device itself
            host = torch.empty_like(tensor, device="cpu", pin_memory=tensor.is_cuda)
            host.copy_(tensor, non_blocking=True)  # in the order of the stream: done before the next kernel writes
        return tensor.device, host

    def unpack(kept: Any) -> Tensor:
        if isinstance(kept, Tensor):
            return kept
        device, host = kept
        return host.to(device, non_blocking=True) if device != host.device else host.clone()

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        yield


class _Reversible(torch.autograd.Function):
    """y1 = x1 + attention(x2), y2 = x2 + mlp(y1) in every layer; keeps the last y1 and y2."""

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
    """From y = u + branch(x): u, and gx with what flows back through the branch; adds to the parameters' gradients."""
    with torch.enable_grad():
        x = x.detach().requires_grad_()
        out = branch(x)
    u = y - out.detach()
    out.backward(gy)
    assert x.grad is not None
    return u, gx + x.grad


# what they cost


@dataclass(frozen=True)
class Cost:
    """What one step costs. Bytes are activations and temporaries: no weights, no weight gradients."""

    saved_bytes: int
    """Alive when the forward pass is over, its result included."""
    peak_bytes: int
    """The most that is alive during backward."""
    forward_flops: int
    backward_flops: int

    @property
    def flops(self) -> int:
        return self.forward_flops + self.backward_flops


def segment_model(config: LlamaConfig, n: int, itemsize: int = 2) -> float:
    """Bytes at the peak per token of a batch with n segments: their inputs, and one segment run again."""
    longest = -(-config.layers // n)
    return n * config.hidden * itemsize + longest * layer_bytes(config, itemsize)


def layer_bytes(config: LlamaConfig, itemsize: int = 2) -> int:
    """What a layer keeps, in bytes per token: 12h + 4h_kv + 8f + 8 + 4a at 16 bits, with fused attention and norms."""
    per_item = 6 * config.hidden + 2 * config.kv_heads * config.head_dim + 4 * config.ffn
    return itemsize * per_item + 8 + 4 * config.heads


def best_segment_count(config: LlamaConfig, itemsize: int = 2) -> int:
    """The number of segments with the least peak by the model; the fewest of them where several are equal."""
    return min(range(1, config.layers + 1), key=lambda n: segment_model(config, n, itemsize))


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
    """The cost of one step, measured with fake tensors: exact, on any machine, without the memory.

    Args:
        head: the whole model with embedding, head and float32 cross-entropy, instead of the layers alone.
        options: keywords of `Block`, such as `fused_attention=False`.
    """
    with FakeTensorMode():
        return _measure(policy, config, seq, batch=batch, head=head, dtype=dtype, device="cpu", **options)


def measure_bytes(
    policy: Policy, config: LlamaConfig, seq: int, *, batch: int = 1, dtype: torch.dtype = torch.bfloat16
) -> Cost:
    """The same of a real step on the CPU."""
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
    """Free each weight's gradient as soon as it is there, as an optimizer fused into backward does."""

    def drop(parameter: Tensor) -> None:
        parameter.grad = None

    for parameter in module.parameters():
        parameter.register_post_accumulate_grad_hook(drop)


# on a real device


@dataclass(frozen=True)
class Timing:
    """Seconds of one step, medians over repeats, and the device's memory."""

    forward_seconds: float
    backward_seconds: float
    forward_spread: tuple[float, float]
    backward_spread: tuple[float, float]
    """Least and most of the repeats."""
    saved_bytes: int | None
    peak_bytes: int | None
    """From the allocator, less what was there before the step; a CPU has none to ask."""


def run_step(
    policy: Policy, config: LlamaConfig, seq: int, device: str, *, dtype: torch.dtype, repeats: int, warm_up: int = 2
) -> Timing:
    """Run steps for real and time forward and backward apart. Weight gradients are freed as they come."""
    torch.manual_seed(0)
    stack = Stack(config, seq, dtype=dtype, device=device)
    drop_weight_gradients(stack)
    run = policy(stack, None)
    x = torch.randn(1, seq, config.hidden, dtype=dtype, device=device, requires_grad=True)
    g = torch.randn_like(x)
    on_gpu = device.startswith("cuda")
    forward, backward, saved, peak = [], [], 0, 0
    for i in range(warm_up + repeats):
        x.grad = None
        before = _allocated(device)
        if on_gpu:
            torch.cuda.reset_peak_memory_stats(device)
        start = _now(device)
        out = run(x * 1.0)
        middle = _now(device)
        kept = _allocated(device) - before
        out.backward(g)
        end = _now(device)
        del out
        if i >= warm_up:
            forward.append(middle - start)
            backward.append(end - middle)
            saved = max(saved, kept)
            peak = max(peak, torch.cuda.max_memory_allocated(device) - before if on_gpu else 0)
    return Timing(
        statistics.median(forward),
        statistics.median(backward),
        (min(forward), max(forward)),
        (min(backward), max(backward)),
        saved if on_gpu else None,
        peak if on_gpu else None,
    )


def _now(device: str) -> float:
    """Seconds, when all that was started on the device is done."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    return time.perf_counter()


def _allocated(device: str) -> int:
    return torch.cuda.memory_allocated(device) if device.startswith("cuda") else 0


def layers_that_fit(config: LlamaConfig, seq: int, device: str) -> int:
    """How many of the layers fit with all activations kept, a tenth of the memory left to what cannot be foreseen."""
    room = 0.9 * torch.cuda.get_device_properties(device).total_memory
    parameters = (config.n_params - 2 * config.vocab * config.hidden) / config.layers
    a_layer = 2 * parameters + seq * layer_bytes(config)
    return max(1, min(config.layers, int(room / a_layer) - 1))


def run(device: str, repeats: int) -> dict[str, Any]:
    """Every policy, predicted and measured, as data."""
    on_gpu = device.startswith("cuda")
    config, seq, dtype = (LLAMA_2_7B, FULL_SEQ, FULL_DTYPE) if on_gpu else (SMALL, SMALL_SEQ, SMALL_DTYPE)
    if on_gpu:
        config = replace(config, layers=layers_that_fit(config, seq, device))
    rows = []
    for name, policy in POLICIES.items():
        predicted = predict(policy, config, seq, dtype=dtype)
        row: dict[str, Any] = {"policy": name, "predicted": asdict(predicted)}
        try:
            row["measured"] = asdict(run_step(policy, config, seq, device, dtype=dtype, repeats=repeats))
        except torch.OutOfMemoryError as error:
            row["error"] = str(error).splitlines()[0]
        if on_gpu:
            torch.cuda.empty_cache()
        rows.append(row)
        print(_line(row), flush=True)
    return {"config": asdict(config), "seq": seq, "batch": 1, "dtype": str(dtype), "repeats": repeats, "policies": rows}


def _line(row: dict[str, Any]) -> str:
    predicted, measured = row["predicted"], row.get("measured")
    flops = (predicted["forward_flops"] + predicted["backward_flops"]) / 1e12
    text = f"{row['policy']:18} predicted: {predicted['peak_bytes'] / 1e9:8.3f} GB at the peak, {flops:9.4f} TFLOP"
    if measured is None:
        return f"{text}   {row['error']}"
    if measured["peak_bytes"] is not None:
        text += f"   measured: {measured['peak_bytes'] / 1e9:8.3f} GB"
    return f"{text}   {measured['forward_seconds']:.3f} + {measured['backward_seconds']:.3f} s"


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m course.experiments.checkpointing", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file to write")
    parser.add_argument("--repeats", type=int, default=7, help="timed steps; medians are reported")
    options = parser.parse_args(arguments)
    try:
        device = require_device(options.device)
    except UnusableDevice as error:
        parser.error(str(error))
    if options.repeats < 1:
        parser.error("--repeats: at least 1")
    if not options.out.absolute().parent.is_dir():
        parser.error(f"--out: there is no folder {options.out.parent}")
    command = ["python", "-m", "course.experiments.checkpointing", "--device", device]
    command += ["--repeats", str(options.repeats)]
    record(options.out, command=command, device=device, measurements=run(device, options.repeats))
    print(f"Written to {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
