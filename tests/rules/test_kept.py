"""`make health` skips what was judged well and is the same, and nothing else."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from rule_course import WRONG, change, file_in
from typer.testing import CliRunner

from autograder.authoring.rules import JUDGED, WITH_NBGRADER, JudgedWell
from autograder.authoring.rules import kept as keeping
from autograder.authoring.tree import Course
from autograder.commands import app
from autograder.places import ROOT

RULE = JUDGED[0]
OURS = Course.at()


@pytest.fixture
def kept(tmp_path: Path) -> JudgedWell:
    return JudgedWell(tmp_path / "judged_well.json")


@pytest.mark.parametrize("kind", ["source", "notebook", "checks", "mistakes", "oracles", "rejections"])
def test_a_lesson_whose_files_changed_is_judged_again(whole: Course, kept: JudgedWell, kind: str) -> None:
    one, other = whole.part("ch01_double"), whole.part("ch02_square")
    for course in (one, other):
        assert not kept.has(RULE, course)
        kept.add(RULE, course)
        assert kept.has(RULE, course)
    file = file_in(whole, kind)
    before = file.read_bytes()
    file.write_bytes(before + b"\n")
    assert not kept.has(RULE, one)
    assert kept.has(RULE, other)
    assert not kept.has(RULE, whole)
    file.write_bytes(before)
    assert kept.has(RULE, one)
    (file.parent / "one_more.py").write_text("")
    assert kept.has(RULE, one) is (kind in ("source", "notebook"))  # these are in folders of all lessons
    assert not kept.has(RULE, whole.part("ch01_double", "double"))
    assert not kept.has(JUDGED[1], one)


@pytest.mark.parametrize(
    "name",
    [
        "autograder/authoring/rules/in_class.py",
        "autograder/authoring/rules/kept.py",
        "autograder/authoring/local.py",
        "autograder/judging/scoring.py",
        "autograder/judging/pytest.ini",
        "autograder/diagnosis/__init__.py",
        "autograder/worker/calls.py",
        "autograder/collection.py",
        "autograder/lessons/ch06_vjps/mistakes/relu_vjp.py",
        "autograder/lessons/ch06_vjps/contract.toml",
        "solutions/ch06_vjps.py",
        "exercises/ch06_vjps.ipynb",
        "course/syllabus.py",
    ],
)
def test_what_rules_are_made_of_has_them_run_again(
    kept: JudgedWell, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ch02 draws on the mistakes and solutions of ch06."""
    lesson = OURS.part("ch02_chain_rule" if "ch06" in name and "exercises" not in name else "ch06_vjps")
    file = ROOT / name
    assert not kept.has(RULE, lesson)
    kept.add(RULE, lesson)
    read = keeping.content
    monkeypatch.setattr(keeping, "content", lambda one: read(one) + b"\n" * (one == file))
    assert kept.has(RULE, lesson) is name.endswith("contract.toml")  # ch02 does not read it
    assert not kept.has(RULE, OURS.part("ch06_vjps"))


def test_other_packages_or_the_sample_class_are_noticed(kept: JudgedWell, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = OURS.part("ch01_computation_graph")
    version, of_the_class = keeping.version_of(RULE, lesson), keeping.version_of(WITH_NBGRADER[0], OURS)
    file = next((ROOT / "autograder" / "sample_class").rglob("*.ipynb"))
    read = keeping.content
    monkeypatch.setattr(keeping, "content", lambda one: read(one) + b"\n" * (one == file))
    assert keeping.version_of(RULE, lesson) == version
    assert keeping.version_of(WITH_NBGRADER[0], OURS) != of_the_class
    monkeypatch.setattr(keeping, "installed", lambda: "another Python")
    assert keeping.version_of(RULE, lesson) != version


def test_an_entry_counts_for_some_days(whole: Course, kept: JudgedWell, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules draw other salts then."""
    kept.has(RULE, whole)
    kept.add(RULE, whole)
    today = date.today()
    for days, counts in [(keeping.DAYS - 1, True), (keeping.DAYS, False), (-2, False)]:
        monkeypatch.setattr(keeping, "_today", lambda days=days: today + timedelta(days=days))
        assert kept.has(RULE, whole) is counts


def test_what_changes_while_it_is_judged_is_not_noted(whole: Course, kept: JudgedWell) -> None:
    kept.has(RULE, whole)
    file = file_in(whole, "checks")
    before = file.read_bytes()
    file.write_bytes(before + b"\n")
    kept.add(RULE, whole)
    assert not kept.has(RULE, whole)
    file.write_bytes(before)
    assert not kept.has(RULE, whole)


@pytest.mark.parametrize("content", ["", "[]", '{"judged_well: ch01_double": 3}', "\0"])
def test_a_file_that_is_not_ours_says_nothing(whole: Course, tmp_path: Path, content: str) -> None:
    (tmp_path / "judged_well.json").write_text(content)
    assert not JudgedWell(tmp_path / "judged_well.json").has(RULE, whole.part("ch01_double"))


def test_a_file_that_a_rule_reads_and_no_hash_covers_is_named(whole: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    keeping.watch_files()
    for chapter in (whole.chapter("ch01_double"), whole.notebook("ch02_square")):

        def reads(course: Course, file: Path = chapter) -> list[Any]:
            file.read_text()
            return []

        (problem,) = keeping.watched(reads, whole.part("ch01_double"))
        assert str(problem).startswith(f"{whole.relative(chapter)}: reads reads it, and no hash covers it; let ")
    assert keeping.watched(lambda course: [], whole) == []


@pytest.mark.slow
def test_health_judges_again_what_changed(whole: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real rules. Without the option everything is judged, and nothing is noted."""
    monkeypatch.setattr(Course, "at", lambda *_: whole)
    file = tmp_path / ".cache" / "health.json"

    def said(*option: str) -> list[str]:
        return CliRunner().invoke(app, ["build", "--check", "ch01/double", *option]).output.splitlines()

    judged = "{} of 4 rules and lessons were judged before, and have not changed since.".format
    right = "ch01/double: nothing is wrong."
    assert said("--judged-well", str(file)) == [judged(0), right]
    assert said("--judged-well", str(file)) == [judged(4), right]
    mistakes = whole.mistakes("ch01_double") / "double.py"
    change(mistakes, "2 * x + 1", "x + x")
    CliRunner().invoke(app, ["build"])
    first, accepted, *_ = said("--judged-well", str(file))
    assert first == judged(0)
    assert accepted.startswith(f"{WRONG}: the checks accept it: double: one_more")
    change(mistakes, "x + x", "2 * x + 1")
    CliRunner().invoke(app, ["build"])
    assert said("--judged-well", str(file)) == [judged(1), right]  # the others found nothing in the text between
