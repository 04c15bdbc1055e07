"""Results of experiments as JSON files: what was measured, on what, when, and by which command."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).resolve().parents[1] / "results"
"""Results that are shipped with the course: `EXPERIMENT-*.json`."""


class UnusableDevice(ValueError):
    """The device that was asked for is not here; the message says what to do."""


def require_device(device: str) -> str:
    """`device`, if PyTorch can use it: `cpu`, `cuda` or `cuda:1`. `UnusableDevice` if not."""
    kind = device.partition(":")[0]
    if kind not in ("cpu", "cuda"):
        raise UnusableDevice(f"there is no device {device!r}: say cpu or cuda")
    if kind == "cuda" and not torch.cuda.is_available():
        built = torch.version.cuda
        why = "no GPU is visible here" if built else "this PyTorch is built for CPUs only"
        raise UnusableDevice(f"--device {device}: {why}; use --device cpu")
    return device


def provenance(device: str) -> dict[str, Any]:
    """Where and when a measurement is made: device, versions, date in UTC."""
    on_gpu = device.startswith("cuda")
    return {
        "device": torch.cuda.get_device_name(device) if on_gpu else f"CPU, {os.cpu_count()} cores",
        "device_bytes": torch.cuda.get_device_properties(device).total_memory if on_gpu else None,
        "torch": torch.__version__,
        "cuda": torch.version.cuda if on_gpu else None,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def record(path: Path, *, command: list[str], device: str, measurements: dict[str, Any]) -> None:
    """Write measurements with their provenance. The file is replaced at once or not at all."""
    entry = {"command": " ".join(command), "provenance": provenance(device), **measurements}
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(entry, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def recorded(experiment: str) -> list[dict[str, Any]]:
    """The results shipped for an experiment, in the order of their file names; none if there are none."""
    return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(RESULTS.glob(f"{experiment}-*.json"))]
