"""Rules 1 to 3 in this process, with the public salt: checks tell right from wrong, and oracles agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from autograder.authoring.local import examine, failing_oracles
from autograder.authoring.rejections import rejections
from autograder.authoring.rules.factors import unvaried
from autograder.authoring.rules.noted import Answers
from autograder.authoring.rules.problem import Problem
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.judging.checking.reference import Reference, load_module
from autograder.judging.checking.salt import PUBLIC_SALT
from autograder.judging.explaining.known_mistakes import SeenOfMistakes
from autograder.judging.explaining.rejections import written
from autograder.judging.records.errors import CheckError
from autograder.judging.session import Judge
from autograder.places import file_of, files_of
from course.syllabus import Lesson

LOOKED_AT = 1 / 3
"""The share of acceptances in `rejections.toml` that each run verifies.

A file made from another text of the lesson is ignored; but somebody may have edited it, or written it with a version of
PyTorch that gives other results.
"""


def checks_tell_right_from_wrong(
    course: Course, seen: SeenOfMistakes | None = None, answers: Answers | None = None
) -> list[Problem]:
    """Rules 1 to 3: the reference passes; trivial answers and misconceptions fail; misconceptions are named.

    The factors of the arguments in the checks' calls are measured in the same run of the lesson.

    Args:
        seen: shares what is seen of known mistakes with other rules about the same lesson.
        answers: notes what known mistakes answer, for other rules about the same lesson.
    """

    def rule(judge: Judge) -> list[Problem]:
        slug = judge.lesson.slug
        checks, known = course.checks(slug), course.mistakes(slug)
        findings = examine(judge, looked_at=LOOKED_AT)
        said = written(course, slug)
        otherwise = [
            f"{exercise}: {mistake}"
            for (exercise, mistake), names in rejections(judge).items()
            if said and said.get((exercise, mistake)) != names
        ]
        wrong = [
            (checks, "the reference fails", findings.reference, "mend the check or the reference"),
            (checks, "an answer without work passes", findings.trivial, "make the check ask for more"),
            (known, "the checks accept it", findings.accepted, "add the case that it gets wrong"),
            (known, "the diagnosis does not name it", findings.unnamed, "make it differ from the others on some input"),
            (
                checks,
                "more than twelve lines are said of it",
                findings.long,
                "say less of a case, or compare less at once",
            ),
            (
                course.rejections(slug),
                "other checks reject it than are written down",
                otherwise,
                "run `backprop build`",
            ),
        ]
        return [
            *(
                Problem(course.relative(_file_in(place, item)), f"{what}: {line(item)}", do)
                for place, what, items, do in wrong
                for item in items
            ),
            *unvaried(course, judge),
        ]

    return on_each_lesson(course, rule, seen=seen, reference_type=answers.reference if answers else Reference)


def oracles_agree(course: Course) -> list[Problem]:
    """Rule 2: each exercise has an independent oracle, and its reference agrees with it."""
    problems = []
    for lesson in whole_lessons(course):
        if not unreadable(course, lesson):
            folder = course.oracles(lesson.slug)
            do = "mend the reference or write the oracle"
            problems += [
                Problem(course.relative(_file_in(folder, text)), line(text), do)
                for text in failing_oracles(lesson, course.root, course.exercise)
            ]
    return problems


def on_each_lesson(
    course: Course,
    rule: Callable[[Judge], list[Problem]],
    *,
    salt: str = PUBLIC_SALT,
    seen: SeenOfMistakes | None = None,
    reference_type: Callable[[Lesson, Path], Reference] = Reference,
) -> list[Problem]:
    """The problems that `rule` finds in all complete lessons, given a judge of each; and why a lesson has no judge."""
    problems = []
    for lesson in whole_lessons(course):
        broken = unreadable(course, lesson)
        if broken:
            problems += broken
            continue
        file = course.checks(lesson.slug)
        try:
            problems += with_judge(
                lesson,
                rule,
                salt=salt,
                root=course.root,
                only=course.exercise,
                seen=seen,
                reference_type=reference_type,
                by_the_book=False,
            )
        except CheckError as error:
            problems.append(Problem(course.relative(file), line(str(error)), "mend the check"))
    return problems


def whole_lessons(course: Course) -> list[Lesson]:
    """The lessons that have all of their files; `drift.listed_files` reports the others."""
    return [lesson for slug, lesson in course.lessons.items() if all(path.is_file() for path in course.files(slug))]


def unreadable(course: Course, lesson: Lesson) -> list[Problem]:
    """The modules of a lesson, source and mistakes, that cannot be imported, with the reasons."""
    problems = []
    mistakes = files_of(course.mistakes(lesson.slug), [exercise.name for exercise in lesson.exercises])
    for path in (course.source(lesson.slug), *mistakes):
        try:
            load_module(path)
        except Exception as error:
            what = f"it cannot be imported: {type(error).__name__}: {line(str(error))}"
            problems.append(Problem(course.relative(path), what, "mend it"))
    return problems


def _file_in(place: Path, finding: str) -> Path:
    """The file that a finding, `exercise: …`, is about: the exercise's in the folder `place`, else `place` itself."""
    file = file_of(place, finding.partition(": ")[0])
    return file if file.is_file() else place


def line(text: str) -> str:
    """A message on one line, of at most 400 characters."""
    return " ".join(text.split())[:400]
