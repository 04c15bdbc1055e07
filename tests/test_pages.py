"""What the chapters share: numbers in words, tables, and what the syllabus says."""

from __future__ import annotations

import pytest

from course import pages
from course.syllabus import find_lesson, syllabus


@pytest.mark.parametrize(
    ("n_bytes", "words"),
    [(0, "0 B"), (999, "999 B"), (2_410_000, "2.41 MB"), (999_700_000, "1,000 MB"), (4e12, "4 TB")],
)
def test_bytes_in_words(n_bytes: float, words: str) -> None:
    assert pages.size(n_bytes) == words


def test_numbers_in_words() -> None:
    assert [pages.number(value) for value in (-24.0, -0.0, 1 / 3)] == ["−24", "0", "0.3333"]
    assert pages.power_of_ten(0.000023) == "2.3\u00a0×\u00a010⁻⁵"


def test_a_table_is_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(pages, "display", lambda markdown: shown.append(markdown.data))
    pages.table(["name", "n"], [["a", 1]])
    assert shown == ["| name | n |\n| :-- | --: |\n| a | 1 |"]


@pytest.mark.parametrize("slug", syllabus())
def test_each_exercise_is_in_its_table(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(pages, "display", lambda markdown: shown.append(markdown.data))
    pages.exercise_table(slug)
    for exercise in find_lesson(slug).exercises:
        assert f"| `{exercise.name}` | {exercise.tier} | {exercise.points:g} | [](#{exercise.anchor}) |" in shown[0]
