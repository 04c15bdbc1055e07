"""What bounds a submission as a whole. The limits are shortened, the waiting is real."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hostile_class import HONEST_PART, LESSON, RED_TEAM, REPOSITORY, backprop, write
from traces import processes_of

from autograder.collection import with_judge
from autograder.isolation import Worker, Workers, start_worker
from autograder.judging.asking import account, submission_process
from autograder.judging.asking import run as judging_run
from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.judging.records.errors import Crashed, TimedOut, WorkerLost
from autograder.submission import Submission, read_submission
from autograder.worker.landlock import landlock_abi
from course.syllabus import find_lesson

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    started = start_worker(find_lesson(LESSON).environment, "sandbox")
    yield started
    started.stop()


@pytest.fixture
def run_of(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., SubmissionRun]]:
    """A run of the given cells."""
    runs = []

    def make(*cells: str, cell_seconds: float = 2.0) -> SubmissionRun:
        runs.append(
            SubmissionRun(
                SubmissionProcess(Submission.of_cells("slow", list(cells)), worker, cell_seconds=cell_seconds)
            )
        )
        return runs[-1]

    monkeypatch.setattr(submission_process, "LOAD_SECONDS", 3.0)
    monkeypatch.setattr(account, "SUBMISSION_SECONDS", 3.0)
    yield make
    for run in runs:
        run.close()


def test_calls_just_below_their_limit_meet_that_of_the_submission(run_of: Callable[..., SubmissionRun]) -> None:
    run = run_of("import time\ndef slow(seconds):\n    time.sleep(seconds)\ndef other(): ...")
    run.ask(request_of("slow", [0.9]), 60.0)
    with pytest.raises(TimedOut, match="slow did not return within the 3 seconds of the submission"):
        run.ask(request_of("slow", [10]), 60.0)
    with pytest.raises(TimedOut, match="has used its 3 seconds; other was not called"):
        run.ask(request_of("other", []), 60.0)


def test_a_worker_that_starts_slowly_takes_no_submission_s_time(
    run_of: Callable[..., SubmissionRun], worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready, waits = worker.ready, iter([3.5])

    def slowly() -> None:
        time.sleep(next(waits, 0.0))
        ready()

    monkeypatch.setattr(worker, "ready", slowly)
    run = run_of("def f(): return 1")
    assert run.ask(request_of("f", []), 60.0)["value"] == 1


def test_cells_just_below_their_limit_meet_that_of_the_submission(run_of: Callable[..., SubmissionRun]) -> None:
    run = run_of(*["import time; time.sleep(0.9)"] * 1000)
    with pytest.raises(WorkerLost, match="did not run within 3 seconds"):
        run.process.load()


def test_crashes_after_slow_cells_meet_the_limit_too(run_of: Callable[..., SubmissionRun]) -> None:
    """Each crash loads the cells again; what was earned until then stays."""
    names = [f"f{number}" for number in range(10)]
    run = run_of("import time; time.sleep(0.9)", *(f"def {name}():\n    import os; os._exit(0)" for name in names))
    for name in names:
        with contextlib.suppress(Crashed, TimedOut):
            run.ask(request_of(name, []), 60.0)
    with pytest.raises(TimedOut, match="The cells did not run within 3 seconds"):
        run.ask(request_of("f9", []), 60.0)


def test_large_answers_are_counted(run_of: Callable[..., SubmissionRun], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging_run, "FUNCTION_BYTES", 10**6)
    run = run_of("import numpy as np\ndef f():\n    return np.zeros(10**5)\ndef g():\n    return 1")
    for _ in range(2):
        run.ask(request_of("f", []), 60.0)
    with pytest.raises(Crashed, match="was not called again"):
        run.ask(request_of("f", []), 60.0)
    assert run.ask(request_of("g", []), 60.0)["value"] == 1


def test_a_function_that_hangs_is_waited_for_twice_and_its_neighbours_are_not(tmp_path: Path) -> None:
    """Once with the other known calls, once by itself, however many exercises of the class's checks call it."""
    called = tmp_path / "called"
    solution = read_submission(REPOSITORY / "solutions" / f"{LESSON}.py")
    hangs = f"import time\ndef forward(*_, **__):\n    open({str(called)!r}, 'a').write('.')\n    time.sleep(600)"
    lesson = find_lesson(LESSON)
    names = "single_example_gradients", "forward", "cross_entropy_loss", "backward"
    quick = replace(lesson, exercises=tuple(replace(lesson.exercise(name), seconds=2.0) for name in names))
    workers = Workers(quick, "process")
    try:
        submission = Submission.of_cells("work.py", [*(cell.source for cell in solution.cells), hangs])
        result = with_judge(quick, lambda judge: judge.grade(submission, workers, of_many=True))
    finally:
        workers.stop()
    assert [one.status for one in result.exercises] == ["passed", "timeout", "passed", "timeout"]
    assert called.read_text() == ".."


def test_a_plain_process_leaves_no_children_either(tmp_path: Path) -> None:
    """Without a sandbox a submission can fork; what it detaches ends with it all the same."""
    source = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
"""
    honest = (RED_TEAM / f"{HONEST_PART}.py").read_text(encoding="utf-8")
    write(tmp_path / "class" / "ann" / f"{LESSON}.py", f"{source}\n# %%\n{honest}".encode())
    for name in ("tmp", "home"):
        (tmp_path / name).mkdir()
    command = backprop("grade", "class", "--isolation", "process", folder=tmp_path)
    assert (command.returncode, "Traceback" in command.stderr) == (0, False)
    result = json.loads((tmp_path / "results" / "students" / "ann" / f"{LESSON}.json").read_text(encoding="utf-8"))
    assert (result["points"], result["isolation"]) == (4, "process")
    time.sleep(0.5)
    assert processes_of(tmp_path) == []
    assert os.listdir(tmp_path / "tmp") == []
