"""`check` in a real Jupyter kernel: unsaved cells count, and what nbgrader reads is the score."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.authoring.rules.notebooks import short_of_full_points
from autograder.authoring.stubs import solved_notebook
from course.syllabus import find_lesson

SETUP = 'from autograder import lesson\ncheck = lesson("ch06_vjps")'
RIGHT = "import numpy as np\ndef relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)"
HALF = "def relu_vjp(g, x):\n    return g * (x >= 0)"
CHECK = 'check("relu_vjp")'


def run(*sources: str) -> list[Any]:
    """The outputs of each cell's last output, after a run in a real kernel."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, kernel_name="python3", allow_errors=True, timeout=120).execute()
    return [cell.outputs[-1] if cell.outputs else None for cell in notebook.cells]


@pytest.fixture(scope="module")
def outputs() -> list[Any]:
    sources = [
        SETUP,
        RIGHT,
        CHECK,
        "np.testing.assert_allclose = None",
        HALF,
        CHECK,
        "def relu_vjp(g, x):\n    return g",
        CHECK,
    ]
    return run(*sources, 'check("relu_vjp", hint=1)', 'check("nope")', "1 / 0\n", RIGHT, CHECK, 'lesson("ch99")')


def test_full_points_are_a_number_with_feedback_around_it(outputs: list[Any]) -> None:
    assert outputs[2].data["text/plain"] == "2.0"
    assert "relu_vjp: passed" in outputs[2].data["text/html"]


def test_partial_points_are_a_number_too(outputs: list[Any]) -> None:
    assert 0 < float(outputs[5].data["text/plain"]) < 2
    assert "the mask is x &gt; 0" in outputs[5].data["text/html"]


def test_no_points_raise_without_a_traceback_of_ours(outputs: list[Any]) -> None:
    assert outputs[7].output_type == "error"
    text = "\n".join(outputs[7].traceback)
    assert "0 of 2 points" in text
    assert "File" not in text
    assert "Hint 1" in "\n".join(outputs[8].traceback)


def test_bad_names_get_one_clear_line(outputs: list[Any]) -> None:
    assert "has no exercise 'nope'; it has add_vjp" in outputs[9].traceback[0]
    assert "there is no lesson 'ch99'" in outputs[13].traceback[0]


def test_a_cell_that_ran_again_counts_as_it_last_was(outputs: list[Any]) -> None:
    assert outputs[12].data["text/plain"] == "2.0"


@pytest.mark.parametrize("slug", ["ch06_vjps", "ch07_mlp_backprop"])
def test_a_solved_notebook_passes_every_check(slug: str) -> None:
    notebook = solved_notebook(find_lesson(slug))
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    assert list(short_of_full_points(notebook)) == []
