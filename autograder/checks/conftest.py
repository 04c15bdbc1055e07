"""For those who prefer pytest: `pytest autograder/checks --submission=FILE` runs a lesson's checks on a file.

Your own code on your own machine: a plain process runs it. (Write `=`: with a space pytest takes FILE for a test
file of yours and reads the configuration beside it.)
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.isolation import IsolationError, Worker, start_worker
from autograder.judging.plugin import Checks
from autograder.judging.reference import Reference, functions
from autograder.judging.run import SubmissionRun
from autograder.judging.session import PUBLIC_SALT
from autograder.submission import SubmissionError, read_submission
from course.syllabus import find_lesson

STARTED = pytest.StashKey[tuple[SubmissionRun, Worker]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--submission", metavar="FILE", help="the notebook or .py file to check, named after its lesson")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exercise(name, visible, promise): the exercise that a check belongs to")
    given = config.getoption("--submission")
    if given is None:
        return
    file = Path(given)
    try:
        lesson = find_lesson(file.stem)
        worker = start_worker(lesson, "process")
        run = SubmissionRun(read_submission(file), worker)
    except (KeyError, SubmissionError, IsolationError) as error:
        raise pytest.UsageError(f"{given}: {error.args[0]}") from None
    checks = Checks(lesson, Reference(functions(lesson)), os.environ.get("BACKPROP_SALT") or PUBLIC_SALT)
    checks.run = run
    config.pluginmanager.register(checks)
    config.stash[STARTED] = (run, worker)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Only the checks of the submission's own lesson."""
    given = config.getoption("--submission")
    if given is None and collection_path.name.startswith("test_"):
        raise pytest.UsageError("say what to check: pytest autograder/checks --submission=FILE")
    other = collection_path.suffix == ".py" and collection_path.name != f"test_{Path(given or '').stem}.py"
    return True if other else None


def pytest_unconfigure(config: pytest.Config) -> None:
    started = config.stash.get(STARTED, None)
    if started is not None:
        run, worker = started
        run.close()
        worker.stop()
