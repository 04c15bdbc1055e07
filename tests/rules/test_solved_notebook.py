"""The solved notebook in a real kernel, and the scores that nbgrader gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rule_course import change, only

from autograder.authoring.rules import (
    nbgrader_scores,
    notebooks,
)
from autograder.authoring.stubs import notebook_text, solved_notebook
from autograder.authoring.tree import Course
from course.syllabus import syllabus

pytestmark = pytest.mark.slow


RELU = """\
# %%
import numpy as np

# %% exercise="relu_vjp"
def relu_vjp(g, x):
    ### BEGIN SOLUTION
    return (g * (x > 0)).astype(x.dtype)
    ### END SOLUTION
"""


@pytest.fixture
def relu_alone(tmp_path: Path) -> Course:
    """One of our own lessons, cut down to an exercise: a kernel's `lesson` knows no other course."""
    lesson = syllabus()["ch06_vjps"]
    course = Course(tmp_path, {"ch06_vjps": replace(lesson, exercises=(lesson.exercise("relu_vjp"),))})
    for path in (course.source("ch06_vjps"), course.notebook("ch06_vjps")):
        path.parent.mkdir()
        path.write_text(RELU, encoding="utf-8")
    return course


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x > 0", "x > 0", None),
        ("x > 0", "x >= 0", "the cell ch06-check-relu_vjp shows "),
        ("import numpy as np", "import numpy as np\n1 / 0", "the cell ch06-given-relu_vjp-1 raises ZeroDivisionError"),
    ],
)
def test_a_solved_notebook_must_pass_in_a_real_kernel(relu_alone: Course, old: str, new: str, said: str | None) -> None:
    change(relu_alone.source("ch06_vjps"), old, new)
    lines = [str(problem) for problem in notebooks.solved_notebooks_pass(relu_alone)]
    if said is None:
        assert lines == []
    else:
        assert lines[0].startswith(f"solutions/ch06_vjps.py: solved, in a Jupyter kernel, {said}"), lines


def test_scores_that_nbgrader_does_not_give_are_named(relu_alone: Course) -> None:
    """An honest notebook, and one that puts a `check` of its own in the place of ours: nbgrader believes it."""
    notebook = solved_notebook(relu_alone.lessons["ch06_vjps"], relu_alone.root / "solutions")
    sly = "check = lambda exercise: 2.0\nrelu_vjp = lambda g, x: -g"
    for student, work in (("honest", ""), ("sly", sly)):
        for cell in notebook.cells:
            if cell.metadata.get("exercise"):
                cell.source = work or cell.source
        folder = relu_alone.root / "autograder" / "sample_class" / student
        folder.mkdir(parents=True)
        (folder / "ch06_vjps.ipynb").write_text(notebook_text(notebook), encoding="utf-8")
    said = only(nbgrader_scores.same_scores_as_nbgrader(relu_alone))
    start = "autograder/sample_class/sly/ch06_vjps.ipynb: relu_vjp earns"
    assert said.startswith(f"{start} 0 points from us and 2 from nbgrader;")


def test_what_earns_everything_raises_nothing_with_nbgrader(relu_alone: Course) -> None:
    """Where nbgrader runs a solved notebook, no other rule does."""
    change(relu_alone.source("ch06_vjps"), "import numpy as np", "import numpy as np\n1 / 0")
    notebook = solved_notebook(relu_alone.lessons["ch06_vjps"], relu_alone.root / "solutions")
    file = relu_alone.root / "autograder" / "sample_class" / "perfect" / "ch06_vjps.ipynb"
    file.parent.mkdir(parents=True)
    file.write_text(notebook_text(notebook), encoding="utf-8")
    said = only(nbgrader_scores.same_scores_as_nbgrader(relu_alone))
    start = "autograder/sample_class/perfect/ch06_vjps.ipynb: graded by nbgrader, the cell ch06-given-relu_vjp-1 raises"
    assert said.startswith(f"{start} ZeroDivisionError")
