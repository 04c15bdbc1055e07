"""Whatever process is killed during grading, none is left running, and the same command completes the class."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import BACKPROP
from traces import written_by_submissions

from autograder.worker.landlock import landlock_abi

HONEST = (Path(__file__).with_name("red_team") / "honest_part.py").read_text(encoding="utf-8")
LESSON = "ch07_mlp_backprop"
PATIENCE = 60.0
"""Seconds allowed on a busy machine for what takes a moment on an idle one."""
SLOW = """
# %%
def forward(params, X, activation="relu"):
    import ctypes, os, signal, time
    if not os.path.exists("started"):
        open("started", "w").close()
        ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # PR_SET_PDEATHSIG: to outlive its parent
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
        time.sleep(3)
    raise ValueError
"""
"""A function that is slow the first time, notes that in a file, and resists ending with its judge."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


class Class:
    """A class folder with an honest, a slow and another honest submission, and the command that grades it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, source in {"ann": HONEST, "ben": SLOW + "\n\n" + HONEST, "cleo": HONEST}.items():
            (folder / "class" / name).mkdir(parents=True)
            (folder / "class" / name / f"{LESSON}.py").write_text(source, encoding="utf-8")
        (folder / "tmp").mkdir()

    def start(self, *options: str, **variables: str) -> psutil.Popen:
        """Start the command in a process group of its own."""
        command = [str(BACKPROP), "grade", "class", "--out", "results", "--jobs", "1", *options]
        env = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "BACKPROP_SALT": "of a class", **variables}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        return psutil.Popen(command, cwd=self.folder, env=env, start_new_session=True, **pipes)

    def run(self) -> str:
        """Run the command to its end; returns its standard error."""
        process = self.start()
        _, said = process.communicate(timeout=5 * PATIENCE)
        assert process.returncode == 0, said
        return str(said)

    def started(self, after: float = 0.0) -> bool:
        """Whether the slow function is running and began `after` a time: a killed one leaves its file for a moment."""
        files = written_by_submissions("started", below=f"{self.folder}/tmp/backprop-")
        return any(began > after for began in map(_modified, files))

    def under_way(self) -> bool:
        """Whether the slow function is running and the previous result is written; its grader did not wait for that."""
        return self.started() and (self.folder / "results" / "students" / "ann" / f"{LESSON}.json").is_file()

    def results(self) -> dict[str, Any]:
        """All results, without their durations."""
        found = {}
        for file in sorted(self.folder.glob("results/students/*/*.json")):
            result = json.loads(file.read_text(encoding="utf-8"))
            for exercise in result["exercises"]:
                del exercise["seconds"]
            found[file.parent.name] = result
        return found

    def running(self) -> list[str]:
        """The processes that were started for this class and are still running."""
        found = []
        for process in psutil.process_iter():
            try:
                given = [*process.cmdline(), *process.environ().values()]
                if process.status() != psutil.STATUS_ZOMBIE and any(str(self.folder) in text for text in given):
                    found.append(f"{process.pid} {process.name()} {process.cmdline()}")
            except psutil.Error:
                continue
        return found


def _modified(file: Path) -> float:
    """When a file was written; 0 if it is gone."""
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def running(process: psutil.Process, name: str) -> psutil.Process:
    """The nearest descendant of `process` with this name."""
    return next(p for p in process.children(recursive=True) if p.name() == name)


VICTIMS: dict[str, Callable[[psutil.Process], psutil.Process | None]] = {
    "the command": lambda command: command,
    "the nursery": lambda command: running(command, "bp-nursery"),
    "a grading process": lambda command: running(command, "bp-grader"),
    "the zygote": lambda command: running(command, "bp-zygote"),
    "the launcher": lambda command: running(command, "bp-launcher"),
    "the worker": lambda command: running(command, "bp-worker"),
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of the class when nothing is killed."""
    whole = Class(Path(os.path.realpath(tmp_path_factory.mktemp("undisturbed"))))
    whole.run()
    results = whole.results()
    assert {name: result["points"] for name, result in results.items()} == {"ann": 4, "ben": 4, "cleo": 4}
    return results


@pytest.fixture
def a_class(tmp_path: Path) -> Iterator[Class]:
    yield Class(Path(os.path.realpath(tmp_path)))
    shutil.rmtree(tmp_path, ignore_errors=True)


def assert_nothing_is_left(a_class: Class) -> None:
    wait_until(lambda: not a_class.running())
    wait_until(lambda: not os.listdir(a_class.folder / "tmp"))


@pytest.mark.parametrize("victim", VICTIMS)
def test_one_process_is_killed(a_class: Class, undisturbed: dict[str, Any], victim: str) -> None:
    command = a_class.start()
    wait_until(a_class.under_way)
    process = VICTIMS[victim](command)
    assert process is not None
    process.kill()
    _, said = command.communicate(timeout=5 * PATIENCE)
    assert "Traceback" not in said
    assert_nothing_is_left(a_class)
    if victim == "the command":
        assert command.returncode == -signal.SIGKILL
        assert list(a_class.results()) == ["ann"]
        assert "1 submission is graded already" in a_class.run()
    else:
        assert command.returncode == 0
    assert a_class.results() == undisturbed


def test_the_whole_group_is_killed(a_class: Class, undisturbed: dict[str, Any]) -> None:
    """As a shell's `kill -9 %1` does."""
    command = a_class.start()
    wait_until(a_class.under_way)
    os.killpg(command.pid, signal.SIGKILL)
    command.wait()
    assert_nothing_is_left(a_class)
    a_class.run()
    assert a_class.results() == undisturbed
    assert_nothing_is_left(a_class)


@pytest.mark.parametrize("at_work", [True, False])
def test_a_plain_process_ends_with_its_judge(tmp_path: Path, at_work: bool) -> None:
    """Also without a sandbox: in the middle of a submission, and while the worker starts."""
    a_class = Class(Path(os.path.realpath(tmp_path)))
    command = a_class.start("--isolation", "process")
    wait_until(a_class.started if at_work else lambda: "bp-worker" in str(a_class.running()))
    for process in [*command.children(recursive=True), command]:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.name() not in ("bp-zygote", "bp-launcher", "bp-worker"):
                process.kill()
    command.communicate(timeout=PATIENCE)
    assert_nothing_is_left(a_class)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_is_interrupted(a_class: Class, undisturbed: dict[str, Any], number: signal.Signals) -> None:
    """With Ctrl-C or a batch system's SIGTERM: no traceback, and the next run continues."""
    command = a_class.start()
    wait_until(a_class.under_way)
    os.killpg(command.pid, number)
    _, said = command.communicate(timeout=5 * PATIENCE)
    assert command.returncode != 0
    assert "Traceback" not in said
    assert_nothing_is_left(a_class)
    assert "1 submission is graded already" in a_class.run()
    assert a_class.results() == undisturbed


def test_the_command_is_killed_while_a_worker_starts(a_class: Class) -> None:
    """The worker's folder exists, and no process that would remove it does yet."""
    command = a_class.start()
    deadline = time.monotonic() + PATIENCE
    while not any(a_class.folder.glob("tmp/backprop-*")):
        assert time.monotonic() < deadline
    command.kill()
    command.communicate(timeout=PATIENCE)
    assert_nothing_is_left(a_class)


BUSY = """
import subprocess, time
from autograder.isolation.launched import Forked

run = subprocess.run

def slow(command, *args, **kwargs):
    if "rm" in command:
        time.sleep(2)
    return run(command, *args, **kwargs)

def in_vain(launched, seconds):
    if seconds == 2.0:
        launched._process.kill()

subprocess.run, Forked.wait = slow, in_vain
"""
"""Imitates a busy machine: a launcher is killed because it does not end in time, and removing its folder takes long."""


def test_the_command_is_killed_while_a_worker_is_taken_down(a_class: Class) -> None:
    """With the launcher killed, only the grading process knows the folder, so it must not end before removing it."""
    (a_class.folder / "slow").mkdir()
    (a_class.folder / "slow" / "sitecustomize.py").write_text(BUSY)
    path = os.pathsep.join(filter(None, [str(a_class.folder / "slow"), os.environ.get("PYTHONPATH")]))
    command = a_class.start(PYTHONPATH=path)
    wait_until(lambda: "bp-launcher" in str(a_class.running()))
    wait_until(lambda: "bp-launcher" not in str(a_class.running()))
    assert os.listdir(a_class.folder / "tmp")
    command.kill()
    command.communicate(timeout=PATIENCE)
    assert_nothing_is_left(a_class)


CLEANS_UP = """
import os, sys, time
from autograder.worker.zygote import clean_up_after

if worker := os.fork():
    clean_up_after(worker, os.path.dirname(sys.argv[1]))
"""
OUTLIVES = """
os.chdir(sys.argv[1])
if os.fork() == 0:
    number = 0
    while number < 1000 or time.monotonic() < end:
        number += 1
        try:
            os.close(os.open(f"file{number}", os.O_CREAT))
        except OSError:
            break
        if number == 1000:
            end = time.monotonic() + 1
else:
    while not os.path.exists("file1000"):
        time.sleep(0.001)
"""


def test_a_submission_that_outlives_its_worker_keeps_no_folder(tmp_path: Path) -> None:
    """Formerly its writes made the launcher give up on removing the folder, four times in ten."""
    launchers = []
    for number in range(10):
        scratch = tmp_path / str(number) / "scratch"
        scratch.mkdir(parents=True)
        launchers.append(
            subprocess.Popen([sys.executable, "-c", CLEANS_UP + OUTLIVES, str(scratch)], stdin=subprocess.DEVNULL)
        )
    assert [launcher.wait(PATIENCE) for launcher in launchers] == [0] * 10
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("times", [1, 2])
def test_the_submission_is_killed(a_class: Class, undisturbed: dict[str, Any], times: int) -> None:
    """The first time costs nothing: calls made together are repeated. The second time costs the running function."""
    command = a_class.start()
    killed = 0.0
    for _ in range(times):
        wait_until(lambda before=killed: a_class.started(before))  # type: ignore[misc]
        (submission,) = running(command, "bp-worker").children()
        killed = time.time()
        submission.kill()
        wait_until(lambda gone=submission: not gone.is_running())  # type: ignore[misc]
    command.communicate(timeout=5 * PATIENCE)
    results = a_class.results()
    assert {name: result["points"] for name, result in results.items()} == {"ann": 4, "ben": 4, "cleo": 4}
    assert ("was killed by SIGKILL" in str(results["ben"])) == (times == 2)
    assert (results["ann"], results["cleo"]) == (undisturbed["ann"], undisturbed["cleo"])
    assert_nothing_is_left(a_class)


def test_a_launcher_without_a_worker_removes_the_folder(tmp_path: Path) -> None:
    """If the worker could not be forked. Its judge may have been killed, and nobody else knows the folder."""
    folder = tmp_path / "backprop-of-a-worker"
    (folder / "scratch").mkdir(parents=True)
    script = f"from autograder.worker import zygote; zygote.clean_up_after(zygote.NOBODY, {str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", script], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.stderr == "there is no room for its process\n"
    assert not folder.exists()
