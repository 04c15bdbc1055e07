"""Reports a class on the terminal as a table or JSON, and one student with full feedback."""

from __future__ import annotations

import sys
from dataclasses import asdict

from autograder.reports.class_results import StudentWork, lesson_of
from autograder.reports.class_table import ClassTable
from autograder.reports.feedback import print_feedback
from autograder.reports.formats import Order, Report
from autograder.wording import printable_json


class TerminalReport(Report):
    """The table of the class, or one student's feedback with first hints."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._table = ClassTable(order.screen, order.classroom.students, order.classroom.lessons)

    def add(self, work: StudentWork) -> None:
        for result in work.results:
            lesson = lesson_of(result.lesson)
            if self.order.only is not None and lesson is not None:
                print_feedback(self.order.screen, lesson, result, hints=1)
            else:
                self._table.add(result, counted=result.lesson not in work.shared)

        for row in work.uncounted:
            self._table.add(row)

    def finish(self) -> list[str]:
        if self.order.only is None:
            self._table.finish()
        return []


class JsonReport(Report):
    """All results and uncounted hand-ins as one JSON list."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._before = "["

    def add(self, work: StudentWork) -> None:
        for result in (*work.results, *work.uncounted):
            came = work.came.get(result.lesson)
            data = result.to_json() | {
                "handed_in": came.at if came else "",
                "earlier": [asdict(one) for one in work.earlier.get(result.lesson, [])],
            }
            sys.stdout.write(f"{self._before}\n{printable_json(data, indent=1)}")
            self._before = ","

    def finish(self) -> list[str]:
        sys.stdout.write("\n]\n")
        return []
