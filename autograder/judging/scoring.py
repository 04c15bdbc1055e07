"""From what the checks of an exercise saw to its points and its status, and what is said of them: functions of data."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from autograder.diagnosis.equality import mismatch
from autograder.judging.checking.plugin import CheckId, identify
from autograder.judging.records.errors import Crashed, LearnerError, Raised, TimedOut
from autograder.judging.records.record import Record, paired
from autograder.judging.records.results import CheckResult, ExerciseResult
from autograder.judging.records.status import ExerciseStatus
from autograder.judging.records.summary import summary
from course.syllabus import Exercise

SHARES = {True: 1 / 3, False: 2 / 3}
"""The shares of an exercise's points that hang on its visible inputs and on its hidden ones."""


def shares_of(exercise: Exercise, checks: list[CheckId]) -> list[float]:
    """What share of an exercise's points each of its checks is worth; together 1.

    Two thirds hang on hidden inputs, where there are any: who knows the answers to the visible ones has a third.
    """
    weights = [exercise.weights.get(check.name, 1.0) for check in checks]
    whole = {
        visible: sum(weight for weight, check in zip(weights, checks, strict=True) if check.visible is visible)
        for visible in SHARES
    }
    all_of_it = sum(share for visible, share in SHARES.items() if whole[visible])
    return [
        weight and SHARES[check.visible] / all_of_it * weight / whole[check.visible]
        for weight, check in zip(weights, checks, strict=True)
    ]


def earned_share(exercise: Exercise, items: list[pytest.Item], records: list[Record]) -> float:
    """The share of the exercise's points that its passing checks earn.

    Where a check of the exercise's technique fails, right values are worth nothing. What an answer keeps, counts or
    leaves as it was is worth nothing where no check finds a right value: doing nothing does that best. Right values in
    a wrong dtype cost a tenth of the exercise at most, and half where an argument was changed.
    """
    if without_technique(exercise, items, records):
        return 0.0
    right = _with_a_right_value(items, records)
    checks = [check for item in items if (check := identify(item)) is not None]
    counting = [
        (share, record)
        for share, check, record in zip(shares_of(exercise, checks), checks, records, strict=True)
        if check.promise == "value" or check.visible in right
    ]
    earned = sum(share for share, record in counting if record.passed)
    deductions = [(share, record.cost) for share, record in counting if not record.passed and record.cost < 1]
    if deductions:
        earned += max(sum(share for share, _ in deductions) - max(cost for _, cost in deductions), 0.0)
    return 1.0 if earned > 1 - 1e-9 else earned  # what was divided need not add up to the last bit


def _with_a_right_value(items: list[pytest.Item], records: list[Record]) -> set[bool]:
    """On which inputs, visible or hidden ones, a check of values passes; those, too, that no check of values asks."""
    of_values: dict[bool, list[bool]] = {True: [], False: []}
    for item, record in zip(items, records, strict=True):
        check = identify(item)
        if check is not None and check.promise == "value":
            of_values[check.visible].append(record.passed or record.cost < 1)
    return {visible for visible, passed in of_values.items() if any(passed) or not passed}


def wrong_among(results: Iterable[ExerciseResult]) -> dict[str, list[str]]:
    """The exercises that are written, and not right, and the known mistakes in each."""
    return {result.name: result.misconceptions for result in results if result.status not in ("passed", "missing")}


def wrong_so_far(items: list[pytest.Item], records: list[Record]) -> str:
    """What the first visible check that fails says, for those who wait for the others; empty if none does yet."""
    for item, record in zip(items, records, strict=False):
        if not record.passed and (check := identify(item)) and check.visible:
            return f". So far: {one_line(record)}"
    return ""


def one_line(record: Record) -> str:
    return summary(record).partition("\n")[0]


def without_technique(exercise: Exercise, items: list[pytest.Item], records: list[Record]) -> Record | None:
    """What the first failing check of an exercise's technique saw; None where all pass.

    Right values in another dtype, or an argument that was changed, cost no more than they do in other checks.
    """
    for item, record in zip(items, records, strict=True):
        check = identify(item)
        if check is not None and check.name in exercise.technique and not record.passed and record.cost >= 1:
            return record
    return None


def with_technique(exercise: Exercise, lacking: Record, message: str, wrong: bool) -> str:
    """A message that also says why an exercise earns nothing whose values are right, or some of them; once.

    `wrong`: other values of it are wrong, which the message says.
    """
    way = f"{exercise.name} is about how it is done, and right values count only with that"
    if _only_values_differ(lacking):
        way = f"how {exercise.name} is done is measured on right values only"
    elif lacking.visible and lacking.asked and _gave_out(lacking.ended_by):
        in_time = " in time" if isinstance(lacking.ended_by, TimedOut) else ""
        way = f"{exercise.name} earns points only if it also gets through {lacking.asked}{in_time}"
    why = one_line(lacking)
    said = lacking.failures[0].problems[0] if lacking.failures else why
    points = "No points, even for what is right" if wrong else "No points"
    return f"{message}\n{points}: {way}.{'' if said in message else f' {why}'}".strip()


def _gave_out(ended_by: LearnerError | None) -> bool:
    """Whether a call took more time, memory or recursion than it may."""
    if isinstance(ended_by, Raised):
        return ended_by.failure.kind in ("MemoryError", "RecursionError")
    return isinstance(ended_by, TimedOut | Crashed)


def _only_values_differ(record: Record) -> bool:
    """Whether what a check measured is as it should be, and only the numbers of a result are wrong."""
    wrong = [
        value
        for failure in record.failures
        for name, value, expected in paired(failure.got, failure.expected, failure.names)
        if mismatch(value, expected, name=name, rtol=failure.rtol, atol=failure.atol) is not None
    ]
    return bool(wrong) and all(isinstance(value, np.ndarray) and value.ndim > 0 for value in wrong)


def ungradable(exercise: Exercise, message: str, status: ExerciseStatus = "error") -> ExerciseResult:
    """The result of an exercise that could not be judged, and why."""
    return ExerciseResult(exercise.name, 0.0, exercise.points, status, message, None, "", 0.0)


def status_of(records: list[Record], share: float) -> ExerciseStatus:
    if share >= 1:
        return "passed"
    if share > 0:
        return "partial"
    ended = [record.ended_by.status for record in records if record.ended_by is not None]
    return ended[0] if ended and not any(record.failures for record in records) else "failed"


def check_result(item: pytest.Item, record: Record) -> CheckResult:
    check = identify(item)
    assert check is not None
    return CheckResult(
        check.name, check.visible, check.promise, record.passed, "" if record.passed else summary(record)
    )
