"""Writes the graded notebook with our messages as outputs, for Formgrader and nbgrader's feedback."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import is_grade

from autograder.cell_names import check_id
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.nbgrader_course.folder import know_the_answer
from autograder.submission import SubmissionError, read_bytes
from autograder.wording import printable

GRADED = "backprop"
"""Key in a notebook's metadata for the hash of the graded file."""


def said_of(graded: ExerciseResult, shown: Callable[[str], str] = printable) -> str:
    """An exercise's points, message (escaped by `shown`) and hint."""
    points = f"{graded.points:g} of {graded.max_points:g} points"
    message = shown(graded.message) if graded.message else ""
    hint = f"Hint: {graded.hint}" if graded.hint and graded.status != "passed" else ""
    return "\n\n".join(part for part in (points, message, hint) if part)


class CannotBeShownError(ValueError):
    """nbformat or nbgrader cannot read or write the graded notebook."""


def show(folder: Path, student: str, result: SubmissionResult) -> bool:
    """Write the graded notebook with a message below each check; return whether the course folder contains its file.

    Remove an outdated notebook, which an earlier report wrote for another file.

    Raises:
        CannotBeShownError: the file exists but cannot be shown.
    """
    handed_in = folder / "submitted" / student / result.lesson / f"{result.lesson}.ipynb"
    try:
        data = read_bytes(handed_in, folder)
    except (SubmissionError, OSError):
        return hide(folder, student, result.lesson, unless=result.sha256)
    if hashlib.sha256(data).hexdigest() != result.sha256:  # another file than the one that was graded
        return hide(folder, student, result.lesson, unless=result.sha256)
    try:
        text = _with_what_was_said(data, result)
    except Exception as error:  # a student wrote the file, and the libraries expect valid notebooks
        hide(folder, student, result.lesson)
        raise CannotBeShownError(f"{type(error).__name__}") from None
    target = _shown(folder, student, result.lesson)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", errors="replace")  # lone surrogates are not UTF-8
    return True


def _with_what_was_said(data: bytes, result: SubmissionResult) -> str:
    """A notebook as JSON with our outputs only. Raises any exception for an invalid notebook."""
    notebook = nbformat.reads(data.decode("utf-8"), as_version=4)
    said = {check_id(one.name): one for one in result.exercises}
    for cell in notebook.cells:
        know_the_answer(cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if is_grade(cell) and name in said:
                cell.outputs = list(_outputs(said[name]))
    notebook.metadata[GRADED] = {"sha256": result.sha256}
    return str(nbformat.writes(notebook))


def hide(folder: Path, student: str, slug: str, unless: str = "") -> bool:
    """Remove a notebook that an earlier report wrote, unless it shows the file with hash `unless`. Returns False."""
    target = _shown(folder, student, slug)
    with suppress(SubmissionError, ValueError, KeyError, TypeError, AttributeError, OSError):
        graded = json.loads(read_bytes(target, folder))["metadata"].get(GRADED)
        if isinstance(graded, dict) and graded.get("sha256") != unless:
            target.unlink()
    return False


def _shown(folder: Path, student: str, slug: str) -> Path:
    return folder / "autograded" / student / slug / f"{slug}.ipynb"


def _outputs(graded: ExerciseResult) -> Iterator[NotebookNode]:
    yield nbformat.v4.new_output("stream", name="stdout", text=said_of(graded) + "\n")
    value = {"text/plain": repr(float(graded.points))}
    yield nbformat.v4.new_output("execute_result", data=value, execution_count=None)
