"""What another grading changes: whose points move, by how much and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from autograder.judging.records.results import CheckResult, ExerciseResult, SubmissionResult
from autograder.wording import clean, counted

REASONS = 3
"""Checks that are named for one move."""


@dataclass(frozen=True)
class Move:
    """An exercise whose points are not what they were."""

    student: str
    lesson: str
    exercise: str
    before: float
    after: float
    why: str


@dataclass
class Changes:
    """What changes in a class, counted while its results are gone through."""

    up: int = 0
    down: int = 0
    same: int = 0
    new: int = 0
    """Submissions whose points rise, fall and stay, and those that had no result."""
    points: float = 0.0
    """The sum of all changes."""
    else_changed: Counter[str] = field(default_factory=Counter)
    """What else is different where the points of an exercise are the same."""

    @property
    def mean(self) -> float:
        """By how many points a submission that had a result moves, on average."""
        return self.points / max(1, self.up + self.down + self.same)

    def add(self, before: SubmissionResult | None, after: SubmissionResult) -> Iterator[Move]:
        """Count a submission, and say which of its exercises move."""
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
            elif what := _what_else(was, now):
                self.else_changed[what] += 1

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        counts = {name: getattr(self, name) for name in ("up", "down", "same", "new")}
        return {**counts, "mean": round(self.mean, 4), "else_changed": dict(self.else_changed)}


def _by_name(result: SubmissionResult) -> dict[str, ExerciseResult]:
    return {exercise.name: exercise for exercise in result.exercises}


def _what_else(was: ExerciseResult | None, now: ExerciseResult | None) -> str:
    """What is different in an exercise whose points are the same."""
    if was is None or now is None:
        return "" if was is now else "status"
    for what in ("status", "misconceptions", "message"):
        if getattr(was, what) != getattr(now, what):
            return what.removesuffix("s") if what == "misconceptions" else what
    return ""


def _why(
    before: SubmissionResult, after: SubmissionResult, was: ExerciseResult | None, now: ExerciseResult | None
) -> str:
    """Why an exercise's points move: first what else is not the same, then the checks that judge otherwise."""
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
        reasons += _other_verdicts(was, now)
    return "; ".join(reasons)


def _other_verdicts(was: ExerciseResult, now: ExerciseResult) -> list[str]:
    """The checks whose verdicts are not what they were; else how the exercise itself is not."""
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
