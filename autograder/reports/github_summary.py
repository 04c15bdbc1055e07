"""A Markdown summary for GitHub Actions, appended to $GITHUB_STEP_SUMMARY, or printed if that is unset."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from autograder.judging.records.results import SubmissionResult
from autograder.judging.records.status import EXCUSED
from autograder.reports.class_results import StudentWork
from autograder.reports.formats import Order, Report
from autograder.reports.markdown import feedback
from autograder.reports.safety import inert, prose
from autograder.reports.statistics import ClassStatistics, stuck_on
from autograder.wording import counted, in_points

LIMIT = 1024 * 1024
"""Largest summary of a step in bytes; GitHub shows nothing of a larger one."""
RESERVE = 300
"""Bytes reserved for the line on what was left out."""
MISTAKES = 10
STUCK = 4
"""At most this many exercises are listed per student."""


class GithubSummary(Report):
    """For a class: totals, common mistakes and a line per student. For one student: the full feedback.

    Parts beyond the size limit are left out and counted.
    """

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._statistics = ClassStatistics(order.classroom.lessons, order.classroom.due)
        self._alone = len(order.classroom.students) == 1
        self._parts: list[str] = []
        self._left_out = 0
        target = os.environ.get("GITHUB_STEP_SUMMARY")
        self._target = Path(target) if target else None
        used = self._target.stat().st_size if self._target is not None and self._target.is_file() else 0
        self._budget = LIMIT - RESERVE - used

    def add(self, work: StudentWork) -> None:
        self._statistics.add(work)
        if self._alone:
            for result in work.results:
                for part in feedback(result):
                    self._keep(part)
            for row in work.uncounted:
                self._keep(f"**{prose(row.status)}** {prose(row.message)}\n\n")
        else:
            self._keep(_row(work, self.order.classroom.lessons))

    def finish(self) -> list[str]:
        kept = self._parts
        self._parts, head = [], "" if self._alone else _overview(self._statistics, self.order.classroom.lessons)
        self._budget -= len(head.encode())
        while kept and self._budget < 0:  # the head, which matters most, is kept
            self._budget += len(kept.pop().encode())
            self._left_out += 1
        what = "exercises" if self._alone else "students"
        tail = f"\n_{self._left_out} {what} more, which the limit of a summary leaves no room for._\n"
        text = head + "".join(kept) + (tail if self._left_out else "")
        if self._target is None:
            sys.stdout.write(text)
            return []
        with self._target.open("a", encoding="utf-8") as file:
            file.write(text)
        return [f"github: appended to {self._target}"]

    def _keep(self, part: str) -> None:
        size = len(part.encode())
        if self._left_out or size > self._budget:
            self._left_out += 1
        else:
            self._budget -= size
            self._parts.append(part)


def _overview(statistics: ClassStatistics, lessons: tuple[str, ...]) -> str:
    counts = [*statistics.statuses.most_common(), *statistics.uncounted.most_common()]
    statuses = ", ".join(f"{count} {prose(status)}" for status, count in counts)
    lines = [
        f"### {counted(statistics.students, 'student')}, {counted(statistics.statuses.total(), 'submission')}",
        "",
        f"{statuses}. The median student has {statistics.median} % of the {in_points(statistics.max_points)} points of "
        f"{', '.join(map(inert, statistics.due))}.",
        "",
        "| Lesson | Exercise | Passed | Stuck |",
        "| --- | --- | ---: | ---: |",
    ]
    for lesson in statistics.lessons.values():
        for exercise in lesson.exercises.values():
            where = f"{inert(lesson.slug)} | {inert(exercise.name)}"
            lines.append(f"| {where} | {exercise.pass_rate:.0%} | {exercise.stuck} |")
    mistakes = statistics.common_mistakes(MISTAKES)
    if mistakes:
        lines += ["", "#### What goes wrong most", ""]
        lines += [f"- {count} in {inert(exercise.name)}: {prose(says)}" for count, _, exercise, says in mistakes]
    columns = [inert(slug) for slug in lessons]
    lines += ["", "#### Students", "", f"| {' | '.join(['Student', *columns, 'Stuck at'])} |"]
    lines.append(f"| --- | {'---: | ' * len(columns)}--- |")
    return "\n".join(lines) + "\n"


def _row(work: StudentWork, lessons: tuple[str, ...]) -> str:
    results = {result.lesson: result for result in work.results}
    cells = [_points(results[slug]) if slug in results else "" for slug in lessons]
    stuck = [exercise.name for result in work.results for exercise in stuck_on(result)]
    more = f" and {len(stuck) - STUCK} more" if len(stuck) > STUCK else ""
    last = [
        " ".join(map(inert, stuck[:STUCK])) + more,
        *(f"{prose(row.status)}: {inert(row.file)}" for row in work.uncounted),
    ]
    return f"| {' | '.join([inert(work.student), *cells, ' '.join(filter(None, last))])} |\n"


def _points(result: SubmissionResult) -> str:
    if result.status == EXCUSED:
        return EXCUSED
    points = f"{in_points(result.points)}/{in_points(result.max_points)}"
    return points if result.status == "graded" else f"{points} {prose(result.status)}"
