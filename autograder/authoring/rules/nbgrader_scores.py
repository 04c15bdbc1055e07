"""Rule 6, second half: `nbgrader autograde` gives the sample class the same scores as we do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from autograder.authoring.rules.notebooks import short_of_full_points
from autograder.authoring.rules.problem import Problem
from autograder.authoring.sample_class import WITH_MISTAKES
from autograder.authoring.stubs import notebook_text, stub_notebook
from autograder.authoring.tree import Course
from autograder.cell_names import check_id
from autograder.classroom.class_folder import Work, find_work
from autograder.classroom.pool import PoolError, grade_all
from autograder.judging.checking.salt import PUBLIC_SALT
from autograder.judging.records.results import SubmissionResult
from autograder.nbgrader_course.gradebook import environment_for_nbgrader
from course.syllabus import Lesson

CELL_SECONDS = 600
"""nbgrader's timeout for a cell: a check ends by its own limits, also beside a load, or nbgrader runs no later cell."""

TOLERANCE = 1e-6
Scores = dict[tuple[str, str], dict[str, float]]
"""Points by exercise, by lesson and student."""
Executed = dict[tuple[str, str], NotebookNode]
"""The executed notebook, by lesson and student."""


def same_scores_as_nbgrader(course: Course) -> list[Problem]:
    """Every notebook of the sample class gets the same score from nbgrader, in a kernel, as from us.

    In notebooks with full points, no cell raises. Lessons that only the perfect student hands in are left to
    `notebooks.solved_notebooks_pass`.
    """
    folder = course.root / "autograder" / "sample_class"
    work = [item for item in find_work(folder).work if item.file.suffix == ".ipynb" and item.lesson in WITH_MISTAKES]
    ours = our_results(work)
    theirs, executed = graded_by_nbgrader(course, work)
    problems = []
    for item in work:
        file, result = course.relative(item.file), ours[item.lesson, item.student]
        if result.status == "killed":
            problems.append(Problem(file, f"it is not graded: {result.message}", "grade it again"))
            continue
        points = {exercise.name: exercise.points for exercise in result.exercises}
        exercises = course.lessons[item.lesson].exercises
        for exercise in exercises:
            mine, its = points.get(exercise.name, 0.0), theirs[item.lesson, item.student].get(exercise.name, 0.0)
            if abs(mine - its) > TOLERANCE:
                what = f"{exercise.name} earns {mine:g} points from us and {its:g} from nbgrader"
                problems.append(Problem(file, what, "find out which is right"))
        everything = all(points.get(exercise.name) == exercise.points for exercise in exercises)
        if everything and (item.lesson, item.student) in executed:
            said = short_of_full_points(executed[item.lesson, item.student])
            problems += [Problem(file, f"graded by nbgrader, {what}", "mend the source") for what in said]
    return problems


def our_results(work: list[Work]) -> dict[tuple[str, str], SubmissionResult]:
    """The results of `backprop grade`, by lesson and student; unconfined if this machine has no sandbox."""
    try:
        results = list(grade_all(work, jobs=1, isolation="sandbox", salt=PUBLIC_SALT))
    except PoolError:
        results = list(grade_all(work, jobs=1, isolation="process", salt=PUBLIC_SALT))
    return {(result.lesson, result.student): result for result in results}


def graded_by_nbgrader(course: Course, work: list[Work]) -> tuple[Scores, Executed]:
    """nbgrader's scores, and the notebooks that it executed, from a temporary course folder.

    If nbgrader cannot grade a notebook, its scores are 0 or missing.
    """
    scores: Scores = {}
    executed: Executed = {}
    with environment_for_nbgrader(), tempfile.TemporaryDirectory(prefix="backprop-nbgrader-") as temporary:
        folder = Path(temporary)
        for slug in sorted({item.lesson for item in work}):
            lesson = course.lessons[slug]
            _write_source(folder, course, lesson)
            for item in work:
                if item.lesson == slug:
                    submitted = folder / "submitted" / item.student / slug
                    submitted.mkdir(parents=True)
                    shutil.copyfile(item.file, submitted / f"{slug}.ipynb")
            _nbgrader(folder, "generate_assignment", slug)
            # It exits with an error if one notebook cannot be graded, but grades the others.
            _nbgrader(folder, "autograde", slug, f"--Execute.timeout={CELL_SECONDS}", check=False)
        with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
            for item in work:
                scores[item.lesson, item.student] = _read_scores(gradebook, item, course.lessons[item.lesson])
                file = folder / "autograded" / item.student / item.lesson / f"{item.lesson}.ipynb"
                if file.is_file():
                    executed[item.lesson, item.student] = nbformat.read(file, as_version=4)
    return scores, executed


def _write_source(folder: Path, course: Course, lesson: Lesson) -> None:
    """Write the learner's notebook as nbgrader's source version, which `generate_assignment` must leave unchanged."""
    notebook = stub_notebook(lesson, course.source(lesson.slug).parent)
    file = folder / "source" / lesson.slug / f"{lesson.slug}.ipynb"
    file.parent.mkdir(parents=True)
    file.write_text(notebook_text(notebook), encoding="utf-8")


def _nbgrader(folder: Path, *arguments: str, check: bool = True) -> None:
    """Run nbgrader without the user's configuration, kernels and history. `RuntimeError` if `check` and it fails."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    own = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments, f"--course-dir={folder}"],
        cwd=folder,
        env={**os.environ, **own, "IPYTHONDIR": str(home / "ipython")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if check and done.returncode != 0:
        raise RuntimeError(f"nbgrader {' '.join(arguments)} failed: {(done.stdout + done.stderr)[-2000:]}")


def _read_scores(gradebook: Gradebook, item: Work, lesson: Lesson) -> dict[str, float]:
    try:
        notebook = gradebook.find_submission_notebook(item.lesson, item.lesson, item.student)
    except MissingEntry:
        return {}
    found = {grade.name: grade.auto_score or 0.0 for grade in notebook.grades}
    return {e.name: found[check_id(e.name)] for e in lesson.exercises if check_id(e.name) in found}
