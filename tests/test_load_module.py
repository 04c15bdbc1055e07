"""A lesson's file is loaded by its path, and torch only if the file uses it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOAD = """
import pathlib, sys
from autograder.judging.checking.reference import load_module
load_module(pathlib.Path(sys.argv[1]))
print("torch" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ("import torch\n\ndef twice(x):\n    return torch.add(x, x)\n", False),
        ("import torch\nfrom torch.autograd.function import once_differentiable\n", True),
    ],
)
def test_torch_is_loaded_when_it_is_used_and_once(text: str, loaded: bool, tmp_path: Path) -> None:
    file = tmp_path / "lesson.py"
    file.write_text(text)
    run = subprocess.run([sys.executable, "-c", LOAD, str(file)], capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, str(loaded)), run.stderr
