"""A rule about answer books: without solutions, learners are told the same as with them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial

from autograder.answerbook import AnswerBook, NotInBook, StaleBook, read_book
from autograder.authoring.answer_books import written_for
from autograder.authoring.rules.judged import line, unreadable, whole_lessons
from autograder.authoring.rules.noted import Answers
from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.diagnosis import Misconception
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.known_mistakes import SeenOfMistakes
from autograder.judging.explaining.searching import WORTH_SEARCHING
from autograder.judging.recorder import Recorder
from autograder.judging.records.errors import CheckError
from autograder.judging.records.record import Record
from autograder.judging.records.summary import summary
from autograder.judging.session import Judge
from autograder.judging.version import grader_version
from course.syllabus import Exercise, Lesson


@dataclass
class WithSolutions:
    """The records and messages of a judge that has the solutions, for each known mistake, on visible cases."""

    records: dict[Misconception, list[Record]] = field(default_factory=dict)
    said: dict[Misconception, tuple[str, ...]] = field(default_factory=dict)


def answer_books_judge_alike(
    course: Course, seen: SeenOfMistakes | None = None, answers: Answers | None = None
) -> list[Problem]:
    """Judged by a lesson's answer book, the solution passes, and each known mistake gets the same message as otherwise.

    Args:
        seen: shares what is seen of known mistakes with other rules about the same lesson.
        answers: what known mistakes have answered to other rules about the same lesson.
    """
    problems = []
    answers = answers or Answers()
    for lesson in whole_lessons(course):
        if unreadable(course, lesson):
            continue
        try:
            said = with_judge(
                lesson, _judged_with_solutions, root=course.root, only=course.exercise, seen=seen, by_the_book=False
            )
            judged = partial(_differences, said=said, reference=Reference(lesson, course.root), answers=answers)
            book = _book_of(course, lesson, seen)
            found = with_judge(lesson, judged, root=course.root, only=course.exercise, book=book)
        except CheckError as error:
            found = [line(str(error))]
        do = "let the check ask what does not depend on the answer, or delete the answers.book beside it"
        problems += [Problem(course.relative(course.checks(lesson.slug)), what, do) for what in found]
    return problems


def _judged_with_solutions(judge: Judge) -> WithSolutions:
    found = WithSolutions()
    for known in judge.mistakes.known:
        checks = len(judge.items_of(known.exercise, True))
        found.records[known] = [judge.mistakes.evidence(known)[i] for i in range(checks)]
        found.said[known] = _shown_to_learner(judge, judge.lesson.exercise(known.exercise), found.records[known])
    return found


def _shown_to_learner(judge: Judge, exercise: Exercise, records: list[Record]) -> tuple[str, ...]:
    """The names in the diagnosis and the first line of its message; empty if all checks pass."""
    if all(record.passed for record in records):
        return ()
    diagnosis = judge.mistakes.explain(exercise, records)
    return *diagnosis.misconceptions, diagnosis.message.partition("\n")[0]


def _differences(judge: Judge, said: WithSolutions, reference: Reference, answers: Answers) -> list[str]:
    """Where a judge with only the answer book differs from the one with solutions, and where the book lacks answers."""
    problems = [
        f"the solution fails by the answer book: {exercise.name}: {line(summary(record))}"
        for exercise in judge.lesson.exercises
        for record in judge.observe(judge.items_of(exercise.name), reference.local())
        if not record.passed
    ]
    problems += [
        f"the answer book cannot tell where a right answer is of another kind: {exercise.name}: {record.check}"
        for exercise in judge.lesson.exercises
        for record in judge.observe(judge.items_of(exercise.name), Recorder(reference, otherwise=True))
        if isinstance(record.ended_by, NotInBook)
    ]
    by_name = {(known.exercise, known.name): known for known in said.said}
    for known in judge.mistakes.known:
        original, exercise = by_name[known.exercise, known.name], judge.lesson.exercise(known.exercise)
        records = said.records[original]
        if exercise.seconds <= WORTH_SEARCHING:  # running slower ones again would take minutes
            items = zip(judge.items_of(exercise.name), records, strict=True)
            rejecting = [item for item, record in items if not record.passed]  # the other checks saw right values
            mistaken = cache(partial(reference.mistaken, original))
            again = [answers.observe(judge, item, original, mistaken) for item in rejecting]
            problems += [
                f"the answer book cannot tell: {exercise.name}: {known.name}: {record.check}"
                if isinstance(record.ended_by, NotInBook)
                else f"the answer book accepts it: {exercise.name}: {known.name}: {record.check}"
                for record in again
                if record.passed or isinstance(record.ended_by, NotInBook)
            ]
        told = _shown_to_learner(judge, exercise, records)
        if told != said.said[original]:
            problems.append(f"the answer book says {told}, the solution {said.said[original]}: {known.name}")
    return problems


def _book_of(course: Course, lesson: Lesson, seen: SeenOfMistakes | None) -> AnswerBook:
    """The answer book beside the checks if it is up to date; else a new one with what `_differences` compares."""
    with suppress(FileNotFoundError, StaleBook):
        there = read_book(course.answer_book(lesson.slug))
        if there.version == grader_version(lesson.slug):
            return there
    written = written_for(lesson, course, slip_seconds=0, harmless=False, only=course.exercise, seen=seen)
    return AnswerBook.from_bytes(written.book.to_bytes())
