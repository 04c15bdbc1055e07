"""JUnit XML with a suite per submission and a test case per exercise."""

from __future__ import annotations

from xml.sax.saxutils import XMLGenerator

from autograder.judging.records.results import ExerciseResult, SubmissionResult, whole_file
from autograder.judging.records.status import EXCUSED
from autograder.reports.class_results import StudentWork
from autograder.reports.formats import Order, Report
from autograder.reports.safety import LONGEST, file_stem, printable
from autograder.wording import clean, points_in_words

ERRORS = ("error", "timeout", "forbidden")
"""Statuses reported as errors, because no answer was compared; a wrong answer is a failure."""


class JunitReport(Report):
    """`junit.xml`, written one student at a time. Characters not allowed in XML are escaped as in Python: `\\x1b`."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        only = f"students/{file_stem(order.only)}~" if order.only is not None else ""
        self._path = self.file(f"{only}junit.xml")
        file = self.files.enter_context(whole_file(self._path))
        self._xml = XMLGenerator(file, "utf-8", short_empty_elements=True)  # type: ignore[arg-type]  # text will do
        self._xml.startDocument()
        self._start("testsuites", name="backprop")

    def add(self, work: StudentWork) -> None:
        for result in (*work.results, *work.uncounted):
            self._suite(result)

    def finish(self) -> list[str]:
        self._end("testsuites")
        self._xml.endDocument()
        return [f"junit: {self._path}"]

    def _suite(self, result: SubmissionResult) -> None:
        what = clean(result.lesson or result.file, LONGEST)
        name = f"{clean(result.student, LONGEST)}/{what}"
        if result.status == EXCUSED:
            self._start("testsuite", name=name, tests="1", failures="0", errors="0", skipped="1", time=_seconds(0))
            self._properties(result)
            self._start("testcase", classname=name, name=what, time=_seconds(0))
            self._start("skipped", message=clean(f"{EXCUSED}: {result.message}", LONGEST))
            for tag in ("skipped", "testcase", "testsuite"):
                self._end(tag)
            return
        statuses = [graded.status for graded in result.exercises]
        errors = sum(status in ERRORS for status in statuses) + (result.status != "graded")
        self._start(
            "testsuite",
            name=name,
            tests=str(len(statuses) + (result.status != "graded")),
            failures=str(sum(status not in ("passed", *ERRORS) for status in statuses)),
            errors=str(errors),
            skipped="0",
            time=_seconds(sum(graded.seconds for graded in result.exercises)),
        )
        self._properties(result)
        if result.status != "graded":
            self._start("testcase", classname=name, name=what, time=_seconds(0))
            self._outcome("error", result.status, result.message)
            self._end("testcase")
        for graded in result.exercises:
            self._start("testcase", classname=name, name=clean(graded.name, LONGEST), time=_seconds(graded.seconds))
            if graded.status != "passed":
                kind = "error" if graded.status in ERRORS else "failure"
                self._outcome(kind, graded.misconception or graded.status, _story(graded))
            self._end("testcase")
        self._end("testsuite")

    def _properties(self, result: SubmissionResult) -> None:
        self._start("properties")
        for key in ("file", "sha256", "points", "max_points", "grader_version", "isolation", "message"):
            self._start("property", name=key, value=clean(str(getattr(result, key)), LONGEST))
            self._end("property")
        self._end("properties")

    def _outcome(self, kind: str, of: str, message: str) -> None:
        text = printable(message)
        self._start(kind, type=clean(of), message=text.partition("\n")[0])
        self._xml.characters(text)
        self._end(kind)

    def _start(self, tag: str, **attributes: str) -> None:
        self._xml.startElement(tag, attributes)  # type: ignore[arg-type]  # any mapping will do

    def _end(self, tag: str) -> None:
        self._xml.endElement(tag)


def _story(graded: ExerciseResult) -> str:
    failed = [
        f"{check.name} ({'visible' if check.visible else 'hidden'})" for check in graded.checks if not check.passed
    ]
    points = points_in_words(graded.points, graded.max_points)
    return "\n".join([graded.message, "", points, *([f"Checks that fail: {', '.join(failed)}"] if failed else [])])


def _seconds(seconds: float) -> str:
    return f"{max(0.0, seconds):.3f}"
