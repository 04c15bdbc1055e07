"""Compares two gradings of a class: whose points change, by how much and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from autograder.judging.records.results import CheckResult, ExerciseResult, SubmissionResult
from autograder.wording import clean, counted

REASONS = 3
"""At most this many checks are named as reasons for one change."""


@dataclass(frozen=True)
class Move:
    """An exercise whose points changed."""

    student: str
    lesson: str
    exercise: str
    before: float
    after: float
    why: str


@dataclass
class Changes:
    """The changes in a class, accumulated one submission at a time."""

    up: int = 0
    down: int = 0
    same: int = 0
    new: int = 0
    """Submissions whose points rise, fall and stay the same, and submissions without an earlier result."""
    points: float = 0.0
    """The sum of all changes in points."""
    else_changed: Counter[str] = field(default_factory=Counter)
    """Counts what else changed ("status", "misconception", "message") in exercises whose points did not."""

    @property
    def mean(self) -> float:
        """Mean change in points of the submissions that had an earlier result."""
        return self.points / max(1, self.up + self.down + self.same)

    def add(self, before: SubmissionResult | None, after: SubmissionResult) -> Iterator[Move]:
        """Count a submission and yield its exercises whose points changed."""
        if before is None:
            self.new += 1
            return
        change = round(after.points - before.points, 2)
        self.points += change
        self.up, self.down, self.same = self.up + (change > 0), self.down + (change < 0), self.same + (change == 0)
        old, new = _by_name(before), _by_name(after)
        for name in dict.fromkeys([*new, *old]):
            was, now = old.get(name), new.get(name)
            points = [exercise.points if exercise else 0.0 for exercise in (was, now)]
            if points[0] != points[1]:
                yield Move(after.student, after.lesson, name, points[0], points[1], _why(before, after, was, now))
            elif what := _other_change(was, now):
                self.else_changed[what] += 1

    def to_json(self) -> dict[str, Any]:
        """The counts as a dict for JSON."""
        counts = {name: getattr(self, name) for name in ("up", "down", "same", "new")}
        return {**counts, "mean": round(self.mean, 4), "else_changed": dict(self.else_changed)}


def _by_name(result: SubmissionResult) -> dict[str, ExerciseResult]:
    return {exercise.name: exercise for exercise in result.exercises}


def _other_change(was: ExerciseResult | None, now: ExerciseResult | None) -> str:
    """What differs in an exercise with unchanged points; "" if nothing does."""
    if was is None or now is None:
        return "" if was is now else "status"
    for what in ("status", "misconceptions", "message"):
        if getattr(was, what) != getattr(now, what):
            return what.removesuffix("s") if what == "misconceptions" else what
    return ""


def _why(
    before: SubmissionResult, after: SubmissionResult, was: ExerciseResult | None, now: ExerciseResult | None
) -> str:
    """Why an exercise's points changed: first another file, salt or status, then checks with another verdict."""
    reasons = []
    if before.sha256 != after.sha256:
        reasons.append("another file was handed in")
    if before.salt_sha256 != after.salt_sha256:
        reasons.append("the salt is another")
    if after.status != before.status:
        reasons.append(f"the submission was {before.status} and is {after.status}" + _says(after.message))
    elif was is None or now is None:
        reasons.append("the exercise is new" if was is None else "the exercise is gone")
    else:
        reasons += _changed_verdicts(was, now)
    return "; ".join(reasons)


def _changed_verdicts(was: ExerciseResult, now: ExerciseResult) -> list[str]:
    """The checks whose verdicts changed; if none did, how the exercise itself changed."""
    old, new = ({(check.name, check.visible): check for check in e.checks} for e in (was, now))
    verdicts = [_verdict(check, old.get(key)) for key, check in new.items() if _passed(old.get(key)) != check.passed]
    verdicts += [f"{_called(check)} is gone" for key, check in old.items() if key not in new]
    if len(verdicts) > REASONS:
        verdicts[REASONS:] = [f"and {counted(len(verdicts) - REASONS, 'more check')}"]
    if verdicts:
        return verdicts
    if was.status != now.status:
        return [f"it was {was.status} and is {now.status}" + _says(now.message)]
    return (
        [f"it is worth {counted(now.max_points, 'point')}, not {was.max_points:g}"]
        if was.max_points != now.max_points
        else ["its checks have other weights"]
    )


def _passed(check: CheckResult | None) -> bool | None:
    return None if check is None else check.passed


def _verdict(now: CheckResult, was: CheckResult | None) -> str:
    verdict = "passes" if now.passed else "fails"
    return f"{_called(now)} {'is new and ' if was is None else ''}{verdict}{' now' if was else ''}{_says(now.message)}"


def _called(check: CheckResult) -> str:
    return f"{check.name} ({'visible' if check.visible else 'hidden'})"


def _says(message: str) -> str:
    return f": {clean(message.splitlines()[0], 200)}" if message else ""
