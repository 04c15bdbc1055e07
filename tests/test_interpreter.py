"""If the user may not execute the configured Python, every command says so in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.notebook import lesson
from autograder.notebook.feedback import CheckFailed

pytestmark = pytest.mark.slow

COMMAND = """
import sys
python, *sys.argv = sys.argv[1:]
sys.executable = python
from autograder.commands import run
run()
"""
ANSWER = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python that nobody may execute."""
    file = tmp_path / "python"
    file.write_bytes(b"\x7fELF")
    file.chmod(0o600)
    return file


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "ch06/relu_vjp"),
        ("check", "ch08/Square"),  # this command re-executes itself as a zygote
        ("watch", "ch06/relu_vjp"),
        ("grade", "class", "--out", "out"),
        ("grade", "class", "--out", "out", "--isolation", "process"),
    ],
)
def test_a_command_names_the_forbidden_python_in_one_line(
    python: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Formerly '… cannot be written (Permission denied)', or a traceback."""
    for place in (tmp_path, tmp_path / "class" / "ann"):
        place.mkdir(parents=True, exist_ok=True)
        for slug in ("ch06_vjps", "ch08_custom_functions"):
            (place / f"{slug}.py").write_text(ANSWER)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, str(python), "backprop", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if "--salt" not in line and "this is root" not in line]
    assert done.returncode == 2
    assert said == [
        f"backprop: this user may not start {python}, the Python of this environment: have its owner type "
        f"'chmod a+rx {python}', or make the environment anew with a Python of your own"
    ]


def test_a_notebook_says_so_too(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(CheckFailed) as found:
        lesson("ch06_vjps")
    assert found.value.text.startswith(f"this user may not start {python}")
