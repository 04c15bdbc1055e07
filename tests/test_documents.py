"""README.md and its companions: their links lead somewhere, their targets exist, their table is the syllabus's."""

from __future__ import annotations

import re
from pathlib import Path

import jupytext
import pytest

from course.syllabus import syllabus

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("benchmarks/*.md"),
    *ROOT.glob("autograder/**/*.md"),
]
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files_and_targets_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    for link in links:
        file, _, heading = link.partition("#")
        target = document.parent / file if file else document
        assert target.exists(), link
        if heading:
            titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles], link
    assert set(re.findall(r"\bmake ([a-z]+)\b(?=[ `\n]*(?:#|`|$))", text, re.MULTILINE)) <= TARGETS


def test_the_table_of_lessons_is_the_syllabus() -> None:
    rows = re.findall(
        r"^\| (ch\d\d) \| \[([^]]+)\]\(book/(\w+)\.md\) \| .+ \| (\d+) \| (\d+) \|$", _readme(), re.MULTILINE
    )
    expected = [
        (
            slug[:4],
            lesson.title,
            slug,
            str(lesson.minutes),
            f"{sum(exercise.points for exercise in lesson.exercises):g}",
        )
        for slug, lesson in syllabus().items()
    ]
    assert rows == expected, "README.md: the table of lessons has other minutes or points than course/syllabus.toml"


def _readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("slug", syllabus())
def test_a_downloaded_page_is_a_notebook(slug: str) -> None:
    """jupytext refused them: their kernel had no display name."""
    notebook = jupytext.read(ROOT / "book" / f"{slug}.md")
    assert any(cell.cell_type == "code" for cell in notebook.cells)
