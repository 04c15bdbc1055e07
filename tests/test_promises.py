"""What the points of each lesson hang on: the table of SECURITY.md is what the syllabus and the checks give."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.promises import promised, table
from course.syllabus import find_lesson


def test_the_table_of_security_md_is_up_to_date() -> None:
    security = (Path(__file__).parents[1] / "SECURITY.md").read_text(encoding="utf-8")
    assert f"## Instrumented points, lesson by lesson\n\n{table()}\n" in security


@pytest.mark.parametrize("slug", ["ch06_vjps", "ch08_custom_functions"])
def test_the_parts_make_a_whole(slug: str) -> None:
    lesson = find_lesson(slug)
    found = promised(lesson)
    assert found.points == pytest.approx(lesson.points)
    assert found.technique == sum(exercise.points for exercise in lesson.exercises if exercise.technique)
    assert (found.instrumented > 0) is (slug == "ch08_custom_functions")
