"""Options of the experiments' commands, and their results as JSON files with provenance."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).resolve().parents[1] / "results"
"""Results that are shipped with the course: `EXPERIMENT-*.json`."""


def options_of(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse an experiment's options, with `--device` and `--out` added; exits with a message if one is wrong."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the JSON file to write")
    options = parser.parse_args(arguments)
    kind = options.device.partition(":")[0]
    if kind not in ("cpu", "cuda"):
        parser.error(f"--device: there is no device {options.device!r}: say cpu or cuda")
    if kind == "cuda" and not torch.cuda.is_available():
        why = "no GPU is visible here" if torch.version.cuda else "this PyTorch is built for CPUs only"
        parser.error(f"--device {options.device}: {why}; use --device cpu")
    if not options.out.absolute().parent.is_dir():
        parser.error(f"--out: there is no folder {options.out.parent}")
    return options


def provenance(device: str) -> dict[str, Any]:
    """The circumstances of a measurement: device, versions, date in UTC."""
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


def record(
    path: Path, *, parser: argparse.ArgumentParser, options: argparse.Namespace, measurements: dict[str, Any]
) -> None:
    """Write measurements with their provenance and the command, without its path; the file is replaced atomically."""
    given = {name: value for name, value in vars(options).items() if name != "out" and value is not None}
    command = " ".join([parser.prog, *(f"--{name} {value}" for name, value in given.items()), "--out FILE"])
    entry = {"command": command, "provenance": provenance(options.device), **measurements}
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(entry, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)
    print(f"Written to {path}")


def recorded(experiment: str) -> list[dict[str, Any]]:
    """The results of an experiment that are shipped with the course, in the order of their file names."""
    return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(RESULTS.glob(f"{experiment}-*.json"))]
