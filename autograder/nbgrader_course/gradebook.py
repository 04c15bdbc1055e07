"""Results in nbgrader's gradebook: points of each exercise as the automatic score, feedback as the automatic comment.

Scores and comments that a person gave there are kept, and go before ours, as after `nbgrader autograde`.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, InvalidEntry, MissingEntry, SubmittedNotebook
from nbgrader.utils import is_grade
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from autograder.cell_names import check_id
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.nbgrader_course.folder import CONFIG, know_the_answer
from autograder.places import Places
from autograder.submission import SubmissionError, read_bytes
from autograder.wording import fenced, printable
from course.syllabus import Lesson, find_lesson

LONGEST = 4000
"""Characters of a message in a comment."""


class GradebookError(RuntimeError):
    """A gradebook that cannot be used; the message says which and why."""


class CourseGradebook:
    """The gradebook of a course folder, or of a database's address.

    Args:
        place: the folder that holds `nbgrader_config.py`, or an address as `postgresql://…`.
    """

    def __init__(self, place: str) -> None:
        self.folder = None if "://" in place else Path(place)
        self.address = place if self.folder is None else _address(self.folder)
        self.shown: set[tuple[str, str]] = set()
        """Students and lessons whose hand-in Formgrader can show."""

    @contextmanager
    def opened(self) -> Iterator[Gradebook]:
        """The gradebook, until the block ends. `GradebookError` for all that goes wrong with it."""
        try:
            with warnings.catch_warnings(), environment_on_path():
                warnings.simplefilter("ignore", SAWarning)  # of how nbgrader asks: nobody here can mend that
                with Gradebook(self.address, "backprop") as gradebook:
                    yield gradebook
        except (SQLAlchemyError, InvalidEntry, ModuleNotFoundError) as error:
            reason = " ".join(str(error).split())[:200]
            raise GradebookError(f"{self.address.split('@')[-1]}: the gradebook cannot be used ({reason})") from None

    def students(self) -> set[str]:
        """All that are known."""
        with self.opened() as gradebook:
            return {student.id for student in gradebook.students}

    def write(self, student: str, first: str, last: str, mail: str, results: list[SubmissionResult]) -> None:
        """Write a student's results."""
        with self.opened() as gradebook:
            said = {"first_name": first, "last_name": last, "email": mail}
            gradebook.update_or_create_student(student, **{key: value for key, value in said.items() if value})
            for result in results:
                lesson = find_lesson(result.lesson)
                _know(gradebook, lesson)
                gradebook.update_or_create_submission(lesson.slug, student)
                _write(gradebook, student, lesson, result)
                if self.folder is not None and _show(self.folder, student, result):
                    self.shown.add((student, lesson.slug))


@contextmanager
def environment_on_path() -> Iterator[None]:
    """nbgrader calls `alembic` by its bare name, also where the environment is not activated."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _address(folder: Path) -> str:
    """The database of a course folder: as its configuration says, else nbgrader's default."""
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
    """Let the gradebook know a lesson that was never released with nbgrader: its notebook, grades and answers."""
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


def _write(gradebook: Gradebook, student: str, lesson: Lesson, result: SubmissionResult) -> None:
    submission: SubmittedNotebook = gradebook.find_submission_notebook(lesson.slug, lesson.slug, student)
    by_name = {exercise.name: exercise for exercise in result.exercises}
    comments = _comments(lesson, result)
    grades = {grade.name: grade for grade in submission.grades}
    for exercise in lesson.exercises:
        grade = grades.get(check_id(exercise.name))
        if grade is not None:
            graded = by_name.get(exercise.name)
            grade.auto_score = graded.points if graded else 0.0
            grade.needs_manual_grade = grade.manual_score is not None  # a person looks again, as after autograde
    for comment in submission.comments:
        if comment.name in comments:
            comment.auto_comment = comments[comment.name]
    late = sum(one.points for one in result.exercises) - result.points
    if result.exercises and abs(late) > 1e-9:
        submission.late_submission_penalty = max(late, 0.0)
    gradebook.db.commit()


def _comments(lesson: Lesson, result: SubmissionResult) -> dict[str, str]:
    """What is said of each exercise, by the name of the last cell of its answer; of the whole in the first.

    nbgrader makes HTML of it with `markdown2html` (jupyter/nbgrader, templates/feedback/index.html.j2), which lets tags
    through: so what may quote a student is a block of text.
    """
    last: dict[str, str] = {}
    for cell in nbformat.read(Places().notebook(lesson.slug), as_version=4).cells:
        if name := know_the_answer(cell):
            last[cell.metadata["exercise"]] = name
    said = {last[one.name]: _said(one, _block) for one in result.exercises if one.name in last}
    about = " ".join(
        part for part in ("" if result.status == "graded" else f"{result.status}:", result.message) if part
    )
    if about:
        first = last[lesson.exercises[0].name]
        said[first] = f"{_block(about)}\n\n{said.get(first, '')}".strip()
    return said


def _said(graded: ExerciseResult, shown: Callable[[str], str]) -> str:
    points = f"{graded.points:g} of {graded.max_points:g} points"
    message = shown(graded.message) if graded.message else ""
    hint = f"Hint: {graded.hint}" if graded.hint and graded.status != "passed" else ""
    return "\n\n".join(part for part in (points, message, hint) if part)


def _block(text: str) -> str:
    return fenced(text[:LONGEST]).strip()


def _show(folder: Path, student: str, result: SubmissionResult) -> bool:
    """Write what Formgrader and feedback show: the notebook that was graded, with what was said below each check."""
    handed_in = folder / "submitted" / student / result.lesson / f"{result.lesson}.ipynb"
    try:
        data = read_bytes(handed_in, folder)
        notebook = nbformat.reads(data.decode("utf-8"), as_version=4)
    except (SubmissionError, ValueError, OSError, nbformat.ValidationError):
        return False
    if hashlib.sha256(data).hexdigest() != result.sha256:  # another file than the one that was graded
        return False
    said = {check_id(one.name): one for one in result.exercises}
    for cell in notebook.cells:
        know_the_answer(cell)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if is_grade(cell) and name in said:
                cell.outputs = list(_outputs(said[name]))
    target = folder / "autograded" / student / result.lesson / handed_in.name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(nbformat.writes(notebook), encoding="utf-8")
    return True


def _outputs(graded: ExerciseResult) -> Iterator[NotebookNode]:
    yield nbformat.v4.new_output("stream", name="stdout", text=_said(graded, printable) + "\n")
    value = {"text/plain": repr(float(graded.points))}
    yield nbformat.v4.new_output("execute_result", data=value, execution_count=None)
