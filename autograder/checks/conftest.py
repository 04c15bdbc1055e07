"""For those who prefer pytest: `pytest autograder/checks --submission=FILE` runs a lesson's checks on a file.

Your own code on your own machine: a plain process runs it. (Write `=`: with a space pytest takes FILE for a test
file of yours and reads the configuration beside it.)
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from autograder.isolation import IsolationError, Workers
from autograder.judging.plugin import Checks, identify
from autograder.judging.reference import Reference
from autograder.judging.run import SubmissionRuns
from autograder.judging.session import PUBLIC_SALT
from autograder.submission import SubmissionError, read_submission
from course.syllabus import find_lesson

STARTED = pytest.StashKey[tuple[Checks, SubmissionRuns, Workers]]()


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
        submission = read_submission(file)
    except (KeyError, SubmissionError) as error:
        raise pytest.UsageError(f"{given}: {error.args[0]}") from None
    reference = Reference(lesson)
    checks = Checks(lesson, reference, os.environ.get("BACKPROP_SALT") or PUBLIC_SALT)
    workers = Workers(lesson, "process")
    config.pluginmanager.register(checks)
    config.stash[STARTED] = (checks, SubmissionRuns(submission, workers, reference.scenario_source), workers)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give the check the submission's run that has what its exercise may import."""
    check = identify(item)
    if check is not None:
        checks, runs, _ = item.config.stash[STARTED]
        kit = checks.lesson.exercise(check.exercise).kit
        try:
            for package in kit.packages:
                importlib.import_module(package)  # what the exercise's values are made of
            checks.run = runs.of(kit)
        except (ImportError, IsolationError) as error:
            pytest.fail(str(error), pytrace=False)


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
        _, runs, workers = started
        runs.close()
        workers.stop()
