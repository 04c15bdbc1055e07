"""Any answer of a worker leads to a grade."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from fuzzed import DATA, JSON, frame, fuzz
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.collection import with_judge
from autograder.isolation import Connection, Worker
from autograder.judging.asking.run import SubmissionRun
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.judging.asking.transport import Transport
from autograder.judging.checking.learner import Learner
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import LearnerError, read_failure
from autograder.judging.records.record import recording
from autograder.judging.session import Judge
from autograder.submission import Submission
from autograder.wording import clean
from autograder.worker import wire
from autograder.worker.channel import Channel, ChannelClosed, DeadlinePassed
from autograder.worker.messages import CallFunction
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow


LESSON = find_lesson("ch07_mlp_backprop")
Judged = Callable[[list[bytes]], tuple[float, str]]
"""Modules on the way from a worker's bytes to an exercise's points and its result as JSON."""


# A worker's answers.
NAMES = st.sampled_from(["kind", "bases", "message", "place", "line", "trace"])
FAILURES = st.dictionaries(NAMES, DATA | st.text(st.characters(), max_size=200)) | DATA
ANSWERS = st.fixed_dictionaries(
    {},
    optional={
        "value": DATA,
        "failure": st.none() | FAILURES,
        "missing": st.booleans() | DATA,
        "changed": st.lists(st.integers(-2, 5) | DATA, max_size=4) | DATA,
        "forbidden": st.lists(st.text(max_size=4) | DATA, max_size=3) | DATA,
        "called": st.lists(st.text(max_size=4) | DATA, max_size=3) | DATA,
    },
)
CALL_BACKS = st.fixed_dictionaries(
    {"callback": st.just(0) | DATA},
    optional={
        "args": st.lists(DATA, max_size=2).map(tuple) | DATA,
        "kwargs": st.dictionaries(st.text(max_size=3), DATA, max_size=2) | DATA,
    },
)
TALK = (ANSWERS | CALL_BACKS | DATA).map(wire.encode) | st.binary(max_size=60) | JSON.map(frame)
"""What a hostile process may write: answers, questions, any data, any header, noise."""


PATIENCE = 0.3


class HostileWorker(Worker):
    """Serves each submission with a thread that answers every request with the next bytes of a list.

    If `tame`, it answers the cells as a harmless submission does. It hangs up after the list's last item, and when no
    request comes, because its answer may have been half a frame.
    """

    isolation = "none"

    def __init__(self, talk: list[bytes], *, tame: bool = True) -> None:
        self.talk = iter(talk)
        self.tame = tame
        self._threads: list[threading.Thread] = []

    def open(self, processor_seconds: float | None = None) -> Connection:
        ours, theirs = socket.socketpair()
        thread = threading.Thread(target=self._serve, args=(Channel(theirs),))
        thread.start()
        self._threads.append(thread)
        return Connection(Channel(ours), 0, "")

    def _serve(self, channel: Channel) -> None:
        with contextlib.suppress(OSError, wire.WireError):
            while True:
                asked = channel.receive(PATIENCE)
                harmless = self.tame and b'["do","cell"]' in asked
                answer = wire.encode({"failure": None}) if harmless else next(self.talk, None)
                if answer is None:
                    break
                channel.send(answer, 10.0)
        channel.close()

    def close(self, connection: Connection, grace: float) -> None:
        connection.channel.close()
        connection.ended = "ended"

    def stop(self) -> None:
        for thread in self._threads:
            thread.join()


@contextlib.contextmanager
def served(talk: list[bytes], *, tame: bool = True) -> Iterator[SubmissionRun]:
    """A run of a submission of two cells whose process writes `talk`."""
    worker = HostileWorker(talk, tame=tame)
    run = SubmissionRun(SubmissionProcess(Submission.of_cells("hostile", ["def f(): ...", "x = 1"]), worker))
    try:
        yield run
    finally:
        run.close()
        worker.stop()


@settings(fuzz, max_examples=100)
@given(st.lists(TALK, max_size=4))
def test_the_transport_raises_only_documented_errors(talk: list[bytes]) -> None:
    worker = HostileWorker([*talk], tame=False)
    connection = worker.open()
    transport = Transport(connection)
    request = CallFunction(do="call", name="f", args=[lambda x, **_: x, 1.0], kwargs={}, forbidden=[])
    try:
        for _ in range(len(talk) + 1):
            try:
                assert isinstance(transport.ask(request, 5.0), dict)
            except (DeadlinePassed, ChannelClosed, wire.WireError):
                break
    finally:
        worker.close(connection, 0.0)
        worker.stop()


@fuzz
@given(FAILURES)
def test_any_failure_is_short_and_printable(data: Any) -> None:
    failure = read_failure(wire.decode(wire.encode(data)))
    for text in (failure.kind, failure.message, failure.place, failure.line, *failure.bases):
        assert text == clean(text, 300)
    assert len(failure.bases) <= 20


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(LESSON)


@settings(fuzz, max_examples=100)
@given(ANSWERS.map(wire.encode), st.booleans())
@example(wire.encode({"missing": np.ones(3)}), True)
@example(wire.encode({"value": 1, "changed": [0] * 100_000}), True)
def test_a_call_gives_a_value_or_an_error_of_the_learner(reference: Reference, answer: bytes, visible: bool) -> None:
    with served([answer]) as run, recording(visible, "saved_bytes") as record:
        told = ""
        try:
            Learner(LESSON, run, reference).saved_bytes(1, 2, 3, 4, 8)
        except LearnerError as error:
            told = str(error)
        assert len(told) < 1000
        assert all(len(problem) < 1000 for comparison in record.comparisons for problem in comparison.problems)


FORMS: dict[str, Callable[[Any], bytes]] = {
    "a cell's failure that is none": lambda value: wire.encode({"failure": value}),
    "a cell's failure of a strange kind": lambda value: wire.encode({"failure": {"kind": value, "place": value}}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [5, "x", [1], np.ones(3), {"kind": np.ones(3)}, {}], ids=repr)
def test_cells_may_fail_with_any_answer(form: str, value: Any) -> None:
    """Formerly an answer to a cell that was not a dict stopped the grading of its submission with an internal error."""
    answer = FORMS[form](value)
    with served([answer, answer], tame=False) as run:
        run.process.load()
        assert len(run.process.problems) == 2
        assert all(problem.text.isprintable() and len(problem.text) < 600 for problem in run.process.problems)


@settings(fuzz, max_examples=25)
@given(st.lists(TALK, min_size=1, max_size=12))
def test_any_answers_lead_to_a_grade(judged: Judged, talk: list[bytes]) -> None:
    """Covers checks, diagnosis and result, with noise as answers to cells and calls."""
    points, text = judged(talk)
    assert points == 0
    assert len(text) < 60_000
    assert text.isprintable()


@pytest.fixture(scope="module")
def judged() -> Iterator[Judged]:
    """Grade the exercise mse_loss of a process that writes the given bytes."""
    asked: queue.Queue[list[bytes] | None] = queue.Queue()
    told: queue.Queue[Any] = queue.Queue()

    def serve(judge: Judge) -> None:
        while (talk := asked.get()) is not None:
            try:
                with served(talk) as run:
                    records = judge.observe(judge.items_of("mse_loss"), run)
                    told.put(judge.judged(judge.lesson.exercise("mse_loss"), records))
            except BaseException as error:
                told.put(error)

    def ask(talk: list[bytes]) -> tuple[float, str]:
        asked.put(talk)
        result = told.get()
        if isinstance(result, BaseException):
            raise result
        return result.points, json.dumps(asdict(result))

    thread = threading.Thread(target=with_judge, args=(LESSON, serve))
    thread.start()
    yield ask
    asked.put(None)
    thread.join()
