"""Checks a reader's answer in a page, with the same judge as a notebook but in a single process.

The card comes at once. If nothing that is known explains a wrong answer, the page then fetches what looks for the
smallest change of the reader's own code that makes it right (`page.repair`), and asks for the card with that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import autograder.page.wide  # noqa: F401  # before the worker records NumPy's functions
from autograder.answerbook import BookReference, StaleBook, read_book
from autograder.collection import with_judge
from autograder.judging.here import Checked, checked_here
from autograder.judging.records.errors import CheckError
from autograder.judging.records.results import ExerciseResult
from autograder.judging.session import Judge
from autograder.page.bench import without_untrue
from autograder.page.card import shown
from autograder.page.relabelled import in_a_page
from autograder.page.traces import place_in
from autograder.places import Places
from autograder.submission import Submission, SubmissionError, parse_submission
from course.syllabus import find_lesson

Say = Callable[[str], object]
_judges: dict[str, Judge] = {}
"""Judges by lesson, cached because collecting the checks takes longer than most of them run."""
_say: list[Say] = []
"""What gets progress texts: the argument of the `check` that runs."""


@dataclass(frozen=True)
class Asked:
    """A check that has been made."""

    judge: Judge
    submission: Submission
    checked: Checked


last: list[Asked] = []
"""The last check, if something could be checked."""


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


@contextmanager
def telling(say: Say) -> Iterator[None]:
    """Inside, `say` gets progress texts."""
    _say[:] = [say]
    try:
        yield
    finally:
        _say.clear()


def check(slug: str, exercise: str, notebook: str, say: Say = lambda text: None) -> dict[str, Any]:
    """Check one exercise, given the lesson's notebook with the reader's answers in its cells; return its card.

    `say` gets progress texts. `more` is whether `page.repair` may find more to say. If nothing can be graded, the
    card's only key is `error`.
    """
    last.clear()
    try:
        with telling(say):
            judge = prepared(slug)
            submission = in_a_page(parse_submission(f"{slug}.ipynb", notebook.encode()))
            _with_answers(judge, exercise)
            checked = checked_here(judge, submission, exercise)
    except (CheckError, SubmissionError, StaleBook) as error:
        return {"error": str(error)}
    last.append(Asked(judge, submission, checked))
    return card_of(checked, checked.result) | {"more": checked.left is not None}


def card_of(checked: Checked, result: ExerciseResult) -> dict[str, Any]:
    """The card of a result, with the case that a reader can try and the line to mark."""
    name = checked.exercise.name
    case = without_untrue(checked.run.module, result.case)
    card = shown(checked.exercise, result, checked.run.notes(name, result.message))
    return card | {"case": case, "line": place_in(result.message, name)}


def as_json(slug: str, exercise: str, notebook: str, say: Say) -> str:
    """`check`, with its result as JSON for the worker."""
    return json.dumps(check(slug, exercise, notebook, say))
