"""`backprop build` of a small course, and files that are missing, no Python, or no notebook."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from rule_course import REJECTIONS, WRONG, change, file_in, only
from typer.testing import CliRunner

from autograder.authoring import rules
from autograder.authoring.rules import (
    Problem,
    described,
    drift,
)
from autograder.authoring.tree import Course
from autograder.commands import app

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("rule", rules.READ + rules.JUDGED, ids=lambda rule: rule.__name__)
def test_no_rule_complains_of_a_whole_course(whole: Course, rule: Callable[[Course], list[Problem]]) -> None:
    assert rule(whole) == []


@pytest.fixture
def build(whole: Course, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`backprop build ARGS` on the small course."""
    monkeypatch.setattr(Course, "at", lambda: whole)
    return lambda *args: CliRunner().invoke(app, ["build", *args])


def test_build_writes_what_changed_and_check_writes_nothing(whole: Course, build: Callable[..., Any]) -> None:
    unchanged = "unchanged: 4 files\n"
    assert build().output == unchanged
    change(whole.source("ch01_double"), "An array like x. [", "An array of the shape of x. [")
    before = whole.notebook("ch01_double").read_bytes()
    checked = build("--check")
    assert checked.exit_code == 1
    assert checked.output.splitlines() == [str(problem) for problem in drift.notebooks_in_step(whole)]
    assert whole.notebook("ch01_double").read_bytes() == before
    assert build().output == "exercises/ch01_double.ipynb: written\nunchanged: 3 files\n"
    assert b"of the shape of x" in whole.notebook("ch01_double").read_bytes()
    assert build().output == unchanged
    rejections = whole.rejections("ch01_double")
    before = rejections.read_bytes()
    rejections.unlink()
    assert build().output == f"{REJECTIONS}: written\nunchanged: 3 files\n"
    assert rejections.read_bytes() == before


def test_build_says_in_one_line_what_is_wrong_with_a_source(whole: Course, build: Callable[..., Any]) -> None:
    change(whole.source("ch02_square"), "def square", "def squared")
    result = build()
    assert result.exit_code == 1
    said = "solutions/ch02_square.py: the cell of exercise 'square' does not define square"
    assert result.output == f"backprop: {said}\n"


def test_build_without_its_extra_says_what_to_install(
    build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "autograder.authoring.stubs")
    monkeypatch.setitem(sys.modules, "jupytext", None)
    result = build()
    assert result.exit_code == 2
    assert result.output == "backprop: build needs jupytext: pip install 'backprop-course[instructor,torch,dev]'\n"


def test_the_commands_start_without_what_only_authors_need() -> None:
    code = "import sys, autograder.commands; print([name for name in ('jupytext', 'nbgrader') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_missing_file_is_named(whole: Course) -> None:
    (whole.oracles("ch02_square") / "square.py").unlink()
    assert only(drift.listed_files(whole)).startswith(
        "autograder/lessons/ch02_square/oracles/square.py: this file is missing;"
    )


@pytest.mark.parametrize(
    "file",
    [
        "solutions/ch03_cube.py",
        "exercises/ch03_cube.ipynb",
        "autograder/lessons/ch03_cube/checks/cube.py",
        "book/ch03_cube.md",
    ],
)
def test_a_file_that_no_lesson_has_is_named(whole: Course, file: str) -> None:
    (whole.root / file).parent.mkdir(parents=True, exist_ok=True)
    (whole.root / file).write_text("", encoding="utf-8")
    (whole.lessons_folder / "conftest.py").write_text("", encoding="utf-8")
    (whole.root / "book/index.md").write_text("", encoding="utf-8")
    named = file.removesuffix("/checks/cube.py")
    assert only(drift.listed_files(whole)).startswith(f"{named}: no lesson of course/syllabus.toml has this;")


def test_a_notebook_that_differs_from_its_source_is_named(whole: Course) -> None:
    change(whole.source("ch01_double"), "An array like x. [", "An array of the shape of x. [")
    line = only(drift.notebooks_in_step(whole))
    assert line == "exercises/ch01_double.ipynb: it is not what solutions/ch01_double.py gives; run `backprop build`"


def test_a_notebook_saved_by_jupyter_differs_too(whole: Course) -> None:
    change(whole.notebook("ch01_double"), '"name": "python"', '"name": "python", "version": "3.11"')
    assert "it is not what" in only(drift.notebooks_in_step(whole))


def test_a_missing_notebook_is_named(whole: Course) -> None:
    whole.notebook("ch01_double").unlink()
    assert only(drift.notebooks_in_step(whole)).startswith("exercises/ch01_double.ipynb: this notebook is missing;")


def test_a_source_that_gives_no_notebook_is_named(whole: Course) -> None:
    change(whole.source("ch01_double"), "### END SOLUTION", "")
    line = only(drift.notebooks_in_step(whole))
    assert line.startswith("solutions/ch01_double.py: exercise 'double' needs ### BEGIN SOLUTION and ### END SOLUTION")


@pytest.mark.parametrize(
    "old", ["[Chapter section](../book/ch01_double.md#ch01-double)", "# %% [markdown]\n# ## `double`"]
)
def test_a_contract_is_asked_for(whole: Course, old: str) -> None:
    change(whole.source("ch01_double"), old, "# %%" if old.startswith("#") else "")
    line = only(described.contracts(whole))
    assert line.startswith("solutions/ch01_double.py: no Markdown cell links ../book/ch01_double.md#ch01-double; ")
    assert "write the contract of double" in line


@pytest.mark.parametrize("kind", ["source", "checks", "mistakes", "oracles"])
def test_a_file_that_is_no_python_is_named_before_all_else(whole: Course, kind: str, build: Callable[..., Any]) -> None:
    path = file_in(whole, kind)
    path.write_text(path.read_text() + "\ndef f(:\n")
    done = build("--check")
    line = len(path.read_text().splitlines())
    assert done.output == f"{whole.relative(path)}: it is no Python (line {line}: invalid syntax); mend it\n"
    assert done.exit_code == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('@misconception("double", says="Nothing was done.")\n', "", "double has 2 misconceptions of 3"),
        ("Nothing was done.", " ", "unchanged says nothing"),
        ("def one_more(x)", "def negated(x)", "negated is defined twice"),
        ("1.0 * x", "1.0 * * x", "it cannot be imported: SyntaxError"),
    ],
)
def test_three_misconceptions_are_asked_for(whole: Course, old: str, new: str, said: str) -> None:
    change(whole.mistakes("ch01_double") / "double.py", old, new)
    lines = [str(problem) for problem in described.three_misconceptions(whole)]
    assert any(line.startswith(f"{WRONG}: {said}") for line in lines), lines
