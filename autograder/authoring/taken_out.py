"""Removes from a lesson's cells the exercises that a course which extends this one leaves out.

Removed exercises that the remaining ones call are handed out with their solutions, as ordinary cells.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.authoring.regions import BEGIN, END, regions
from autograder.places import Places, files_of, modules_in
from autograder.sections import LINK
from course.syllabus import Lesson

GIVEN = "# This course does not ask for {name}: it is given.\n"


def without_taken_out(cells: list[NotebookNode], lesson: Lesson) -> list[NotebookNode]:
    """The cells of a lesson's source without the exercises that the course leaves out.

    If a remaining cell, check or scenario uses such an exercise, its model solution stays as an ordinary cell. Cells
    that only removed cells use are removed, too.
    """
    out = {exercise.name for exercise in lesson.taken_out}
    if not out:
        return cells
    texts = _remaining_checks(lesson, out)
    kept = [cell for cell in _without_introductions(cells, lesson) if cell.metadata.get("exercise") not in out]
    given = _given(cells, kept, out, texts)
    of_given = _used(given)
    for cell in kept:
        if "solution" in cell.metadata.get("tags", []) and _defined(cell) & of_given:
            given.append(cell)
    stay = [cell for cell in cells if _among(cell, kept) or _among(cell, given)]
    gone = {word for cell in cells if not _among(cell, stay) for word in re.findall(r"\w+", cell.source)}
    found = [cell for cell in stay if not _is_needless(gone, cell, stay, texts)]
    for cell in given:
        name = cell.metadata.get("exercise")
        lines = [line for line in regions(cell.source, solved=True).split("\n") if line.strip() not in (BEGIN, END)]
        cell.source = (GIVEN.format(name=name) if name else "") + "\n".join(lines)
        cell.metadata = NotebookNode()
    return found


def _remaining_checks(lesson: Lesson, out: set[str]) -> str:
    """The text of the checks and scenarios of the remaining exercises."""
    folders = Places().checks(lesson.slug), Places().scenarios(lesson.slug)
    files = [file for folder in folders for file in modules_in(folder) if file not in files_of(folder, out)]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def _without_introductions(cells: list[NotebookNode], lesson: Lesson) -> list[NotebookNode]:
    """The cells without Markdown that introduces a removed exercise, or is between its parts."""
    out = {exercise.name for exercise in lesson.taken_out}
    gone = {exercise.anchor for exercise in lesson.taken_out}
    asked = {exercise.anchor for exercise in lesson.exercises}
    kept, before = [], ""
    for i, cell in enumerate(cells):
        before = cell.metadata.get("exercise", before)
        following = next((one.metadata.exercise for one in cells[i:] if "exercise" in one.metadata), "")
        anchors = {match[3] for match in LINK.finditer(cell.source)}
        of_gone = bool(anchors & gone and not anchors & asked) or (before == following and before in out)
        if cell.cell_type != "markdown" or not of_gone:
            kept.append(cell)
    return kept


def _given(cells: list[NotebookNode], kept: list[NotebookNode], out: set[str], texts: str) -> list[NotebookNode]:
    """The cells of removed exercises that remaining cells or `texts` use, directly or through one another."""
    asked = {f".{name}" for name in re.findall(r"\.(\w+)", texts)}
    asked |= set(re.findall(r"\b(?:learner|submission)\.(\w+)", texts))
    found: set[str] = set()
    while True:
        used = asked | _used(cell for cell in cells if _among(cell, kept) or _exercise(cell) in found)
        more = {name for name in out if (f".{name.rpartition('.')[2]}" if "." in name else name) in used}
        if more <= found:
            return [cell for cell in cells if _exercise(cell) in found]
        found |= more


def _is_needless(gone: set[str], cell: NotebookNode, stay: list[NotebookNode], texts: str) -> bool:
    """Whether removed cells use a name that this cell defines, and nothing that remains does: an import, say."""
    names = _defined(cell)
    if cell.cell_type != "code" or _exercise(cell) or not names & gone:
        return False
    others = _used(one for one in stay if one is not cell)
    return not names & others and not any(re.search(rf"\b{name}\b", texts) for name in names)


def _exercise(cell: NotebookNode) -> str:
    return str(cell.metadata.get("exercise", ""))


def _among(cell: NotebookNode, cells: Iterable[NotebookNode]) -> bool:
    return any(cell is one for one in cells)


def _used(cells: Iterable[NotebookNode]) -> set[str]:
    """The names that code cells read, and the attributes that they name, with a leading dot."""
    found = set()
    for cell in cells:
        for node in ast.walk(_parsed(cell)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(f".{node.attr}")
    return found


def _defined(cell: NotebookNode) -> set[str]:
    """The names that a code cell binds at its top level."""
    found = set()
    for node in _parsed(cell).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    return found


def _parsed(cell: NotebookNode) -> ast.Module:
    try:
        return ast.parse(cell.source if cell.cell_type == "code" else "")
    except SyntaxError:  # `stubs` reports it
        return ast.Module([], [])
