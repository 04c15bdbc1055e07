"""A machine that is short of processes: a submission's share of them, and the effect on other submissions."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import BACKPROP, Command

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import ungraded
from autograder.classroom.plan import Plan
from autograder.classroom.results_folder import hold
from autograder.isolation import IsolationError, Worker, forking, sandbox, start_worker
from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.submission import Submission
from autograder.worker.landlock import landlock_abi
from autograder.worker.uncompiled import SHAPES
from course.syllabus import Environment, find_lesson

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
RED_TEAM = ROOT / "tests" / "red_team"
LESSON = "ch07_mlp_backprop"
THREADS = """
import threading
threading.stack_size(2**16)
def begin(count):
    end, begun = threading.Event(), 0
    try:
        for begun in range(count):
            threading.Thread(target=end.wait, args=(600,), daemon=True).start()
    except RuntimeError:
        return begun
    return count
"""

confined = pytest.mark.skipif(landlock_abi() < 1, reason="there is no Landlock")


@pytest.fixture
def worker() -> Iterator[Worker]:
    started = start_worker(find_lesson(LESSON).environment, "sandbox")
    started.ready()
    yield started
    started.stop()


@confined
def test_bombs_cost_honest_classmates_nothing(backprop: Command, tmp_path: Path) -> None:
    """Eight fork bombs, two at a time. One used to leave no process id for 37 of 38 others, with exit status 0."""
    honest = (RED_TEAM / "honest_part.py").read_text(encoding="utf-8")
    bomb = (RED_TEAM / "thread_bomb.py").read_text(encoding="utf-8")
    solution = (ROOT / "solutions" / f"{LESSON}.py").read_text(encoding="utf-8")
    sources = {f"{letter}_bomb": f"{bomb}\n\n# %%\n{honest}" for letter in "bdfh"}
    sources |= {f"{letter}_honest": solution for letter in "aceg"}
    for student, source in sources.items():
        file = tmp_path / "class" / student / f"{LESSON}.py"
        file.parent.mkdir(parents=True)
        file.write_text(source, encoding="utf-8")
    command = backprop("grade", "class", "--out", "results", "--jobs", "2", "--salt", "of a class")
    results = {
        file.parent.name: json.loads(file.read_text(encoding="utf-8"))
        for file in tmp_path.glob("results/students/*/*.json")
    }
    assert {student: (result["status"], result["points"]) for student, result in results.items()} == {
        **dict.fromkeys((name for name in sources if "honest" in name), ("graded", find_lesson(LESSON).points)),
        **dict.fromkeys((name for name in sources if "bomb" in name), ("graded", 4)),
    }
    assert (command.returncode, "Traceback" in command.stderr) == (0, False)


@confined
def test_threads_are_counted_for_each_submission_alone(worker: Worker) -> None:
    """Two submissions can have the maximum number of threads at the same time."""
    runs = [SubmissionRun(SubmissionProcess(Submission.of_cells("threads", [THREADS]), worker)) for _ in range(2)]
    try:
        assert [run.ask(request_of("begin", [100]), 20.0)["value"] for run in runs] == [63, 63]
        assert [run.ask(request_of("begin", [1]), 20.0)["value"] for run in runs] == [0, 0]
    finally:
        for run in runs:
            run.close(grace=0.0)


def refusing(monkeypatch: pytest.MonkeyPatch, worker: Worker, times: int, *, again: bool) -> list[float]:
    """Make the worker refuse this many forks; the list gets the times of the requests."""
    asked: list[float] = []
    fork: Callable[[float | None], Any] = worker._open  # type: ignore[attr-defined]

    def ask(processor_seconds: float | None) -> Any:
        asked.append(time.monotonic())
        if len(asked) <= times:
            kind = forking._RefusedForNow if again else forking._Refused
            raise kind("the worker cannot fork: Resource temporarily unavailable")
        return fork(processor_seconds)

    monkeypatch.setattr(worker, "_open", ask)
    return asked


@confined
def test_a_machine_without_room_is_asked_again(monkeypatch: pytest.MonkeyPatch, worker: Worker) -> None:
    asked = refusing(monkeypatch, worker, 3, again=True)
    connection = worker.open()
    worker.close(connection, 1.0)
    assert len(asked) == 4
    assert asked[-1] - asked[0] > 0.3


@confined
@pytest.mark.parametrize("again", [True, False])
def test_it_is_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch, worker: Worker, again: bool) -> None:
    monkeypatch.setattr(forking, "ROOM_SECONDS", 0.5)
    asked = refusing(monkeypatch, worker, 1000, again=again)
    with pytest.raises(IsolationError, match="cannot fork"):
        worker.open()
    assert (len(asked) > 1) == again


@pytest.mark.parametrize("regrade", [False, True])
def test_what_could_not_be_graded_is_counted(tmp_path: Path, regrade: bool) -> None:
    (tmp_path / f"{LESSON}.py").touch()
    work = Work(LESSON, "ann", tmp_path / f"{LESSON}.py")
    plan = Plan([work], tmp_path / "results", salt="of a class", regrade=regrade)
    with hold(plan.results), plan.writing():
        plan.keep(ungraded(work, "killed", "the worker cannot fork", "sandbox", "of a class"))
        plan.take_over()
    assert plan.ungraded == [f"ann/{LESSON} could not be graded: the worker cannot fork"]
    assert plan.problems == []


@confined
def test_a_worker_without_pytorch_is_not_asked_to_import_of_it(worker: Worker) -> None:
    """If its judge has graded a lesson with PyTorch before, as the health rules do, such a request would end it."""
    importlib.import_module(SHAPES)
    before = worker._pid  # type: ignore[attr-defined]
    connections = [worker.open() for _ in range(3)]
    assert worker._pid == before  # type: ignore[attr-defined]
    for connection in connections:
        worker.close(connection, 1.0)


@confined
def test_pytorch_leaves_no_folder_behind(backprop: Command, tmp_path: Path) -> None:
    """An import of ch11's checks creates a folder in the temporary folder."""
    for name in ("class/ann", "tmp"):
        (tmp_path / name).mkdir(parents=True)
    source = "import torch\ntorch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)\n"
    (tmp_path / "class" / "ann" / "ch11_checkpointing.py").write_text(source)
    command = backprop("grade", "class", env={"TMPDIR": str(tmp_path / "tmp")})
    assert command.returncode == 0
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.parametrize(
    ("lesson", "function", "needed"),
    [("ch12_debugging", "fix_04", False), ("ch13_beyond_first_order", "hvp_forward_over_reverse", True)],
)
def test_what_pytorch_imports_late_is_imported_for_a_class_whose_lesson_needs_it(
    backprop: Command, tmp_path: Path, lesson: str, function: str, needed: bool
) -> None:
    """It is imported once, before the third hand-in at the latest; other lessons do not spend a second on it."""
    source = (
        f"def {function}(*args, **kwargs):\n    import sys\n"
        "    raise ValueError(f\"late: {hasattr(sys.modules.get(NAME), '__file__')}\")\n"
    )
    for student in ("ann", "bob", "cleo"):
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / f"{lesson}.py").write_text(f"NAME = '{SHAPES}'\n{source}")
    assert backprop("grade", "class", "--out", "results", "--jobs", "1").returncode == 0
    result = json.loads((tmp_path / "results" / "students" / "cleo" / f"{lesson}.json").read_text())
    (message,) = (exercise["message"] for exercise in result["exercises"] if exercise["name"] == function)
    assert f"late: {needed}" in message


@pytest.mark.parametrize("lacks", ["a package", "Landlock"])
def test_what_cannot_start_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lacks: str) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if lacks == "Landlock":
        monkeypatch.setattr(sandbox, "landlock_abi", lambda: 0)
    environment = Environment(("numpy",) if lacks == "Landlock" else ("a_package_that_nobody_has",), ())
    with pytest.raises(IsolationError):
        start_worker(environment, "sandbox")
    assert not list(tmp_path.iterdir())


CROWD = """
# %%
import hashlib, threading, time
def burn():
    end = time.time() + 12
    while time.time() < end:
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 20_000)
threading.stack_size(2**18)
for _ in range(62):
    threading.Thread(target=burn, daemon=True).start()
# %%
time.sleep(9)
"""
SECOND_OF_WORK = """
# %%
import time
while time.process_time() < 1.5:
    pass
def single_example_gradients(*args):
    import os
    raise ValueError(f"on processors {sorted(os.sched_getaffinity(0))}")
"""


@pytest.fixture
def control_group() -> Iterator[Path]:
    """A control group for processors, in which the kernel shares these out by thread."""
    version = "cgroup.procs"
    group = Path("/sys/fs/cgroup/cpu/backprop-test")
    if not group.parent.is_dir():
        group = Path("/sys/fs/cgroup/backprop-test")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error.strerror}")
    yield group / version
    for _ in range(50):
        try:
            group.rmdir()
        except OSError:  # what was in it has not ended yet
            time.sleep(0.1)
        else:
            break


@confined
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor")
def test_a_crowd_of_threads_does_not_starve_a_neighbour(control_group: Path, tmp_path: Path) -> None:
    """Beside 63 threads, a cell of one second used to exceed the limit of ten, and the work earned 0 points."""
    honest = (RED_TEAM / "honest_part.py").read_text(encoding="utf-8")
    for student, source in {"a_crowd": CROWD, "b_honest": SECOND_OF_WORK, "c_honest": SECOND_OF_WORK}.items():
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / f"{LESSON}.py").write_text(f"{source}\n# %%\n{honest}", encoding="utf-8")
    grade = f"{BACKPROP} grade class --out results --jobs 2"
    command = ["sh", "-c", f"echo $$ > {control_group} && exec {grade}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    results = {
        file.parent.name: json.loads(file.read_text(encoding="utf-8"))
        for file in tmp_path.glob("results/students/*/*.json")
    }
    assert {student: result["points"] for student, result in results.items()} == dict.fromkeys(results, 4)
    for student in ("b_honest", "c_honest"):
        assert len(set(re.findall(r"on processors \[(\d+)\]", json.dumps(results[student])))) == 1
