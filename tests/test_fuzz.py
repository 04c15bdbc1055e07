"""Whatever arrives, from a worker or in a file, is data or one of the documented errors: nothing else comes out."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

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
from autograder.submission import Cell, Submission, SubmissionError, read_submission
from autograder.wording import clean
from autograder.worker import wire
from autograder.worker.channel import Channel, ChannelClosed, DeadlinePassed
from autograder.worker.messages import CallFunction
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

settings.register_profile(
    "fuzz",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
fuzz = settings(settings.get_profile("fuzz"))
LESSON = find_lesson("ch07_mlp_backprop")
Judged = Callable[[list[bytes]], tuple[float, str]]
"""From what a worker writes to the points of an exercise, and its result as JSON."""

# What travels.

DTYPES = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="?")
    | hnp.unsigned_integer_dtypes(endianness="?")
    | hnp.floating_dtypes(endianness="?")
    | hnp.complex_number_dtypes(endianness="?")
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)).flatmap(
    lambda array: st.sampled_from([array, np.asfortranarray(array), array.T, array[::-1] if array.ndim else array])
)
INTEGERS = st.integers() | st.sampled_from([0, 1, -1, 2**61 - 1, 2**63, -(2**64), 10**400, 2**4095])
SCALARS = st.none() | st.booleans() | INTEGERS | st.floats() | st.text(max_size=10)
KEYS = st.text(max_size=6) | st.integers(1 - wire.MAX_KEY, wire.MAX_KEY - 1)
DATA = st.recursive(
    SCALARS | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Equal to the last bit: -0.0 is not 0.0, True not 1, one dtype not another; nan is nan."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.dtype.str == b.dtype.str and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return len(a) == len(b) and all(map(same, a, b)) and all(map(same, a.values(), b.values()))
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
    return bool(a == b)


@fuzz
@given(DATA)
@example([-0.0, float("nan"), float("-inf"), 10**400, -(2**4095), True, 1])
@example({-7: 1, "a": {"": np.zeros((0, 3), order="F")}})
@example(np.arange(6, dtype=">i2").reshape(2, 3, order="F"))
def test_what_is_sent_arrives_to_the_last_bit(value: Any) -> None:
    assert same(wire.decode(wire.encode(value)), value)


def frame(body: Any, sizes: Any = (), tail: bytes = b"") -> bytes:
    """A frame whose prefix is right, whatever its header says."""
    header = json.dumps([body, list(sizes) if isinstance(sizes, tuple) else sizes], separators=(",", ":")).encode()
    return struct.pack("<II", len(header), len(header) + len(tail)) + header + tail


def read(data: bytes) -> Any:
    """What is in a frame; None where it is refused."""
    with contextlib.suppress(wire.WireError):
        return wire.decode(data)
    return None


@fuzz
@given(DATA, st.data())
def test_a_frame_with_flipped_bytes_is_data_or_a_wire_error(value: Any, draw: st.DataObject) -> None:
    mutated = bytearray(wire.encode(value))
    for _ in range(draw.draw(st.integers(1, 4))):
        place = draw.draw(st.integers(0, len(mutated) - 1))
        mutated[place] = draw.draw(st.integers(0, 255) | st.sampled_from(list(b'0123456789"[]{},:-.eENIf')))
    read(bytes(mutated))
    cut = draw.draw(st.integers(0, len(mutated)))
    read(bytes(mutated[:cut]))
    read(struct.pack("<II", *(2 * [max(0, cut - wire.PREFIX_SIZE)])) + bytes(mutated[wire.PREFIX_SIZE : cut]))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | INTEGERS
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["array", "tensor", "dict", "tuple", "list", "handle", "<f8", "|b1", ">c32", "<f16", "bool"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["tag", "of"]) | st.text(max_size=3), inner, max_size=3)
        | st.fixed_dictionaries(
            {
                "tag": st.sampled_from(["array", "tensor", "dict", "tuple", "list", "handle"]) | inner,
                "of": st.lists(inner, max_size=4)
                | st.tuples(
                    st.sampled_from(["<f8", ">i2", "|b1", "<c8", "float32", "bool", "|V8", "<M8"]),
                    st.lists(st.integers(-1, 4) | INTEGERS, max_size=3),
                    st.integers(-1, 3),
                )
                | inner,
            }
        )
    ),
    max_leaves=15,
)


@fuzz
@given(JSON, JSON | st.lists(st.integers(0, 16), max_size=3), st.binary(max_size=32))
@example({"tag": "array", "of": ["|b1", [2], 0]}, [2], b"\x02\xff")
def test_any_header_over_any_body_is_data_or_a_wire_error(body: Any, sizes: Any, tail: bytes) -> None:
    value = read(frame(body, sizes, tail))
    if isinstance(value, np.ndarray) and value.dtype == bool:
        assert set(value.tobytes()) <= {0, 1}


@pytest.mark.parametrize(
    "header",
    [
        b"[" + b"1" * 10**6 + b",[]]",
        b"[Infinity,[NaN]]",
        b"[1e999,[1e999]]",
        b'["' + b"\\ud800" * 1000 + b'",[]]',
        "[null,[]]".encode("utf-16"),
        b"[null,[]]\0",
        b'[{"tag":"list","of":[],"tag":"dict"},[]]',
        b"[" * 10**6,
        b'[{"tag":"dict","of":[[{"tag":"array","of":["<f8",[],0]},1]]},[8]]' + b"\0" * 8,
    ],
    ids=range(9),
)
def test_odd_headers_are_data_or_a_wire_error(header: bytes) -> None:
    read(struct.pack("<II", len(header), len(header)) + header)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (frame({"tag": "list", "of": [{"tag": "array", "of": ["|u1", [9], 0]}] * 2}, [9], bytes(9)), "its bytes"),
        (frame(None, [0] * (wire.REQUEST.items + 1)), "not described"),
        (frame({"tag": "array", "of": ["<f8", [0, 2**20, 2**20], 0]}, [0]), "impossible shape"),
    ],
    ids=["many arrays of the same bytes", "a million empty buffers", "no entries, and a shape that fills the memory"],
)
def test_a_small_frame_stays_small_when_it_is_read(data: bytes, says: str) -> None:
    """Each of these cost the judge gigabytes: at once, or where it sums over an axis of what arrived."""
    with pytest.raises(wire.WireError, match=says):
        wire.decode(data)


@settings(fuzz, max_examples=60)
@given(st.lists(DATA | st.binary(max_size=40), max_size=4), st.lists(st.integers(1, 60), min_size=1), st.binary())
def test_frames_arrive_whole_however_they_are_split(messages: list[Any], pieces: list[int], rest: bytes) -> None:
    """Over a real socket, in pieces of any size, with noise at the end: whole frames, then an error of the channel."""
    frames = [wire.encode(list(value) if isinstance(value, bytes) else value) for value in messages]
    stream = b"".join(frames) + rest
    ours, theirs = socket.socketpair()

    def write() -> None:
        start = 0
        with theirs, contextlib.suppress(OSError):
            for number in range(len(stream)):
                end = start + pieces[number % len(pieces)]
                theirs.sendall(stream[start:end])
                if (start := end) >= len(stream):
                    break

    writer = threading.Thread(target=write)
    writer.start()
    channel = Channel(ours)
    try:
        assert [channel.receive(10.0) for _ in frames] == frames
        assert next(error for _ in rest + b"." if (error := refusal(channel)))
    finally:
        channel.close()
        writer.join()


def refusal(channel: Channel) -> Exception | None:
    """Why there is no other frame; None if there is one."""
    try:
        channel.receive(10.0)
    except (ChannelClosed, wire.WireError) as error:
        return error
    return None


# What is handed in.

MARKS = st.sampled_from(
    [
        *("# %%", "# %% [markdown]", '# %% exercise="f"', '# %% tags=["check"]', "# %%" + "[" * 50, "#%%", " # %%"),
        *("\n", "\r", "\r\n", "\n\r", "\x0c", "\x0b", "\x1c", "\x85", "\u2028", "\0", "\ufeff", "\x1a", "\\\n", "'''"),
        *("x = 1", "def f():", "    pass", "%magic", "!ls", "\t", "é", "\U0001f600", "\x1b[31m"),
    ]
)


@fuzz
@given(st.lists(MARKS | st.text(max_size=6), max_size=30).map("".join))
@example("x = 1\n\x0c\ny = '\u2028# %% no mark'\n# %%\nz = 2\n")
@example("a\r\n# %%\rb\n\r# %% x\r\nc")
def test_a_python_files_cells_are_at_the_lines_that_they_say(tmp_path: Path, text: str) -> None:
    file = tmp_path / "ch07_mlp_backprop.py"
    file.write_bytes(text.encode())
    try:
        submission = read_submission(file)
    except SubmissionError as error:
        assert_one_line(error)
        return
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for cell in submission.cells:
        own = cell.source.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
        assert lines[cell.offset : cell.offset + len(own)] == own
        assert_printable(cell)


ANYTHING = st.recursive(
    st.none() | st.booleans() | INTEGERS | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
SOURCES = st.text(st.characters(), max_size=20) | st.lists(st.text(max_size=5) | ANYTHING, max_size=3) | ANYTHING
CELLS = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.just("code") | ANYTHING,
        "source": SOURCES,
        "metadata": st.fixed_dictionaries(
            {}, optional={"tags": st.lists(st.just("check") | ANYTHING) | ANYTHING, "exercise": ANYTHING}
        )
        | ANYTHING,
    },
)


@fuzz
@given(st.fixed_dictionaries({}, optional={"cells": st.lists(CELLS | ANYTHING, max_size=4) | ANYTHING}) | ANYTHING)
def test_json_of_a_notebooks_shape_is_cells_or_a_submission_error(tmp_path: Path, notebook: Any) -> None:
    assert_read_or_refused(tmp_path, json.dumps(notebook).encode())


@fuzz
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda noise: b'{"cells": [' + noise + b"]}"))
@example(b'{"cells": [1e999, -1e999, NaN, Infinity]}')
@example(b'{"cells": [{"cell_type": "code", "source": "a", "source": "b", "cells": 1, "cells": []}]}')
@example(b'{"cells": ' + b"9" * 100_000 + b"}")
@example(b"\xef\xbb\xbf\xef\xbb\xbf{}")
@example(b'{"cells": ' + b'{"cells": ' * 50_000)
@example(b'{"cells": [{"cell_type": "code", "source": "\\ud800", "metadata": {"exercise": "\\udfff\\u0000"}}]}')
def test_any_bytes_are_cells_or_a_submission_error(tmp_path: Path, data: bytes) -> None:
    assert_read_or_refused(tmp_path, data)


def assert_read_or_refused(folder: Path, data: bytes) -> None:
    for suffix in ("ipynb", "py"):
        file = folder / f"ch07_mlp_backprop.{suffix}"
        file.write_bytes(data)
        try:
            cells = read_submission(file, inside=folder).cells
        except SubmissionError as error:
            assert_one_line(error)
        else:
            for cell in cells:
                assert_printable(cell)
                cell.source.encode()


def assert_one_line(error: Exception) -> None:
    assert str(error).isprintable()
    assert len(str(error)) < 300


def assert_printable(cell: Cell) -> None:
    assert cell.label.isprintable()
    assert len(cell.label) < 100


def test_a_link_to_itself_is_said_in_one_line(tmp_path: Path) -> None:
    """It stopped the grading of the whole class."""
    file = tmp_path / "ch07_mlp_backprop.ipynb"
    file.symlink_to(file.name)
    with pytest.raises(SubmissionError, match="symbolic links"):
        read_submission(file, inside=tmp_path)


# What a worker answers.

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

    The cells are answered as a harmless submission does where `tame`. It hangs up after the last of the list, and when
    nothing is asked: its answer may have been half a frame.
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
def test_the_transport_raises_what_it_says(talk: list[bytes]) -> None:
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
def test_a_failure_is_short_and_printable_whatever_it_says(data: Any) -> None:
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
def test_cells_may_fail_in_any_words(form: str, value: Any) -> None:
    """An answer to a cell that was no dict stopped the grading of its submission with an error of the grader's."""
    answer = FORMS[form](value)
    with served([answer, answer], tame=False) as run:
        run.process.load()
        assert len(run.process.problems) == 2
        assert all(problem.text.isprintable() and len(problem.text) < 600 for problem in run.process.problems)


@settings(fuzz, max_examples=25)
@given(st.lists(TALK, min_size=1, max_size=12))
def test_a_grade_comes_out_whatever_a_worker_says(judged: Judged, talk: list[bytes]) -> None:
    """Through the checks, the diagnosis and the result, where the answers to the cells and the calls are noise."""
    points, text = judged(talk)
    assert points == 0
    assert len(text) < 60_000
    assert text.isprintable()


@pytest.fixture(scope="module")
def judged() -> Iterator[Judged]:
    """Grades the exercise mse_loss of a process that writes what it is given."""
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
