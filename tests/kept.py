"""Graded classes that are kept below `.cache`: nothing is graded again while nothing that decides it has changed.

A class is kept only after the tests of its module have passed, and for a week: then other salts and samples are drawn.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from autograder.authoring.state import RUN, state_of
from autograder.judging.version import grader_version
from autograder.places import ROOT
from autograder.worker.landlock import landlock_abi

FOLDER = ROOT / ".cache" / "classes"
KEPT_SECONDS = 7 * 24 * 3600


@contextmanager
def kept(request: pytest.FixtureRequest, *parts: str, lesson: str = "") -> Iterator[tuple[Path, bool]]:
    """A folder for what a module's fixture or test makes, and whether everything is in it already.

    Another process that asks for the same folder waits until this one has done with it.

    Args:
        parts: files and folders of the repository that decide what is made, besides the grader, the course and the
            module itself.
        lesson: the only lesson that is graded, if there is just one: then the others do not decide.
    """
    module = Path(request.path).relative_to(ROOT).as_posix()
    folder = FOLDER / request.path.stem / (lesson or "all")
    made = folder / "state"
    version = grader_version(lesson) if lesson else ""
    run = () if lesson else RUN
    state = state_of(*run, module, "tests/kept.py", *parts, more=f"{version}, Landlock {landlock_abi()}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        whole = made.is_file() and made.read_text() == state and made.stat().st_mtime > time.time() - KEPT_SECONDS
        if not whole:
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "class").mkdir(parents=True)
        failed = request.session.testsfailed
        yield folder / "class", whole
        if request.session.testsfailed != failed:
            shutil.rmtree(folder, ignore_errors=True)
        elif not whole:
            made.write_text(state)
