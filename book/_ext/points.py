"""The `points-of-exercises` directive: what each check of an exercise costs if it fails.

It is computed from the syllabus and the checks, so the page cannot differ from the grader.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from autograder.authoring.rules.described import checks_in
from autograder.authoring.tree import Course
from autograder.judging.checking.plugin import CheckId
from autograder.judging.scoring import shares_of
from autograder.places import files_of
from course.syllabus import Exercise, Lesson


def shares(exercise: Exercise, files: Iterable[Path]) -> dict[str, float]:
    """Each check's share of the exercise's points, on visible and hidden inputs together, in the checks' order."""
    checks = [
        CheckId(exercise.name, check.name, visible, "value")
        for file in files
        for check in checks_in(file)
        if check.exercise == exercise.name
        for visible, asked in ((True, check.visible), (False, check.hidden))
        if asked
    ]
    found: dict[str, float] = {}
    for check, share in zip(checks, shares_of(exercise, checks), strict=True):
        found[check.name] = found.get(check.name, 0.0) + share
    return found


def _in_words(name: str) -> str:
    return name.removeprefix("test_").replace("_", " ")


def rows(lesson: Lesson, checks: Path) -> Iterator[str]:
    """The rows of a lesson's table, in Markdown."""
    for exercise in lesson.exercises:
        found = shares(exercise, files_of(checks, [exercise.name]))
        most = [_in_words(name) for name in found if name in exercise.technique]
        much = [_in_words(name) for name in found if name in exercise.point and name not in exercise.technique]
        rest = [
            f"{_in_words(name)} {100 * share:.0f}\N{NO-BREAK SPACE}%"
            for name, share in found.items()
            if name not in {*exercise.point, *exercise.technique}
        ]
        cells = (f"`{exercise.name}`", f"{exercise.points:g}", *(", ".join(part) for part in (most, much, rest)))
        yield f"| {' | '.join(cells)} |"


class PointsOfExercises(SphinxDirective):
    """A table for each lesson. No arguments."""

    def run(self) -> list[nodes.Node]:
        course = Course.at()
        self.env.note_dependency(str(course.syllabus))
        lines: list[str] = []
        for slug, lesson in course.lessons.items():
            for file in sorted(course.checks(slug).glob("*.py")):
                self.env.note_dependency(str(file))
            lines += [
                f"## {slug[:4]}: {lesson.title}",
                "",
                "| exercise | points | costs all | costs 35 % or more | costs its share |",
                "| --- | ---: | --- | --- | --- |",
                *rows(lesson, course.checks(slug)),
                "",
            ]
        body = nodes.section()
        body.document = self.state.document
        self.state.nested_parse(StringList(lines, self.env.docname), self.content_offset, body, match_titles=True)
        return body.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("points-of-exercises", PointsOfExercises)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
