"""Rules 1, 2, 3 and the second half of 5: what the grader says of stubs, references and misconceptions."""

from __future__ import annotations

from collections.abc import Callable

from autograder.authoring.rules.problem import Problem
from autograder.authoring.stubs import solved_notebook
from autograder.authoring.tree import Course
from autograder.isolation import IsolationError, Workers
from autograder.judging.local import examine, failing_oracles
from autograder.judging.reference import load_module
from autograder.judging.results import SubmissionResult
from autograder.judging.session import CheckError, Judge, with_judge
from autograder.submission import NOT_GRADED, Submission, read_submission
from course.syllabus import Lesson


def untouched_stubs_earn_nothing(course: Course) -> list[Problem]:
    """Rule 1: the notebook as the learner gets it scores exactly 0 on every exercise, on the path of a real grading."""

    def rule(judge: Judge) -> list[Problem]:
        stub = read_submission(course.notebook(judge.lesson.slug))
        file = course.relative(course.checks(judge.lesson.slug))
        problems = []
        for exercise in _graded(judge, stub, "process").exercises:
            passed = [check.name for check in exercise.checks if check.passed]
            if exercise.points or passed:
                what = f"the untouched stub of {exercise.name} earns {exercise.points:g} points by {', '.join(passed)}"
                problems.append(Problem(file, what, "check something that no one gets right without work"))
        return problems

    return _for_each_lesson(course, rule)


def checks_tell_right_from_wrong(course: Course) -> list[Problem]:
    """Rules 1 to 3: the reference passes; answers without work and misconceptions fail, and the latter are named."""

    def rule(judge: Judge) -> list[Problem]:
        slug = judge.lesson.slug
        checks, known = (course.relative(path(slug)) for path in (course.checks, course.misconceptions))
        findings = examine(judge)
        wrong = [
            (checks, "the reference fails", findings.reference, "mend the check or the reference"),
            (checks, "an answer without work passes", findings.trivial, "make the check ask for more"),
            (known, "the checks accept it", findings.accepted, "add the case that it gets wrong"),
            (known, "the diagnosis does not name it", findings.unnamed, "make it differ from the others on some input"),
        ]
        return [Problem(file, f"{what}: {_line(item)}", do) for file, what, items, do in wrong for item in items]

    return _for_each_lesson(course, rule)


def oracles_agree(course: Course) -> list[Problem]:
    """Rule 2: each exercise has an independent oracle, and its reference agrees with it."""
    problems = []
    for lesson in whole_lessons(course):
        if not unreadable(course, lesson):
            file = course.oracles(lesson.slug)
            do = "mend the reference or write the oracle"
            problems += [
                Problem(course.relative(file), _line(text), do) for text in failing_oracles(lesson, course.root)
            ]
    return problems


def references_need_only_their_lesson(course: Course) -> list[Problem]:
    """Rules 2 and 5: solved, a lesson earns all points in a worker that has its packages and modules and no others."""

    def rule(judge: Judge) -> list[Problem]:
        slug = judge.lesson.slug
        cells = solved_notebook(judge.lesson, course.root / "solutions").cells
        code = [cell for cell in cells if cell.cell_type == "code"]
        sources = [cell.source for cell in code if NOT_GRADED.isdisjoint(cell.metadata.get("tags", []))]
        result = _graded(judge, Submission.of_cells(f"{slug}.ipynb", sources), "sandlock")
        file = course.relative(course.source(slug))
        if result.status != "graded":
            return [Problem(file, f"solved, it cannot be graded: {_line(result.message)}", "mend the source")]
        lost = [exercise for exercise in result.exercises if exercise.points != exercise.max_points]
        do = "mend the reference, or list what it needs in course/syllabus.toml"
        return [
            Problem(file, f"solved, {e.name} earns {e.points:g} of {e.max_points:g}: {_line(e.message)}", do)
            for e in lost
        ]

    return _for_each_lesson(course, rule)


def _for_each_lesson(course: Course, rule: Callable[[Judge], list[Problem]]) -> list[Problem]:
    problems = []
    for lesson in whole_lessons(course):
        broken = unreadable(course, lesson)
        if broken:
            problems += broken
            continue
        file = course.checks(lesson.slug)
        try:
            problems += with_judge(lesson, rule, root=course.root)
        except CheckError as error:
            problems.append(Problem(course.relative(file), _line(str(error)), "mend the check"))
    return problems


def whole_lessons(course: Course) -> list[Lesson]:
    """The lessons that have all of their files; `drift.listed_files` names what the others lack."""
    return [lesson for slug, lesson in course.lessons.items() if all(path.is_file() for path in course.files(slug))]


def unreadable(course: Course, lesson: Lesson) -> list[Problem]:
    """What keeps a lesson's own modules from being imported."""
    problems = []
    for path in (course.source(lesson.slug), course.misconceptions(lesson.slug)):
        try:
            load_module(path)
        except Exception as error:
            what = f"it cannot be imported: {type(error).__name__}: {_line(str(error))}"
            problems.append(Problem(course.relative(path), what, "mend it"))
    return problems


def _graded(judge: Judge, submission: Submission, isolation: str) -> SubmissionResult:
    """The result in workers that have the lesson's kits only; without a wall where this machine has none."""
    workers = Workers(judge.lesson, isolation)
    try:
        workers.start()
    except IsolationError:
        workers = Workers(judge.lesson, "process")
    try:
        return judge.grade(submission, workers)
    finally:
        workers.stop()


def _line(text: str) -> str:
    """A message of several lines as one."""
    return " ".join(text.split())[:400]
