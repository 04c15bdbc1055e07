"""What the points of each lesson hang on: the table of SECURITY.md is what the syllabus and the checks give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.authoring.promises import promised, table
from course.syllabus import find_lesson

REPOSITORY = Path(__file__).parents[1]


def test_the_table_of_security_md_is_up_to_date() -> None:
    security = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
    up_to_date = f"## Instrumented points, lesson by lesson\n\n{table()}\n" in security
    assert up_to_date, "SECURITY.md: put in what `python -P -m autograder.authoring.promises` prints"


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


@pytest.mark.parametrize(("slug", "technique"), [("ch06_vjps", 0), ("ch08_custom_functions", 14)])
def test_the_parts_make_a_whole(slug: str, technique: int) -> None:
    """The technique of ch06 is looked for by value, that of ch08 beside the submission."""
    lesson = find_lesson(slug)
    found = promised(lesson)
    assert found.points == pytest.approx(lesson.points)
    assert found.technique == technique
    assert (found.instrumented > 0) is (slug == "ch08_custom_functions")
