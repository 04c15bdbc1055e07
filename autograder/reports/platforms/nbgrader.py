"""Writes results into nbgrader's gradebook with nbgrader's own API, which works with any of its databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from autograder.classroom.class_record import GONE
from autograder.gradebook.people import Student
from autograder.gradebook.roster import folded
from autograder.judging.records.status import EXCUSED
from autograder.nbgrader_course.gradebook import CourseGradebook
from autograder.reports.class_results import StudentWork, lesson_of
from autograder.reports.formats import Order, Report
from autograder.reports.platforms.gradebook import UNGRADED
from autograder.wording import LONGEST, clean, counted, some


class NbgraderReport(Report):
    """Each student's results in the gradebook that was named."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._gradebook = CourseGradebook(order.gradebook)
        self._known = self._gradebook.students()
        self._written: list[tuple[str, str]] = []
        self._excused: list[str] = []
        """Students excused from lessons."""
        self._kinds = _kinds_by_frequency(order.classroom.people.students)

    def add(self, work: StudentWork) -> None:
        """Write a student's results; students on the roster are added even without hand-ins."""
        results = [
            result
            for result in work.results
            if result.status not in (*UNGRADED, EXCUSED) and result.lesson in self._lessons
        ]
        student = self._name_of(work)
        person = work.person
        first, _, last = (person.name if person else "").rpartition(" ")
        there = {result.lesson for result in work.results} - work.excused
        gone = {row.lesson for row in work.uncounted if row.status == GONE} | work.excused
        gone = {slug for slug in gone - there if lesson_of(slug)}
        self._excused += [work.student] * bool(work.excused & {*self._lessons})
        if results or person is not None or (gone and student in self._known):
            mail = person.mail if person else ""
            first, last, mail = (clean(one, LONGEST) for one in (first, last, mail))
            self._gradebook.write(student, first, last, mail, results, gone)
            self._written += [(student, result.lesson) for result in results]

    def finish(self) -> list[str]:
        shown = len(self._gradebook.shown)
        lines = [f"nbgrader: {counted(len(self._written), 'submission')} in {self._gradebook.address.split('@')[-1]}"]
        if len(self._written) > shown and self._gradebook.folder is not None:
            where = f"{self._gradebook.folder}/submitted"
            lines.append(f"nbgrader: Formgrader lists all, and opens the {shown} whose notebooks lie in {where}")
        if odd := self._gradebook.odd:
            who = some([f"{student} in {slug}" for student, slug in odd])
            lines.append(f"nbgrader: graded, and not shown, since nbgrader cannot read the notebook: {who}")
        if theirs := self._gradebook.theirs:
            who = some([f"{student} in {slug}" for student, slug in theirs])
            lines.append(f"nbgrader: a late penalty there is not ours, and stays, though the rules say another: {who}")
        if back := self._gradebook.taken_back:
            who = some([f"{student} in {slug}" for student, slug in back])
            lines.append(f"nbgrader: scores taken back, since what was handed in is gone or excused: {who}")
        if self._excused:
            who = some(self._excused)
            lines.append(
                f"nbgrader: its gradebook has no place for an excuse; excused, and without points there: {who}"
            )
        if extra := self._gradebook.their_extra:
            who = some([f"{student} in {slug}" for student, slug in extra])
            lines.append(
                "nbgrader: a teacher gave more than the exercises add up to, and the first exercise has extra credit "
                f"there that is not ours, and stays: {who}"
            )
        return lines

    @property
    def _lessons(self) -> tuple[str, ...]:
        return self.order.classroom.due

    def _name_of(self, work: StudentWork) -> str:
        """nbgrader's name for a student: the known one, else the hand-in's, else an id from the roster."""
        ids = work.person.ids if work.person else {}
        names = [*work.names, *(ids[kind] for kind in self._kinds if kind in ids)]
        known = next((name for name in names if name in self._known), None)
        return known or clean([*names, work.student][0], LONGEST)  # databases refuse names that are not UTF-8


def _kinds_by_frequency(students: Iterable[Student]) -> list[str]:
    """The kinds of ids used as names, the most common in hand-ins first."""
    counts = Counter(
        kind
        for student in students
        if student.person is not None
        for kind, value in student.person.ids.items()
        if folded(value) in map(folded, student.own)
    )
    return sorted(("login", "mail", "number", "sis"), key=lambda kind: -counts[kind])
