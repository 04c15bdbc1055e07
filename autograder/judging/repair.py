"""The search for the repair of one exercise, whatever runs the variants of its code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import pytest

from autograder.judging.asking.run import Run
from autograder.judging.asking.variants import RunsVariants
from autograder.judging.explaining.known_mistakes import KnownMistakes
from autograder.judging.explaining.mended import Mended
from autograder.judging.explaining.own_code import OwnCode
from autograder.judging.explaining.repairing import Repairer
from autograder.judging.records.record import Record
from autograder.judging.waiting import Progress
from course.syllabus import Exercise, Lesson


class Repairing(Protocol):
    """What this needs of a judge."""

    lesson: Lesson
    mistakes: KnownMistakes
    progress: Progress

    def items_of(self, exercise: str, visible: bool | None = None) -> list[pytest.Item]: ...

    def observe(
        self, items: list[pytest.Item], run: Run, *, enough: Callable[[Record], bool] | None = None
    ) -> list[Record]: ...


def looking_for_it(exercise: str) -> str:
    """What is said while the search runs."""
    return f"{exercise}: looking for the smallest change that makes it right"


def repair_of(
    judge: Repairing, exercise: Exercise, records: list[Record], left: Sequence[int], code: OwnCode, run: RunsVariants
) -> Mended:
    """What is said of an exercise's repair; `run` is closed afterwards.

    Args:
        records: of the visible checks, in their order.
        left: numbers of the failing checks that known mistakes do not explain.
    """
    items = judge.items_of(exercise.name, True)
    owner = exercise.name.partition(".")[0]
    others = {one.name for one in judge.lesson.exercises} - {owner}
    try:
        return Repairer(
            code,
            records,
            run,
            lambda run, i, enough: judge.observe([items[i]], run, enough=enough)[0],
            lambda seen: judge.mistakes.giving_all(exercise, seen),
            left,
        ).found(others)
    finally:
        run.close()
