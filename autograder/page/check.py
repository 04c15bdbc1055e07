"""Checks a reader's answer in a page, with the same judge as a notebook but in a single process."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import autograder.page.wide  # noqa: F401  # before the worker records NumPy's functions
from autograder.answerbook import BookReference, StaleBook, read_book
from autograder.collection import with_judge
from autograder.judging.here import graded_here
from autograder.judging.records.errors import CheckError
from autograder.judging.session import Judge
from autograder.page.bench import without_untrue
from autograder.page.card import shown
from autograder.page.relabelled import in_a_page
from autograder.page.traces import place_in
from autograder.places import Places
from autograder.submission import SubmissionError, parse_submission
from course.syllabus import find_lesson

Say = Callable[[str], object]
_judges: dict[str, Judge] = {}
"""Judges by lesson, cached because collecting the checks takes longer than most of them run."""
_say: list[Say] = []
"""What gets progress texts: the argument of the `check` that runs."""


def prepared(slug: str) -> Judge:
    """The judge of a lesson, created on the first call."""
    if slug not in _judges:
        judge = with_judge(find_lesson(slug), lambda judge: judge)
        judge.progress.heard = _tell  # a single process cannot poll it
        _judges[slug] = judge
    return _judges[slug]


def ready(slug: str) -> None:
    """Call `prepared` before the first check, which reports any error."""
    with suppress(CheckError):
        prepared(slug)


def _with_answers(judge: Judge, exercise: str) -> None:
    """Load one exercise's part of the answer book. Raises `StaleBook` if it cannot be read."""
    reference = judge.reference
    if isinstance(reference, BookReference) and exercise not in reference.book.right:
        reference.book.add(read_book(Places().part_of_answer_book(judge.lesson.slug, exercise)))


def _tell(text: str) -> None:
    for say in _say:
        say(text)


def check(slug: str, exercise: str, notebook: str, say: Say = lambda text: None) -> dict[str, Any]:
    """Check one exercise, given the lesson's notebook with the reader's answers in its cells; return its card.

    `say` gets progress texts. If nothing can be graded, the card's only key is `error`.
    """
    _say[:] = [say]
    try:
        judge = prepared(slug)
        submission = in_a_page(parse_submission(f"{slug}.ipynb", notebook.encode()))
        _with_answers(judge, exercise)
        (result,) = graded_here(judge, submission, [exercise])
    except (CheckError, SubmissionError, StaleBook) as error:
        return {"error": str(error)}
    finally:
        _say.clear()
    case = without_untrue(slug, exercise, result.case)
    return shown(judge.lesson.exercise(exercise), result) | {"case": case, "line": place_in(result.message, exercise)}


def as_json(slug: str, exercise: str, notebook: str, say: Say) -> str:
    """`check`, with its result as JSON for the worker."""
    return json.dumps(check(slug, exercise, notebook, say))
