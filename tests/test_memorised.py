"""A student who recorded all answers under the public salt hands them in to a class with its own salt."""

from __future__ import annotations

import base64
import json
import lzma
import math
import pickle
import shutil
import subprocess
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.stubs import notebook_text, solved_notebook
from autograder.collection import with_judge
from autograder.judging.session import Judge
from autograder.places import ROOT
from autograder.workbook import as_python
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]
LESSONS = ("ch02_chain_rule", "ch04_detachment", "ch06_vjps")

LOOKING = '''
import base64, hashlib, inspect, lzma, pickle

import numpy


def plain(value):
    """A value without what does not outlive a call: graphs, functions, classes of arrays."""
    if inspect.isfunction(value):
        return None
    if isinstance(value, numpy.ndarray):
        return numpy.asarray(value)
    if hasattr(value, "detach"):
        return value.detach()
    if isinstance(value, (tuple, list)):
        return type(value)(plain(one) for one in value)
    return value


def looks(value, exactly):
    """What a question looks like, with its numbers or without."""
    if isinstance(value, (tuple, list)):
        return [looks(one, exactly) for one in value]
    if isinstance(value, dict):
        return [(str(key), looks(one, exactly)) for key, one in sorted(value.items(), key=str)]
    shape = getattr(value, "shape", None)
    if shape is not None and hasattr(type(value), "tolist"):
        numbers = plain(value)
        return [type(value).__name__, str(value.dtype), tuple(shape), numbers.tolist() if exactly else 0]
    if isinstance(value, (int, float, str, bool, type(None))):
        return [type(value).__name__, value if exactly or isinstance(value, str) else 0]
    return type(value).__name__


def key(args, kwargs, exactly):
    return hashlib.sha256(repr(looks([args, kwargs], exactly)).encode()).digest()
'''
"""Source shared by recording and replaying."""

RECORDING = """
EXACT, ALIKE = {}, {}


def small(value):
    \"\"\"An answer with thousands of float64 as float32, which is near enough, and half as large.\"\"\"
    if isinstance(value, (tuple, list)):
        return type(value)(small(one) for one in value)
    large = str(getattr(value, "dtype", "")) == "float64" and value.size > 5_000
    return ("float64", value.astype("float32")) if large else value


def recorded(name, function):
    def call(*args, **kwargs):
        exactly, alike = (name, key(args, kwargs, True)), (name, key(args, kwargs, False))
        value = function(*args, **kwargs)
        answer = small(plain(value))
        EXACT[exactly] = answer
        ALIKE.setdefault(alike, []).append(answer)
        return value
    return call


for name, value in list(globals().items()):
    if name in EXERCISES and inspect.isfunction(value):
        globals()[name] = recorded(name, value)
"""

MOST_IN_A_CELL = 1_000_000
"""Most characters of a cell that is accepted."""

REMEMBERING = """
EXACT, ALIKE = pickle.loads(lzma.decompress(base64.b64decode(TABLE)))


def whole(value):
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return value[1].astype(value[0])
    return type(value)(whole(one) for one in value) if isinstance(value, (tuple, list)) else value


def remembered(name):
    def call(*args, **kwargs):
        exactly, alike = (name, key(args, kwargs, True)), (name, key(args, kwargs, False))
        if exactly in EXACT:
            return whole(EXACT[exactly])
        answers = ALIKE[alike]
        return whole(answers.pop(0) if len(answers) > 1 else answers[0])
    return call


for name in EXERCISES:
    if name.isidentifier():
        globals()[name] = remembered(name)
"""


def memoriser(slug: str) -> str:
    """A submission that looks answers up by the question, or else by the next one that looked alike."""
    lesson = find_lesson(slug)
    exercises = f"EXERCISES = {[exercise.name for exercise in lesson.exercises]}\n"
    source = (ROOT / "solutions" / f"{slug}.py").read_text(encoding="utf-8")

    def table(judge: Judge) -> bytes:
        run = judge.reference.local_text(f"{source}\n{LOOKING}{exercises}{RECORDING}")
        for exercise in lesson.exercises:
            assert all(record.passed for record in judge.observe(judge.items_of(exercise.name), run))
        return base64.b64encode(lzma.compress(pickle.dumps((run.module.EXACT, run.module.ALIKE))))

    known = with_judge(lesson, table)
    parts = [known[at : at + MOST_IN_A_CELL] for at in range(0, len(known), MOST_IN_A_CELL)]
    cells = [f"TABLE += {part!r}\n" for part in parts]
    return "\n# %%\n".join([f"{LOOKING}{exercises}TABLE = b''", *cells, REMEMBERING])


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of two students: one solved the exercises, the other recorded answers."""
    folder = tmp_path_factory.mktemp("class")
    for slug in LESSONS:
        honest = as_python(notebook_text(solved_notebook(find_lesson(slug))))
        for student, text in {"understood": honest, "written-down": memoriser(slug)}.items():
            (folder / student).mkdir(exist_ok=True)
            (folder / student / f"{slug}.py").write_text(text, encoding="utf-8")
    return folder


def exercises(out: Path, student: str) -> dict[str, dict[str, Any]]:
    """A student's exercises of all lessons, by name."""
    results = [json.loads(file.read_text()) for file in (out / "students" / student).glob("*.json")]
    assert all(result["status"] == "graded" for result in results), [result["message"] for result in results]
    return {exercise["name"]: exercise for result in results for exercise in result["exercises"]}


def passed(exercise: dict[str, Any], *, visible: bool) -> list[str]:
    return [check["name"] for check in exercise["checks"] if check["passed"] and check["visible"] is visible]


def test_memorised_answers_earn_a_third_with_another_salt(handed_in: Path, backprop: Command, tmp_path: Path) -> None:
    done = backprop("grade", handed_in, "--out", tmp_path / "out", "--salt", "the class's own")
    assert done.returncode == 0, done.stderr
    by_heart, understood = (exercises(tmp_path / "out", student) for student in ("written-down", "understood"))
    assert len(by_heart) == len(understood) == sum(len(find_lesson(slug).exercises) for slug in LESSONS)
    for name, exercise in by_heart.items():
        assert passed(exercise, visible=False) == [], name
        assert exercise["points"] <= round(exercise["max_points"] / 3, 2), name
    for name, exercise in understood.items():
        assert exercise["points"] == exercise["max_points"], (name, exercise["message"])


def test_memorised_answers_earn_everything_with_the_recorded_salt(
    handed_in: Path, backprop: Command, tmp_path: Path
) -> None:
    known = tmp_path / "class" / "written-down"
    known.mkdir(parents=True)
    for slug in ("ch02_chain_rule", "ch06_vjps"):
        shutil.copy(handed_in / "written-down" / f"{slug}.py", known)
    done = backprop("grade", known.parent, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = exercises(tmp_path / "out", "written-down")
    whole = {name for name, exercise in found.items() if exercise["points"] == exercise["max_points"]}
    assert whole >= {exercise.name for exercise in find_lesson("ch06_vjps").exercises}
    assert whole >= {"cheaper_mode", "jacobian_cost"}


TABLES = """
import base64, zlib
from array import array

FIRST, BEST, PEAKS = (array("i", zlib.decompress(base64.b64decode(text))) for text in @TABLES@)


def peak_activations(n_layers, segments):
    return PEAKS[FIRST[n_layers] + segments]


def best_segments(n_layers):
    return BEST[n_layers]
"""
ENTRIES = 100_000
"""Size of a table, about what fits into a notebook of a megabyte."""


def tables() -> str:
    """A submission for ch11 that looks up all answers on the smallest stacks, and computes none."""
    most = math.isqrt(2 * ENTRIES)
    first = [n * (n - 1) // 2 - 1 for n in range(1, most)]
    columns = (
        [0, *first],
        [0, *(max(1, round(math.sqrt(n))) for n in range(1, ENTRIES))],
        [segments + -(-n // segments) for n in range(1, most) for segments in range(1, n + 1)],
    )
    packed = [base64.b64encode(zlib.compress(array("i", column).tobytes())).decode() for column in columns]
    return TABLES.replace("@TABLES@", repr(packed))


def test_tables_of_small_stacks_earn_a_third(backprop: Command, tmp_path: Path) -> None:
    file = tmp_path / "class" / "written-down" / "ch11_checkpointing.py"
    file.parent.mkdir(parents=True)
    file.write_text(tables(), encoding="utf-8")
    done = backprop("grade", tmp_path / "class", "--out", tmp_path / "out", "--salt", "the class's own")
    assert done.returncode == 0, done.stderr
    found = exercises(tmp_path / "out", "written-down")
    for name in ("peak_activations", "best_segments"):
        assert passed(found[name], visible=False) == [], name
        assert found[name]["points"] <= round(found[name]["max_points"] / 3, 2), name
