"""For those who prefer pytest: `pytest autograder/lessons --submission=FILE` runs a lesson's checks on a file.

`-k relu_vjp` selects an exercise; what is wrong with each is said at the end, as `backprop check` says it.

Your own code on your own machine: a plain process runs it. (Write `=`: with a space pytest takes FILE for a test
file of yours and reads the configuration beside it.)
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from autograder.isolation import IsolationError, Workers
from autograder.judging.asking.run import SubmissionRuns
from autograder.judging.checking.plugin import Checks, identify
from autograder.judging.checking.reference import Reference
from autograder.judging.checking.salt import PUBLIC_SALT
from autograder.judging.explaining.known_mistakes import KnownMistakes
from autograder.judging.session import Judge
from autograder.places import Places
from autograder.submission import SubmissionError, read_submission
from course.syllabus import find_lesson

STARTED = pytest.StashKey[tuple[Checks, SubmissionRuns, Workers]]()
JUDGE = pytest.StashKey[Judge]()


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
    salt = os.environ.get("BACKPROP_SALT") or PUBLIC_SALT
    checks = Checks(lesson, reference, salt)
    workers = Workers(lesson, "process")
    config.pluginmanager.register(checks)
    config.stash[STARTED] = (checks, SubmissionRuns(submission, workers, reference.scenario_source), workers)
    config.stash[JUDGE] = Judge(lesson, checks, reference, salt, lambda judge: KnownMistakes(judge, Places()))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Refuse to run without a submission."""
    if session.config.getoption("--submission") is None:
        raise pytest.UsageError("say what to check: pytest autograder/lessons --submission=FILE")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the exercise to each item's keywords, so that `-k` can select it."""
    check = identify(item)
    if check is not None:
        item.extra_keyword_matches.add(check.exercise)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give the check the run of the submission in the environment of its exercise."""
    check = identify(item)
    if check is not None:
        checks, runs, _ = item.config.stash[STARTED]
        environment = checks.lesson.exercise(check.exercise).environment
        try:
            for package in environment.packages:
                importlib.import_module(package)  # what the exercise's values are made of
            checks.run = runs.of(environment)
        except (ImportError, IsolationError) as error:
            pytest.fail(str(error), pytrace=False)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore the checks of all other lessons."""
    given = config.getoption("--submission")
    own = Places().checks(find_lesson(Path(given).stem).slug) if given else None
    other = collection_path.suffix == ".py" and collection_path.resolve().parent != own
    return True if other else None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remember the selected checks, on which diagnoses are based."""
    if JUDGE in session.config.stash:
        session.config.stash[JUDGE].items = session.items


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Explain what is wrong with each failing exercise."""
    if JUDGE not in config.stash:
        return
    judge, (checks, _, _) = config.stash[JUDGE], config.stash[STARTED]
    for exercise in judge.lesson.exercises:
        items = judge.items_of(exercise.name)
        records = [checks.records[item.nodeid] for item in items if item.nodeid in checks.records]
        if len(records) == len(items) and not all(record.passed for record in records):  # else pytest was stopped
            terminalreporter.section(f"what is wrong with {exercise.name}", sep="-")
            terminalreporter.line(judge.mistakes.explain(exercise, records).message)


def pytest_unconfigure(config: pytest.Config) -> None:
    started = config.stash.get(STARTED, None)
    if started is not None:
        _, runs, workers = started
        runs.close()
        workers.stop()
