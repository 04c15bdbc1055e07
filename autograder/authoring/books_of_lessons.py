"""Answer books of several lessons, written side by side where there are several processors."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from functools import partial

from autograder.answerbook import StaleBook, read_book
from autograder.answerbook.book import AnswerBook
from autograder.authoring import answer_books
from autograder.authoring.answer_books import MOST_SECONDS
from autograder.authoring.kept_books import kept_book
from autograder.authoring.tree import AuthoringError, Course
from autograder.judging.explaining.searching import WORTH_SEARCHING
from autograder.judging.version import grader_version
from autograder.places import ROOT, Places
from autograder.threads import one_thread
from course.syllabus import Lesson

SLIP_SECONDS = "BACKPROP_SLIP_SECONDS"
"""The variable with the processor time for trying the slips of an exercise, where that is not `MOST_SECONDS`."""
Track = Callable[[Iterable[tuple[str, bytes]], int], Iterable[tuple[str, bytes]]]
"""Passes on what is done, one after the other, of so many, and may show how much that is."""


def untold(done: Iterable[tuple[str, bytes]], many: int) -> Iterable[tuple[str, bytes]]:
    """The `Track` that shows nothing."""
    return done


def books_of(
    course: Course, slugs: Iterable[str], *, beside: bool = True, say: Callable[[str], None], track: Track = untold
) -> dict[str, bytes]:
    """The content of each lesson's answer book: read where it is up to date, else written.

    Args:
        beside: whether whole books are kept beside the checks, too, where `grade` looks known mistakes up.
        say: called with a line if books have to be written, and with one for each in which not all was searched.

    Raises:
        AuthoringError: the variable with the seconds is not a number.
        CheckError: the checks of a lesson cannot be collected, or reject the solution.
    """
    found = {slug: _up_to_date(course, slug) for slug in slugs}
    missing = [slug for slug, content in found.items() if content is None]
    seconds = slip_seconds()
    if missing:
        say(f"Answer books of {', '.join(slug.partition('_')[0] for slug in missing)}: a minute or less each, once")
    for slug, content in track(_made(course, missing, seconds), len(missing)):
        found[slug] = content
        if beside and seconds >= MOST_SECONDS:  # there, a book with few slips would pass for a whole one
            with suppress(OSError):  # a read-only course
                course.answer_book(slug).parent.mkdir(exist_ok=True)
                course.answer_book(slug).write_bytes(content)
    for slug in missing if seconds else []:
        if left := _not_searched(course.lessons[slug], found[slug] or b""):
            say(f"{slug}: slips or pairs of mistakes take too long to try, and are not named, in {', '.join(left)}")
    return {slug: content for slug, content in found.items() if content is not None}


def _not_searched(lesson: Lesson, content: bytes) -> list[str]:
    """The exercises whose slips or pairs of mistakes a book lacks because they take too long to try."""
    book = AnswerBook.from_bytes(content)
    both = book.variants.keys() & book.pairs.keys()
    return [one.name for one in lesson.exercises if one.seconds <= WORTH_SEARCHING and one.name not in both]


def _up_to_date(course: Course, slug: str) -> bytes | None:
    grader = Places(ROOT) if course.is_own else course
    for there in (course.answer_book(slug), grader.answer_book(slug)):  # the latter for lessons taken over unchanged
        with suppress(FileNotFoundError, StaleBook):
            if read_book(there).version == grader_version(slug):
                return there.read_bytes()
    return None


def _made(course: Course, slugs: list[str], seconds: float) -> Iterator[tuple[str, bytes]]:
    """Each lesson with its book, as they get ready."""
    make = partial(_one, course, seconds)
    jobs = min(len(slugs), os.cpu_count() or 1)
    if jobs < 2 or course.is_own:  # another process would not know which course this one serves
        yield from map(make, slugs)
        return
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawned, initializer=one_thread) as pool:
        try:
            for future in as_completed([pool.submit(make, slug) for slug in slugs]):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _one(course: Course, seconds: float, slug: str) -> tuple[str, bytes]:
    lesson = course.lessons[slug]
    try:
        return slug, kept_book(lesson, course, slip_seconds=seconds)
    except OSError:  # a read-only checkout: the book is not kept
        return slug, answer_books.written_for(lesson, course, slip_seconds=seconds).book.to_bytes()


def slip_seconds() -> float:
    """Processor time for trying the slips of an exercise. Raises `AuthoringError` if the variable is not a number."""
    given = os.environ.get(SLIP_SECONDS)
    try:
        return MOST_SECONDS if given is None else float(given)
    except ValueError as error:
        raise AuthoringError(f"{SLIP_SECONDS} is {given!r}: set it to a number of seconds, or not at all") from error
