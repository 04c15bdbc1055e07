"""The checks of an exercise under plain pytest, for learners who prefer it to `backprop check`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.slow

WRONG = "import numpy as np\n\ndef relu_vjp(g, x):\n    return (g * (x >= 0)).astype(x.dtype)\n"


def test_checks_run_with_plain_pytest(tmp_path: Path) -> None:
    """By exercise or by check, with the diagnosis at the end, whatever pytest configuration is beside the file."""
    (tmp_path / "ch06_vjps.py").write_text(WRONG)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --collect-only\n")
    checks = [sys.executable, "-m", "pytest", str(ROOT / "autograder" / "lessons"), "--submission=ch06_vjps.py", "-q"]

    def shown(select: str) -> str:
        command = [*checks, "-k", select]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False).stdout

    one_check = shown("relu_at_zero")
    assert "test_relu_at_zero[visible]" in one_check
    assert "differs" in one_check
    exercise = shown("relu_vjp")
    assert "what is wrong with relu_vjp" in exercise
    assert "the mask is x > 0" in exercise
    assert "test_relu_at_zero[visible]" in exercise
    assert "add_vjp" not in exercise


def test_pytest_without_a_submission_says_what_it_needs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", str(ROOT / "autograder" / "lessons")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr.strip() == "ERROR: say what to check: pytest autograder/lessons --submission=FILE"
    assert "Traceback" not in done.stdout
