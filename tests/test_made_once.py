"""Answer books that tests share are written once, and only whole ones are used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import made_once
import pytest

from autograder.answerbook.book import AnswerBook
from autograder.authoring.answer_books import Written
from course.syllabus import find_lesson

LESSON = find_lesson("ch01_computation_graph")


def test_a_book_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted write leaves nothing that would be used, and another version of the lesson is another book."""
    written = []

    def write(*_: Any, **__: Any) -> Written:
        written.append(1)
        if len(written) == 1:
            raise KeyboardInterrupt
        return Written(AnswerBook(LESSON.slug, str(len(written))))

    monkeypatch.setattr(made_once, "FOLDER", tmp_path)
    monkeypatch.setattr(made_once, "_write", write)
    with pytest.raises(KeyboardInterrupt):
        made_once.written_for(LESSON)
    assert [made_once.written_for(LESSON).book.version for _ in range(3)] == ["2", "2", "2"]
    assert made_once.written_for(LESSON, search=False).book.version == "3"
    monkeypatch.setattr(made_once, "grader_version", lambda slug: "another")
    assert made_once.written_for(LESSON).book.version == "4"
    assert len(list(tmp_path.glob("*.book"))) == 3


def test_other_libraries_write_another_book(monkeypatch: pytest.MonkeyPatch) -> None:
    before = made_once._key(LESSON.slug, True)
    monkeypatch.setattr(sys, "version", "another Python")
    assert made_once._key(LESSON.slug, True) != before
