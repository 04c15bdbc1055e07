"""Grading on a Dask cluster, with a real scheduler and real workers that share no folder with the command."""

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
from traces import written_by_submissions

from autograder.classroom.class_folder import find_work
from autograder.classroom.cluster import ClusterError, grade_on_cluster
from autograder.worker.landlock import landlock_abi

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
LESSON = "ch07_mlp_backprop"
WORKER_TIMEOUT = 120.0
"""Seconds allowed on a busy machine for what takes a moment on an idle one."""

HONEST = (Path(__file__).with_name("red_team") / "honest_part.py").read_text(encoding="utf-8")
WRONG = HONEST.replace("2 * m", "m")
LOOPS = HONEST + '\n\n# %%\nopen("started", "w").close()\nimport time\nwhile True:\n    time.sleep(0.1)\n'
KILLS_ITS_WORKER = """
# %%
import os

def parent(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])

def command(pid):
    with open(f"/proc/{pid}/cmdline") as file:
        return file.read()

pid = os.getpid()
while "cluster_grader" not in command(pid):
    pid = parent(pid)
with open("COUNT", "a") as file:
    file.write("once more\\n")
os.kill(parent(pid), 9)
while True:
    pass
"""
"""The submission finds its ancestor, the Dask worker, and kills it, as a plain process can."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


class Cluster:
    """A scheduler and workers, each in a folder of its own, and the command that sends a class to them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[psutil.Popen] = []
        at = self.folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
        self.scheduler = self._start("scheduler", *options, "--scheduler-file", str(at))
        wait_until(lambda: at.exists() and at.stat().st_size > 0)
        self.address = json.loads(at.read_text())["address"]

    def add_worker(self, *options: str, env: dict[str, str] | None = None) -> psutil.Popen:
        """Start another worker, with temporary files below its folder."""
        local = self.folder / f"worker-{len(self.processes)}"
        where = ["--local-directory", str(local), "--host", "127.0.0.1", "--no-dashboard", "--memory-limit", "0"]
        return self._start("worker", self.address, "--nthreads", "1", *where, *options, env=env)

    def _start(self, *arguments: str, env: dict[str, str] | None = None) -> psutil.Popen:
        work = self.folder / f"cwd-{len(self.processes)}"
        work.mkdir()
        with (work / "log").open("w") as log:
            process = psutil.Popen(
                [str(BIN / "dask"), *arguments],
                cwd=work,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "HOME": str(work), **(env or {})},
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def grade(self, *options: str) -> psutil.Popen:
        """Start `backprop grade class` on the cluster."""
        return grade(self.folder, "class", "--scheduler", self.address, *options)

    def at_work(self) -> psutil.Popen | None:
        """The worker that is running the endless loop."""
        for number, process in enumerate(self.processes):
            if written_by_submissions("started", below=f"{self.folder}/worker-{number}/"):
                return process
        return None

    def graders(self) -> list[psutil.Process]:
        """The running grading processes."""
        return [process for process in processes_of(self.folder) if "cluster_grader" in str(process.info["cmdline"])]

    def stop(self) -> None:
        """Stop the cluster as a person would, workers first."""
        for process in reversed(self.processes):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.terminate()
            process.wait(WORKER_TIMEOUT)


def grade(folder: Path, *options: str) -> psutil.Popen:
    """Start `backprop grade` in `folder`."""
    environment = {**os.environ, "BACKPROP_SALT": "a salt of tests, kept by no class", "COLUMNS": "120"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    command = [str(BIN / "backprop"), "grade", *options]
    return psutil.Popen(command, cwd=folder, env=environment, start_new_session=True, **pipes)


def a_class(folder: Path, **sources: str) -> None:
    """A class folder with a file for each student."""
    for student, source in sources.items():
        (folder / "class" / student).mkdir(parents=True)
        suffix = ".ipynb" if source.startswith("{") else ".py"
        (folder / "class" / student / f"{LESSON}{suffix}").write_text(source, encoding="utf-8")


def results(folder: Path) -> dict[str, Any]:
    """All results, without their durations."""
    found = {}
    for file in sorted(folder.glob("students/*/*.json")):
        found[file.parent.name] = json.loads(file.read_text(encoding="utf-8"))
        for exercise in found[file.parent.name]["exercises"]:
            del exercise["seconds"]
    return found


def said(process: psutil.Popen) -> str:
    """A finished command's standard error, which must not contain a traceback."""
    _, errors = process.communicate(timeout=WORKER_TIMEOUT)
    assert "Traceback" not in errors, errors
    return str(errors)


def processes_of(folder: Path) -> list[psutil.Process]:
    """The processes that were started for `folder` and are still running."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ", "status"]):
        given = [*(process.info["cmdline"] or ()), *(process.info["environ"] or {}).values()]
        if process.info["status"] != psutil.STATUS_ZOMBIE and any(str(folder) in text for text in given):
            found.append(process)
    return found


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + WORKER_TIMEOUT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler without workers. At the end, checks that none of its processes is left."""
    folder = Path(os.path.realpath(tmp_path))
    started = Cluster(folder)
    try:
        yield started
        started.stop()
        wait_until(lambda: not processes_of(folder))
    finally:
        for process in processes_of(folder):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        shutil.rmtree(folder, ignore_errors=True)


def test_a_cluster_gives_local_results_even_if_a_worker_is_killed(cluster: Cluster) -> None:
    folder = cluster.folder
    a_class(folder, ann=HONEST, ben=WRONG, cleo=LOOPS, dan='{"cells": [', eve=HONEST, finn="", gus=HONEST)
    secret = folder / "secret.py"
    secret.write_text(HONEST, encoding="utf-8")
    (folder / "class" / "eve" / f"{LESSON}.py").unlink()
    (folder / "class" / "eve" / f"{LESSON}.py").symlink_to(secret)
    cluster.add_worker(), cluster.add_worker()

    here = grade(folder, "class", "--out", "here", "--jobs", "1")
    there = cluster.grade("--out", "there")
    wait_until(lambda: cluster.at_work() or there.poll() is not None)
    victim = cluster.at_work()
    assert victim is not None, said(there)
    for process in [victim, *victim.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    victim.wait()
    said(there), said(here)

    assert there.returncode == here.returncode == 0
    expected = results(folder / "here")
    assert {name: result["status"] for name, result in expected.items()} == {
        **dict.fromkeys(("ann", "ben", "cleo", "gus"), "graded"),
        **dict.fromkeys(("dan", "eve", "finn"), "unreadable"),
    }
    assert (expected["ann"]["points"], expected["cleo"]["points"]) == (4, 4)
    assert expected["ben"]["points"] < 4
    assert results(folder / "there") == expected
    wait_until(lambda: not cluster.graders())  # the workers end their processes after the class


def test_only_exercises_with_changed_checks_are_graded_again(cluster: Cluster) -> None:
    """The test changes a recorded result: one exercise gets another version, and the kept ones are marked."""
    a_class(cluster.folder, ben=WRONG)
    cluster.add_worker()
    said(cluster.grade("--out", "there"))
    file = cluster.folder / "there" / "students" / "ben" / f"{LESSON}.json"
    before = json.loads(file.read_text(encoding="utf-8"))
    old = json.loads(json.dumps(before)) | {"grader_version": "0.1.0+anotherversion"}
    for exercise in old["exercises"]:
        exercise["hint"] = "of the first grading"
    old["exercises"][0]["grader_version"] = "another"
    file.write_text(json.dumps(old), encoding="utf-8")
    said(cluster.grade("--out", "there"))
    after = json.loads(file.read_text(encoding="utf-8"))
    assert after["grader_version"] == before["grader_version"]
    asked = [one["name"] for one in after["exercises"] if one["hint"] != "of the first grading"]
    assert asked == [before["exercises"][0]["name"]]
    assert after["points"] == before["points"]


def test_a_submission_that_kills_its_workers_is_given_up(cluster: Cluster) -> None:
    """Even beside other submissions on the same worker, which lose nothing."""
    count = cluster.folder / "count"
    killer = KILLS_ITS_WORKER.replace("COUNT", str(count))
    a_class(cluster.folder, ann=HONEST, ben=killer, cleo=HONEST)
    cluster.add_worker("--nthreads", "2")
    command = cluster.grade("--out", "results", "--isolation", "process")
    assert f"backprop: ben/{LESSON} could not be graded: " in said(command)
    assert command.returncode == 1
    found = results(cluster.folder / "results")
    assert count.read_text().count("once more") == 2
    assert (found["ben"]["status"], found["ben"]["points"]) == ("killed", 0)
    assert "killed, twice" in found["ben"]["message"]
    others = {name: (result["status"], result["points"]) for name, result in found.items() if name != "ben"}
    assert others == dict.fromkeys(("ann", "cleo"), ("graded", 4))


@pytest.mark.parametrize("what", ["interrupted", "the connection"])
def test_an_interrupt_keeps_results_and_cancels_the_rest(cluster: Cluster, what: str) -> None:
    a_class(cluster.folder, ann=HONEST, ben=LOOPS, cleo=LOOPS)
    cluster.add_worker()
    command = cluster.grade("--out", "results")
    wait_until(lambda: (cluster.at_work() and results(cluster.folder / "results")) or command.poll() is not None)
    if what == "interrupted":
        command.send_signal(signal.SIGINT)
    else:
        cluster.scheduler.kill()
    errors = said(command)
    assert command.returncode == (130 if what == "interrupted" else 2)
    assert what in errors.splitlines()[-1]
    assert [line for line in errors.splitlines() if line.startswith("backprop: ")] == errors.splitlines()[-1:]
    assert list(results(cluster.folder / "results")) == ["ann"]
    if what == "interrupted":
        wait_until(lambda: not cluster.graders())  # not only when the worker ends


def test_dropped_futures_are_not_reported_after_the_end() -> None:
    """An interrupt leaves futures that nobody awaits; asyncio would report them when they are collected."""
    script = (
        "import asyncio; from autograder.classroom.cluster import _quiet\n"
        "with _quiet(): dropped = asyncio.Future(loop=asyncio.new_event_loop())\n"
        "dropped.set_exception(TimeoutError('Timeout'))"
    )
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_worker_with_another_grader_is_named(cluster: Cluster) -> None:
    a_class(cluster.folder, ann=HONEST)
    other = cluster.folder / "other"
    for part in ("autograder", "course", "solutions"):
        shutil.copytree(ROOT / part, other / part, ignore=shutil.ignore_patterns("__pycache__", "sample_class"))
    with (other / "autograder" / "lessons" / LESSON / "checks" / "forward.py").open("a") as file:
        file.write("# another check\n")
    cluster.add_worker(env={"PYTHONPATH": str(other)})
    command = cluster.grade("--out", "results")
    errors = said(command)
    assert command.returncode == 2
    assert "the worker tcp://127.0.0.1:" in errors
    assert "install the same backprop-course on both" in errors
    assert len(errors.strip().splitlines()) == 1
    assert not results(cluster.folder / "results")


def test_a_scheduler_without_workers_is_an_error(cluster: Cluster) -> None:
    a_class(cluster.folder, ann=HONEST)
    work = find_work(cluster.folder / "class").work
    graded = grade_on_cluster(work, scheduler=cluster.address, isolation="sandbox", salt="", timeout=1.0)
    with pytest.raises(ClusterError, match="has had no workers for 1 seconds"):
        next(graded)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("tcp://127.0.0.1:9", "there is no Dask scheduler at tcp://127.0.0.1:9"),
        ("127.0.0.1", "'127.0.0.1' is no scheduler's address; it is tcp://HOST:PORT or tls://HOST:PORT"),
        ("tls://127.0.0.1:9", "tls://127.0.0.1:9 needs certificates"),
    ],
)
def test_an_address_without_a_scheduler_gets_one_line(tmp_path: Path, address: str, says: str) -> None:
    a_class(tmp_path, ann=HONEST)
    command = grade(tmp_path, "class", "--scheduler", address)
    errors = said(command)
    assert command.returncode == 2
    assert says in errors
    assert len(errors.strip().splitlines()) == 1
