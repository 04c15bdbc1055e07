"""Notes what known mistakes answer to one rule's checks, so that another rule can judge them without running them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.diagnosis import Misconception
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.asking.prefetched import called, request_key
from autograder.judging.asking.run import Run
from autograder.judging.checking.plugin import identify
from autograder.judging.checking.reference import Reference
from autograder.judging.records.errors import Missing
from autograder.judging.records.keys import Key
from autograder.judging.records.record import Record, current_record
from autograder.judging.session import Judge
from autograder.worker import wire
from autograder.worker.messages import Answer, Call
from course.syllabus import Lesson

Asked = tuple[Misconception, str, str]
"""A known mistake, and the exercise and the words of a visible check."""


class Answers:
    """What known mistakes answer to visible checks, in the order of the calls."""

    def __init__(self) -> None:
        self.noted: dict[Asked, list[tuple[Key, bytes]]] = {}

    def reference(self, lesson: Lesson, root: Path) -> Reference:
        """The lesson's solutions, which note here what known mistakes answer."""
        return _NotingReference(lesson, root, self)

    def observe(self, judge: Judge, item: pytest.Item, known: Misconception, mistaken: Callable[[], Run]) -> Record:
        """What a judge's visible check sees of a mistake: by the noted answers if it makes the noted calls.

        Otherwise `mistaken()` runs.
        """
        check = identify(item)
        assert check is not None
        noted = self.noted.get((known, check.exercise, check.in_words))
        if noted:
            run = _Again(noted)
            record = judge.observe([item], run)[0]
            if run.gave_all:
                return record
        return judge.observe([item], mistaken())[0]


class _NotingReference(Reference):
    def __init__(self, lesson: Lesson, root: Path, answers: Answers) -> None:
        super().__init__(lesson, root)
        self._answers = answers

    def mistaken(self, known: Misconception) -> Any:
        return _Noting(super().mistaken(known), known, self._answers)


class _Noting:
    """Runs a known mistake, and notes its answers to visible checks. Those to a check's last run stay."""

    def __init__(self, run: Run, known: Misconception, answers: Answers) -> None:
        self._run, self._known, self._answers = run, known, answers
        self.source, self.prefetched = run.source, run.prefetched
        self._record: Record | None = None
        self._noted: list[tuple[Key, bytes]] | None = None
        """What the running check was answered so far; None if it cannot be answered again."""

    def ask(self, request: Call, seconds: float) -> Answer:
        record = current_record()
        if not record.visible:
            return self._run.ask(request, seconds)
        place = self._known, record.exercise, record.check
        if record is not self._record:
            self._record, self._noted = record, []
        noted, self._noted = self._noted, None  # stays so if the call raises, or has more than data
        self._answers.noted.pop(place, None)
        key = request_key(request)
        answer = self._run.ask(request, seconds)
        if noted is not None and key is not None:
            try:
                noted.append((key, wire.encode(answer)))
            except wire.WireError:
                return answer
            self._noted = self._answers.noted[place] = noted
        return answer

    def forget(self) -> None:
        self._run.forget()


class _Again(LocalRun):
    """Gives noted answers in their order, as long as the calls are the noted ones."""

    def __init__(self, noted: list[tuple[Key, bytes]]) -> None:
        super().__init__({})
        self._left = deque(noted)
        self._otherwise = False

    @property
    def gave_all(self) -> bool:
        """Whether all calls were the noted ones, and there were no fewer of them."""
        return not self._otherwise and not self._left

    def ask(self, request: Call, seconds: float) -> Answer:
        if self._otherwise or not self._left or self._left[0][0] != request_key(request):
            self._otherwise = True
            raise Missing(f"{called(request)} is called otherwise than before.")
        answer: Answer = wire.decode(self._left.popleft()[1])
        return answer
