"""A page names slips and pairs of mistakes from its part of the answer book, as the solutions name them elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, islice

import pytest

from autograder.answerbook.book import AnswerBook
from autograder.authoring.answer_books import written_for
from autograder.collection import with_judge
from autograder.diagnosis import EditError, edited
from autograder.diagnosis.mutation.cells import parts_of
from autograder.diagnosis.mutation.text import Source
from autograder.diagnosis.mutation.variants import variants
from autograder.judging.here import HereRun
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

EXERCISES = (
    "ch01_computation_graph/backward_by_hand",
    "ch03_accumulation/tied_autoencoder_gradient",
    "ch06_vjps/relu_vjp",
)
FEW = 8
"""So many slips of an exercise, and so many pairs."""
SLIP, PAIR = "The same values come out of a right answer with one slip", "Two mistakes together give exactly this."


def _answers(judge: Judge, name: str) -> list[str]:
    """Sources of solutions with a slip in them, and with two known mistakes."""
    text = judge.reference.text
    source = Source(text)
    slips = variants(source, parts_of(source, text, name), exercise=name)
    found = [one.splice.applied(source.bytes) for one in slips[:: max(1, len(slips) // FEW)]]
    known = [one for one in judge.mistakes.of(name) if one.edits]
    for one, other in islice(combinations(known, 2), FEW):
        with suppress(EditError, SyntaxError):
            found.append(edited(edited(text, one.edits), other.edits))
    return found


def _told(judge: Judge, name: str, answers: Sequence[str]) -> list[str]:
    """What a reader is told of each answer, after visible checks; nothing if they accept it."""
    items, exercise = judge.items_of(name, True), judge.lesson.exercise(name)
    found = []
    for text in answers:
        records = judge.observe(items, HereRun(Submission.of_cells("a page", [text]), judge.reference.scenarios, {}))
        right = all(record.passed for record in records)
        found.append("" if right else judge.mistakes.explain(exercise, records).message)
    return found


@pytest.mark.parametrize("which", EXERCISES)
def test_a_page_names_them_as_the_solutions_do(which: str) -> None:
    """Without them in its book, a page said of the same answers only what is wrong with the numbers."""
    slug, _, name = which.partition("/")
    lesson = find_lesson(slug)
    answers = with_judge(lesson, lambda judge: _answers(judge, name))
    elsewhere = with_judge(lesson, lambda judge: _told(judge, name, answers), by_the_book=False)
    common, parts = written_for(lesson, only=name, harmless=False).book.in_parts()

    def in_page(part: AnswerBook) -> list[str]:
        book = AnswerBook.from_bytes(common.to_bytes())
        book.add(AnswerBook.from_bytes(part.to_bytes()))
        return with_judge(lesson, lambda judge: _told(judge, name, answers), only=name, book=book)

    named = [message for message in elsewhere if message.startswith((SLIP, PAIR))]
    assert named
    assert in_page(parts[name]) == elsewhere
    without = in_page(replace(parts[name], variants={}, pairs={}))
    assert not [message for message in without if message.startswith((SLIP, PAIR))]
