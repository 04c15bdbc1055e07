"""Reads the model solution of an exercise, to show to learners who have passed it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from autograder.learning.answers import definitions
from autograder.places import Places
from autograder.submission import Cell, SubmissionError, parse_submission, read_bytes
from course.syllabus import Exercise

BEGIN, HANDED_OUT, END = "### BEGIN SOLUTION", "### HANDED OUT", "### END SOLUTION"


class NoSolutions(LookupError):
    """This copy of the course has no solutions, because it is a release; the message says so."""


def solution_of(exercise: Exercise, places: Places | None = None) -> str:
    """The code of the model solution, with the helpers of its lesson that it calls.

    Raises:
        NoSolutions: this copy of the course has no solutions.
    """
    cells = _cells(exercise.lesson, places)
    own = _own_answers(cells)[exercise.name]
    helpers = [cell.source.strip("\n") for cell in cells if not cell.exercise and _mentions_any(own, cell.source)]
    return "\n\n\n".join([*helpers, own])


def has_solutions(slug: str, places: Places | None = None) -> bool:
    """Whether this copy of the course has the model solutions of a lesson."""
    return (places or Places()).source(slug).is_file()


def own_answers(slug: str, places: Places | None = None) -> dict[str, str]:
    """The model solution of each exercise of a lesson, without helpers; empty if this copy has no solutions."""
    try:
        return _own_answers(_cells(slug, places))
    except NoSolutions:
        return {}


def _cells(slug: str, places: Places | None) -> tuple[Cell, ...]:
    file = (places or Places()).source(slug)
    try:
        return parse_submission(file.name, read_bytes(file, None)).cells
    except SubmissionError:
        raise NoSolutions("this copy of the course comes without model solutions") from None


def _own_answers(cells: Iterable[Cell]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for cell in cells:
        if cell.exercise:
            found.setdefault(cell.exercise, []).append(_without_marks(cell.source).strip("\n"))
    return {name: "\n\n\n".join(parts) for name, parts in found.items()}


def in_a_line(exercise: Exercise) -> str:
    """The idea of the solution in a sentence or two: the exercise's last hint."""
    return exercise.hints[-1] if exercise.hints else ""


def _mentions_any(code: str, source: str) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", code) for name, _, _ in definitions(source))


def _without_marks(source: str) -> str:
    """A cell without the marks of its regions, and without the code that learners get instead."""
    kept, handed_out = [], False
    for line in source.split("\n"):
        mark = line.strip()
        handed_out = mark == HANDED_OUT or (handed_out and mark != END)
        if not handed_out and mark not in (BEGIN, END):
            kept.append(line)
    return "\n".join(kept)
