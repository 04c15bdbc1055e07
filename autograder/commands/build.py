"""`backprop build`: the notebooks from their sources, and whether the course is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from autograder.authoring.tree import Course

EXTRAS = ("jupytext", "nbclient", "nbformat", "nbgrader", "torch")
"""What authors need and learners do not."""


def build(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; say what is wrong with the course.")] = False,
    nbgrader: Annotated[
        bool, typer.Option("--nbgrader", help="With --check: also grade the sample class with nbgrader (minutes).")
    ] = False,
) -> None:
    """Write exercises/*.ipynb from solutions/*.py, or check that the course is whole."""
    from autograder.authoring.tree import AuthoringError, Course
    from autograder.commands.console import give_up
    from course.syllabus import SyllabusError

    try:
        course = Course.at()
        if check:
            _check(course, nbgrader=nbgrader)
        else:
            _write(course)
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        give_up(f"build needs {missing.name}: pip install 'backprop-course[instructor,torch,dev]'")
    except (AuthoringError, SyllabusError) as error:
        give_up(str(error), code=1)


def _write(course: Course) -> None:
    from autograder.authoring.sample_class import SAMPLE_CLASS, sample_files
    from autograder.authoring.stubs import notebook_text, stub_notebook

    solutions = course.root / "solutions"
    texts = {
        course.notebook(slug): notebook_text(stub_notebook(lesson, solutions))
        for slug, lesson in course.lessons.items()
    }
    texts |= {course.root / SAMPLE_CLASS / name: text for name, text in sample_files(course).items()}
    for path, text in texts.items():
        changed = not path.is_file() or path.read_bytes() != text.encode()
        if changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        typer.echo(f"{course.relative(path)}: {'written' if changed else 'unchanged'}")


def _check(course: Course, *, nbgrader: bool) -> None:
    """Run the rules, the quick ones first; those that run code wait until the files are in order."""
    from autograder.authoring import rules

    for group in (rules.READ, rules.JUDGED, rules.IN_KERNELS, rules.WITH_NBGRADER if nbgrader else ()):
        by_lesson = group in (rules.JUDGED, rules.IN_KERNELS)
        problems = rules.run_by_lesson(group, course) if by_lesson else [p for rule in group for p in rule(course)]
        for problem in problems:
            typer.echo(str(problem))
        if problems:
            raise typer.Exit(1)
    typer.echo("The course is whole.")
