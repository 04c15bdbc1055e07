"""Hand-ins that are hostile before anything of them runs: by their names, their folders and their size."""

from __future__ import annotations

import contextlib
import itertools
import json
import struct
import subprocess
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.answerbook import AnswerBook
from autograder.classroom import claims
from autograder.classroom.class_folder import find_work
from autograder.classroom.class_level import ClassUnclearError
from autograder.classroom.class_record import ClassRecord
from autograder.judging.asking.source_text import SourceText
from autograder.judging.version import grader_version
from autograder.submission import read_submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

LESSON = "ch06_vjps.py"
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = "x = 1\n"
METADATA = """submission_1:
  :submitters:
  - :name: Bob
    :email: bob
submission_2:
  :submitters:
  - :email: mallory
"""

Command = Callable[..., subprocess.CompletedProcess[str]]


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def graded(results: Path) -> dict[str, bool]:
    """Whether each student has points for the one exercise."""
    files = results.glob("students/*/*.json")
    return {file.parent.name: json.loads(file.read_text())["points"] > 0 for file in files}


def line_about(done: subprocess.CompletedProcess[str], what: str) -> str:
    (line,) = [line for line in done.stderr.splitlines() if what in line]
    return line


# A hand-in that claims a classmate's name


EXPORTS = {
    "gradescope": {
        "submission_metadata.yml": METADATA,
        "submission_1/ch06_vjps.py": WRONG,
        "submission_2/ch06_vjps.py": RIGHT,
    },
    "canvas": {"bob_1_2_ch06_vjps.py": WRONG},
    "moodle": {"bob_1_assignsubmission_file_/ch06_vjps.py": WRONG},
    "nbgrader": {"submitted/bob/ch06_vjps.py": WRONG},
    "ours": {"bob/ch06_vjps.py": WRONG, "zoe/ch06_vjps.py": WRONG},
}


@pytest.mark.parametrize("export", EXPORTS)
def test_a_lone_hand_in_that_looks_like_an_export_is_nobody_else_s(tmp_path: Path, export: str) -> None:
    written(tmp_path / "mallory", EXPORTS[export])
    with contextlib.suppress(ClassUnclearError):
        assert {item.student for item in find_work(tmp_path).work} <= {"mallory"}
    assert {item.student for item in find_work(tmp_path, export=False).work} <= {"mallory"}


def test_a_lone_hand_in_rewrites_nobody_s_result(backprop: Command, tmp_path: Path) -> None:
    written(tmp_path / "class", {f"{who}/{LESSON}": RIGHT for who in ("bob", "zoe")})
    assert backprop("grade", "class", "--out", "res").returncode == 0
    written(tmp_path / "late" / "mallory", EXPORTS["gradescope"])
    done = backprop("grade", "late", "--out", "res")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "late: the one folder in it, mallory, may be a platform's export or a student's" in done.stderr
    backprop("grade", "late", "--out", "res", "--no-export")
    assert graded(tmp_path / "res") == {"bob": True, "zoe": True, "mallory": True}
    done = backprop("grade", "late", "--out", "res", "--export")
    assert done.returncode == 1
    assert "its result is that of ../class, and stays: type --replace to grade this" in line_about(done, " bob/")
    assert graded(tmp_path / "res")["bob"], "even where the instructor is mistaken"


def test_a_result_of_another_class_folder_waits_for_replace(backprop: Command, tmp_path: Path) -> None:
    written(tmp_path, {f"class/bob/{LESSON}": RIGHT, f"class/zoe/{LESSON}": RIGHT})
    assert backprop("grade", "class", "--out", "res").returncode == 0
    written(tmp_path, {f"late/bob/{LESSON}": WRONG, f"late/amy/{LESSON}": RIGHT, f"late/zoe/{LESSON}": RIGHT})
    for options in ((), ("--regrade",)):
        done = backprop("grade", "late", "--out", "res", *options)
        assert done.returncode == 1, options
        assert f"bob/{LESSON}: its result is that of ../class, and stays" in line_about(done, "bob/")
        assert "zoe/" not in done.stderr, "the same file is no claim"
        assert graded(tmp_path / "res") == {"amy": True, "bob": True, "zoe": True}, "the rest went on"
    assert "its result is that of" in " ".join(backprop("report", "res").stdout.split())

    done = backprop("grade", "late", "--out", "res", "--replace")
    assert (done.returncode, graded(tmp_path / "res")["bob"]) == (0, False)
    assert "bob/ch06_vjps: the result of ../class is replaced" in line_about(done, "bob/")
    again = backprop("grade", "class", "--out", "res")
    assert (again.returncode, graded(tmp_path / "res")["bob"]) == (0, False), "what was given up does not come back"
    assert "1 hand-in in class was replaced by those of other class folders" in again.stderr
    (tmp_path / "class" / "bob" / LESSON).write_text(RIGHT + "\n")
    changed = backprop("grade", "class", "--out", "res")
    assert (changed.returncode, graded(tmp_path / "res")["bob"]) == (1, False), "but is a claim when it changes"
    assert backprop("grade", "class", "--out", "res", "--replace").returncode == 0
    assert graded(tmp_path / "res")["bob"]


def test_names_that_a_folder_of_results_takes_for_one_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """macOS and Windows know no capitals there: the second of two would overwrite the first."""
    written(tmp_path / "class", {"Bob/ch06_vjps.py": RIGHT, "bob/ch06_vjps.py": WRONG})
    found = find_work(tmp_path / "class")
    assert [item.student for item in found.work] == ["Bob", "bob"]
    monkeypatch.setattr(claims, "_knows_no_capitals", lambda results: True)
    record = ClassRecord(tmp_path / "res")
    claims.set_claims_aside(found, record, tmp_path / "class", tmp_path / "res", replace=False)
    assert [item.student for item in found.work] == ["Bob"]
    assert [row.why for row in found.claimed] == ["the folder of results cannot tell bob from Bob; rename one of them"]


# Hand-ins that take long to read


def long_list(file: Path, entries: int) -> None:
    """A zip that is nothing but a list of entries that are not there."""
    name = b"x"
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", *(20, 3, 20), *[0] * 8, len(name), *[0] * 6) + name
    size = len(entry) * entries
    last = struct.pack("<4sQHHLLQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, 0)
    last += struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1)
    last += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, size, 0xFFFFFFFF, 0)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(entry * entries + last)


def test_a_zip_s_list_is_not_read_whole_before_it_is_measured(tmp_path: Path) -> None:
    """It was, with 39 MiB of the 40 that a zip may have: 850,000 entries before they were counted."""
    long_list(tmp_path / "class" / "mallory" / "a.zip", 800_000)
    written(tmp_path / "class", {f"bob/{LESSON}": RIGHT})
    tracemalloc.start()
    found = find_work(tmp_path / "class", scratch=tmp_path / "scratch")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [item.student for item in found.work] == ["bob"]
    (row,) = found.not_recognised
    assert row.why.startswith("the archive's list has 36 MiB, too much for 500 entries, the limit")
    assert peak < 8 * 2**20
    long_list(tmp_path / "class" / "mallory" / "a.zip", 501)
    assert (
        "501 entries, and 500 are the limit"
        in find_work(tmp_path / "class", scratch=tmp_path / "again").not_recognised[0].why
    )


def a_million_functions() -> str:
    lines = (f"# %%\ndef q{i}\n" if i % 60_000 == 0 else f"def q{i}\n" for i in range(1_000_000))
    return "".join(itertools.islice(lines, 830_000))[: 10 * 2**20]


def test_a_million_names_are_read_in_a_moment(tmp_path: Path) -> None:
    """20 s for each file, before anyone was graded; and 199 s to look for the name that is most like a missing one."""
    (tmp_path / "mallory").mkdir()
    text = a_million_functions()
    for i in range(10):
        (tmp_path / "mallory" / f"q{i}.py").write_text(text)
    written(tmp_path, {f"bob/{LESSON}": RIGHT})
    start = time.process_time()
    found = find_work(tmp_path)
    submission = read_submission(tmp_path / "mallory" / "q0.py")
    source = SourceText(submission, [])
    for exercise in find_lesson("ch06_vjps").exercises:
        assert "there is no function of that name" in source.why_missing(exercise.name)
    assert time.process_time() - start < 60, "it is some seconds, for the 64 MiB that one student may have"
    assert [item.student for item in found.work] == ["bob"]
    told = [row.why for row in found.not_recognised]
    assert sum("more than 64 MiB were handed in, and it was not looked at" in why for why in told) >= 2
    assert sum("does not say which it is" in why for why in told) >= 6


def test_names_of_64_kib_are_not_kept(backprop: Command, tmp_path: Path) -> None:
    """The record had them whole, and so had each report."""
    written(tmp_path, {f"class/bob/{LESSON}": RIGHT, "class/mallory/essay.md": ""})
    with zipfile.ZipFile(tmp_path / "class" / "mallory" / "a.zip", "w") as archive:
        for i in range(30):
            archive.writestr(f"{i}" + "ch06" * 15_000 + ".py", "x")
    assert backprop("grade", "class", "--out", "res").returncode == 3
    assert (tmp_path / "res" / ".hand-ins.json").stat().st_size < 50_000
    rows = ClassRecord(tmp_path / "res").not_recognised
    assert {row.student for row in rows} == {"mallory"}
    assert max(len(row.file) for row in rows) < 500


def test_an_answer_book_that_is_handed_in_is_not_read(backprop: Command, tmp_path: Path) -> None:
    """A learner's copy with a book in which wrong answers are right, and no check rejects anything."""
    slug = LESSON.removesuffix(".py")
    book = AnswerBook(slug, grader_version(slug), {"relu_vjp": []}, right={"relu_vjp": {}})
    file = Path("autograder", "lessons", slug, "answers.book")
    for student, answer in {"ann": RIGHT, "mallory": RIGHT.replace("x > 0", "x >= 0")}.items():
        written(tmp_path / "class" / student, {LESSON: answer})
        for folder in ("", "my-work"):
            at = tmp_path / "class" / student / folder / file
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(book.to_bytes())
    done = backprop("grade", tmp_path / "class", "--out", tmp_path / "results", "--jobs", "1")
    assert "answers.book: no lesson of that name" in done.stderr
    points = {}
    for student in ("ann", "mallory"):
        found = json.loads((tmp_path / "results" / "students" / student / f"{slug}.json").read_text())
        points[student] = next(one for one in found["exercises"] if one["name"] == "relu_vjp")
    assert points["ann"]["points"] == points["ann"]["max_points"]
    assert points["mallory"]["points"] < points["ann"]["points"]
    assert "x > 0" in points["mallory"]["message"]
