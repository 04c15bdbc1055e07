"""Finds the exercises that a learner is editing, by comparing a file's answers after each save."""

from __future__ import annotations

from pathlib import Path

from autograder.learning.answers import answers
from autograder.submission import SubmissionError, read_submission
from course.syllabus import Lesson


class Edits:
    """Remembers the answers in each file of a folder."""

    def __init__(self) -> None:
        self._seen: dict[Path, dict[str, str]] = {}
        self._when: dict[Path, int] = {}

    def is_new(self, file: Path) -> bool:
        """Whether a file has been written since the last call with it; False if it does not exist."""
        try:
            when = file.stat().st_mtime_ns
        except OSError:
            return False
        before = self._when.get(file)
        self._when[file] = when
        return when != before

    def look(self, file: Path, lesson: Lesson) -> list[str]:
        """The exercises whose answers changed since the last call, in the lesson's order; none at the first call.

        If the file cannot be read, as in the middle of a save, nothing counts as changed yet.
        """
        try:
            now = answers(read_submission(file), lesson)
        except SubmissionError:
            self._when.pop(file, None)
            return []
        before = self._seen.get(file)
        self._seen[file] = now
        if before is None:
            return []
        return [name for name in now if now[name] != before.get(name)]
