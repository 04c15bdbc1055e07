"""The gradebook: CSV that spreadsheets and learning platforms take in."""

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
"""By which Excel knows UTF-8."""
ABOUT = ("id", "mail", "section", "team")
"""What a roster says of each, beside the name."""
LONG = ("student", "lesson", "exercise", "points", "max_points", "status", "misconception", "remark")


class CsvReport(Report):
    """`grades.csv`, a row a student, and `exercises.csv`, a row for each exercise of each.

    What is to be said of a hand-in (late, misnamed, unreadable) is a remark in the student's row, and says which lesson
    it is of. What does not count is one, too, and a row without a lesson's exercise. With a roster, all of its students
    have a row and what it says of them; where rules or a teacher changed points, the grader's own stand beside them.

    What a learner chose (the name) stands in the first column, in quotes, and is no formula; the rest is the grader's.
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
        """Write a student's row; the cells of lessons that were not handed in are empty."""
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
    """What the roster says of somebody."""
    if person is None:
        return ""
    if what == "id":
        return next((person.ids[kind] for kind in ("number", "sis", "login", "canvas") if kind in person.ids), "")
    return {"mail": person.mail, "section": person.section, "team": person.team}[what]


def _remark(result: SubmissionResult) -> str:
    """What a student's row says of one hand-in, and which that is; empty if there is nothing to say."""
    if not result.message and result.status == "graded":
        return ""
    where = f"{result.lesson}: " if result.lesson else ""
    return f"{where}{result.status}: {result.message}"


def _number(points: float) -> float:
    """Two decimals at most, and no `.0`."""
    rounded = round(points, 2)
    return int(rounded) if rounded == int(rounded) else rounded
