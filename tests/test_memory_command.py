"""`backprop memory`: its output, its errors, and that it needs only Python."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from autograder.commands import app
from course.memory import (
    MODELS,
    Shape,
    Training,
    predict_memory,
)

ROOT = Path(__file__).resolve().parents[1]


def test_the_predictor_needs_only_python() -> None:
    """Because it runs in a reader's browser."""
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "sys.modules['torch'] = sys.modules['numpy'] = None\n"
        "import doctest, course.memory\n"
        "ours = [module for name, module in sys.modules.items() if name.startswith('course.memory')]\n"
        "done = [doctest.testmod(module) for module in ours]\n"
        "assert len(done) == 4 and sum(one.attempted for one in done) == 3 and not any(one.failed for one in done)\n"
        "loaded = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(loaded - {'torch', 'numpy', *sys.stdlib_module_names}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "['course']\n", done.stdout + done.stderr


def test_the_command_needs_no_torch() -> None:
    code = "import sys; sys.modules['torch'] = None; from autograder.commands import app; app(['memory', 'llama-2-7b'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Does not fit" in done.stdout


# The command


def _run(*arguments: str, columns: int = 80) -> Any:
    return CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1"}).invoke(app, ["memory", *arguments])


def test_the_command_says_what_fits() -> None:
    done = _run("llama-2-7b", "--gpus", "8")
    assert done.exit_code == 0
    for text in ("6.74 billion", "1.7 GB", "40.3 GB", "57.9 GB", "Fits: 22.1 GB of 80.0 GB are free"):
        assert text in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "fit" in _run("llama-2-7b", "--gpus", "8", "--recompute", "full", "--gpu", "24GB").stdout


def test_the_bar_is_to_scale_and_marks_the_gpus_end() -> None:
    bar = _run("llama-2-7b", "--gpus", "8").stdout.splitlines()[3].strip()
    assert len(bar) == 64
    assert bar.count("A") == pytest.approx(64 * 40.3 / 80, abs=1)
    assert bar.count("·") == pytest.approx(64 * 22.1 / 80, abs=1)
    assert "·" not in _run("llama-2-7b").stdout.splitlines()[3]
    narrow = _run("llama-2-7b", columns=50).stdout.splitlines()
    assert len(narrow[3].strip()) == 46


def test_the_command_says_what_to_change() -> None:
    done = _run("llama-3.1-70b", "--gpus", "32")
    assert done.exit_code == 1
    assert "Does not fit: 190.0 GB more than the 80.0 GB of each GPU" in done.stdout
    assert "1.  recompute selective  74.0 GB  20.2 % more FLOPs" in done.stdout
    assert "Nothing known here" in _run("llama-3.1-70b", "--seq", "1048576", "--gpus", "8").stdout


def test_the_command_takes_a_shape_and_changes_to_a_model() -> None:
    own = "--hidden 64 --layers 3 --heads 4 --kv-heads 2 --ffn 172 --vocab 300 --seq 256 --format json"
    found = json.loads(_run(*own.split()).stdout)
    assert found["model"] is None
    assert found["shape"] == asdict(Shape(hidden=64, layers=3, heads=4, kv_heads=2, ffn=172, vocab=300))
    longer = json.loads(_run("llama-2-7b", "--layers", "40", "--format", "json").stdout)
    assert longer["shape"] == asdict(replace(MODELS["llama-2-7b"], layers=40))
    assert "a model of your own" in _run("llama-2-7b", "--layers", "40").stdout


def test_json_has_the_breakdown_and_the_remedies() -> None:
    done = _run("llama-3.1-70b", "--gpus", "32", "--gpu", "80GiB", "--format", "json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    training = Training(MODELS["llama-3.1-70b"], 8192, gpus=32)
    memory = predict_memory(training)
    assert found["bytes"] == {**asdict(memory), "states": memory.states, "total": memory.total}
    assert found["gpu_bytes"] == 80 * 2**30
    assert found["free_bytes"] == 80 * 2**30 - memory.total
    assert not found["fits"]
    first = found["remedies"][0]
    assert (first["changes"], first["settings"]) == (["recompute selective"], {"recompute": "selective"})
    parts = ("weights", "grads", "optimizer", "gathered", "activations", "loss_head", "transients")
    assert sum(found["bytes"][part] for part in parts) == memory.total


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("lama-2-7b", "did you mean llama-2-7b?"),
        ("gpt-5", "there are llama-2-7b"),
        ("", "which model?"),
        ("--hidden 64 --heads 4", "--layers, --ffn, --vocab missing"),
        ("llama-2-7b --heads 33", "33 heads do not divide a hidden size of 4096"),
        ("llama-2-7b --kv-heads 5", "5 kv_heads do not divide 32 heads"),
        ("llama-2-7b --seq 0", "seq is 0"),
        ("llama-2-7b --batch=-1", "batch is -1"),
        ("llama-2-7b --gpus 0", "gpus is 0"),
        ("llama-2-7b --layers 0", "layers is 0"),
        ("llama-2-7b --seq 10000000000", "from 1 to"),
        ("llama-2-7b --zero 4", "0, 1, 2 or 3"),
        ("llama-2-7b --recompute selectiv", "did you mean selective?"),
        ("llama-2-7b --norms layer", "there are fused, composed"),
        ("llama-2-7b --precision fp8", "there is no precision 'fp8'"),
        ("llama-2-7b --gpu 80G", "80GiB (2^30)"),
        ("llama-2-7b --gpu eighty", "is no size of memory"),
        ("llama-2-7b --format xml", "there are text, json"),
    ],
)
def test_bad_input_gets_one_line(arguments: str, says: str) -> None:
    done = _run(*arguments.split())
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert says in done.stderr
