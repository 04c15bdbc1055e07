"""Answer books are written once, only whole files are used, and those with few slips do not lie beside the checks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.answerbook.book import AnswerBook
from autograder.authoring import answer_books, kept_books
from autograder.authoring.answer_books import MOST_SECONDS, Written
from autograder.authoring.books_of_lessons import SLIP_SECONDS, books_of
from autograder.authoring.release import release
from autograder.authoring.tree import AuthoringError, Course
from course.syllabus import find_lesson

LESSON = find_lesson("ch01_computation_graph")


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds for slips of each book that is written, of which the first is interrupted."""
    found: list[float] = []

    def write(*_: Any, slip_seconds: float) -> Written:
        found.append(slip_seconds)
        if len(found) == 1:
            raise KeyboardInterrupt
        return Written(AnswerBook(LESSON.slug, str(len(found))))

    monkeypatch.setattr(kept_books, "FOLDER", tmp_path / "kept")
    monkeypatch.setattr(answer_books, "written_for", write)
    with pytest.raises(KeyboardInterrupt):
        kept_books.read_kept(LESSON, slip_seconds=1)
    return found


def test_a_book_is_written_once(written: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted write leaves nothing that would be used, and another version of the lesson is another book."""
    assert [kept_books.read_kept(LESSON, slip_seconds=1).version for _ in range(3)] == ["2", "2", "2"]
    assert kept_books.read_kept(LESSON, slip_seconds=0).version == "3"
    monkeypatch.setattr(kept_books, "grader_version", lambda slug: "another")
    assert kept_books.read_kept(LESSON, slip_seconds=1).version == "4"
    assert written == [1, 1, 0, 1]
    assert len(list((tmp_path / "kept").glob("*.book"))) == 3


def test_a_whole_book_serves_where_a_shorter_search_would_do(written: list[float]) -> None:
    """Formerly tests and the book's build wrote one of ch07 each, half a minute of processor time."""
    whole = kept_books.read_kept(LESSON, slip_seconds=MOST_SECONDS).version
    assert kept_books.read_kept(LESSON, slip_seconds=1).version == whole
    assert kept_books.read_kept(LESSON, slip_seconds=0).version != whole, "it has no slips"
    assert written == [1, MOST_SECONDS, 0]


def test_other_packages_write_another_book(written: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept_books.read_kept(LESSON, slip_seconds=1).version
    monkeypatch.setattr(kept_books, "installed", lambda: "another Python")
    assert kept_books.read_kept(LESSON, slip_seconds=1).version != before


def test_a_checkout_that_cannot_be_written_gets_its_books_all_the_same(
    written: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not kept; and the command says which exercises they have no slips of."""
    (tmp_path / "full").write_text("")
    monkeypatch.setattr(kept_books, "FOLDER", tmp_path / "full" / "kept")
    monkeypatch.setattr(Course, "answer_book", lambda self, slug: tmp_path / "none" / "answers.book")
    monkeypatch.setenv(SLIP_SECONDS, "2.5")
    said: list[str] = []
    books = books_of(Course.at(), [LESSON.slug], say=said.append)
    assert AnswerBook.from_bytes(books[LESSON.slug]).version == "2"
    assert written == [1, 2.5]
    assert said[0].startswith("Answer books of ch01:")
    assert said[1].startswith(f"{LESSON.slug}: slips or pairs of mistakes take too long to try, and are not named, in ")


def test_only_whole_books_of_releases_lie_beside_the_checks(
    written: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next release would take one with few slips for a whole one, and tests would use what the build left."""
    beside = tmp_path / "answers.book"
    monkeypatch.setattr(Course, "answer_book", lambda self, slug: beside)

    def released(name: str, seconds: float, *, to_keep: bool = True) -> bool:
        monkeypatch.setenv(SLIP_SECONDS, f"{seconds}")
        release(Course.at(), tmp_path / name, [LESSON.slug], beside=to_keep, say=lambda line: None)
        return beside.exists()

    assert not released("few", 2.5)
    assert not released("pages", MOST_SECONDS, to_keep=False)
    assert released("all", MOST_SECONDS)
    assert written == [1, 2.5, MOST_SECONDS]
    monkeypatch.setenv(SLIP_SECONDS, "few")
    with pytest.raises(AuthoringError, match=f"{SLIP_SECONDS} is 'few': set it to a number of seconds, or not at all"):
        release(Course.at(), tmp_path / "none", [LESSON.slug], say=lambda line: None)


def test_what_is_installed_does_not_depend_on_what_is_imported() -> None:
    """setuptools, which PyTorch imports, puts its own copies of packages on the path: books were written twice."""
    program = "from autograder.authoring.state import installed; import sys; sys.stdout.write(installed())"
    before, after = (
        subprocess.run([sys.executable, "-c", first + program], capture_output=True, text=True, check=True).stdout
        for first in ("", "import setuptools; ")
    )
    assert before == after
