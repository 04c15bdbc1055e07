"""Answer books, kept in the checkout's `.cache`: releases, the book's build and tests need the same ones.

Writing one takes up to a minute. It is kept under a hash of everything that decides its content, so all processes that
need it share it, and later ones do as long as nothing has changed. A whole book serves where a shorter search for slips
would do.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from filelock import FileLock

from autograder.answerbook.book import AnswerBook
from autograder.authoring import answer_books
from autograder.authoring.answer_books import MOST_SECONDS
from autograder.authoring.state import installed
from autograder.judging.version import grader_version, with_imports
from autograder.places import ROOT, Places
from course.syllabus import Lesson

FOLDER = ROOT / ".cache" / "books"
KEPT_SECONDS = 14 * 24 * 3600
"""How long a book is kept that nobody has asked for."""


def kept_book(lesson: Lesson, places: Places | None = None, *, slip_seconds: float) -> bytes:
    """The content of a lesson's answer book, read from the cache, or written and cached if it is not there.

    Args:
        slip_seconds: processor time for trying the slips of an exercise; with 0 the book has none. A whole book that is
            kept already is read in the place of one with fewer.

    Raises:
        CheckError: the checks cannot be collected, or reject the solution.
        OSError: the book cannot be kept.
    """
    file = _file(lesson.slug, slip_seconds)
    whole = _file(lesson.slug, MOST_SECONDS)
    if slip_seconds and whole.is_file():
        file = whole
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock")):
        if not file.is_file():
            _remove_old()
            written = answer_books.written_for(lesson, places, slip_seconds=slip_seconds)
            part = file.with_suffix(".part")
            part.write_bytes(written.book.to_bytes())
            part.rename(file)  # so that an interrupted process leaves no half book
        os.utime(file)
        return file.read_bytes()


def read_kept(lesson: Lesson, *, slip_seconds: float) -> AnswerBook:
    """`kept_book`, read."""
    return AnswerBook.from_bytes(kept_book(lesson, slip_seconds=slip_seconds))


def _file(slug: str, slip_seconds: float) -> Path:
    return FOLDER / f"{slug}-{_key(slug, slip_seconds)}.book"


def _key(slug: str, slip_seconds: float) -> str:
    """Hash of what decides a lesson's book: its grader version, the modules that write it, and what is installed."""
    digest = hashlib.sha256(repr((slug, grader_version(slug), slip_seconds, installed())).encode())
    for file in sorted(with_imports([Path(answer_books.__file__)])):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _remove_old() -> None:
    for file in FOLDER.iterdir():
        if file.stat().st_mtime < time.time() - KEPT_SECONDS:
            file.unlink(missing_ok=True)
