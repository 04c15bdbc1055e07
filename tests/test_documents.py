"""README.md and other documents: their links and targets exist, and the table of lessons matches the syllabus."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jupytext
import pytest
import yaml

from autograder.authoring import readme
from autograder.authoring.rules.drift import readme_in_step
from autograder.authoring.tree import AuthoringError, Course
from autograder.isolation.packages import how_to_install
from course.published import Published, published
from course.syllabus import Environment, Exercise, Lesson, syllabus

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("benchmarks/*.md"),
    *ROOT.glob("autograder/**/*.md"),
]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))


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


def test_the_table_of_lessons_matches_the_syllabus() -> None:
    rows = re.findall(r"^\| (ch\d\d) \| \[([^]]+)\]\(([^)]+)\).* \| .+ \| (\d+) \| (\d+) \|$", _readme(), re.MULTILINE)
    expected = [
        (
            slug[:4],
            lesson.title,
            published().page(slug) or f"book/{slug}.md",
            str(lesson.minutes),
            f"{sum(exercise.points for exercise in lesson.exercises):g}",
        )
        for slug, lesson in syllabus().items()
    ]
    assert rows == expected, "README.md: the table of lessons has other minutes or points than course/syllabus.toml"


def test_the_numbers_and_links_match_the_course() -> None:
    assert readme.generated(Course.at()) == {ROOT / "README.md": _readme()}, "README.md is old: backprop build"


def test_an_old_table_is_reported_and_rewritten(tmp_path: Path) -> None:
    """Formerly `backprop build --check` called the course whole while a test called README.md old."""
    course = Course(tmp_path, dict(syllabus()))
    assert readme_in_step(course) == [], "no such file, no question"
    file = tmp_path / "README.md"
    file.write_text(re.sub(r"\d+ exercises, about", "7 exercises, about", _readme()), encoding="utf-8")
    assert [str(one) for one in readme_in_step(course)] == [
        "README.md: its figures or its table of lessons are old; run `backprop build`"
    ]
    assert readme.generated(course) == {file: _readme()}
    file.write_text(re.sub(r"^\| ch03 .*\n", "", _readme(), flags=re.MULTILINE), encoding="utf-8")
    (problem,) = readme_in_step(course)
    assert str(problem).startswith("README.md: the table of lessons needs a row | ch03 |")


def test_the_figures_give_exercises_and_minutes() -> None:
    environment = Environment((), ())
    core, stretch = (Exercise("ch01_a", tier, 2.0, tier, (), environment) for tier in ("core", "stretch"))
    lessons = [
        Lesson("ch01_a", "A", "The start", 120, environment, (core, stretch)),
        Lesson("ch02_b", "B", "The end", 60, environment, (core,)),
    ]
    said = readme.figures(lessons)
    assert said.startswith("2 lessons, 3 exercises, about 3 hours with the reading.\n")
    assert "The core, 2 exercises, takes about 2 of them" in said
    table = readme.lesson_table(lessons, {"ch01": "one", "ch02": "two"}, Published())
    assert "| | **Part II, the end** | | | |\n| ch02 | [B](book/ch02_b.md) | two | 60 | 2 |" in table
    assert "does not say where its book is published" in table
    with pytest.raises(AuthoringError, match=r"needs a row \| ch02"):
        readme.lesson_table(lessons, {"ch01": "one"}, Published())


def test_with_addresses_the_table_leads_to_pages_and_to_colab() -> None:
    places = Published("https://book.example", "https://github.com/someone/course")
    new = readme.up_to_date(_readme(), syllabus().values(), places)
    assert "](https://book.example/ch06_vjps.html)" in new
    assert "[Colab](https://colab.research.google.com/github/someone/course/blob/main/exercises/ch06_vjps.ipynb)" in new
    assert "](book/ch" not in new
    assert "does not say where its book is published" not in new
    assert readme.up_to_date(new, syllabus().values(), published()) == _readme(), "and back, with nothing lost"


def test_the_first_program_does_what_the_text_says() -> None:
    (program,) = re.findall(r"^```python\n(.+?)^```$", _readme(), re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    loss = 0.5 * ((names["X"] @ names["W"] + names["b"] - names["y"]) ** 2).mean()
    assert f"The loss falls to {loss:.4f}" in _readme()
    row = names["rng"].normal(size=(1, 3))
    assert f"gives\n{len(row @ names['W'] + names['b'])} answers" in _readme()


def test_the_workflow_tries_the_first_steps_as_they_are_written() -> None:
    steps = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]["first-steps"]["steps"]
    tried = {line.strip() for step in steps for line in step.get("run", "").splitlines()}
    learn = _readme().partition("\n## Learn\n")[2]
    unix, windows = (re.search(rf"```{kind}\n(.+?)```", learn, re.DOTALL) for kind in ("sh", "powershell"))
    assert unix
    assert windows
    lines = [line for found in (unix, windows) for line in found[1].splitlines()]
    assert len(lines) == 6
    assert set(lines) - {"jupyter lab my-work"} <= tried  # it would wait for a browser
    assert "jupyter lab --version" in tried


def test_the_container_does_what_learners_do() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert container["postCreateCommand"] == "make learn"
    assert "learn" in TARGETS
    assert container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"].endswith(
        ".venv/bin/python"
    )


def test_learners_get_no_packages_of_authors_and_graders() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    learners = [*project["dependencies"], *project["optional-dependencies"]["notebook"]]
    (installs,) = re.findall(r"^\.venv/\.learner:.+?--editable '\.\[(.+?)\]'", MAKEFILE, re.MULTILINE | re.DOTALL)
    assert installs == "notebook"
    assert not [one for one in learners if re.match("(torch|nbgrader|distributed|mypy|jupyter-book)", one)]


def test_pytorch_is_installed_as_a_check_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert f"```sh\n{how_to_install('torch')}\n```" in _readme()
    monkeypatch.setattr("sys.platform", "win32")
    assert how_to_install("torch") == "pip install torch", "pip's own has no GPU's gigabytes there"
    assert how_to_install("numpy") == "pip install numpy"


def test_chapters_name_the_learners_own_notebook() -> None:
    for slug in syllabus():
        text = (ROOT / "book" / f"{slug}.md").read_text(encoding="utf-8")
        assert f"open your `{slug}.ipynb`" in text.replace("Open", "open"), slug
        assert "`exercises/" not in text, slug


def _readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("slug", syllabus())
def test_a_downloaded_page_is_a_notebook(slug: str) -> None:
    """Formerly jupytext refused them, because their kernel had no display name."""
    notebook = jupytext.read(ROOT / "book" / f"{slug}.md")
    assert any(cell.cell_type == "code" for cell in notebook.cells)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_modules_and_tests_named_in_documents_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    parts = "|".join(folder.name for folder in (ROOT / "autograder").iterdir() if folder.is_dir())
    named = re.findall(rf"`(test_\w+\.py|(?:autograder/)?(?:{parts})/[\w/]+\.py)`", text)
    places = (ROOT, ROOT / "autograder", ROOT / "tests", ROOT / "tests" / "book")
    gone = [name for name in named if not any((place / name).is_file() for place in places)]
    assert [name for name in gone if "abs_vjp" not in name] == []  # the example in CONTRIBUTING.md
