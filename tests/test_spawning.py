"""The backend for machines without fork: one process per submission, connected over the loopback interface."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from autograder.isolation.spawning import SpawningWorker
from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.judging.records.errors import Crashed, TimedOut
from autograder.submission import Submission
from course.syllabus import find_lesson

CELLS = [
    "import numpy as np\ndef f(x):\n    return np.exp(x)",
    "def g():\n    while True: pass",
    "import os\ndef h():\n    os._exit(4)",
]


@pytest.fixture
def run() -> Iterator[SubmissionRun]:
    worker = SpawningWorker(find_lesson("ch06_vjps").environment)
    run = SubmissionRun(SubmissionProcess(Submission.of_cells("a test", CELLS), worker))
    yield run
    run.close()
    worker.stop()


def test_calls_are_answered(run: SubmissionRun) -> None:
    assert run.ask(request_of("f", [0.0]), 30.0)["value"] == 1.0


@pytest.mark.slow
def test_what_hangs_or_ends_costs_itself_only(run: SubmissionRun) -> None:
    with pytest.raises(TimedOut):
        run.ask(request_of("g", []), 1.0)
    with pytest.raises(Crashed, match="exit status 4"):
        run.ask(request_of("h", []), 30.0)
    assert run.ask(request_of("f", [0.0]), 30.0)["value"] == 1.0
