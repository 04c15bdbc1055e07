"""The gradebook as CSV for spreadsheets and learning platforms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.gradebook.roster import Person
from autograder.judging.records.results import SubmissionResult, whole_file
from autograder.judging.records.status import EXCUSED
from autograder.reports.class_results import StudentWork
from autograder.reports.formats import Order, Report
from autograder.reports.safety import TableWriter, cell, file_stem

BYTE_ORDER_MARK = "\ufeff"
"""Tells Excel that the file is in UTF-8."""
ABOUT = ("id", "mail", "section", "team")
"""Columns with the roster's data on a student."""
LONG = ("student", "lesson", "exercise", "points", "max_points", "status", "misconception", "remark")


class CsvReport(Report):
    """`grades.csv` with a row per student, and `exercises.csv` with a row per student and exercise.

    Messages on a hand-in (late, misnamed, unreadable) are remarks in the student's row that name the lesson. Uncounted
    hand-ins are remarks, too, and rows without an exercise. With a roster, all its students have rows with its data. If
    rules or overrides changed points, the grader's own are in a column beside them.

    The first column, the name, may be chosen by the learner; it is quoted and never a formula.
    """

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._classroom = classroom = order.classroom
        self._lessons = classroom.lessons
        self._about = ABOUT if classroom.has_roster else ()
        self._kept = classroom.changes_points
        only = f"students/{file_stem(order.only)}~" if order.only is not None else ""
        self._paths = [self.file(f"{only}grades.csv"), self.file(f"{only}exercises.csv")]
        self._grades, self._exercises = (self._writer(path) for path in self._paths)
        kept = ("graded",) if self._kept else ()
        when = [f"{slug} handed in" for slug in self._lessons if classroom.says_when]
        columns = [column for slug in self._lessons for column in (slug, f"{slug} max", *(f"{slug} {k}" for k in kept))]
        self._grades.writerow(["student", *self._about, *columns, "total", "total max", *when, "remark"])
        self._exercises.writerow(LONG)

    def add(self, work: StudentWork) -> None:
        """Write a student's row; the cells of lessons not handed in are empty."""
        results = {result.lesson: result for result in work.results}
        row: list[Any] = [cell(work.student), *(cell(_about(work.person, what)) for what in self._about)]
        for slug in self._lessons:
            result = results.get(slug)
            worth = result.max_points if result else self._classroom.worth(slug)
            free = slug in work.excused
            row += ["" if result is None else EXCUSED if free else _number(result.points), _number(worth)]
            if self._kept:
                graders = work.original.get(slug, None if free or result is None else result.points)
                row.append("" if graders is None else _number(graders))
        points, total = self._classroom.total(work)
        came = (work.came.get(slug) for slug in self._lessons if self._classroom.says_when)
        when = [cell(one.at.replace("T", " ")) if one else "" for one in came]
        remarks = [_remark(one).removesuffix(".") for one in (*work.results, *work.uncounted)]
        self._grades.writerow([*row, _number(points), _number(total), *when, cell("; ".join(filter(None, remarks)))])
        for result in (*work.results, *work.uncounted):
            head = (cell(work.student), cell(result.lesson))
            for graded in result.exercises:
                free = result.status == EXCUSED
                numbers = ("", "") if free else (_number(graded.points), _number(graded.max_points))
                mistakes = " ".join(graded.misconceptions)
                self._exercises.writerow((*head, cell(graded.name), *numbers, cell(graded.status), cell(mistakes), ""))
            if not result.exercises:
                why = cell(result.message)
                none = "" if result.status == EXCUSED else 0
                self._exercises.writerow((*head, "", none, _number(result.max_points), cell(result.status), "", why))

    def finish(self) -> list[str]:
        return [f"csv: {path}" for path in self._paths]

    def _writer(self, path: Path) -> Any:
        file = self.files.enter_context(whole_file(path))
        file.write(BYTE_ORDER_MARK)
        return TableWriter(file, numbers=True)


def _about(person: Person | None, what: str) -> str:
    """The roster's data on a person."""
    if person is None:
        return ""
    if what == "id":
        return next((person.ids[kind] for kind in ("number", "sis", "login", "canvas") if kind in person.ids), "")
    return {"mail": person.mail, "section": person.section, "team": person.team}[what]


def _remark(result: SubmissionResult) -> str:
    """The remark on one hand-in, with its lesson; empty if there is none."""
    if not result.message and result.status == "graded":
        return ""
    where = f"{result.lesson}: " if result.lesson else ""
    return f"{where}{result.status}: {result.message}"


def _number(points: float) -> float:
    """Points with at most two decimals, and without `.0`."""
    rounded = round(points, 2)
    return int(rounded) if rounded == int(rounded) else rounded
