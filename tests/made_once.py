"""Answer books that several test modules need, each written once and kept below `.cache`.

Writing one takes up to a minute. It is kept under a hash of everything that decides its content, so that all processes
of a run share it, and later runs do where nothing has changed.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import pytest
from filelock import FileLock

from autograder.answerbook.book import AnswerBook
from autograder.authoring import answer_books
from autograder.authoring.answer_books import Written
from autograder.judging.version import grader_version, with_imports
from autograder.places import ROOT, Places
from course.syllabus import Lesson

FOLDER = ROOT / ".cache" / "tests"
KEPT_SECONDS = 14 * 24 * 3600
"""How long a book is kept that no test has asked for."""
SECONDS = 0.5
"""The search for slips in these books, for each exercise: enough for the quick ones."""
_write = answer_books.written_for


def written_for(lesson: Lesson, places: Places | None = None, *, search: bool = True) -> Written:
    """Like `answer_books.written_for` with a search of `SECONDS`, but keep the book. The lists besides it are empty."""
    file = FOLDER / f"{lesson.slug}-{_key(lesson.slug, search)}.book"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock")):
        if not file.is_file():
            _remove_old()
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(answer_books, "MOST_SECONDS", SECONDS)
                content = _write(lesson, places, search=search).book.to_bytes()
            part = file.with_suffix(".part")
            part.write_bytes(content)
            part.rename(file)  # so that an interrupted test leaves no half book
        os.utime(file)
        return Written(AnswerBook.from_bytes(file.read_bytes()))


def _key(slug: str, search: bool) -> str:
    """Hash of what decides a lesson's book: its grader version, the modules that write it, and the libraries."""
    libraries = [sys.version, *(version(name) for name in ("numpy", "torch", "pytest"))]
    digest = hashlib.sha256(repr((slug, grader_version(slug), search, SECONDS, libraries)).encode())
    for file in sorted(with_imports([Path(answer_books.__file__), Path(__file__)])):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _remove_old() -> None:
    for file in FOLDER.iterdir():
        if file.stat().st_mtime < time.time() - KEPT_SECONDS:
            file.unlink(missing_ok=True)


@contextmanager
def answer_books_made_once() -> Iterator[None]:
    """Releases that are made inside get these books, unless there are books beside the checks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.authoring.release.written_for", written_for)
        yield


if __name__ == "__main__":  # the command `backprop`, whose releases get these books
    from autograder.commands import run

    with answer_books_made_once():
        run()
