"""A student's feedback on a lesson as Markdown, in which text of learners is shown literally."""

from __future__ import annotations

from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.records.status import EXCUSED
from autograder.reports.class_results import lesson_of, was_handed_in
from autograder.reports.feedback import GLYPHS, WRONG
from autograder.reports.safety import fenced, inert, prose
from autograder.reports.statistics import stuck_on
from autograder.wording import in_points, points_in_words


def feedback(result: SubmissionResult) -> list[str]:
    """The parts of the feedback: headline and table, then each exercise that fails."""
    lesson = lesson_of(result.lesson)
    title = prose(f"{lesson.title} ({result.lesson})" if lesson else result.lesson)
    points = points_in_words(result.points, result.max_points)
    head = [f"### {title}: {EXCUSED if result.status == EXCUSED else points}", ""]
    if was_handed_in(result):
        head += [f"{inert(result.file)}, sha256 {inert(result.sha256[:12])}, {prose(result.isolation)}", ""]
    if result.message or result.status != "graded":
        head += [f"**{prose(result.status)}** {prose(result.message)}", ""]
    if result.exercises:
        head += ["| | Exercise | Points | |", "| --- | --- | ---: | --- |"]
        head += [
            f"| {GLYPHS.get(graded.status, WRONG)[0]} | {inert(graded.name)} | "
            f"{in_points(graded.points)}/{in_points(graded.max_points)} | {prose(graded.status)} |"
            for graded in result.exercises
        ]
    return ["\n".join([*head, ""]), *[_details(graded) for graded in stuck_on(result)], "\n"]


def _details(graded: ExerciseResult) -> str:
    return f"\n<details><summary>{inert(graded.name)}</summary>\n\n{fenced(graded.message)}\n</details>\n"
