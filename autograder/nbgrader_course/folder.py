"""An nbgrader course folder: a source notebook for each lesson, and a configuration that keeps exercises unchanged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from autograder.cell_names import cell_id
from autograder.new_files import write_new
from autograder.places import Places
from autograder.workbook import leads_back
from course.own import FILE, VARIABLE, own_course
from course.syllabus import course_title

CONFIG = "nbgrader_config.py"
CONFIG_TEXT = """\
# nbgrader's configuration of this course: `backprop nbgrader` wrote it, and it is yours.
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    IncludeHeaderFooter,
    InstantiateTests,
    LockCells,
    SaveCells,
)

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "backprop"

# All that nbgrader does by default but ClearSolutions: these notebooks hold no solution, and of an exercise in which
# none is marked it would leave nothing, its signature included.
c.GenerateAssignment.preprocessors = [
    IncludeHeaderFooter,
    InstantiateTests,
    LockCells,
    ClearOutput,
    CheckCellMetadata,
    ComputeChecksums,
    SaveCells,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
]

# A check of a lesson with PyTorch starts a process that imports it; an endless loop is ended by the check itself.
c.Execute.timeout = 300
"""


OF_A_COURSE = """
# The course that these notebooks are of, for the checks that nbgrader runs.
import os  # noqa: E402

os.environ.setdefault({variable!r}, {course!r})
"""


def write_course(folder: Path, slugs: Iterable[str]) -> tuple[list[Path], list[Path]]:
    """Write the files that nbgrader needs into `folder`, without overwriting any; return new and existing files.

    Raises:
        OSError: a file cannot be written, for example because a link has its name.
    """
    files = {folder / CONFIG: config_text()}
    if own := own_course():  # so that `backprop` commands typed in this folder use that course
        files[folder / FILE] = leads_back(folder, own)
    for slug in slugs:
        files[folder / "source" / slug / f"{slug}.ipynb"] = source_text(slug)
    new, kept = [], []
    for file, text in files.items():
        if file.exists():
            kept.append(file)
            continue
        write_new(file, text, inside=folder)
        new.append(file)
    return new, kept


def config_text() -> str:
    """nbgrader's configuration; with --course, it names that course and its folder."""
    own = own_course()
    if own is None:
        return CONFIG_TEXT
    name = re.sub(r"\W+", "-", course_title().lower()).strip("-")
    text = CONFIG_TEXT.replace('course_id = "backprop"', f"course_id = {name!r}")
    return text + OF_A_COURSE.format(variable=VARIABLE, course=str(own))


def source_text(slug: str) -> str:
    """The lesson's notebook as JSON, with exercises marked as nbgrader solutions, so that they can get comments."""
    notebook = nbformat.read(Places().notebook(slug), as_version=4)
    for cell in notebook.cells:
        know_the_answer(cell)
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def know_the_answer(cell: NotebookNode) -> str:
    """Mark an exercise's cell as an nbgrader solution; return its `grade_id`, or "" for any other cell."""
    exercise = cell.metadata.get("exercise")
    if not exercise:
        return ""
    name = cell_id(exercise, cell.metadata.get("part"))
    metadata: dict[str, Any] = {"grade": False, "grade_id": name, "locked": False, "schema_version": 3}
    cell.metadata["nbgrader"] = {**metadata, "solution": True, "task": False}
    cell.metadata["nbgrader"]["checksum"] = compute_checksum(cell)
    return name
