"""TOML that we write is read back unchanged, for any name of a course or folder."""

from __future__ import annotations

import datetime
import math
import os
import random
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command

from autograder.authoring.lesson_skeleton import new_course, new_lesson
from autograder.authoring.own_release import lead_to, released_syllabus
from autograder.authoring.tree import Course
from autograder.toml_text import toml_table, toml_value
from autograder.workbook import leads_back
from course.own import FILE, course_named, title_of
from course.syllabus import SyllabusError, read_syllabus

HOSTILE = {
    "quotes": 'Say "no", \'no\' or """no"""',
    "a new line": "first\nsecond\r\nthird",
    "backslashes": "C:\\new\\u0041\\",
    "a comment": "C# # no comment",
    "a table": 'x"\n[[lesson]]\nslug = "ch02_y',
    "what is not seen": "".join(map(chr, [*range(32), 127, 128, 0x85, 0x200B, 0x2028, 0x202E, 0xFEFF, 0xFFFF])),
    "beyond 16 bits": "😀 𝔸 \U0010ffff",
    "nothing": "",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_text_is_read_as_it_was(case: str) -> None:
    text = HOSTILE[case]
    assert tomllib.loads(f"x = {toml_value(text)}") == {"x": text}
    assert tomllib.loads(toml_table({text: {text: [text, 1]}})) == {text: {text: [text, 1]}}


def test_all_characters_are_read_as_they_were() -> None:
    every = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]
    random.Random(0).shuffle(every)
    text = "".join(every)
    assert tomllib.loads(f"x = {toml_value(text)}")["x"] == text
    with pytest.raises(UnicodeError, match=r"'a\\udcff' is no UTF-8"):
        toml_value("a\udcff")


@pytest.mark.parametrize(
    "value", [1, -2.5, 1e300, math.inf, True, False, [], {}, [[1], ["a"]], datetime.date(2027, 1, 2),
              datetime.datetime(2027, 1, 2, 3, 4, tzinfo=datetime.UTC), datetime.time(1, 2)]
)  # fmt: skip
def test_other_values_are_read_as_they_were(value: Any) -> None:
    found = tomllib.loads(f"x = {toml_value(value)}")["x"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_released_course_says_what_the_course_says(case: str) -> None:
    text = HOSTILE[case]
    exercise = {"name": text, "points": 2.5, "hints": [text], "weights": {text: 2}, "why": text}
    raw = {
        "title": text,
        "extends": "backprop",
        "without": [f"ch01/{text}"],
        "change": {f"ch01/{text}": {"points": 3, "weights": {text: 1}}},
        "forbidden": {text: [text]},
        "lesson": [{"slug": "ch20_x", "title": text, "part": text, "exercise": [exercise]}],
    }
    found = tomllib.loads(released_syllabus(raw, {"ch20_x"}, {f"ch01/{text}"}))
    assert exercise.pop("why") == text
    assert found == raw


@pytest.mark.parametrize("case", [case for case in HOSTILE if case != "nothing"])
def test_what_a_course_is_called_is_what_was_typed(case: str, tmp_path: Path) -> None:
    """The name is on one line, because headings and tables contain it."""
    text = HOSTILE[case]
    course = new_course(tmp_path / "mine", "ch01_powers", "cube", title=text, part=text)
    assert title_of(course.root) == " ".join(text.split())
    new_lesson(course, "ch02_roots", "root", title=text, part=text)
    lesson = read_syllabus(course.syllabus)["ch02_roots"]
    assert lesson.title == lesson.part == " ".join(text.split())
    first, _, second, *_ = course.source("ch02_roots").read_text(encoding="utf-8").split("\n")[1:]
    assert (first, second[:10]) == (f"# # {lesson.title}", "# WRITE ME")
    course.syllabus.write_text(toml_table({"title": text}), encoding="utf-8")
    assert title_of(course.root) == " ".join(text.split())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
@pytest.mark.parametrize("name", ["😀", 'say "no"', "back\\slash", "new\nline", "\x7f\t", "#"])
def test_a_folder_of_any_name_is_found(name: str, tmp_path: Path) -> None:
    course = new_course(tmp_path / name / "course", "ch01_powers", "cube")
    work = tmp_path / "work"
    work.mkdir()
    (work / FILE).write_text(leads_back(work, course.root), encoding="utf-8")
    assert course_named(str(work)) == course.root
    (work / FILE).unlink()
    lead_to(work, f"../{name}/course")
    assert course_named(str(work)) == course.root
    assert title_of(new_course(tmp_path / name / name, "ch01_powers", "cube").root)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_bytes_that_are_no_text_are_one_line(tmp_path: Path, backprop: Command) -> None:
    own = shutil.copytree(ROOT / "examples" / "linear_algebra", tmp_path / os.fsdecode(b"\xff") / "own")
    before = set(tmp_path.iterdir())
    begun = backprop("new", "course", "mine", "ch01_powers/cube", "--title", os.fsdecode(b"bad \xff"))
    assert set(tmp_path.iterdir()) == before
    started = backprop("start", "work", "--course", own)
    for done, says in ((begun, "type that title or part again"), (started, "give that folder another name")):
        assert done.returncode in (1, 2)
        assert done.stderr.count("\n") == 1, done.stderr
        assert "no UTF-8" in done.stderr
        assert says in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('title = "Powers"', "title = 3", "lesson ch01_powers: title must be text, and is 3"),
        ('part = "Powers"', 'part = " "', "lesson ch01_powers: part must be text, and is ' '"),
        ("points = 2", "points = inf", "ch01_powers/cube: points must be a number, and is inf"),
    ],
)
def test_what_is_no_name_and_no_number_is_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    course: Course = new_course(tmp_path / "mine", "ch01_powers", "cube", title="Mine")
    text = course.syllabus.read_text(encoding="utf-8")
    assert old in text
    course.syllabus.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(SyllabusError, match=r"mine/backprop-course\.toml: ") as error:
        Course.at(course.root)
    assert says in str(error.value)
