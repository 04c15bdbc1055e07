"""Builds a lesson's notebook from its source (`solutions/*.py`, in jupytext's py:percent format).

nbgrader's own preprocessors do the work, so that the notebook is a proper nbgrader assignment. jupytext and nbgrader
are slow to import and belong to the `instructor` extra: import this module inside the functions that use it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)

from autograder.authoring.builds_on import builds_on, with_needs
from autograder.authoring.regions import BEGIN, END, HANDED_OUT, regions
from autograder.authoring.taken_out import without_taken_out
from autograder.authoring.tree import AuthoringError
from autograder.cell_names import cell_id, check_id
from autograder.notebook.executed import DEMO
from autograder.places import Places
from autograder.sections import with_links
from autograder.wording import counted
from course.published import Published, published
from course.syllabus import Exercise, Lesson

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
METADATA = ("exercise", "part", "tags")
OURS = ("setup", "check")
"""Tags of the cells that the build adds; a source must not use them."""


class NameTheExercise(ClearSolutions):
    """nbgrader's `ClearSolutions`, with a stub that names the exercise."""

    def preprocess_cell(self, cell: NotebookNode, resources: Any, cell_index: int) -> tuple[NotebookNode, Any]:
        name = cell.metadata.get("exercise")
        if name and BEGIN not in cell.source:
            return cell, resources  # it had `HANDED_OUT` regions only; nbgrader would replace the whole cell
        if name:
            part = cell.metadata.get("part")
            todo = f"{name} ({part})" if part else name
            self.set_trait("code_stub", {"python": f'raise NotImplementedError("{todo}: your code here")'})
        return super().preprocess_cell(cell, resources, cell_index)


HOW = """\
**How an exercise works.** Write your code in the place of `raise NotImplementedError(...)`{or_mend}, run that cell,
then run the `check(...)` cell below it. It says what is right and what is wrong, as often as you like. If you are
stuck, `check("{first}", hint=1)` gives a first hint and `hint=2` a second one. `check()` shows how far you are. The
*core* exercises are the path; the *stretch* ones can wait. Any way to the right answers earns the points: how you get
there is up to you, unless a text says *Points count only …* or forbids a function. Python says that
`check` is not defined? Then the kernel has been restarted: run the notebook's first cell again.
"""
"""The text below the introduction of every notebook."""


def stub_notebook(lesson: Lesson, solutions: Path | None = None) -> NotebookNode:
    """The notebook that a learner opens: no solutions, a setup cell first, a check cell under each exercise.

    Raises:
        AuthoringError: `solutions/<lesson>.py` is wrong; the message names the exercise.
    """
    notebook = _assemble(lesson, solutions or _solutions(lesson), keep_solution_cells=False)
    for step in (LockCells, NameTheExercise, ClearOutput, CheckCellMetadata, ComputeChecksums):
        notebook, _ = step().preprocess(notebook, {})
    for step in (ClearHiddenTests, ClearMarkScheme, ComputeChecksums):
        notebook, _ = step().preprocess(notebook, {})
    for cell in notebook.cells:
        if "exercise" in cell.metadata:
            _require_python(cell, lesson, "the stub of ")
            _require_cell_runs(cell, lesson)
    return _without_nbgrader_metadata(notebook)


def solved_notebook(lesson: Lesson, solutions: Path | None = None) -> NotebookNode:
    """The same notebook with the solutions, their marks and the `solution` cells. Raises as `stub_notebook` does."""
    notebook = _assemble(lesson, solutions or _solutions(lesson), keep_solution_cells=True)
    for step in (LockCells, ClearOutput, CheckCellMetadata, ComputeChecksums):
        notebook, _ = step().preprocess(notebook, {})
    return _without_nbgrader_metadata(notebook)


def _without_nbgrader_metadata(notebook: NotebookNode) -> NotebookNode:
    """The notebook after the exercise cells have lost nbgrader's metadata, so that nbgrader leaves them alone.

    `nbgrader generate_assignment` would empty a solution cell that has no marked region, signature included.
    """
    for cell in notebook.cells:
        if "exercise" in cell.metadata:
            del cell.metadata["nbgrader"]
    return _valid(notebook)


def notebook_text(notebook: NotebookNode) -> str:
    """The text of a notebook file, with sorted keys and one trailing newline: it changes only when a cell does."""
    return str(nbformat.writes(notebook, indent=1)).rstrip("\n") + "\n"


def _solutions(lesson: Lesson) -> Path:
    return Places().source(lesson.slug).parent


def _assemble(lesson: Lesson, solutions: Path, *, keep_solution_cells: bool) -> NotebookNode:
    """The notebook of the source's cells and ours, each with an id and nbgrader's metadata."""
    built = [_generated_cell("setup", f'from autograder import lesson\n\ncheck = lesson("{lesson.slug}")', "setup")]
    due: list[NotebookNode] = []
    source = _read_source(lesson, solutions)
    _link(source, lesson, published())
    _say_needs(source, lesson)
    how = _how_it_works(lesson, source)
    if source[0].cell_type != "markdown":
        built.append(how)
    last = {cell.metadata.exercise: cell for cell in source if "exercise" in cell.metadata}
    for cell in source:
        name = cell.metadata.get("exercise")
        if "solution" in cell.metadata.get("tags", []):
            if keep_solution_cells:
                built.append(cell)
            continue
        # The check cell comes after the `solution` cells that follow its exercise: the reference may use them.
        built += due
        due = []
        built.append(cell)
        if cell is source[0] and cell.cell_type == "markdown":
            built.append(how)
        if name:
            cell.source = regions(cell.source, solved=keep_solution_cells)
            exercise = lesson.exercise(name)
            cell.metadata["nbgrader"] = _nbgrader(cell_id(name, cell.metadata.get("part")), solution=True)
            due = [_check(exercise)] if cell is last[name] else []
    built += due
    _name_cells(built, lesson)
    return new_notebook(cells=built, metadata={"kernelspec": KERNEL, "language_info": {"name": "python"}})


def _link(cells: list[NotebookNode], lesson: Lesson, places: Published) -> None:
    """Make the links in Markdown cells absolute, and offer Colab in the first one if the repository is published."""
    texts = [cell for cell in cells if cell.cell_type == "markdown"]
    for cell in texts:
        cell.source = with_links(cell.source, places)
    colab = places.colab(lesson.slug)
    if colab and texts:
        install = f"%pip install -q git+{places.repository}"
        texts[0].source += f"\n\n[Open in Colab]({colab}); there, run `{install}` in a cell of your own first."


def _say_needs(cells: list[NotebookNode], lesson: Lesson) -> None:
    """Name the exercises that each exercise builds on, in the text below its heading."""
    sources: dict[str, str] = {}
    for cell in cells:
        if name := cell.metadata.get("exercise"):
            sources[name] = f"{sources.get(name, '')}\n{cell.source}"
    needs = builds_on(sources, [exercise.name for exercise in lesson.exercises])
    for cell in cells:
        heading = re.match(r"## `([\w.]+)`", cell.source) if cell.cell_type == "markdown" else None
        if heading and heading[1] in needs:
            cell.source = with_needs(cell.source, needs[heading[1]])


def _read_source(lesson: Lesson, solutions: Path) -> list[NotebookNode]:
    """The cells of `solutions/<lesson>.py`, checked against the syllabus, with only the metadata in `METADATA`."""
    path = solutions / f"{lesson.slug}.py"
    if not path.is_file():
        raise AuthoringError(f"solutions/{path.name}: there is no such file")
    cells = jupytext.read(path, fmt="py:percent").cells
    for cell in cells:
        cell.metadata = NotebookNode({key: cell.metadata[key] for key in METADATA if key in cell.metadata})
    cells = without_taken_out(cells, lesson)
    marked = [cell for cell in cells if "exercise" in cell.metadata]
    listed_in = Places(solutions.parent)
    _require_exercises_of_syllabus(
        lesson,
        listed_in.relative(listed_in.syllabus),
        [(cell.metadata.exercise, cell.metadata.get("part", "")) for cell in marked],
    )
    for cell in cells:
        _require_well_formed(cell, lesson)
    for name in dict.fromkeys(cell.metadata.exercise for cell in marked):
        if not any(_defines(cell.source, name) for cell in marked if cell.metadata.exercise == name):
            raise AuthoringError(f"solutions/{lesson.slug}.py: the cell of exercise {name!r} does not define {name}")
    return list(cells)


def _require_exercises_of_syllabus(lesson: Lesson, syllabus: str, parts: list[tuple[str, str]]) -> None:
    """Require the syllabus's exercises in its order, each in one cell or in named parts."""
    file = f"solutions/{lesson.slug}.py"
    listed = [exercise.name for exercise in lesson.exercises]
    for name, part in parts:
        if name not in listed:
            raise AuthoringError(f"{file}: exercise {name!r} is not in {syllabus}")
        if parts.count((name, part)) > 1:
            what = f"part {part!r} of exercise {name!r}" if part else f"exercise {name!r}"
            raise AuthoringError(f"{file}: {what} has {parts.count((name, part))} cells, it must have one")
    found = [name for name, _ in parts]
    found = [name for i, name in enumerate(found) if i == 0 or found[i - 1] != name]
    for name in listed:
        if name not in found:
            raise AuthoringError(f"{file}: exercise {name!r} of {syllabus} is missing")
    for name, expected in zip(found, listed, strict=False):
        if name != expected:
            raise AuthoringError(f"{file}: exercise {name!r} stands where {syllabus} has {expected!r}")
    if len(found) > len(listed):
        raise AuthoringError(f"{file}: the parts of exercise {found[len(listed)]!r} are not one after the other")


def _require_well_formed(cell: NotebookNode, lesson: Lesson) -> None:
    """Refuse with a clear message what would make nbgrader write a wrong stub or fail with a traceback."""
    file = f"solutions/{lesson.slug}.py"
    name = cell.metadata.get("exercise")
    tags = cell.metadata.get("tags", [])
    if cell.cell_type == "code":
        _require_python(cell, lesson)
    lines = [line.strip() for line in cell.source.split("\n")]
    begins, ends = lines.count(BEGIN), lines.count(END)
    first = cell.source.split("\n")[0]
    for tag in OURS:
        if tag in tags:
            raise AuthoringError(f"{file}: the cell {first!r} has the tag {tag!r}; the build writes those cells")
    demo, begins_so = "demo" in tags, cell.source.startswith(DEMO)
    if demo != begins_so:  # files are recognised by the tag, but of a cell that a kernel ran we know only the source
        has = f"has the tag 'demo' and does not begin with {DEMO!r}"
        hidden = f"begins with {DEMO!r} and has no tag 'demo'"
        raise AuthoringError(f"{file}: the cell {first!r} {has if demo else hidden}")
    if name is None:
        if (begins or ends) and "solution" not in tags:
            raise AuthoringError(f"{file}: the cell {first!r} has a solution but no exercise")
        return
    if begins == 0 or begins != ends:
        # nbgrader replaces a whole cell without a region, signature included.
        raise AuthoringError(f"{file}: exercise {name!r} needs {BEGIN} and {END}, in pairs")
    mark = END
    for line in lines:
        if line == HANDED_OUT and mark != BEGIN:
            raise AuthoringError(f"{file}: exercise {name!r} has a {HANDED_OUT} that is not the one of its region")
        if mark == HANDED_OUT and line != END and not re.match(r"#(?!#)", line):
            raise AuthoringError(
                f"{file}: exercise {name!r} has a line that is no comment behind {HANDED_OUT}: {line!r}"
            )
        mark = line if line in (BEGIN, HANDED_OUT, END) else mark


def _defines(source: str, name: str) -> bool:
    """Whether a cell defines or assigns `name` at its top level; `name` may be dotted, as `Tensor.backward`."""
    body = ast.parse(source).body
    targets = [ast.unparse(target) for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return name in targets or name in {getattr(node, "name", None) for node in body}


def _require_python(cell: NotebookNode, lesson: Lesson, what: str = "") -> None:
    try:
        ast.parse(cell.source)
    except SyntaxError as error:
        name = cell.metadata.get("exercise")
        where = f"exercise {name!r}" if name else f"the cell {cell.source.split(chr(10))[0]!r}"
        message = f"{what}{where} is not Python: {error.msg}, line {error.lineno} of the cell"
        raise AuthoringError(f"solutions/{lesson.slug}.py: {message}") from None


def _require_cell_runs(cell: NotebookNode, lesson: Lesson) -> None:
    """Refuse a stub that raises when its cell runs, not when it is called: "Run All" and the grader would stop."""
    bodies = [ast.parse(cell.source).body]
    while bodies:
        body = bodies.pop()
        if any(isinstance(node, ast.Raise) for node in body):
            name = cell.metadata.exercise
            message = f"the stub of exercise {name!r} raises when its cell runs: begin its region inside a function"
            raise AuthoringError(f"solutions/{lesson.slug}.py: {message}")
        bodies += [node.body for node in body if isinstance(node, ast.ClassDef)]


def _how_it_works(lesson: Lesson, source: list[NotebookNode]) -> NotebookNode:
    mend = any(HANDED_OUT in cell.source for cell in source)
    text = HOW.format(first=lesson.exercises[0].name, or_mend=", or mend what stands there" if mend else "")
    return new_markdown_cell(source=text.strip(), metadata={"nbgrader": _nbgrader("how", locked=True)})


def _name_cells(cells: list[NotebookNode], lesson: Lesson) -> None:
    """Give every cell a unique id, and lock those that are neither an exercise nor a check.

    A cell is named after the next exercise and numbered from there, so that a new cell renames few others.
    """
    chapter = lesson.slug.split("_")[0]
    leads_to = "end"
    owners = []
    for cell in reversed(cells):
        leads_to = cell.metadata.get("exercise", leads_to)
        owners.append(leads_to)
    counted: dict[str, int] = {}
    for cell, owner in zip(cells, reversed(owners), strict=True):
        tags = cell.metadata.get("tags", [])
        if "nbgrader" not in cell.metadata:
            kind = "solution" if "solution" in tags else "text" if cell.cell_type == "markdown" else "given"
            stem = f"{kind}-{cell_id(owner)}"
            counted[stem] = counted.get(stem, 0) + 1
            name = f"{stem}-{counted[stem]}"
            if kind != "solution":
                cell.metadata["nbgrader"] = _nbgrader(name, locked=True)
        else:
            name = cell.metadata.nbgrader.grade_id
        cell["id"] = f"{chapter}-{name}"


def _check(exercise: Exercise) -> NotebookNode:
    """The check cell of an exercise; nbgrader reads the score from the value of its last line."""
    source = f'check("{exercise.name}")  # {exercise.tier}, {counted(exercise.points, "point")}'
    # A check that earns no points raises, as nbgrader requires; the tag lets "Run All" go on.
    cell = _generated_cell(check_id(exercise.name), source, "check", "raises-exception")
    cell.metadata["nbgrader"].update(grade=True, points=exercise.points)
    return cell


def _generated_cell(grade_id: str, source: str, *tags: str) -> NotebookNode:
    metadata = {"tags": list(tags), "nbgrader": _nbgrader(grade_id, locked=True)}
    return new_code_cell(source=source, metadata=metadata)


def _nbgrader(grade_id: str, *, solution: bool = False, locked: bool = False) -> dict[str, Any]:
    """nbgrader's metadata of one cell, in its schema 3."""
    return {
        "grade": False,
        "grade_id": grade_id,
        "locked": locked,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }


def _valid(notebook: NotebookNode) -> NotebookNode:
    """The notebook itself, validated by nbformat: unique ids of legal characters, no unknown keys."""
    notebook.nbformat_minor = 5
    nbformat.validate(notebook)
    return notebook
