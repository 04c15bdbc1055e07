"""The table in SECURITY.md of what each lesson's points depend on matches the syllabus and the checks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.authoring.promises import generated, promised, table
from autograder.authoring.rules.drift import promises_in_step
from autograder.authoring.tree import AuthoringError, Course
from course.syllabus import find_lesson, syllabus

REPOSITORY = Path(__file__).parents[1]


def test_the_table_of_security_md_is_up_to_date() -> None:
    ((file, text),) = generated(Course.at()).items()
    assert file.read_text(encoding="utf-8") == text, "SECURITY.md is old: backprop build"
    assert f"## Instrumented points, lesson by lesson\n\n{table(syllabus())}\n" in text


def test_an_old_row_is_said_and_written_again(tmp_path: Path) -> None:
    """`backprop build --check` used to accept the course while a test called SECURITY.md outdated."""
    lesson = find_lesson("ch03_accumulation")
    course = Course(tmp_path, {lesson.slug: lesson})
    for part in ("autograder/lessons/ch03_accumulation", "solutions", "course"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).symlink_to(REPOSITORY / part)
    file = tmp_path / "SECURITY.md"
    assert promises_in_step(course) == [], "no such file, no question"
    title = "## Instrumented points, lesson by lesson"
    file.write_text(f"Before.\n\n{title}\n\n{table(course.lessons)}\n\nAfter.\n", encoding="utf-8")
    whole = file.read_text(encoding="utf-8")
    assert promises_in_step(course) == []
    other = whole.replace(f"| ch03 | {lesson.points:.1f}", f"| ch03 | {lesson.points + 1:.1f}")
    assert other != whole
    file.write_text(other, encoding="utf-8")
    (problem,) = promises_in_step(course)
    assert str(problem) == (
        "SECURITY.md: its row for ch03_accumulation is old; run `backprop build`, and read what it changes"
    )
    assert generated(course) == {file: whole}
    file.write_text(whole.replace(title, "## Points"), encoding="utf-8")
    with pytest.raises(AuthoringError, match=r"SECURITY\.md: there is no table below"):
        generated(course)


def test_security_md_names_the_exercises_with_instrumented_checks() -> None:
    promises: dict[str, set[bool]] = {}
    for file in (REPOSITORY / "autograder" / "lessons").glob("*/checks/*.py"):
        for marked in re.findall(r"^@exercise\((.*)\)$", file.read_text(encoding="utf-8"), re.MULTILINE):
            for name in re.findall(r'(?<!=)"([^"]+)"', marked):
                promises.setdefault(name, set()).add("instrumented" in marked)
    text = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
    listed = text[text.index("**Instrumented checks**") : text.index("**Hidden inputs")]
    assert set(re.findall(r"`([\w.]+)`", listed)) == {name for name, kinds in promises.items() if True in kinds}
    assert not [name for name, kinds in promises.items() if kinds == {True}]


@pytest.mark.parametrize(("slug", "instrumented"), [("ch06_vjps", False), ("ch08_custom_functions", True)])
def test_the_parts_make_a_whole(slug: str, instrumented: bool) -> None:
    """ch06's technique is checked by values, ch08's by instruments."""
    lesson = find_lesson(slug)
    technique = sum(exercise.points for exercise in lesson.exercises if exercise.technique) if instrumented else 0
    found = promised(lesson)
    assert found.points == pytest.approx(lesson.points)
    assert found.technique == technique
    assert (found.instrumented > 0) is instrumented
