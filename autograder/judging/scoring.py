"""Points, status and messages of an exercise, computed from the records of its checks without side effects."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from inspect import Signature

import numpy as np
import pytest

from autograder.diagnosis.equality import mismatch
from autograder.judging.asking.source_text import SourceText
from autograder.judging.checking.plugin import CheckId, identify
from autograder.judging.records.errors import Crashed, LearnerError, Missing, Raised, TimedOut
from autograder.judging.records.record import Record, paired
from autograder.judging.records.results import CheckResult, ExerciseResult
from autograder.judging.records.status import ExerciseStatus
from autograder.judging.records.summary import summary
from course.syllabus import Exercise

SHARES = {True: 1 / 3, False: 2 / 3}
"""Shares of an exercise's points, by whether inputs are visible."""
POINT = 0.35
"""The least share of an exercise's points that a failing check of its point costs: less than two thirds are left."""


def shares_of(exercise: Exercise, checks: list[CheckId]) -> list[float]:
    """Each check's share of the exercise's points; the shares add up to 1.

    Hidden inputs carry two thirds, if there are any: an answer that knows only the visible ones earns at most a third.
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

    If a check of the exercise's technique fails, the share is 0. An instrumented check (of what an answer saves, counts
    or leaves unchanged) earns nothing unless a check of values passes on the same kind of input, since doing nothing
    would satisfy it. Right values of a wrong dtype cost at most a tenth of the exercise, a changed argument at most
    half. A check of the exercise's point costs at least `POINT` if it fails, however many other checks there are; one
    that ends at the stub of one of its `parts` costs what it costs elsewhere.
    """
    if without_technique(exercise, items, records):
        return 0.0
    right = _inputs_with_right_values(items, records)
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
    if any(not _part_lacking(exercise, record) for record in _failing(exercise.point, items, records)):
        earned = min(earned, 1 - POINT)
    return 1.0 if earned > 1 - 1e-9 else earned  # rounding: the shares need not add up to exactly 1


def next_part(exercise: Exercise, records: Iterable[Record]) -> str:
    """The first part that is not written; "" unless all failing checks end at the stub of a part."""
    lacking = [_part_lacking(exercise, record) for record in records if not record.passed]
    return next((part for part in exercise.parts if part in lacking), "") if all(lacking) else ""


def _part_lacking(exercise: Exercise, record: Record) -> str:
    """The part, as in "measure (offloading)", at whose stub a check ended that compared nothing wrong before; or ""."""
    if record.failures or not isinstance(record.ended_by, Missing):
        return ""
    stub = record.ended_by.stub
    return next((part for part in exercise.parts if stub == f"{exercise.name} ({part})"), "")


def _inputs_with_right_values(items: list[pytest.Item], records: list[Record]) -> set[bool]:
    """Kinds of input (True: visible) on which a check of values passes, or that have no check of values."""
    of_values: dict[bool, list[bool]] = {True: [], False: []}
    for item, record in zip(items, records, strict=True):
        check = identify(item)
        if check is not None and check.promise == "value":
            of_values[check.visible].append(record.passed or record.cost < 1)
    return {visible for visible, passed in of_values.items() if any(passed) or not passed}


def wrong_among(results: Iterable[ExerciseResult]) -> dict[str, list[str]]:
    """The exercises that are written but wrong, with the known mistakes in each."""
    return {result.name: result.misconceptions for result in results if result.status not in ("passed", "missing")}


def wrong_so_far(items: list[pytest.Item], records: list[Record]) -> str:
    """Text for a progress message: what the first failing visible check says; empty if none has failed yet."""
    for item, record in zip(items, records, strict=False):
        if not record.passed and (check := identify(item)) and check.visible:
            return f". So far: {one_line(record)}"
    return ""


def one_line(record: Record) -> str:
    return summary(record).partition("\n")[0]


def without_technique(exercise: Exercise, items: list[pytest.Item], records: list[Record]) -> Record | None:
    """The record of the first failing check of an exercise's technique; None if all pass.

    A check that fails only for a dtype or a changed argument is ignored: it costs what it costs elsewhere.
    """
    return next(_failing(exercise.technique, items, records), None)


def _failing(names: Collection[str], items: list[pytest.Item], records: list[Record]) -> Iterator[Record]:
    """The records of failing checks of these names, but for those that fail only for a dtype or a changed argument."""
    for item, record in zip(items, records, strict=True):
        check = identify(item)
        if check is not None and check.name in names and not record.passed and record.cost >= 1:
            yield record


def with_technique(
    exercise: Exercise, lacking: Record, message: str, items: list[pytest.Item], records: list[Record]
) -> str:
    """`message` with a sentence on why right values earn nothing without the exercise's technique.

    That the exercise is about how it is done is said only if that failed: not of wrong values or shapes, and not of an
    exception that ends other checks as well.

    Args:
        lacking: the record of a failing check of the technique.
        records: of all checks of the exercise, `items`.
    """
    others = [
        record
        for item, record in zip(items, records, strict=True)
        if (check := identify(item)) and check.name not in exercise.technique
    ]
    wrong = any(not failure.property_only for record in others for failure in record.failures)
    way = f"{exercise.name} is about how it is done, and right values count only with that"
    elsewhere = [record for record in others if not record.measured]
    if _only_values_differ(lacking, elsewhere) or _raised_elsewhere(lacking, elsewhere):
        way = f"how {exercise.name} is done is measured on right values only"
    elif lacking.visible and lacking.asked and _ran_out(lacking.ended_by):
        in_time = " in time" if isinstance(lacking.ended_by, TimedOut) else ""
        way = f"{exercise.name} earns points only if it also gets through {lacking.asked}{in_time}"
    why = one_line(lacking)
    said = lacking.failures[0].problems[0] if lacking.failures else why
    points = "No points, even for what is right" if wrong else "No points"
    return f"{message}\n{points}: {way}.{'' if said in message else f' {why}'}".strip()


def with_other_order(result: ExerciseResult, source: SourceText, signature: Signature | None) -> ExerciseResult:
    """The result, with a first line if the answer takes its parameters in another order than the reference's."""
    if result.status in ("passed", "missing") or signature is None:
        return result
    order = source.other_order(result.name, list(signature.parameters))
    return replace(result, message=f"{order}\n{result.message}") if order else result


def _ran_out(ended_by: LearnerError | None) -> bool:
    """Whether a call crashed or ran out of time, memory or recursion depth."""
    if isinstance(ended_by, Raised):
        return ended_by.failure.kind in ("MemoryError", "RecursionError")
    return isinstance(ended_by, TimedOut | Crashed)


def _only_values_differ(record: Record, elsewhere: Iterable[Record]) -> bool:
    """Whether only what was returned is wrong, and everything else that the check measured is right.

    A number may be a count of calls: it is a returned one if the `elsewhere` checks, of values alone, reject that too.
    """
    if record.ended_by is not None:
        return False
    properties = [failure for failure in record.failures if failure.property_only]
    wrong = _wrong_values(record)
    others = {name for one in elsewhere for name, _ in _wrong_values(one)}
    return (
        bool(record.failures)
        and all(failure.of_values or failure.cost < 1 for failure in properties)
        and all((isinstance(value, np.ndarray) and value.ndim > 0) or name in others for name, value in wrong)
    )


def _wrong_values(record: Record) -> list[tuple[str, object]]:
    """The name and value of each output that is compared and wrong."""
    return [
        (name, value)
        for failure in record.failures
        if not failure.property_only
        for name, value, expected in paired(failure.got, failure.expected, failure.names)
        if mismatch(value, expected, name=name, rtol=failure.rtol, atol=failure.atol) is not None
    ]


def _raised_elsewhere(record: Record, elsewhere: Iterable[Record]) -> bool:
    """Whether the exception that ended a visible check also ends another one, raised at the same place."""
    if not isinstance(record.ended_by, Raised) or record.failures or not record.visible or _ran_out(record.ended_by):
        return False
    mine = record.ended_by.failure
    return any(
        isinstance(one.ended_by, Raised)
        and (one.ended_by.failure.kind, one.ended_by.failure.place) == (mine.kind, mine.place)
        for one in elsewhere
    )


def ungradable(exercise: Exercise, message: str, status: ExerciseStatus = "error") -> ExerciseResult:
    """The result, without points, of an exercise that could not be judged; `message` says why."""
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
