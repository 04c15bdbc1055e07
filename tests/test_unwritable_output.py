"""Commands whose standard output cannot be written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import IO

import pytest
from conftest import BACKPROP

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full"),
]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [("--version",), ("--help",), ("salt",), ("memory", "--help"), ("read", "ch06"), ("start", "work")],
    ids=" ".join,
)
def test_output_that_cannot_be_written_is_one_line_and_fails(
    tmp_path: Path, arguments: tuple[str, ...], unbuffered: str
) -> None:
    """Formerly a traceback; libraries write, too: of the help and of what rich lays out."""
    with open("/dev/full", "wb") as full:
        done = _run(tmp_path, arguments, full, PYTHONUNBUFFERED=unbuffered)
    # Whether the book is built beside this test decides which of these two lines `read` says first.
    beside = ("that the book computes", "the page for a browser is")
    lines = [line for line in done.stderr.splitlines() if not any(words in line for words in beside)]
    assert (done.returncode, lines) == (1, ["backprop: the output cannot be written: No space left on device"])


def test_a_descriptor_that_is_only_read_is_one_line(tmp_path: Path) -> None:
    with open(os.devnull, "rb") as only_read:
        done = _run(tmp_path, ("--version",), only_read)
    assert (done.returncode, done.stderr) == (1, "backprop: the output cannot be written: Bad file descriptor\n")


def test_without_any_output_a_command_does_its_work(tmp_path: Path) -> None:
    """As cron and some launchers start programs: formerly a traceback at the end."""
    command = ["sh", "-c", '"$0" start work >&-', str(BACKPROP)]
    done = subprocess.run(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "work" / "ch06_vjps.ipynb").is_file()


def test_a_reader_of_a_pipe_who_has_read_enough_is_no_error(tmp_path: Path) -> None:
    command = ["sh", "-c", '"$0" --help | true', str(BACKPROP)]
    done = subprocess.run(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == ""


def _run(folder: Path, arguments: tuple[str, ...], stdout: IO[bytes], **env: str) -> subprocess.CompletedProcess[str]:
    command = [str(BACKPROP), *arguments]
    environment = {**os.environ, **env}
    return subprocess.run(
        command, cwd=folder, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
    )
