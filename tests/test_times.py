"""Times of lessons and sections: counted by a rule, recorded, and refused if somebody writes others."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.learning.order import about_minutes
from course.syllabus import Environment, Exercise, Lesson, SyllabusError, read_syllabus, syllabus
from course.times import MINUTES_A_POINT, TextTimes, as_toml, in_hours, lesson_minutes, read_times

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
nodes = pytest.importorskip("docutils.nodes", reason="the book needs the extra `book`")
pytest.importorskip("sphinx", reason="the book needs the extra `book`")
sittings, text_minutes = map(importlib.import_module, ("sittings", "text_minutes"))

ENVIRONMENT = Environment((), ())
WORDS = "word " * 200


def exercise(name: str, points: float = 2) -> Exercise:
    return Exercise("ch01_a", name, points, "core", (), ENVIRONMENT)


def lesson(*exercises: Exercise) -> Lesson:
    return Lesson("ch01_a", "A", "The start", 60, ENVIRONMENT, exercises)


def section(title: str, *children: Any, label: str = "") -> Any:
    return nodes.section("", nodes.title("", title), *children, ids=[label or title.lower()])


def prose(minutes: int) -> Any:
    return nodes.paragraph("", WORDS * minutes)


def parts(*sections: Any) -> list[Any]:
    return list(text_minutes.parts_of(nodes.container("", *sections)))


def words(line: Any) -> str:
    return "".join(str(one) for one in line.findall(nodes.Text))


def test_what_a_reader_sees_is_counted() -> None:
    shown = nodes.container("", nodes.literal_block("", "a = 1\n\nb = 2\n"), classes=["cell_input"])
    hidden = nodes.container("", nodes.container("", nodes.literal_block("", "a\n" * 99), classes=["cell_input"]))
    hidden["classes"] = ["cell", "tag_hide-input"]
    quiz = nodes.container("", nodes.paragraph("", WORDS * 9), classes=["quiz"])
    closed = nodes.container("", prose(9), design_component="dropdown")
    resolved = text_minutes.dropdown_main("", prose(9), opened=False)
    assert text_minutes.seconds(resolved) == 0, "as sphinx-design leaves it for the writer"
    counts = {
        prose(2): 120,
        nodes.paragraph("", "", nodes.math("", "x^2")): 3,
        nodes.math_block("", "x = y"): 30,
        shown: 2 * 3,
        nodes.literal_block("", "1\n2", classes=["output"]): 2,
        hidden: 0,
        nodes.image(): 30,
        quiz: 60,
        closed: 0,
    }
    assert {repr(node)[:60]: text_minutes.seconds(node) for node in counts} == {
        repr(node)[:60]: seconds for node, seconds in counts.items()
    }
    asked = parts(section(text_minutes.INTERVIEW, closed.deepcopy(), closed.deepcopy()))
    assert asked[0].text == pytest.approx(4 + 2 / 200)


def test_words_are_those_that_everyone_reads() -> None:
    code, formula = nodes.literal_block("", WORDS), nodes.math("", "x + y")
    quiz = nodes.container("", prose(1), classes=["quiz"])
    closed = nodes.container("", prose(1), design_component="dropdown")
    figure = nodes.figure("", nodes.image(), nodes.caption("", "below a picture"))
    first, second = parts(section("two words", prose(1), code, quiz, closed, figure), section("one", prose(1), formula))
    assert (first.words, second.words) == (2 + 200 + 3, 1 + 200)


def test_a_chapter_has_few_words() -> None:
    most = sittings.MOST_WORDS
    assert sittings.too_many(most) == ""
    assert sittings.too_many(most + 1).startswith("3,501 words are read by everyone, at most 3,500 may be")


def test_a_box_that_goes_deeper_says_its_minutes() -> None:
    deeper, other = (
        text_minutes.dropdown_main("", text_minutes.dropdown_title("", title), prose(3), opened=False)
        for title in ("Going deeper: pullbacks", "All rules")
    )
    ((title, minutes),) = text_minutes.folded(nodes.section("", deeper, other), sittings.DEEPER)
    assert (title.astext(), minutes) == ("Going deeper: pullbacks", 3)


def test_the_rule_is_the_one_that_reviewing_prints() -> None:
    text = (ROOT / "book" / "REVIEWING.md").read_text(encoding="utf-8")
    flowing = " ".join(text.split())
    rows = dict(re.findall(r"^\| ([a-z0-9 ]+) \| ([\d.]+ \w+) \|$", text, re.MULTILINE))
    expected = {f"{text_minutes.WORDS_A_MINUTE} words": "60 s", "one point of an exercise": f"{MINUTES_A_POINT} min"}
    assert rows == expected | {what: f"{seconds} s" for what, seconds in text_minutes.SECONDS.items()}
    assert f"than {sittings.TOLERATED[0]} minutes and {100 * sittings.TOLERATED[1]:.0f} %" in flowing
    assert f"A sitting above {sittings.MOST} minutes" in flowing
    assert f"takes more than {sittings.LONG_EXERCISE} of them" in flowing


def test_sittings_end_between_sections_and_keep_exercises_with_theirs() -> None:
    it = lesson(exercise("one"), exercise("two"))
    below = [
        section("First", prose(10), label="ch01-one"),
        section("Second", prose(12), label="ch01-two"),
        section("Third", prose(9)),
    ]
    found = parts(section("Chapter", section("Rules", *below), section("End", prose(14))))
    sittings.give_exercises(found, it)
    divided = sittings.divided(found, it)
    titles = [[part.section[0].astext() for part in sitting] for sitting in divided]
    assert titles == [["Chapter", "Rules", "First"], ["Second"], ["Third", "End"]]
    assert [round(sum(sittings.minutes_of(part, it) for part in sitting)) for sitting in divided] == [17, 19, 23]
    assert all(sittings.too_long(sitting, it) == "" for sitting in divided)


def test_a_sitting_over_thirty_minutes_is_refused() -> None:
    it = lesson(exercise("one", 3), exercise("long", 8))
    for label, refused in (("ch01-one", True), ("ch01-long", False), ("ch01-none", True)):
        found = parts(section("Endless", prose(31), label=label))
        sittings.give_exercises(found, it)
        told = sittings.too_long(found, it)
        assert told.startswith("the section 'Endless' takes") is refused, label


def test_the_build_refuses_times_by_hand_and_old_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(sittings.WRITE, raising=False)
    page = tmp_path / "ch01_a.md"
    page.write_text("# A\n\n*Reading time: about 40 minutes.*\n", encoding="utf-8")
    told: list[str] = []
    monkeypatch.setattr(sittings.logger, "warning", lambda text, *parts, **_: told.append(text % parts))
    it = replace(lesson(exercise("one")), times=TextTimes(14, {"ch01-one": 14}))
    monkeypatch.setattr(sittings, "syllabus", lambda: {"ch01_a": it})
    monkeypatch.setattr(sittings, "MOST_WORDS", 9_000)
    env = SimpleNamespace(doc2path=lambda name: str(page), metadata={"ch01_a": {}})
    app = SimpleNamespace(env=env, builder=SimpleNamespace(format="html"))

    def build(minutes: int) -> list[str]:
        told.clear()
        sittings.say_times(app, nodes.container("", section("A", prose(minutes), label="ch01-one")), "ch01_a")
        return list(told)

    by_hand = "times are computed; leave out: *Reading time: about 40 minutes.*"
    assert build(15) == [by_hand]
    page.write_text("# A\n", encoding="utf-8")
    assert build(15) == []
    assert build(18) == ["course/times.toml says 14 minutes for the text, which takes 18: run `make times`"]
    assert build(40)[1].startswith("the section 'A' takes 47 minutes")
    monkeypatch.setattr(sittings, "MOST_WORDS", 3_000)
    assert build(15) == ["3,001 words are read by everyone, at most 3,000 may be: cut, or fold what only some need"]


def test_a_page_says_its_times() -> None:
    it = lesson(exercise("one", 8), exercise("two"))
    chapter = section(
        "Chapter", section("First", prose(20), label="ch01-one"), section("Second", prose(20), label="ch01-two")
    )
    found = parts(chapter)
    sittings.give_exercises(found, it)
    sittings._add_lines(found, sittings.divided(found, it), it)
    first, second = chapter.children[2:]
    assert words(chapter[1]) == "About 40 minutes to read, 1 h with all exercises; in 2 sittings of about 25 minutes."
    assert words(first[1]) == "About 48 minutes, 28 of them for one: more than one sitting"
    assert words(second[1]) == "About 27 minutes, 7 of them for two"
    assert words(first[-1]) == (
        "A good place to stop: sitting 1 of 2 ends here. About 48 minutes so far, 27 minutes to go."
    )


def test_a_lessons_minutes_are_its_text_and_its_exercises() -> None:
    for it in syllabus().values():
        assert it.times is not None
        assert it.minutes == lesson_minutes(it.times.text, it.points)
        for one in it.exercises:
            assert abs(about_minutes(one, it) - it.times.sections[one.anchor] - MINUTES_A_POINT * one.points) <= 2.5


def test_a_lesson_of_ours_has_no_minutes_by_hand(tmp_path: Path) -> None:
    entry = '[[lesson]]\nslug = "{}"\ntitle = "A"\npart = "B"\nminutes = 40\npackages = []\nmodules = []\n{}'
    item = '[[lesson.exercise]]\nname = "f"\npoints = 2\ntier = "core"\nhints = []\n'
    file = tmp_path / "syllabus.toml"
    file.write_text(entry.format("ch06_vjps", item), encoding="utf-8")
    with pytest.raises(SyllabusError, match=r"ch06_vjps: minutes is computed from its chapter \(course/times.toml\)"):
        read_syllabus(file)
    file.write_text(entry.format("ch99_new", item), encoding="utf-8")
    assert read_syllabus(file)["ch99_new"].minutes == 40, "until its times are recorded"


def test_the_record_is_read_as_written(tmp_path: Path) -> None:
    times = {"ch01_a": TextTimes(40, {"ch01-one": 3}), "ch02_b": TextTimes(7, {})}
    file = tmp_path / "times.toml"
    assert read_times(file) == {}
    file.write_text(as_toml(times), encoding="utf-8")
    assert read_times(file) == times
    assert [in_hours(minutes) for minutes in (1, 25, 60, 61.2)] == ["1 minute", "25 minutes", "1 h", "1 h 01 min"]
