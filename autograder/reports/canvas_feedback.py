"""Canvas: each student's feedback as a comment on the hand-in, by *Upload Submissions* of an assignment.

Canvas reads a zip whose entries are named as in its own download, `NAME_USER_FILE_…` (canvas-lms,
app/models/abstract_assignment.rb, `infer_comment_context_from_filename`). It finds user and hand-in by the two numbers,
and attaches the entry to a comment under the name of the student's own file. So the feedback on a notebook is a
notebook, and that on a Python file a Python file.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath

import nbformat

from autograder.judging.records.results import SubmissionResult, write_whole
from autograder.new_files import refuse_link
from autograder.reports.class_results import StudentWork, lesson_of, was_handed_in
from autograder.reports.feedback import print_feedback
from autograder.reports.formats import Order, Report
from autograder.reports.markdown import feedback
from autograder.reports.screen import Screen
from autograder.wording import counted, some

IN_A_DOWNLOAD = re.compile(r"[^_/]+(_LATE)?_\d+_\d+_[^/]+")
"""The name that Canvas's `content_zipper.rb` gives a file: the user's, perhaps LATE, and two numbers."""
FOLDER = "canvas_feedback"
WIDTH = 100


class CanvasFeedback(Report):
    """`canvas_feedback/LESSON.zip`, to upload in that lesson's assignment under *Upload Submissions*."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._entries: dict[str, dict[str, str]] = {}
        """By lesson: the text of each entry, by name."""
        self._others: list[str] = []

    def add(self, work: StudentWork) -> None:
        for result in work.results:
            if not was_handed_in(result):
                continue
            name = PurePosixPath(result.file).name
            write = AS_FILE.get(PurePosixPath(name).suffix.lower())
            if write is None or not IN_A_DOWNLOAD.fullmatch(name):
                self._others.append(work.student)
            else:
                self._entries.setdefault(result.lesson, {})[name] = write(result)

    def finish(self) -> list[str]:
        lines = []
        for lesson, entries in sorted(self._entries.items()):
            path = self.file(FOLDER, f"{lesson}.zip")
            refuse_link(path)
            content = io.BytesIO()
            with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
                for name, text in sorted(entries.items()):
                    archive.writestr(name, text.encode("utf-8", "backslashreplace"))
            write_whole(path, content.getvalue())
            lines.append(f"canvas-feedback: {path}, {counted(len(entries), 'comment')} for Upload Submissions")
        if self._others:
            told = f"{counted(len(self._others), 'hand-in')} without a name of Canvas's download"
            lines.append(f"canvas-feedback: no comment for {told}: {some(sorted(set(self._others)))}")
        return lines


def _notebook(result: SubmissionResult) -> str:
    cells = [nbformat.v4.new_markdown_cell(part, id=f"feedback-{n}") for n, part in enumerate(feedback(result))]
    written: str = nbformat.writes(nbformat.v4.new_notebook(cells=cells))
    return written


def _comments(result: SubmissionResult) -> str:
    """The terminal's text, as comments of Python."""
    lesson = lesson_of(result.lesson)
    if lesson is None:
        return f"# {result.points:g} of {result.max_points:g} points\n"
    out = io.StringIO()
    print_feedback(Screen(file=out, width=WIDTH, color_system=None, legacy_windows=False), lesson, result, hints=0)
    return "".join(f"# {line}".rstrip() + "\n" for line in out.getvalue().splitlines())


AS_FILE: dict[str, Callable[[SubmissionResult], str]] = {".ipynb": _notebook, ".py": _comments}
"""By the suffix of a hand-in: the text of a file of that kind."""
