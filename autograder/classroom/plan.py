"""Decides one submission at a time what is still to be graded, and where results go."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from autograder.classroom.class_folder import Work
from autograder.classroom.earlier import keep_replaced
from autograder.classroom.grading import is_of, up_to_date
from autograder.classroom.results_folder import STUDENTS, read_result, result_file, unfinished, write_result
from autograder.judging.records.results import SubmissionResult

REGRADE = ".regrade"
"""Folder in the folder of results for results that do not replace the recorded ones yet; not a student's name."""

IN_THE_WAY = {errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENOTEMPTY, errno.EACCES, errno.EPERM}
"""Errors that concern one result's path. Others, such as a full disk, would affect all later results."""


class Plan:
    """One run of `backprop grade`.

    Results go to the folder of results. With `regrade` or `diff` they go to the waiting folder inside it, from which an
    interrupted run continues, and which a later run uses as long as they are up to date.

    Args:
        regrade: grade everything again.
        diff: never replace recorded results.
        previous: when replaced hand-ins arrived, by student and lesson.
    """

    def __init__(
        self,
        work: list[Work],
        results: Path,
        *,
        salt: str,
        regrade: bool = False,
        diff: bool = False,
        previous: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self.work = work
        self.results = results
        self.waiting = results / REGRADE / "results"
        self.target = self.waiting if regrade or diff else results
        self.done = self.unchanged = self.found = 0
        """Graded in this run; already up to date; graded by an interrupted run and waiting to be taken over."""
        self.problems: list[str] = []
        """A line for each submission whose result cannot be written or taken over."""
        self.ungraded: list[str] = []
        """A line for each submission that could not be graded, for reasons not known to be its own."""
        self._salt = salt
        self._previous = previous or {}
        self._remarks = {(item.student, item.lesson): item.remark for item in work if item.remark}
        self._regrade = regrade

    @property
    def to_grade(self) -> int:
        """Number of submissions that this run grades, as far as known."""
        return len(self.work) - self.unchanged - self.found - len(self.problems)

    @property
    def students(self) -> set[str]:
        return {item.student for item in self.work}

    @property
    def lessons(self) -> set[str]:
        return {item.lesson for item in self.work}

    def writing(self) -> AbstractContextManager[None]:
        """A context for writing results."""
        return nullcontext() if self.target == self.results else unfinished(self.target)

    def todo(self) -> Iterator[Work]:
        """Yield the work to grade, checking each submission only when it is requested."""
        return (item for item in self.looks() if item is not None)

    def looks(self) -> Iterator[Work | None]:
        """Like `todo`, but yield None for each submission that need not be graded or has no place for its result."""
        waits = self.waiting.is_dir()
        for item in self.work:
            recorded = None if self._regrade else read_result(self._recorded_path(item))
            if up_to_date(recorded, item, self._salt):
                self.unchanged += 1
            elif waits and up_to_date(read_result(self._waiting_path(item)), item, self._salt):
                self.found += 1
                if self.target == self.results:
                    self._move(item)
            elif problem := _in_the_way(self._recorded_path(item)):
                self.problems.append(problem)
            else:
                yield replace(item, before=recorded) if is_of(recorded, item, self._salt) else item
                continue
            yield None

    def keep(self, result: SubmissionResult) -> None:
        """Write a result, with the remark on its file. Raises `OSError` if no result can be written."""
        remark = self._remarks.get((result.student, result.lesson))
        if remark is not None:
            result.message = f"{result.message} {remark}".strip()
        try:
            if self.target == self.results:
                self._keep_replaced(result)
            write_result(self.target, result)
            self.done += 1
            if result.status == "killed" and self.target == self.results:
                self._note_ungraded(result)
        except OSError as error:
            self._report_or_raise(result_file(self.target, result.student, result.lesson), error)

    def compared(self) -> Iterator[tuple[SubmissionResult | None, SubmissionResult]]:
        """Pairs of recorded and new result for each submission; the same result twice if nothing changes."""
        for item in self.work:
            recorded = read_result(self._recorded_path(item))
            if not self._regrade and recorded is not None and up_to_date(recorded, item, self._salt):
                yield recorded, recorded
            elif (new := read_result(self._waiting_path(item))) is not None and not self._failed_again(new, recorded):
                yield recorded, new

    def take_over(self) -> None:
        """Replace recorded results by waiting ones, except those that could not be graded, and clean up."""
        if self.target != self.results:
            for item in self.work:
                new = read_result(self._waiting_path(item))
                if new is not None and not self._failed_again(new, read_result(self._recorded_path(item))):
                    self._move(item)
            shutil.rmtree(self.waiting, ignore_errors=True)
        for folder in [
            *(self.waiting / STUDENTS).glob("*"),
            self.waiting / STUDENTS,
            self.waiting,
            self.waiting.parent,
        ]:
            with suppress(OSError):  # fails if results of an interrupted --regrade or of --diff are left
                folder.rmdir()

    def _failed_again(self, new: SubmissionResult, recorded: SubmissionResult | None) -> bool:
        """Whether a submission that has a result could not be graded again."""
        if new.status != "killed":
            return False
        if recorded is None:
            self._note_ungraded(new)
            return False
        self.problems.append(f"{new.student}/{new.lesson} could not be graded again: {new.message}")
        return True

    def _note_ungraded(self, result: SubmissionResult) -> None:
        self.ungraded.append(f"{result.student}/{result.lesson} could not be graded: {result.message}")

    def _move(self, item: Work) -> None:
        recorded = self._recorded_path(item)
        try:
            if (new := read_result(self._waiting_path(item))) is not None:
                self._keep_replaced(new)
            recorded.parent.mkdir(parents=True, exist_ok=True)
            os.replace(self._waiting_path(item), recorded)
        except OSError as error:
            self._report_or_raise(recorded, error)

    def _keep_replaced(self, new: SubmissionResult) -> None:
        """Keep the result of an earlier attempt before `new` replaces it."""
        place = new.student, new.lesson
        keep_replaced(self.results, read_result(result_file(self.results, *place)), new, self._previous.get(place, ""))

    def _report_or_raise(self, file: Path, error: OSError) -> None:
        """Report that one result cannot be written; re-raise errors that would affect all."""
        if error.errno not in IN_THE_WAY:
            raise error
        self.problems.append(_in_the_way(file) or f"{file}: cannot be written ({error.strerror})")

    def _recorded_path(self, item: Work) -> Path:
        return result_file(self.results, item.student, item.lesson)

    def _waiting_path(self, item: Work) -> Path:
        return result_file(self.waiting, item.student, item.lesson)


def _in_the_way(file: Path) -> str:
    """What blocks a result's path; empty if nothing does."""
    if file.is_dir():
        return f"{file}: a folder is in the way of this result; remove it and grade again"
    if file.parent.exists() and not file.parent.is_dir():
        return f"{file.parent}: this is no folder, and results go there; remove it and grade again"
    return ""
