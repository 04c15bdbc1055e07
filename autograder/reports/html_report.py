"""HTML pages: one per student, and a dashboard of the class.

Each page is self-contained: style and script are inline, and its Content-Security-Policy forbids everything else.
Learners' text is escaped by Jinja, after invisible characters are spelled out.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from autograder.classroom.class_record import NOT_RECOGNISED
from autograder.classroom.exports import UNKNOWN
from autograder.judging.records.results import ExerciseResult, SubmissionResult, whole_file
from autograder.judging.records.status import EXCUSED
from autograder.places import Places
from autograder.reports.class_results import ClassResults, StudentWork, lesson_of
from autograder.reports.formats import Order, Report, write_text
from autograder.reports.pages import environment, in_words
from autograder.reports.safety import file_stem
from autograder.reports.statistics import NOT_STUCK, ClassStatistics, LessonStatistics, said, stuck_on
from autograder.reports.weeks import MOST_KNOWN, ClassWeeks
from autograder.sections import read_command
from autograder.wording import clean, code_in_html, counted, enumeration, printable
from course.published import published_here
from course.syllabus import Exercise

WORDS = {
    "passed": "passed",
    "partial": "partly right",
    "failed": "not right yet",
    "missing": "not written",
    "error": "raised an error",
    "timeout": "took too long",
    "forbidden": "used what it may not",
}
MISTAKES = 8
"""Misconceptions listed in the dashboard."""
MISTAKES_EACH = 3
"""Misconceptions listed per exercise."""


class HtmlReport(Report):
    """`students/<student>.html` for each student, and `index.html` unless only one student was requested."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        self._pages = environment()
        self._whole_class = order.only is None
        if self._whole_class:
            from autograder.reports import figures  # so that a missing Matplotlib is reported first

            self._figures = figures
            self._rows = self.files.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))  # noqa: SIM115  # closed with them
        self._statistics = ClassStatistics(order.classroom.lessons, order.classroom.due)
        self._weeks = ClassWeeks(order.classroom.rules)
        self._students = order.out / "students"
        self._last: Path | None = None
        self._number = 0

    def add(self, work: StudentWork) -> None:
        self._last = self.file("students", f"{file_stem(work.student)}.html")
        shown = page(work, self._book, self.order.classroom, self.order.hidden_checks == "visible")
        write_text(self._last, self._student_page.render(shown))
        if self._whole_class:
            self._number += 1
            self._statistics.add(work)
            self._weeks.add(work)
            json.dump(self._row(work), self._rows)
            self._rows.write("\n")

    def finish(self) -> list[str]:
        if not self._whole_class:
            return [f"html: {self._last}", *self._link_remarks()]
        index = self.file("index.html")
        with whole_file(index) as file:
            file.writelines(self._pages.get_template("class.html.j2").generate(self._dashboard()))
        return [f"html: {index}, and {counted(self._number, 'page')} in {self._students}", *self._link_remarks()]

    @cached_property
    def _student_page(self) -> Any:
        return self._pages.get_template("student.html.j2")

    @cached_property
    def _book(self) -> str | None:
        """The prefix of links to the book: its address if known, else the relative path of a book built here."""
        given = self.order.book_url if self.order.book_url is not None else published_here().book or None
        if given is not None and given.startswith(("https://", "http://")):
            return given.rstrip("/")
        folder = Path(given) if given is not None else Places().pages
        if given is None and not (folder / "index.html").is_file():
            return None
        return quote(Path(os.path.relpath(folder.resolve(), self._students.resolve())).as_posix())

    def _link_remarks(self) -> list[str]:
        if self.order.book_url is not None or published_here().book:
            return []
        if self._book is None:
            return ["html: no links to the book; --book-url says where it is"]
        return ["html: links lead to the book built on this machine; --book-url ADDRESS for pages that you hand out"]

    def _row(self, work: StudentWork) -> dict[str, Any]:
        """A student's dashboard row, stored in a temporary file until all are known."""
        results = {result.lesson: result for result in work.results}
        stuck = [(result.lesson, graded.name) for result in work.results for graded in stuck_on(result)]
        return {
            "name": clean(work.student, 60),
            "nobody": work.student == UNKNOWN,
            "href": f"students/{quote(file_stem(work.student))}.html",
            "percent": self._statistics.share(work),
            "lessons": [
                None
                if result is None
                else {"points": result.points, "max_points": result.max_points, "status": result.status}
                for result in (results.get(slug) for slug in self.order.classroom.lessons)
            ],
            "stuck": [f"{lesson}/{name}" for lesson, name in stuck],
            "where": [clean(name) for _, name in stuck],
            "lost": sorted({result.status for result in (*work.results, *work.uncounted)} - {"graded", EXCUSED}),
            "uncounted": [clean(f"{row.status}: {row.file}", 100) for row in work.uncounted],
        }

    def _read_rows(self) -> Iterator[dict[str, Any]]:
        self._rows.seek(0)
        return map(json.loads, self._rows)

    def _dashboard(self) -> dict[str, Any]:
        statistics = self._statistics
        lessons = list(statistics.lessons.values())
        return {
            "title": clean(self.order.title, 100),
            "said_due": self.order.classroom.said_due,
            "statistics": statistics,
            "lessons": lessons,
            "lost": [
                (status, n)
                for status, n in (statistics.statuses + statistics.uncounted).most_common()
                if status != "graded"
            ],
            "mistakes": statistics.common_mistakes(MISTAKES),
            "weeks": [(week, self._weeks.mistakes(week)) for week in self._weeks.weeks],
            "has_dates": self._weeks.has_dates,
            "latest": self._weeks.latest,
            "points": [] if self.order.classroom.anonymous else self._weeks.points(),
            "known": _abbreviated(self._weeks.known()),
            "mistakes_of": {lesson.slug: _mistakes(statistics, lesson) for lesson in lessons},
            "histogram": self._figures.points_histogram(
                statistics.percent, f"Distribution of points; the median student has {statistics.median} percent"
            ),
            "charts": {
                lesson.slug: self._figures.outcomes_chart(lesson, f"Outcomes of the exercises of {lesson.title}")
                for lesson in lessons
                if any(exercise.students for exercise in lesson.exercises.values())
            },
            "rows": self._read_rows(),
        }


def page(work: StudentWork, book: str | None, classroom: ClassResults, with_hidden: bool) -> dict[str, Any]:
    """The data for a student's page. Lessons not handed in are included if due lessons were given.

    Args:
        with_hidden: show checks on hidden inputs one by one instead of their number.
    """
    worth = classroom.worth
    lessons = [_lesson(result, book, with_hidden) | _times(work, result.lesson) for result in work.results]
    counted = [result for result in work.results if result.lesson in classroom.due]
    handed_in = {result.lesson for result in work.results}
    missing: list[dict[str, Any]] = [
        {"slug": slug, "title": lesson.title, "points": worth(slug)}
        for slug in (classroom.due if classroom.said_due else ())
        if slug not in handed_in and (lesson := lesson_of(slug))
    ]
    counting = [lesson for lesson in lessons if lesson["result"].status != EXCUSED]
    open_exercises = [one for lesson in counting for one in lesson["exercises"] if one["graded"].status != "passed"]
    tried = [one for one in open_exercises if one["graded"].status not in NOT_STUCK]
    core = [one for one in open_exercises if one["tier"] != "stretch"]
    have = sum(result.points for result in counted)
    most = sum(one.max_points for one in counted) + sum(worth(one["slug"]) for one in missing)
    points, max_points = work.total or (have, most)
    return {
        "student": clean(work.student, 80),
        "points": points,
        "max_points": max_points,
        "not_handed_in": missing,
        "uncounted": work.uncounted,
        "unrecognised": any(row.status == NOT_RECOGNISED for row in work.uncounted),
        "lessons": [{**lesson, "extra": lesson["result"].lesson not in classroom.due} for lesson in lessons],
        "lost": next((result for result in work.results if result.status not in ("graded", EXCUSED)), None),
        "done": bool(counting) and not missing,
        "next": next(iter(tried or core or open_exercises), None),
    }


def _lesson(result: SubmissionResult, book: str | None, with_hidden: bool) -> dict[str, Any]:
    lesson = lesson_of(result.lesson)
    listed = {exercise.name: exercise for exercise in lesson.exercises} if lesson else {}
    exercises = [
        _exercise(result.lesson, graded, listed.get(graded.name), book, with_hidden) for graded in result.exercises
    ]
    return {
        "result": result,
        "title": lesson.title if lesson else result.lesson,
        "book": f"{book}/{quote(result.lesson)}.html" if book and lesson else None,
        "exercises": exercises,
        "passed": [one for one in exercises if one["graded"].status == "passed"],
    }


def _times(work: StudentWork, slug: str) -> dict[str, Any]:
    """When a lesson was handed in, and its earlier attempts."""
    came = work.came.get(slug)
    return {
        "handed_in": in_words(came.at) if came else "",
        "earlier": [(in_words(one.at), clean(one.file, 80), one) for one in work.earlier.get(slug, [])],
    }


def _exercise(
    slug: str, graded: ExerciseResult, listed: Exercise | None, book: str | None, with_hidden: bool
) -> dict[str, Any]:
    lead, *rest = graded.message.split("\n")
    told = list(takewhile(_is_prose, rest))
    hints = listed.hints if listed else (graded.hint,) if graded.hint else ()
    return {
        "id": re.sub(r"[^a-z0-9]+", "-", f"{slug}-{graded.name}".lower()),
        "graded": graded,
        "tier": listed.tier if listed else "",
        "word": WORDS.get(graded.status, graded.status),
        "named": bool(graded.misconception),
        "lead": said(graded) if graded.misconception else lead,
        "told": told,
        "case": "\n".join(rest[len(told) :]),
        "hints": [Markup(code_in_html(printable(hint))) for hint in hints],
        "section": read_command(slug, listed.anchor) if listed else None,
        "link": f"{book}/{quote(slug)}.html#{listed.anchor}" if book and listed else None,
        "passing": sum(check.passed for check in graded.checks),
        "checks": [check for check in graded.checks if check.visible or with_hidden],
        "withheld": [check for check in graded.checks if not (check.visible or with_hidden)],
    }


def _is_prose(line: str) -> bool:
    """Whether a line of a message is prose: a case is indented, and a line that ends in a colon leads to one."""
    return bool(line) and not line.startswith(" ") and not line.endswith(":")


def _abbreviated(names: list[str]) -> str:
    """The first names in words, and how many more there are."""
    more = len(names) - MOST_KNOWN
    return enumeration([*names[:MOST_KNOWN], f"{more} more"] if more > 0 else names) if names else ""


def _mistakes(statistics: ClassStatistics, lesson: LessonStatistics) -> dict[str, list[tuple[int, str]]]:
    """By exercise: its most common misconceptions, each with the number of students and its text."""
    return {
        exercise.name: [
            (count, statistics.says[lesson.slug, exercise.name, name])
            for name, count in exercise.misconceptions.most_common(MISTAKES_EACH)
        ]
        for exercise in lesson.exercises.values()
    }
