"""Rule 6, first half: each solved notebook passes in a real Jupyter kernel."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.authoring.rules.problem import Problem
from autograder.authoring.stubs import KERNEL, solved_notebook
from autograder.authoring.tree import Course

CELL_SECONDS = 300
"""Long enough for a check that starts a worker which imports PyTorch."""


def solved_notebooks_pass(course: Course) -> list[Problem]:
    """Each check cell of a solved notebook, run in a kernel, earns its full points."""
    problems = []
    for slug, lesson in course.lessons.items():
        if not course.source(slug).is_file():
            continue  # `drift.listed_files` says so
        notebook = solved_notebook(lesson, course.source(slug).parent)
        run(notebook, course.notebook(slug).parent)
        file, do = course.relative(course.source(slug)), "mend the reference or `lesson`"
        problems += [
            Problem(file, f"solved, in a Jupyter kernel, {said}", do) for said in short_of_full_points(notebook)
        ]
    return problems


def run(notebook: NotebookNode, folder: Path) -> None:
    """Execute all cells in a new kernel in `folder`, even after errors; the outputs go into `notebook`."""
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name=KERNEL["name"],
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(stderr=subprocess.DEVNULL)  # the kernel's own log


def short_of_full_points(notebook: NotebookNode) -> Iterator[str]:
    """What is wrong with an executed notebook: cells that raise, and checks that nbgrader would not score in full."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        errors = [output for output in cell.outputs if output.output_type == "error"]
        name, points = cell.id, cell.metadata.get("nbgrader", {}).get("points")
        if errors:
            yield f"the cell {name} raises {errors[0].ename}: {' '.join(errors[0].evalue.split())[:300]}"
        elif points is not None:
            values = [
                output.data.get("text/plain") for output in cell.outputs if output.output_type == "execute_result"
            ]
            stderr = any(output.output_type == "stream" and output.name == "stderr" for output in cell.outputs)
            if stderr:
                yield f"the cell {name} writes to stderr, for which nbgrader gives 0"
            elif len(values) != 1 or not _is_number(values[0], points):
                yield f"the cell {name} shows {values[0] if values else 'nothing'}, not {float(points)}"


def _is_number(text: str | None, points: float) -> bool:
    try:
        return float(text or "") == float(points)
    except ValueError:
        return False
