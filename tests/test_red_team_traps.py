"""Traps: files that are made to stop or to break the judge itself, before any of their code runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_class import HONEST_PART, LESSON, RED_TEAM, backprop, write

from autograder.worker.landlock import landlock_abi

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


TRAPS = {
    "endless_link": "a link that leads out of its folder",
    "sparse": "10 MiB is the limit",
    "unclosed_marks": "",
    "many_cells": "2000 is the limit",
    "one_long_cell": "1,048,576 characters",
    "only_an_exit": "ended itself with exit status 0",
    os.fsdecode(b"not \xff UTF-8"): "",
}
"""Student to what the result says; empty for one that is graded as usual."""


@pytest.fixture(scope="module")
def trapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, subprocess.CompletedProcess[str]]]:
    """A class of traps between two honest students."""
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("traps")))
    students = folder / "class"
    honest = (RED_TEAM / f"{HONEST_PART}.py").read_bytes()
    contents = {
        "a_honest": b"",
        "z_honest": b"",
        "sparse": b"",
        "unclosed_marks": b"# %% " + b"tags=[" * 50_000 + b"\n",
        "many_cells": b"# %%\nx = 1\n" * 100_000,
        "one_long_cell": b"1 / 0" + b"\n" * 5 * 10**6,
        "only_an_exit": b"import os; os._exit(0)\n",
        "class.json": b"",
        os.fsdecode(b"not \xff UTF-8"): b"",
    }
    for name, content in contents.items():
        rest = b"" if name == "only_an_exit" else honest
        write(students / name / f"{LESSON}.py", content + rest)
    os.truncate(students / "sparse" / f"{LESSON}.py", 2**40)
    (students / "endless_link").mkdir()
    (students / "endless_link" / f"{LESSON}.py").symlink_to("/proc/self/pagemap")
    (students / "a_honest" / "\x1b[31mred\x9b\n.ipynb").touch()
    for name in ("tmp", "home"):
        (folder / name).mkdir()
    try:
        yield folder, backprop("grade", students, "--out", folder / "results", "--jobs", 2, folder=folder, timeout=90)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("student", TRAPS, ids=[os.fsencode(name).decode(errors="replace") for name in TRAPS])
def test_a_trap_costs_nobody_else_anything(
    trapped: tuple[Path, subprocess.CompletedProcess[str]], student: str
) -> None:
    folder, command = trapped
    assert (command.returncode, "Traceback" in command.stderr) == (3, False), "one file is not recognised"
    result = json.loads((folder / "results" / "students" / student / f"{LESSON}.json").read_text(encoding="utf-8"))
    assert TRAPS[student] in result["message"]
    assert (result["student"], result["points"]) == (student, 0 if TRAPS[student] else 4)
    for classmate in ("a_honest", "z_honest"):
        file = folder / "results" / "students" / classmate / f"{LESSON}.json"
        assert json.loads(file.read_text(encoding="utf-8"))["points"] == 4


def test_a_student_named_as_our_summary_loses_nothing(trapped: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    file = trapped[0] / "results" / "students" / "class.json" / f"{LESSON}.json"
    assert json.loads(file.read_text(encoding="utf-8"))["points"] == 4


def test_hostile_names_are_escaped_on_the_terminal(trapped: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    _, command = trapped
    assert "\\x1b[31mred" in command.stderr
    assert not [c for c in command.stdout + command.stderr if not c.isprintable() and c != "\n"]
