"""Makes submissions that are solved except for some known mistakes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from autograder.authoring.stubs import solved_notebook
from autograder.authoring.tree import Course
from autograder.diagnosis import Misconception, edited
from autograder.diagnosis.edits import has
from autograder.judging.checking.one_text import one_text
from autograder.places import files_of
from autograder.submission import NOT_GRADED

IMPORTS = re.compile(r"^from autograder\.diagnosis import .*\n", re.MULTILINE)
"""The import in files of misconceptions that a worker, which lacks the grader, cannot do."""
NO_REGISTER = (
    "def misconception(*args, **kwargs):\n    return lambda function: function\n"
    "class mistake:\n    def __init__(self, *args, says, **kwargs):\n        self.says = says\n"
)


def solved_cells(course: Course, slug: str) -> list[str]:
    """The sources of the graded code cells of a solved lesson."""
    cells = solved_notebook(course.lessons[slug], course.source(slug).parent).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    return [cell.source for cell in code if NOT_GRADED.isdisjoint(cell.metadata.get("tags", []))]


def mistaken_cells(solved: list[str], mistakes: Iterable[Misconception], register: Path) -> list[str]:
    """The cells of a solved lesson with these mistakes made in them.

    Args:
        register: the lesson's folder of mistakes.
    """
    cells, mistakes = solved, list(mistakes)
    for mistake in mistakes:
        cells = [_edited(cell, mistake) for cell in cells]
    functions = [mistake for mistake in mistakes if mistake.function is not None]
    if not functions:
        return cells
    text = one_text(register, files_of(register, dict.fromkeys(mistake.exercise for mistake in functions)))
    text = IMPORTS.sub("", IMPORTS.sub(NO_REGISTER, text, count=1))
    lines = ["import types", "", "wrong = types.ModuleType('wrong')", f"exec({text!r}, vars(wrong))"]
    lines += [f"{mistake.replaces} = wrong.{mistake.name}" for mistake in functions]
    return [*cells, "\n".join(lines)]


def _edited(cell: str, mistake: Misconception) -> str:
    """A cell after the edits of a mistake that concern what the cell defines."""
    edits = [edit for edit in mistake.edits if has(cell, edit.where)]
    return edited(cell, edits) if edits else cell
