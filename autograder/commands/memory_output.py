"""Prints the result of `backprop memory`: a bar, a table of its parts, and changes that make it fit; or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.wording import clean
from course.memory import (
    MODELS,
    Memory,
    Precision,
    Remedy,
    Training,
    fits,
    largest_batch,
    predict_memory,
    remedies,
    step_flops,
)

BAR = 64
"""Characters of the bar on a wide terminal."""
SHOWN = 4
"""At most this many remedies are listed."""
PARTS = {
    "weights": ("W", "blue"),
    "grads": ("G", "cyan"),
    "optimizer": ("O", "magenta"),
    "gathered": ("U", "bright_black"),
    "activations": ("A", "green"),
    "loss_head": ("L", "yellow"),
    "transients": ("T", "red"),
}
"""By part of `Memory`: its letter, used in the bar without colors, and its color."""
NAMES = {"grads": "gradients", "gathered": "unsharded", "loss_head": "loss head"}


def as_json(training: Training, gpu_bytes: int, model: str | None) -> str:
    """The prediction as one JSON object. Sizes are bytes per GPU; `extra_flops` is a fraction of a step's FLOPs."""
    memory = predict_memory(training)
    settings = asdict(training)
    found = {
        "model": model.lower() if model is not None else None,
        "n_params": training.shape.n_params,
        **settings,
        "gpu_bytes": gpu_bytes,
        "fits": fits(memory, gpu_bytes),
        "free_bytes": gpu_bytes - memory.total,
        "bytes": {**asdict(memory), "states": memory.states, "total": memory.total},
        "step_flops": step_flops(training),
        "largest_batch": largest_batch(training, gpu_bytes),
        "remedies": [_remedy_json(remedy, settings) for remedy in remedies(training, gpu_bytes)],
    }
    return json.dumps(found, indent=1)


def _remedy_json(remedy: Remedy, settings: dict[str, Any]) -> dict[str, Any]:
    after = asdict(remedy.training)
    return {
        "changes": list(remedy.changes),
        "settings": {name: value for name, value in after.items() if value != settings[name]},
        "total_bytes": remedy.memory.total,
        "extra_flops": remedy.extra_flops,
    }


def show(screen: Console, training: Training, gpu_bytes: int, model: str | None, gpu: str) -> None:
    """Print the prediction, and remedies if it does not fit."""
    memory = predict_memory(training)
    fitting = fits(memory, gpu_bytes)
    screen.print(Text(_title(training, model), style="bold"))
    screen.print(Text(_setting(training), style="dim"))
    screen.print()
    screen.print(_bar(memory, gpu_bytes, min(BAR, screen.width - 4), colored=_colored(screen)))
    screen.print()
    screen.print(_table(training, memory, colored=_colored(screen)))
    screen.print()
    free = gpu_bytes - memory.total
    size = f"{_size(gpu_bytes)}" if "I" not in gpu.upper() else f"{clean(gpu.strip())} ({_size(gpu_bytes)})"
    if fitting:
        tight = ", less than a tenth: tight" * (free < gpu_bytes / 10)
        screen.print(Text(f"✓ Fits: {_size(free)} of {size} are free on each GPU{tight}.", style="green"))
        most = largest_batch(training, gpu_bytes)
        more = f"Up to {most:,} sequences" if most > training.batch else "No more sequences"
        screen.print(f"  {more} of {training.seq:,} tokens fit at once.")
        return
    screen.print(Text(f"✗ Does not fit: {_size(-free)} more than the {size} of each GPU.", style="red"))
    _show_remedies(screen, training, gpu_bytes)


def _title(training: Training, model: str | None) -> str:
    named = MODELS.get(model.lower()) if model is not None else None
    name = model.lower() if model is not None and named == training.shape else "a model of your own"
    n_params = training.shape.n_params
    many = f"{n_params / 1e9:,.2f} billion" if n_params >= 1e9 else f"{n_params / 1e6:,.2f} million"
    return f"{name}: {many} parameters"


def _setting(training: Training) -> str:
    parts = [f"{training.batch:,} × {training.seq:,} tokens per GPU", f"recompute {training.recompute}"]
    if training.norms != "fused":
        parts.append(f"{training.norms} norms")
    if training.loss_rows is not None and training.loss_rows < training.tokens:
        parts.append(f"loss in chunks of {training.loss_rows:,}")
    parts.append(f"{training.gpus:,} GPUs, ZeRO stage {training.zero}" if training.gpus > 1 else "1 GPU")
    return ", ".join(parts)


def _colored(screen: Console) -> bool:
    return screen.color_system is not None and not screen.no_color


def _bar(memory: Memory, gpu_bytes: int, width: int, *, colored: bool) -> Text:
    """The parts in sequence, to scale, with a mark below for the GPU's memory."""
    scale = width / max(memory.total, gpu_bytes)
    bar, end = Text("  "), 0.0
    drawn = 0
    for name, (letter, color) in PARTS.items():
        end += getattr(memory, name) * scale
        cells = round(end) - drawn
        drawn = round(end)
        bar.append(("█" if colored else letter) * cells, style=color)
    limit = round(gpu_bytes * scale)
    bar.append("·" * (width - drawn), style="dim")
    label = f"{_size(gpu_bytes)}"
    below = f"▲ {label}" if limit <= width - len(label) - 2 else f"{label} ▲"
    indent = max(0, limit - 1) if below.startswith("▲") else limit - len(below)
    bar.append("\n  " + " " * indent + below, style="dim")
    return bar


def _table(training: Training, memory: Memory, *, colored: bool) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column()
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim")
    for name, (letter, color) in PARTS.items():
        n_bytes = getattr(memory, name)
        if n_bytes:
            mark = Text(f"  {'█' if colored else letter}", style=color)
            table.add_row(mark, NAMES.get(name, name), f"{_size(n_bytes)}", _meaning(name, training, memory))
    table.add_row("", Text("total", style="bold"), Text(f"{_size(memory.total)}", style="bold"), "on each GPU")
    return table


def _meaning(name: str, training: Training, memory: Memory) -> str:
    at_loss = memory.peak_at == "loss"
    a_number = {
        "weights": (training.precision.weights, 3),
        "grads": (training.precision.grads, 2),
        "optimizer": (_optimizer(training.precision), 1),
    }
    if name in a_number:
        n_bytes, stage = a_number[name]
        shared = f", 1/{training.gpus:,} of them here" if training.gpus > 1 and training.zero >= stage else ""
        return f"{n_bytes} bytes per parameter{shared}"
    whole = "the largest layer, made whole, and its gradient"
    recomputed = "" if training.recompute == "none" else "one recomputed layer, "
    return {
        "gathered": whole if training.zero == 3 else "the largest layer's gradient, whole",
        "activations": f"{training.shape.layers:,} layers of {_size(memory.activations // training.shape.layers)}",
        "loss_head": "final norm, log-probabilities" if memory.loss_head else "",
        "transients": "gradients at the loss" if at_loss else f"{recomputed}its gradients",
    }[name]


def _optimizer(precision: Precision) -> int:
    return precision.master + 2 * precision.moment


def _show_remedies(screen: Console, training: Training, gpu_bytes: int) -> None:
    found = remedies(training, gpu_bytes)
    if not found:
        screen.print("  Nothing known here makes it fit: more GPUs do not divide activations.")
        screen.print("  Shorter sequences do, or tensor, sequence or context parallelism.")
        return
    screen.print(f"  {'Cheapest change' if len(found) > 1 else 'What makes it fit'}:")
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    for rank, remedy in enumerate(found[:SHOWN]):
        changes = " + ".join(remedy.changes)
        table.add_row(f"  {rank + 1}.", changes, f"{_size(remedy.memory.total)}", _flops(remedy.extra_flops))
    screen.print(table)


def _flops(extra: float) -> str:
    if abs(extra) < 5e-5:
        return "no more FLOPs"
    return f"{100 * abs(extra):.1f} % {'more' if extra > 0 else 'fewer'} FLOPs"


def _size(n_bytes: float) -> str:
    """Bytes in GB (10⁹), or MB or kB if small: `40.3 GB`, `0.81 GB`, `15 MB`."""
    if n_bytes >= 0.95e9:
        return f"{n_bytes / 1e9:,.1f} GB"
    if n_bytes >= 0.1e9:
        return f"{n_bytes / 1e9:.2f} GB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.1f} kB"
