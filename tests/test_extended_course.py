"""A course that extends this one with changes: parts removed, other weights, a new lesson."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT, Command, run_backprop

from autograder.authoring.stubs import notebook_text, solved_notebook, stub_notebook
from course.own import FILE, CourseError, serving
from course.syllabus import SyllabusError, find_lesson, syllabus, whole_lessons
from course.trusted import trust

pytestmark = pytest.mark.slow

LINEAR = ROOT / "examples" / "linear_algebra"
OWN = "ch20_power_iteration"
KEPT = ("ch01_computation_graph", "ch02_chain_rule")
GONE = [slug[:4] for slug in syllabus() if slug not in KEPT]
CHANGES = f"""\
title = "Backprop for robots"
extends = "backprop"
without = {json.dumps([*GONE, "ch01/read_torch_graph", "ch01/topological_order", "ch02/gradcheck"])}

[change]
"ch01/forward" = {{ points = 4, weights = {{ test_worked_example = 5 }} }}
"ch01/reverse_sweep" = {{ tier = "stretch", points = 2.5 }}
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of such a course, built."""
    root = tmp_path_factory.mktemp("extended") / "robots"
    shutil.copytree(LINEAR / "lessons" / "ch01_power_iteration", root / "lessons" / OWN)
    (root / "solutions").mkdir()
    shutil.copy(LINEAR / "solutions" / "ch01_power_iteration.py", root / "solutions" / f"{OWN}.py")
    listed = (LINEAR / FILE).read_text(encoding="utf-8").split("[[lesson]]")[1]
    (root / FILE).write_text(f"{CHANGES}\n[[lesson]]{listed}", encoding="utf-8")
    for file in root.rglob("*"):
        if file.suffix in (".py", ".toml"):
            file.write_text(file.read_text(encoding="utf-8").replace("ch01_power", "ch20_power"), encoding="utf-8")
    trust(root / FILE)
    done = run_backprop("build", cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr
    return root


def test_removed_changed_and_added_parts(extended: Path) -> None:
    ours = find_lesson(KEPT[0])
    with serving(extended):
        assert list(syllabus()) == [*KEPT, OWN]
        first = syllabus()[KEPT[0]]
        gone = {one.name for one in ours.exercises} - {one.name for one in first.exercises}
        assert gone == {"read_torch_graph", "topological_order"} == {one.name for one in first.taken_out}
        assert (first.exercise("forward").points, first.exercise("forward").tier) == (4, "core")
        weights = ours.exercise("forward").weights
        assert first.exercise("forward").weights == weights | {"test_worked_example": 5} != weights
        assert first.minutes < ours.minutes, "there is less to do"
        assert (first.exercise("reverse_sweep").points, first.exercise("reverse_sweep").tier) == (2.5, "stretch")
        assert first.exercise("forward").hints == ours.exercise("forward").hints
        assert whole_lessons()["ch06_vjps"].exercises, "ch02's checks ask of its mistakes"
        assert whole_lessons()[KEPT[0]] == ours
    assert find_lesson(KEPT[0]) == ours


def test_notebooks_have_no_cells_of_removed_exercises(extended: Path) -> None:
    assert sorted(file.stem for file in (extended / "exercises").iterdir()) == [*KEPT, OWN]
    text = (extended / "exercises" / f"{KEPT[0]}.ipynb").read_text(encoding="utf-8")
    assert "read_torch_graph" in (ROOT / "exercises" / f"{KEPT[0]}.ipynb").read_text(encoding="utf-8")
    assert "read_torch_graph" not in text
    assert "ch01-read-torch-graph" not in text
    assert 'check(\\"forward\\")  # core, 4 points' in text
    assert "import torch" not in text, "which was for that exercise alone"


def test_notebooks_give_removed_functions_that_others_call(extended: Path) -> None:
    """`reverse_sweep` may call `topological_order`, which this course does not ask for."""
    cells = nbformat.read(extended / "exercises" / f"{KEPT[0]}.ipynb", as_version=4).cells
    sources = [cell.source for cell in cells]
    (given,) = [cell for cell in cells if "def topological_order" in cell.source]
    assert given.source.startswith("# This course does not ask for topological_order: it is given.\ndef ")
    assert "SOLUTION" not in given.source
    assert given.metadata.nbgrader.locked
    assert "exercise" not in given.metadata
    assert sources.index(given.source) < next(i for i, one in enumerate(sources) if "def reverse_sweep" in one)
    assert not any("## `topological_order`" in one or 'check("topological_order")' in one for one in sources)


GIVEN = {
    "what a given one calls": (("ch05", ["unbroadcast", "Tensor"]), ["def unbroadcast", "class Tensor", "def exp"]),
    "a method, and its helper": (("ch05", ["Tensor.backward"]), ["def topological_order", "def backward"]),
    "what only checks call": (("ch07", ["forward"]), ["def activate", "def forward"]),
    "nothing": (("ch06", ["relu_vjp", "attention_vjp"]), []),
}  # fmt: skip


@pytest.mark.parametrize("case", GIVEN)
def test_given_functions(case: str, tmp_path: Path) -> None:
    (short, out), given = GIVEN[case]
    content = {"title": "Less", "extends": "backprop", "without": [f"{short}/{name}" for name in out]}
    (tmp_path / FILE).write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in content.items()))
    slug = next(slug for slug in syllabus() if slug.startswith(short))
    ours = {cell.source for cell in stub_notebook(find_lesson(slug)).cells}
    with serving(tmp_path):
        new = [cell.source for cell in stub_notebook(find_lesson(slug)).cells if cell.source not in ours]
    found = [source for source in new if "How an exercise works" not in source]
    assert all(any(start in source for source in found) for start in given)
    assert len(found) >= len(given)
    assert given or not found


def test_a_class_is_graded_by_it(extended: Path, tmp_path: Path, backprop: Command) -> None:
    ann = tmp_path / "class" / "ann"
    ann.mkdir(parents=True)
    for slug, folder in ((KEPT[0], ROOT), (KEPT[1], ROOT), (OWN, extended), ("ch06_vjps", ROOT)):
        shutil.copy(folder / "solutions" / f"{slug}.py", ann)
    bob = ann.with_name("bob")
    bob.mkdir()
    with serving(extended):
        for slug in KEPT:  # these contain the given parts, and no others of the removed ones
            (bob / f"{slug}.ipynb").write_text(notebook_text(solved_notebook(find_lesson(slug))), encoding="utf-8")
    done = backprop("grade", "class", "--course", extended, "--jobs", "1")
    assert "ch06_vjps" in done.stderr, "which is no lesson of this course"
    found = {
        file.stem: json.loads(file.read_text()) for file in (tmp_path / "results" / "students" / "ann").glob("*.json")
    }
    assert sorted(found) == [*KEPT, OWN]
    for slug, result in found.items():
        assert result["points"] == result["max_points"], (slug, result["message"])
        assert result["course"] == "Backprop for robots"
        assert "the course's own solution" in result["message"]
    assert found[KEPT[0]]["max_points"] != find_lesson(KEPT[0]).points
    for slug in KEPT:
        result = json.loads((tmp_path / "results" / "students" / "bob" / f"{slug}.json").read_text())
        assert result["points"] == result["max_points"] == found[slug]["max_points"], result["message"]


def test_the_course_is_whole(extended: Path, backprop: Command) -> None:
    """Each added lesson, and a changed exercise, without the removed parts."""
    done = backprop("build", "--check", OWN, "ch01/forward", cwd=extended)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_weight_without_a_check_is_an_error(extended: Path, tmp_path: Path, backprop: Command) -> None:
    own = shutil.copytree(extended, tmp_path / "own")
    (own / FILE).write_text((own / FILE).read_text().replace("test_worked", "test_wrked"))
    done = backprop("build", "--check", "ch01/forward", "--course", own)
    assert (done.returncode, "weights names test_wrked_example, which is no check of it" in done.stdout) == (1, True)


def test_chapters_of_ours_are_read(extended: Path, backprop: Command) -> None:
    done = backprop("read", "ch01/forward", "--no-browser", "--course", extended)
    assert "Forward builds the graph" in done.stdout, done.stderr


WRONG = {
    "another course": (('"backprop"', '"fastai"'), "extends can be 'backprop' alone, and is 'fastai'"),
    "no such lesson": (('"ch03"', '"ch33"'), "without: the course that this one extends has no ch33"),
    "no such exercise": (('"ch02/gradcheck"', '"ch02/gradcheque"'), "did you mean ch02/gradcheck?"),
    "a change of nothing": (('"ch01/forward"', '"ch01/forwards"'), "change: the course that this one extends has no"),
    "a change of another kind": (("points = 4", "hints = 4"), "change ch01/forward: 'hints' means nothing here"),
    "no points": (("points = 4", "points = 0"), "change ch01/forward: points must be positive"),
    "points in words": (("points = 4", 'points = "4"'), "change ch01/forward: points must be a number"),
    "weights below 0": (
        ("test_worked_example = 5", "test_worked_example = -5"),
        "change ch01/forward: no weight can be below 0",
    ),
    "weights in words": (
        ("test_worked_example = 5", 'test_worked_example = "5"'),
        "weights: test_worked_example must be a number",
    ),
    "another tier": (('"stretch", points', '"hard", points'), "the tier core or stretch"),
    "a number twice": ((OWN, "ch02_power_iteration"), "two lessons are ch02, ch02_chain_rule and ch02_power"),
    "changes of none": (('extends = "backprop"', ""), "are for a course that extends"),
    "a list of numbers": (('"ch03"', "3"), "has no 3"),
}


@pytest.mark.parametrize("case", WRONG)
def test_invalid_changes_are_errors(extended: Path, tmp_path: Path, case: str) -> None:
    (old, new), says = WRONG[case]
    text = (extended / FILE).read_text(encoding="utf-8")
    assert old in text
    (tmp_path / FILE).write_text(
        text.replace(old, new, 1) if case != "a number twice" else text.replace(old, new), encoding="utf-8"
    )
    with serving(tmp_path), pytest.raises(CourseError) as error:
        syllabus()
    assert says in str(error.value)
    assert str(tmp_path / FILE) in str(error.value)
    assert isinstance(error.value, SyllabusError) or case == "another course"
