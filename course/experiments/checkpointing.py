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
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from course.experiments.costs import drop_weight_gradients, predict
from course.experiments.policies import POLICIES, Policy, layer_bytes
from course.experiments.recording import options_of, record
from course.llama import LLAMA_2_7B, LlamaConfig, Stack

SMALL = LlamaConfig(hidden=128, layers=8, heads=4, kv_heads=4, ffn=344, vocab=1024)
"""The model for a CPU, which takes seconds."""
SMALL_SEQ, FULL_SEQ = 512, 8192
SMALL_DTYPE, FULL_DTYPE = torch.float32, torch.bfloat16


@dataclass(frozen=True)
class Timing:
    """Median times of one step over repeats, in seconds, and the device's memory."""

    forward_seconds: float
    backward_seconds: float
    forward_spread: tuple[float, float]
    backward_spread: tuple[float, float]
    """Minimum and maximum over the repeats."""
    saved_bytes: int | None
    peak_bytes: int | None
    """From the allocator, without the bytes allocated before the step; None on a CPU."""


def run_step(
    policy: Policy, config: LlamaConfig, seq: int, device: str, *, dtype: torch.dtype, repeats: int, warm_up: int = 2
) -> Timing:
    """Run real steps, and time forward and backward separately. Weight gradients are freed at once."""
    torch.manual_seed(0)
    stack = Stack(config, seq, dtype=dtype, device=device)
    drop_weight_gradients(stack)
    run = policy(stack, None)
    x = torch.randn(1, seq, config.hidden, dtype=dtype, device=device, requires_grad=True)
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
        g = torch.randn_like(out)  # counts in the peak, as in the prediction, but not in the time
        begin = _now(device)
        out.backward(g)
        end = _now(device)
        del out, g
        if i >= warm_up:
            forward.append(middle - start)
            backward.append(end - begin)
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
    """The time in seconds, after waiting for all work on the device."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    return time.perf_counter()


def _allocated(device: str) -> int:
    return torch.cuda.memory_allocated(device) if device.startswith("cuda") else 0


def layers_that_fit(config: LlamaConfig, seq: int, device: str) -> int:
    """The number of layers that fit with all activations saved, leaving a tenth of the memory free."""
    room = 0.9 * torch.cuda.get_device_properties(device).total_memory
    parameters = (config.n_params - 2 * config.vocab * config.hidden) / config.layers
    a_layer = 2 * parameters + seq * layer_bytes(config)
    return max(1, min(config.layers, int(room / a_layer) - 1))


def run(device: str, repeats: int) -> dict[str, Any]:
    """The predictions and measurements of all policies, as data for JSON."""
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
    parser.add_argument("--repeats", type=int, default=7, help="timed steps; medians are reported")
    options = options_of(parser, arguments)
    if options.repeats < 1:
        parser.error("--repeats: at least 1")
    measurements = run(options.device, options.repeats)
    record(options.out, parser=parser, options=options, measurements=measurements)
    return 0


if __name__ == "__main__":
    sys.exit(main())
