"""Grading processes, forked from a nursery or started individually: they give equal results, and none is left."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import pytest

from autograder.classroom import pool
from autograder.classroom.class_folder import Work
from autograder.classroom.messages import Ready, Settings, hear, tell
from autograder.classroom.nursery import Nursery
from autograder.judging.records.results import SubmissionResult
from course.syllabus import Environment

pytestmark = pytest.mark.slow

RELU = "import numpy as np\n\ndef relu_vjp(g, x):\n    return np.where(x > 0, g, 0).astype(x.dtype)\n"
NUMPY = Environment(("numpy",), ())
SETTINGS = Settings("ch06_vjps", "process", "a secret of the class")


@pytest.fixture
def nursery() -> Iterator[Nursery]:
    one = Nursery([NUMPY])
    yield one
    one.stop()


def graded(folder: Path) -> list[SubmissionResult]:
    work = []
    for name, source in {"ann": RELU, "ben": RELU.replace("x > 0", "x < 0"), "cleo": "import this is none"}.items():
        file = folder / name / "ch06_vjps.py"
        file.parent.mkdir()
        file.write_text(source, encoding="utf-8")
        work.append(Work("ch06_vjps", name, file))
    results = pool.grade_all(work, jobs=2, isolation="process", salt="a secret of the class")
    return sorted(results, key=lambda result: result.student)


@pytest.mark.parametrize("forks", [True, False])
def test_forked_or_not_they_grade_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: bool) -> None:
    monkeypatch.setattr(pool, "FORKS", forks)
    ann, ben, cleo = graded(tmp_path)
    assert (ann.points, ben.points, cleo.points) == (2, 0, 0)
    assert cleo.message


def test_nothing_is_started_where_nothing_is_to_be_graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "FORKS", True)
    monkeypatch.setattr(pool, "Nursery", lambda _: pytest.fail("half a second for nothing"))
    assert list(pool.grade_all([None, None], jobs=2, isolation="process", salt="")) == []


class Played(threading.Thread):
    """A grading process played by a thread, which takes some seconds to start and for each answer."""

    def __init__(self, connection: Connection, lesson: str, starting: float, answering: float) -> None:
        super().__init__(daemon=True)
        self.connection, self.lesson, self.seconds = connection, lesson, (starting, answering)
        self.start()

    def run(self) -> None:
        starting, answering = self.seconds
        with self.connection:  # closed whatever happens, so that nobody waits for it
            time.sleep(starting)
            self.connection.send(Ready())
            while (work := self.connection.recv()) is not None:
                time.sleep(answering)
                result = SubmissionResult(work.student, work.lesson, "x.py", "", "", "process", 0, 1, "graded", "")
                self.connection.send(result)

    def kill(self) -> None:
        pytest.fail("nothing is killed")


@pytest.mark.parametrize(
    ("sizes", "starting", "answering", "processes"),
    [
        ((10,), 0.2, 0.01, 1),
        ((10, 3), 0.2, 0.01, 2),
        ((40,), 0.2, 0.01, 2),
        ((10,), 0.02, 0.1, 2),
        ((4,), 0.0, 4.5, 2),
    ],
    ids=["a small class", "two lessons", "a large class", "answers that take longer than a start", "slow answers"],
)
def test_a_second_process_is_started_where_it_pays(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], starting: float, answering: float, processes: int
) -> None:
    """Each computes again what answers are compared with: two took twice the processor time for a class of ten."""
    started: list[Played] = []

    class Starter:
        def __init__(self, _: object) -> None: ...

        def start(self, settings: Settings) -> tuple[Connection, Played]:
            ours, theirs = Pipe()
            started.append(Played(theirs, settings.lesson, starting, answering))
            return ours, started[-1]

        def stop(self) -> None: ...

    monkeypatch.setattr(pool, "FORKS", True)
    monkeypatch.setattr(pool, "Nursery", Starter)
    lessons = [slug for size, slug in zip(sizes, ("ch06_vjps", "ch07_mlp_backprop"), strict=False) for _ in range(size)]
    work = [Work(slug, f"student {number}", Path("x.py")) for number, slug in enumerate(lessons)]
    results = list(pool.grade_all(work, jobs=2, isolation="process", salt=""))
    assert sorted(result.student for result in results) == sorted(item.student for item in work)
    assert len(started) == processes


def test_the_command_imports_nothing_that_only_checks_need(tmp_path: Path) -> None:
    file = tmp_path / "class" / "ann" / "ch06_vjps.py"
    file.parent.mkdir(parents=True)
    file.write_text(RELU, encoding="utf-8")
    script = (
        "import atexit, sys; from autograder.commands import app; sys.argv = ['backprop', 'grade', 'class'];"
        " atexit.register(lambda: print({'numpy', 'pytest', 'torch'} & set(sys.modules), file=sys.stderr)); app()"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stderr.splitlines()[-1] == "set()"
    assert (tmp_path / "results" / "students" / "ann" / "ch06_vjps.json").is_file()


def test_they_share_what_one_process_has_imported(nursery: Nursery) -> None:
    started = [nursery.start(SETTINGS) for _ in range(2)]
    assert [hear(connection) for connection, _ in started] == [Ready(), Ready()]
    of_nursery = process_of_nursery()
    assert sorted(child.name() for child in of_nursery.children()) == ["bp-grader", "bp-grader", "bp-zygote"]
    for one in of_nursery.children():
        assert one.cmdline() == of_nursery.cmdline()  # another program would have another one
    for connection, process in started:
        assert process.is_alive()
        tell(connection, None)
        process.join(30)
        assert not process.is_alive()
        connection.close()


def test_a_package_that_is_missing_is_the_matter_of_those_who_need_it() -> None:
    nursery = Nursery([NUMPY, Environment(("numpy", "a_package_that_nobody_has"), ())])
    connection, process = nursery.start(SETTINGS)
    assert hear(connection) == Ready()
    connection.close()
    process.join(30)
    nursery.stop()


def test_they_end_with_the_command() -> None:
    nursery = Nursery([NUMPY])
    connection, process = nursery.start(SETTINGS)
    assert hear(connection) == Ready()
    nursery.stop()
    process.join(30)
    assert not process.is_alive()
    connection.close()


def test_one_that_was_killed_is_replaced_and_costs_nobody_anything(nursery: Nursery) -> None:
    started = [nursery.start(SETTINGS)]
    process_of_nursery().kill()
    started.append(nursery.start(SETTINGS))
    for connection, process in started:
        assert hear(connection) == Ready()
        assert process.is_alive()
    for connection, process in started:
        tell(connection, None)
        process.join(30)
        assert not process.is_alive()
        connection.close()


class KilledAsItForks(Nursery):
    """A nursery that is killed after its first fork, before it has reported the fork."""

    orphan: psutil.Process | None = None

    def _request_fork(self) -> tuple[Connection, int]:
        connection, pid = super()._request_fork()
        if self.orphan is None:
            self.orphan = psutil.Process(pid)
            process_of_nursery().kill()
            return connection, 0
        return connection, pid


def test_what_was_forked_by_one_that_could_not_say_so_takes_part_in_nothing() -> None:
    """It used to share its stream with the next process: each read parts of the messages, and the class hung."""
    nursery = KilledAsItForks([NUMPY])
    connection, process = nursery.start(SETTINGS)
    assert nursery.orphan is not None
    psutil.wait_procs([nursery.orphan], timeout=60)
    assert not nursery.orphan.is_running() or nursery.orphan.status() == psutil.STATUS_ZOMBIE
    assert hear(connection) == Ready()
    tell(connection, None)
    process.join(60)
    assert not process.is_alive()
    connection.close()
    nursery.stop()


def test_one_has_ended_though_nobody_has_let_go_of_it(nursery: Nursery) -> None:
    """A busy nursery may not reap it: the command used to wait forever for a process that had ended."""
    connection, process = nursery.start(SETTINGS)
    assert hear(connection) == Ready()
    of_nursery = process_of_nursery()
    of_nursery.suspend()
    try:
        tell(connection, None)
        process.join(30)
        assert not process.is_alive()
        process.kill()
        process.join()
    finally:
        of_nursery.resume()
        connection.close()


def process_of_nursery() -> psutil.Process:
    (found,) = (child for child in psutil.Process().children() if child.name() == "bp-nursery")
    return found
