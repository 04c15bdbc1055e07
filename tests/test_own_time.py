"""Limits count a submission's own time, without the time that it waits for processors that others use."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.classroom import pool
from autograder.classroom.class_folder import Work
from autograder.classroom.grading import ungraded
from autograder.classroom.messages import Ready, Settings
from autograder.isolation import Starved, own_time
from autograder.isolation.own_time import OwnTime
from autograder.judging.records.errors import STARVED
from autograder.judging.records.results import SubmissionResult
from autograder.worker import wire
from autograder.worker.channel import Channel, DeadlinePassed

pytestmark = pytest.mark.slow

COUNTED = Path("/proc/self/schedstat").exists() and hasattr(os, "sched_setaffinity")
counted = pytest.mark.skipif(not COUNTED, reason="this kernel does not count what processes wait for processors")
BUSY = "while True: pass"
THREADS = "import threading\nfor _ in range(20):\n    threading.Thread(target=lambda: sum(iter(int, 1))).start()"
IDLE = "import time\ntime.sleep(600)"
CROWD_THEN_IDLE = """
import hashlib, threading, time
def a_second():
    until = time.monotonic() + 1.0
    while time.monotonic() < until:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 3000)  # without the interpreter's lock
    time.sleep(600)
for _ in range(40):
    threading.Thread(target=a_second).start()
"""


@pytest.fixture
def started() -> Iterator[Any]:
    """Starts programs that share one processor."""
    processes: list[subprocess.Popen[bytes]] = []
    processor = min(os.sched_getaffinity(0))

    def start(program: str, copies: int = 1) -> int:
        for _ in range(copies):
            held = f"import os\nos.sched_setaffinity(0, {{{processor}}})\n{program}"
            processes.append(subprocess.Popen([sys.executable, "-c", held]))
        return processes[-1].pid

    yield start
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


@counted
def test_waiting_for_a_processor_is_taken_off(started: Any) -> None:
    started(BUSY, copies=5)
    clock = OwnTime(started(BUSY))
    start, wall = clock.now(), time.monotonic()
    time.sleep(2.0)
    clock.settle()
    assert clock.now() - start < 0.6 * (time.monotonic() - wall)


@counted
@pytest.mark.parametrize("program", [IDLE, THREADS], ids=["sleep", "crowd itself"])
def test_what_a_process_does_to_itself_is_its_own_time(started: Any, program: str) -> None:
    """Sleeping does not count as waiting for a processor, nor does waiting for its own threads."""
    pid = started(program)
    time.sleep(0.5)
    clock = OwnTime(pid)
    used, start = own_time._used(pid), clock.now()
    time.sleep(1.5)
    clock.settle()
    own = clock.now() - start
    assert own >= own_time._used(pid) - used - 0.05
    assert program is THREADS or own > 1.0


@counted
def test_threads_that_waited_for_each_other_earn_no_time_to_sleep(started: Any) -> None:
    """A second of 40 threads used to give a minute, because the waiting times of all threads were added."""
    clock = OwnTime(started(CROWD_THEN_IDLE))
    start, wall = clock.now(), time.monotonic()
    time.sleep(5.0)
    clock.settle()
    assert clock.now() - start > 0.5 * (time.monotonic() - wall)


@pytest.mark.parametrize(("waited", "wall", "starved"), [(59, 60, False), (61, 64, True), (90, 120, False)])
def test_one_that_waits_too_long_is_starved(
    monkeypatch: pytest.MonkeyPatch, waited: float, wall: float, starved: bool
) -> None:
    """A submission that needs 30 s with a quarter of a processor used to be given up after 60 s of waiting."""
    seconds = iter([0.0, waited, 0.0])
    monkeypatch.setattr(own_time, "_waited", lambda process: next(seconds))
    monkeypatch.setattr(own_time, "_used", lambda pid: 0.0)
    clock = OwnTime(os.getpid())
    clock._began -= wall
    with pytest.raises(Starved, match="for more than 60 s and nearly all of the time") if starved else nullcontext():
        clock.settle()


def test_a_deadline_that_has_passed_is_not_met_by_what_lies_ready() -> None:
    """Available answers used to be read forever, each of which took a second to read."""
    ours, theirs = socket.socketpair()
    channel = Channel(ours, wire.ANSWER)
    Channel(theirs).send(wire.encode({"value": 1}) * 2, 1.0)
    assert channel.receive(1.0)
    with pytest.raises(DeadlinePassed):
        channel.receive(-0.1)
    ours.close()
    theirs.close()


class Grader:
    """A fake grading process: the first submission starves while another one is graded."""

    def __init__(self, alone: bool) -> None:
        self.settings: Settings | None = None
        self.alone = alone

    def result(self, work: Work) -> SubmissionResult:
        starved = work.student == "ann" and not self.alone
        return ungraded(work, "killed" if starved else "unreadable", STARVED * starved, "sandbox", "salt")


def test_who_was_starved_is_graded_again_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class Starter:
        """A fake starter that forks nothing and answers at once."""

        def __init__(self, environments: Any) -> None:
            self.started: list[Settings] = []

        def start(self, settings: Settings) -> tuple[Any, Any]:
            self.started.append(settings)
            return Talk(settings), SimpleNamespace(is_alive=lambda: False, kill=lambda: None, join=lambda *_: None)

        def stop(self) -> None:
            seen.extend(self.started)

    class Talk:
        def __init__(self, settings: Settings) -> None:
            self.said: list[Any] = [Ready()]
            self.alone = settings.processor is None

        def send(self, message: Any) -> None:
            if isinstance(message, Work):
                self.said.append(Grader(self.alone).result(message))

        def recv(self) -> Any:
            return self.said.pop(0)

        def close(self) -> None:
            pass

    seen: list[Settings] = []
    monkeypatch.setattr(pool, "Nursery", Starter)
    monkeypatch.setattr(pool, "Spawned", lambda: Starter(()))
    monkeypatch.setattr(pool, "wait", lambda connections, timeout: [one for one in connections if one.said])
    monkeypatch.setattr(pool, "_processor", lambda slot: slot)
    lessons = {"ann": "ch06_vjps", "bob": "ch06_vjps", "cyd": "ch07_mlp_backprop"}  # a process for each lesson
    work = [Work(student=student, lesson=lesson, file=Path(f"{lesson}.py")) for student, lesson in lessons.items()]
    results = list(pool.grade_all(work, jobs=2, isolation="sandbox", salt="salt"))
    assert sorted(result.student for result in results) == ["ann", "bob", "cyd"]
    assert results[-1].student == "ann"
    assert {result.status for result in results} == {"unreadable"}
    assert [settings.processor for settings in seen] == [0, 1, None]
