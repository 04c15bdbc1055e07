"""What the tests share: a way to run the real command, and small submissions."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from gradescope_image import Image
from spending import charge
from spending import pytest_terminal_summary as pytest_terminal_summary
from warm import FORKS, Warm, read_at_start

from autograder.authoring.books_of_lessons import SLIP_SECONDS
from autograder.isolation import Worker, start_worker
from autograder.judging.asking.run import SubmissionRun
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.submission import Submission
from autograder.threads import ONE_THREAD
from course.syllabus import find_lesson

os.environ.update(ONE_THREAD)  # for what the tests start; pytest-xdist uses all processors already
ROOT = Path(__file__).resolve().parents[1]
BACKPROP = Path(sys.executable).with_name("backprop")
Command = Callable[..., subprocess.CompletedProcess[str]]

gc.disable()  # until all tests are collected: everything that is imported until then stays
# A shell lets what it starts in the background ignore Ctrl-C, and so all that the tests start, which is sent it.
signal.signal(signal.SIGINT, signal.default_int_handler)


LONGEST = (
    "test_nbgrader_course",
    "test_unearned",
    "test_skeleton",
    "test_red_team_beside",
    "test_own_course_page",
    "test_red_team",
    "test_red_team_bounds",
    "test_sample_class",
    "test_gradescope_release",
    "test_other_styles",
    "test_killed_grader",
    "test_durability",
    "test_neighbours",
    "test_cluster",
    "test_hand_ins",
    "test_red_team_hand_ins",
    "test_regrade",
    "test_commands",
)
"""Modules of half a minute and more. They begin first: a long one at the end would have one processor to itself."""

FEW_SECONDS = 0.5
"""The search for slips in answer books of releases, for each exercise: enough for the quick ones."""

IMPORTED = tuple(
    f"autograder.{package}"
    for package in (
        "commands",
        "reports",
        "gradebook",
        "classroom",
        "learning",
        "similarity",
        "authoring",
        "collection",
    )
)
"""Packages of commands and of what they import when they run, nbgrader among it; all of their modules are imported."""


@pytest.fixture(scope="session", autouse=True)
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder where commands that the tests run keep what they note for the user; and a short search for slips."""
    folder = tmp_path_factory.mktemp("configuration")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        patch.setenv(SLIP_SECONDS, str(FEW_SECONDS))
        yield folder


@pytest.fixture(autouse=True)
def _variables_of_the_start_stay() -> Iterator[None]:
    """Undo changes to variables that Python reads at its start, as Dask makes them: no command would be forked."""
    before = read_at_start(os.environ)
    yield
    for name in read_at_start(os.environ).keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        return LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST)

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Leave all modules and tests out of later garbage collections, which would scan a million objects each time."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what a command wrote when a test or a fixture fails because that command did; charge what it spent."""
    if call.when == "teardown":
        charge(item)
    report = yield
    if call.excinfo is not None and isinstance(error := call.excinfo.value, subprocess.CalledProcessError):
        for stream, written in (("stdout", error.stdout), ("stderr", error.stderr)):
            text = written.decode("utf-8", "replace") if isinstance(written, bytes) else written
            report.sections.append((f"{stream} of the command", (text or "")[-4000:]))
    return report


@pytest.fixture
def backprop(tmp_path: Path) -> Command:
    """Run `backprop ARGS` as a user would, in `tmp_path` unless `cwd` says otherwise."""

    def run(*args: str | Path, cwd: Path = tmp_path, **options: Any) -> subprocess.CompletedProcess[str]:
        return run_backprop(*args, cwd=cwd, **options)

    return run


def run_backprop(
    *args: str | Path, cwd: Path, env: dict[str, str] | None = None, cold: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run `backprop ARGS` as a user would, in `cwd`.

    Args:
        env: added to the environment of this process.
        cold: whether to start a new Python, for tests of what happens while the command imports its modules. Otherwise
            it is forked from a process that has imported them (see `warm`).
    """
    command = [str(BACKPROP), *map(str, args)]
    environment = {**os.environ, "COLUMNS": "120", **(env or {})}
    if not cold and (warm := warm_commands()) and warm.suits(environment):
        return warm.run(command[0], command[1:], cwd=cwd, env=environment, timeout=300)
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)


def run_module(
    name: str, *args: str, cwd: Path, env: dict[str, str], cold: bool = False, warm: Warm | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python -m NAME ARGS` without input.

    Args:
        env: the whole environment.
        cold: as for `run_backprop`.
        warm: the process that it is forked from, if that is not `warm_commands`.
    """
    if not cold and (warm := warm or warm_commands()) and warm.suits(env):
        return warm.run(name, args, cwd=cwd, env=env, module=True)
    command = [sys.executable, "-m", name, *args]
    return subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


@cache
def warm_commands() -> Warm | None:
    """The process that commands are forked from; None on systems without `pidfd_open`."""
    return Warm(*IMPORTED) if FORKS else None


@pytest.fixture(scope="session", autouse=True)
def no_warm_process_is_left() -> Iterator[None]:
    yield
    if warm_commands.cache_info().currsize and (warm := warm_commands()):
        warm.stop()


@pytest.fixture(scope="session")
def gradescope() -> Iterator[Image]:
    """One machine for all zips of the session; its folders let others through, as theirs do."""
    with tempfile.TemporaryDirectory(prefix="backprop-gradescope-") as folder:
        Path(folder).chmod(0o755)
        yield Image(Path(folder))


@pytest.fixture(scope="session", params=["process", "sandbox"])
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A warm worker for the NumPy lessons, with either backend."""
    started = start_worker(find_lesson("ch06_vjps").environment, request.param)
    yield started
    started.stop()


@pytest.fixture
def run_cells(worker: Worker) -> Iterator[Callable[..., SubmissionRun]]:
    """A run of a submission that consists of the given cells."""
    runs = []

    def make(*sources: str, cell_seconds: float = 10.0) -> SubmissionRun:
        runs.append(
            SubmissionRun(
                SubmissionProcess(Submission.of_cells("a test", list(sources)), worker, cell_seconds=cell_seconds)
            )
        )
        return runs[-1]

    yield make
    for run in runs:
        run.close()
