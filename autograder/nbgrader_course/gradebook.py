"""Results in nbgrader's gradebook: points of each exercise as the automatic score, feedback as the automatic comment.

Scores, comments and penalties that a person entered are kept and take precedence, as after `nbgrader autograde`. A
report removes outdated entries of an earlier report: a penalty, a comment, the scores of a deleted hand-in. Points that
a teacher gave for a lesson beyond the sum of its exercises become extra credit of the first exercise.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry, SubmittedNotebook
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from autograder.cell_names import check_id
from autograder.judging.records.results import SubmissionResult
from autograder.nbgrader_course.folder import CONFIG, know_the_answer
from autograder.nbgrader_course.shown import CannotBeShownError, hide, said_of, show
from autograder.places import Places
from autograder.wording import fenced
from course.syllabus import Lesson, find_lesson

LONGEST = 4000
"""A message is cut to this many characters in a comment."""
TAKEN_OFF = "Taken off: {} points."
NOT_TAKEN_OFF = "Taken off by the rules: {} points; a person has changed that."
PENALTY = re.compile(r"\ATaken off(?: by the rules)?: ([\d.]+) points")
"""Start of the first comment if we wrote a penalty; a later report may change the penalty if it is still the same."""
ADDED = "Added by a teacher: {} points."
NOT_ADDED = "Added by a teacher: {} points; somebody has changed the extra credit since."
EXTRA = re.compile(r"\A(?:Taken off[^\n]*\n\n)?Added by a teacher: ([\d.]+) points")
"""Start of the first comment if we wrote extra credit, after the penalty's line if there is one."""
EQUAL = 1e-4
"""Penalties that differ by less are equal: a database may keep only six digits."""
SCORE = re.compile(r"^[\d.]+ of [\d.]+ points$", re.MULTILINE)
"""A line in all of our comments, and in none of nbgrader's own."""


class GradebookError(RuntimeError):
    """The gradebook cannot be used; the message says which one and why."""


class CourseGradebook:
    """A gradebook, by course folder or database URL.

    Args:
        place: the folder that contains `nbgrader_config.py`, or a URL such as `postgresql://…`.
    """

    def __init__(self, place: str) -> None:
        self.folder = None if "://" in place else Path(place)
        self.address = place if self.folder is None else _address(self.folder)
        self.shown: set[tuple[str, str]] = set()
        """(student, lesson) of each hand-in that Formgrader can show."""
        self.odd: list[tuple[str, str]] = []
        """(student, lesson) of each notebook that exists but cannot be shown."""
        self.theirs: list[tuple[str, str]] = []
        """(student, lesson) of each late penalty that a person changed and that differs from our rules'."""
        self.their_extra: list[tuple[str, str]] = []
        """(student, lesson) of each extra credit that a person changed, if ours is different."""
        self.taken_back: list[tuple[str, str]] = []
        """(student, lesson) of each hand-in whose scores, written by an earlier report, were removed."""

    @contextmanager
    def opened(self) -> Iterator[Gradebook]:
        """Open the gradebook. Raises `GradebookError` if it cannot be opened, read or written."""
        try:
            with warnings.catch_warnings(), environment_for_nbgrader():
                warnings.simplefilter("ignore", SAWarning)  # about nbgrader's own queries
                with Gradebook(self.address, "backprop") as gradebook:
                    yield gradebook
        except (SQLAlchemyError, InvalidEntry, ModuleNotFoundError) as error:
            reason = " ".join(str(error).split())[:200]
            raise GradebookError(f"{self.address.split('@')[-1]}: the gradebook cannot be used ({reason})") from None

    def students(self) -> set[str]:
        """The ids of all students in the gradebook."""
        with self.opened() as gradebook:
            return {student.id for student in gradebook.students}

    def write(
        self, student: str, first: str, last: str, mail: str, results: list[SubmissionResult], gone: Iterable[str] = ()
    ) -> None:
        """Write a student's results, and remove those that an earlier report wrote for lessons in `gone`.

        `gone` has the slugs of lessons whose hand-in no longer exists.
        """
        with self.opened() as gradebook:
            said = {"first_name": first, "last_name": last, "email": mail}
            gradebook.update_or_create_student(student, **{key: value for key, value in said.items() if value})
            for result in results:
                lesson = find_lesson(result.lesson)
                _know(gradebook, lesson)
                gradebook.update_or_create_submission(lesson.slug, student)
                penalty, extra = _write(gradebook, student, lesson, result)
                self.theirs += [(student, lesson.slug)] * (not penalty)
                self.their_extra += [(student, lesson.slug)] * (not extra)
                try:
                    if self.folder is not None and show(self.folder, student, result):
                        self.shown.add((student, lesson.slug))
                except CannotBeShownError:
                    self.odd.append((student, lesson.slug))
            for slug in gone:
                if take_back(gradebook, student, find_lesson(slug)):
                    self.taken_back.append((student, slug))
                if self.folder is not None:
                    hide(self.folder, student, slug)


@contextmanager
def environment_for_nbgrader() -> Iterator[None]:
    """Set the variables that nbgrader needs to call `alembic`.

    It calls it by its bare name, so PATH gets this Python's folder, for inactive environments. And `alembic` reads the
    `pyproject.toml` of the working directory beside nbgrader's own configuration. In a folder that was handed in, that
    file could have it import the student's modules, so ALEMBIC_CONFIG names one that does not exist
    (`alembic.config.CommandLine._inis_from_config`).
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    ours = {"PATH": path, "ALEMBIC_CONFIG": str(Path(__file__).with_name("pyproject.toml"))}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _address(folder: Path) -> str:
    """The database URL of a course folder: from its configuration, else nbgrader's default."""
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config.loader import PyFileConfigLoader

    file = folder / CONFIG
    if not file.is_file():
        raise GradebookError(f"{folder} has no {CONFIG}: 'backprop nbgrader {folder}' makes it a course folder")
    try:
        config = PyFileConfigLoader(CONFIG, path=str(folder.resolve())).load_config()
    except Exception as error:  # it is a program
        raise GradebookError(f"{file} fails with {type(error).__name__}: {error}") from None
    config.CourseDirectory.root = str(folder.resolve())
    return str(CourseDirectory(config=config).db_url)


def _know(gradebook: Gradebook, lesson: Lesson) -> None:
    """Add a lesson's notebook, grade cells and solution cells if it was never released with nbgrader."""
    with suppress(MissingEntry):
        gradebook.find_notebook(lesson.slug, lesson.slug)
        return
    gradebook.update_or_create_assignment(lesson.slug)
    gradebook.add_notebook(lesson.slug, lesson.slug)
    for exercise in lesson.exercises:
        name = check_id(exercise.name)
        gradebook.add_grade_cell(name, lesson.slug, lesson.slug, max_score=exercise.points, cell_type="code")
    for cell in nbformat.read(Places().notebook(lesson.slug), as_version=4).cells:
        if answer := know_the_answer(cell):
            gradebook.add_solution_cell(answer, lesson.slug, lesson.slug)


def _write(gradebook: Gradebook, student: str, lesson: Lesson, result: SubmissionResult) -> tuple[bool, bool]:
    """Write scores, comments, late penalty and extra credit; return whether the last two now have our values."""
    submission: SubmittedNotebook = gradebook.find_submission_notebook(lesson.slug, lesson.slug, student)
    by_name = {exercise.name: exercise for exercise in result.exercises}
    more = result.points - sum(one.points for one in result.exercises)
    penalty, extra = round(max(0.0, -more), 6), round(max(0.0, more), 6)
    grades = {grade.name: grade for grade in submission.grades}
    first = grades.get(check_id(lesson.exercises[0].name))
    before, there = penalty_of_ours(submission), submission.late_submission_penalty or 0.0
    extra_before, extra_there = _of_ours(submission, EXTRA), (first.extra_credit or 0.0) if first is not None else 0.0
    ours, extra_ours = abs(there - before) < EQUAL, first is not None and abs(extra_there - extra_before) < EQUAL
    off = TAKEN_OFF.format(_points(penalty)) if ours and penalty else ""
    off = off if ours or not before else NOT_TAKEN_OFF.format(_points(before))
    added = ADDED.format(_points(extra)) if extra_ours and extra else ""
    added = added if extra_ours or not extra_before else NOT_ADDED.format(_points(extra_before))
    comments = _comments(lesson, result, "\n\n".join(filter(None, (off, added))))
    for exercise in lesson.exercises:
        grade = grades.get(check_id(exercise.name))
        if grade is not None:
            graded = by_name.get(exercise.name)
            grade.auto_score = graded.points if graded else 0.0
            grade.needs_manual_grade = grade.manual_score is not None  # ask for a new review, as `autograde` does
    for comment in submission.comments:
        if comment.name in comments:
            comment.auto_comment = comments[comment.name] or None
    if ours and (penalty or before):
        submission.late_submission_penalty = penalty
    if first is not None and extra_ours and (extra or extra_before):
        first.extra_credit = extra
    gradebook.db.commit()
    return ours or abs(there - penalty) < EQUAL, extra_ours or not extra or abs(extra_there - extra) < EQUAL


def penalty_of_ours(submission: SubmittedNotebook) -> float:
    """The late penalty that the last report wrote, read from its comment; 0 if none, or if nbgrader graded since."""
    return _of_ours(submission, PENALTY)


def _of_ours(submission: SubmittedNotebook, said: re.Pattern[str]) -> float:
    found = (said.search(comment.auto_comment or "") for comment in submission.comments)
    return next((float(match[1]) for match in found if match), 0.0)


def take_back(gradebook: Gradebook, student: str, lesson: Lesson) -> bool:
    """Remove the scores, comments and penalty that a report wrote; return whether there were any.

    Scores of nbgrader's own autograder, recognised by the lack of our comment, stay, and so does what people entered.
    """
    try:
        submission: SubmittedNotebook = gradebook.find_submission_notebook(lesson.slug, lesson.slug, student)
    except MissingEntry:
        return False
    if not any(SCORE.search(comment.auto_comment or "") for comment in submission.comments):
        return False
    before = penalty_of_ours(submission)
    if before and abs((submission.late_submission_penalty or 0.0) - before) < EQUAL:
        submission.late_submission_penalty = 0.0
    extra, first = _of_ours(submission, EXTRA), check_id(lesson.exercises[0].name)
    checks = {check_id(exercise.name) for exercise in lesson.exercises}
    for grade in submission.grades:
        if grade.name == first and extra and abs((grade.extra_credit or 0.0) - extra) < EQUAL:
            grade.extra_credit = 0.0
        if grade.name in checks:
            grade.auto_score = 0.0
    ours = set(_last_cells(lesson).values())
    for comment in submission.comments:
        if comment.name in ours:
            comment.auto_comment = None
    gradebook.db.commit()
    return True


def _points(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _comments(lesson: Lesson, result: SubmissionResult, adjusted: str) -> dict[str, str]:
    """Comments by cell name: the last cell of each exercise has its message; the first also has the lesson's message.

    A cell without a message gets "", which removes an earlier comment. No comment begins with a student's text, which
    could imitate our line about a penalty. nbgrader renders comments with `markdown2html` (jupyter/nbgrader,
    templates/feedback/index.html.j2), which lets tags through, so text that may quote a student is fenced.
    """
    last = _last_cells(lesson)
    said = dict.fromkeys(last.values(), "")
    said |= {last[one.name]: said_of(one, _block) for one in result.exercises if one.name in last}
    about = f"{'Note' if result.status == 'graded' else result.status}: {result.message}" if result.message else ""
    first = last[lesson.exercises[0].name]
    said[first] = "\n\n".join(part for part in (adjusted, _block(about) if about else "", said[first]) if part)
    return said


def _last_cells(lesson: Lesson) -> dict[str, str]:
    """The `grade_id` of each exercise's last cell, by exercise."""
    last: dict[str, str] = {}
    for cell in nbformat.read(Places().notebook(lesson.slug), as_version=4).cells:
        if name := know_the_answer(cell):
            last[cell.metadata["exercise"]] = name
    return last


def _block(text: str) -> str:
    return fenced(text[:LONGEST]).strip()
