"""`examples/four_weeks`, a course that extends this one, grades a class and is released to learners."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Command, run_backprop

from autograder.authoring.mistaken import mistaken_cells
from autograder.authoring.stubs import notebook_text, solved_notebook
from autograder.authoring.tree import Course
from autograder.judging.checking.reference import misconceptions_of
from course.own import FILE, serving
from course.syllabus import find_lesson, syllabus
from course.trusted import trust

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "four_weeks"
OWN = "ch90_ratings"
LESSONS = ["ch01_computation_graph", "ch02_chain_rule", "ch06_vjps", "ch07_mlp_backprop", OWN]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built copy of the example; its notebooks are generated from this course's and not kept in Git."""
    written = shutil.ignore_patterns("exercises", "answers*", "__pycache__")
    copy = Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("course") / "weeks", ignore=written))
    trust(copy / FILE)
    done = run_backprop("build", cwd=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rejections.toml" not in done.stdout, "none was written"
    return copy


@pytest.fixture(scope="module")
def solved(course: Path) -> dict[str, str]:
    """Each lesson's notebook, solved."""
    with serving(course):
        return {slug: notebook_text(solved_notebook(find_lesson(slug))) for slug in LESSONS}


@pytest.fixture(scope="module")
def results(course: Path, solved: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By student and lesson: one solved everything, one has not begun, and each known mistake of ch90 has a student."""
    folder = tmp_path_factory.mktemp("class")
    for slug in LESSONS:
        for student, text in (
            ("right", solved[slug]),
            ("untouched", (course / "exercises" / f"{slug}.ipynb").read_text()),
        ):
            (folder / "class" / student).mkdir(parents=True, exist_ok=True)
            (folder / "class" / student / f"{slug}.ipynb").write_text(text, encoding="utf-8")
    with serving(course):
        at, mistakes = Course.at(course), misconceptions_of(OWN)
        source = [cell["source"] for cell in json.loads(solved[OWN])["cells"] if cell["cell_type"] == "code"]
        for known in mistakes:
            cells = mistaken_cells(["".join(cell) for cell in source], [known], at.mistakes(OWN))
            place = folder / "class" / f"{known.exercise}-{known.name}" / f"{OWN}.py"
            place.parent.mkdir()
            place.write_text("".join(f"# %%\n{cell}\n\n" for cell in cells), encoding="utf-8")
    done = run_backprop("grade", "class", "--course", course, "--jobs", "1", cwd=folder)
    assert done.returncode == 0, done.stderr
    files = (folder / "results").glob("students/*/ch*.json")
    return {f"{file.parent.name}/{file.stem}": json.loads(file.read_text()) for file in files}


def test_four_weeks_of_two_to_five_hours_with_numpy_alone(course: Path) -> None:
    with serving(course):
        lessons = syllabus()
    assert list(lessons) == LESSONS, "put a new lesson of this course into the example's `without`"
    assert all(one.packages == ("numpy",) for lesson in lessons.values() for one in lesson.environments)
    first, second, third, *last = (lesson.minutes for lesson in lessons.values())
    assert all(100 <= minutes <= 300 for minutes in (first, second, third, sum(last)))
    embedding, layernorm = (lessons["ch06_vjps"].exercise(name) for name in ("embedding_vjp", "layernorm_vjp"))
    assert (embedding.points, embedding.weights) == (5, {"test_embedding_of_repeated_ids": 4, "test_many_entries": 0})
    assert layernorm.tier == "stretch"


def test_solved_notebooks_earn_everything_and_untouched_ones_nothing(course: Path, results: dict[str, Any]) -> None:
    for slug in LESSONS:
        with serving(course):
            points = find_lesson(slug).points
        right, untouched = results[f"right/{slug}"], results[f"untouched/{slug}"]
        assert (right["points"], right["max_points"]) == (points, points), right["message"]
        assert (untouched["points"], untouched["max_points"]) == (0, points)
        assert {one["status"] for one in untouched["exercises"]} == {"missing"}
        assert right["course"] == untouched["course"] == "Backprop in four weeks"


def test_its_mistakes_are_named(results: dict[str, Any]) -> None:
    mistaken = {name: result for name, result in results.items() if "-" in name}
    assert len(mistaken) == 8
    for name, result in mistaken.items():
        exercise, _, mistake = name.partition("/")[0].partition("-")
        (one,) = [one for one in result["exercises"] if one["name"] == exercise]
        assert one["points"] < one["max_points"], name
        assert one["misconception"] == mistake, (name, one["misconceptions"])


def test_changed_exercises_are_whole(course: Path, backprop: Command) -> None:
    """Checks an exercise of ours; `test_own_course_page` checks the example's own lesson."""
    done = backprop("build", "--check", "ch06/embedding_vjp", cwd=course)
    assert done.returncode == 0, done.stdout + done.stderr


def test_learners_get_it_without_its_answers(course: Path, solved: dict[str, str], tmp_path: Path) -> None:
    done = run_backprop("release", tmp_path / "out", OWN, cwd=course)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {path.name for path in (tmp_path / "out").rglob("*")}
    assert not names & {"solutions", "mistakes", "oracles", "contract.toml"}
    work = tmp_path / "out" / "work"
    release = {"PYTHONPATH": str(tmp_path / "out")}
    assert run_backprop("trust", cwd=tmp_path / "out", env=release).returncode == 0
    assert run_backprop("start", "work", cwd=tmp_path / "out", env=release).returncode == 0
    assert sorted(file.name for file in work.iterdir()) == [FILE, f"{OWN}.ipynb"]
    assert run_backprop("check", "ch90", cwd=work, env=release).returncode == 1
    (work / f"{OWN}.ipynb").write_text(solved[OWN], encoding="utf-8")
    done = run_backprop("check", "ch90", cwd=work, env=release)
    assert "10 of 10 points on the visible cases" in done.stdout, done.stdout + done.stderr
