"""nbgrader, as it is installed: its own gradebook, in which all that is there was given by a person.

What counts is what `nbgrader export` writes (nbgrader/plugins/export.py): the score of the checks, or what a person
gave instead, less the penalty.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.nbgrader_course.folder import write_course
from autograder.nbgrader_course.gradebook import CourseGradebook, _know, _last_cells
from course.syllabus import find_lesson
from platform_imports import CH05, CH06, CLASS, WORTH, Book, Entry, Student, roster

VARIANTS = {"export": WORTH}


def named(student: Student) -> str:
    return student.login


def write_export(folder: Path, variant: str, there: Book) -> list[Path]:
    """A course folder whose gradebook holds that; it stays what it is from one report to the next."""
    if not (folder / "course").exists():
        write_course(folder / "course", [])
        with CourseGradebook(str(folder / "course")).opened() as gradebook:
            for one in CLASS:
                gradebook.add_student(one.login, first_name=one.first, last_name=one.last)
            for (student, slug), entry in there.items():
                _know(gradebook, find_lesson(slug))
                gradebook.update_or_create_submission(slug, student)
                notebook = gradebook.find_submission_notebook(slug, slug, student)
                if entry.grade is not None:
                    notebook.grades[0].manual_score = entry.grade * find_lesson(slug).points / WORTH
                first = _last_cells(find_lesson(slug))[find_lesson(slug).exercises[0].name]
                next(one for one in notebook.comments if one.name == first).manual_comment = entry.comment or None
            gradebook.db.commit()
    (folder / "class.csv").write_text(roster(), encoding="utf-8")
    return [folder / "class.csv"]


def options(folder: Path) -> list[str]:
    return ["--gradebook", str(folder / "course")]


def imported(reports: Path, there: Book, variant: str) -> Book:
    book = {}
    with Gradebook(f"sqlite:///{reports.parent / 'course' / 'gradebook.db'}") as gradebook:
        for slug in (CH05, CH06):
            lesson = find_lesson(slug)
            for one in CLASS:
                try:
                    submission = gradebook.find_submission(slug, one.login)
                except MissingEntry:
                    continue
                (notebook,) = submission.notebooks
                first = _last_cells(lesson)[lesson.exercises[0].name]
                comment = next(each for each in notebook.comments if each.name == first)
                score = submission.score - (notebook.late_submission_penalty or 0.0)
                said = comment.manual_comment or ""
                given = any(grade.manual_score is not None or grade.auto_score for grade in notebook.grades)
                before = there.get((one.login, slug), Entry())
                grade = round(score * WORTH / lesson.points, 6) if given else None
                book[one.login, slug] = replace(before, grade=grade, comment=said)
    return {**there, **book}
