"""`backprop build`: generates notebooks and tables from their sources, and checks or mutates the course."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.exits import ExitStatus

if TYPE_CHECKING:
    from autograder.authoring.tree import Course
    from course.syllabus import Lesson

EXTRAS = ("covertable", "jupytext", "nbclient", "nbformat", "nbgrader", "torch")
"""Packages that authors need and learners do not."""


def build(
    lessons: Annotated[
        list[str] | None,
        typer.Argument(help="With --check or --mutate: ch06, or ch06/relu_vjp; all without.", show_default=False),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; say what is wrong with the course.")] = False,
    nbgrader: Annotated[
        bool, typer.Option("--nbgrader", help="With --check: also grade the sample class with nbgrader (minutes).")
    ] = False,
    judged_well: Annotated[
        Path | None,
        typer.Option(
            help="With --check: a file that keeps what was judged well; it is skipped while the same, for a week.",
            show_default=False,
        ),
    ] = None,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Change the references in small places; some check must notice (minutes).")
    ] = False,
    jobs: Annotated[int, typer.Option(help="With --mutate: processes at a time.")] = os.cpu_count() or 1,
) -> None:
    """Write notebooks and tables from their sources, check that the course is whole, or mutate to test its checks."""
    from autograder.commands.targets import refuse_without_solutions

    refuse_without_solutions("build", "a checkout of the course, with its book and its tests")

    from autograder.authoring.tree import AuthoringError, Course
    from autograder.commands.console import give_up
    from course.syllabus import SyllabusError

    if lessons and (nbgrader or not (check or mutate)):
        give_up("only --check and --mutate take lessons; build and --nbgrader are about all of them")
    if judged_well and not check:
        give_up("--judged-well is for --check")
    if mutate and (check or nbgrader):
        give_up("--mutate and --check are two runs")
    if jobs < 1:
        give_up("--jobs must be at least 1")
    try:
        course = Course.at()
        if mutate:
            _mutate(course, lessons or list(course.own_part().lessons), jobs)
        elif check:
            _check(course, lessons or [], nbgrader=nbgrader, judged_well=judged_well)
        else:
            _write(course)
    except ModuleNotFoundError as missing:
        if missing.name not in EXTRAS:
            raise
        give_up(f"build needs {missing.name}: pip install 'backprop-course[instructor,torch,dev]'")
    except (AuthoringError, SyllabusError) as error:
        give_up(str(error), code=ExitStatus.FAILED)


def _write(course: Course) -> None:
    from autograder.authoring import contracts, promises, readme
    from autograder.authoring.factors import covering
    from autograder.authoring.sample_class import SAMPLE_CLASS, sample_files
    from autograder.authoring.stubs import notebook_text, stub_notebook
    from autograder.commands.console import echo, give_up
    from autograder.isolation import PackageMissing
    from autograder.judging.records.errors import CheckError
    from autograder.wording import counted

    texts = {
        course.notebook(slug): notebook_text(stub_notebook(lesson, course.source(slug).parent))
        for slug, lesson in course.lessons.items()
    }
    texts |= {course.root / SAMPLE_CLASS / name: text for name, text in sample_files(course).items()}
    unchanged = _write_texts(course, texts | contracts.generated(course) | covering.generated(course))
    for slug, lesson in course.lessons.items():
        if course.of(slug) is course:  # else it is an inherited lesson, written by the extended course
            unchanged += _write_rejections(course, slug, lesson)
    unchanged += _write_texts(course, readme.generated(course))
    try:
        unchanged += _write_texts(course, promises.generated(course))
    except PackageMissing as error:
        echo(f"SECURITY.md: left as it is: {error}", err=True)
    except CheckError as error:
        give_up(f"SECURITY.md is left as it was: {error}", code=ExitStatus.FAILED)
    echo(f"unchanged: {counted(unchanged, 'file')}")


def _write_texts(course: Course, texts: dict[Path, str]) -> int:
    """Write the texts that differ from their files, and name these; return how many do not differ."""
    from autograder.commands.console import echo

    changed = {path: text for path, text in texts.items() if not path.is_file() or path.read_bytes() != text.encode()}
    for path, text in changed.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        echo(f"{course.relative(path)}: written")
    return len(texts) - len(changed)


def _write_rejections(course: Course, slug: str, lesson: Lesson) -> bool:
    """Run visible checks on known mistakes if the lesson has changed, which takes up to a minute.

    Returns whether the lesson's file was up to date.
    """
    from functools import partial

    from autograder.authoring.rejections import rejections_text
    from autograder.collection import with_judge
    from autograder.commands.console import echo, give_up
    from autograder.isolation import PackageMissing
    from autograder.judging.explaining.rejections import is_of
    from autograder.judging.records.errors import CheckError

    path = course.rejections(slug)
    if is_of(course, slug):
        return True
    try:
        text = with_judge(lesson, partial(rejections_text, places=course), root=course.root)
    except PackageMissing as error:
        echo(f"{course.relative(path)}: left as it is: {error}", err=True)
        return False
    except CheckError as error:
        give_up(f"{course.relative(path)} is left as it was: {error}", code=ExitStatus.FAILED)
    path.write_text(text, encoding="utf-8")
    echo(f"{course.relative(path)}: written")
    return False


def _check(course: Course, names: list[str], *, nbgrader: bool, judged_well: Path | None) -> None:
    """Run the rules, the quick ones first; rules that run code only if the files are in order.

    Rules that read files always cover the whole course. Rules that run a notebook cover a lesson, and are skipped for a
    single exercise.
    """
    from autograder.authoring import rules
    from autograder.commands.console import echo, give_up
    from autograder.commands.targets import lesson_and_part

    found = [lesson_and_part(course, name) for name in names]
    for lesson, exercise in found:
        if exercise and exercise not in [one.name for one in lesson.exercises]:
            give_up(f"{lesson.slug} has no exercise {exercise!r}; it has {', '.join(e.name for e in lesson.exercises)}")
    parts = [course.part(lesson.slug, exercise) for lesson, exercise in found] or [course.own_part()]
    problems = next(filter(None, (rule(course) for rule in rules.FIRST)), [])
    problems = problems or [problem for rule in rules.READ for problem in rule(course)]
    before = rules.JudgedWell(judged_well) if judged_well else None
    problems = problems or rules.run_code(course, parts, nbgrader=nbgrader, judged_well=before)
    if before is not None and before.asked:
        echo(f"{before.skipped} of {before.asked} rules and lessons were judged before, and have not changed since.")
    for problem in problems:
        echo(str(problem))
    unasked = [slug for part in parts for slug in rules.not_yet(part)]
    if unasked:
        echo(f"Not yet under the rule of factors, because they have no factors.toml: {', '.join(unasked)}.")
    if problems:
        raise typer.Exit(ExitStatus.FAILED)
    echo(f"{' and '.join(names)}: nothing is wrong." if names else "The course is whole.")


def _mutate(course: Course, names: list[str], jobs: int) -> None:
    """Test the checks of lessons or exercises by mutation; exit with status 1 if that finds problems."""

    from autograder.authoring.mutation.equivalents import EquivalentsError
    from autograder.authoring.mutation.lessons import mutate_lesson
    from autograder.authoring.mutation.trials import TrialError
    from autograder.commands.console import console, give_up
    from autograder.commands.targets import lesson_and_part
    from autograder.judging.records.errors import CheckError
    from autograder.reports.screen import Screen

    progress = Screen(stderr=True)
    wanted = [lesson_and_part(course, name) for name in names]
    well = True
    for lesson, part in wanted:
        try:
            well &= mutate_lesson(course, lesson, part, jobs=jobs, screen=console(), progress=progress)
        except (EquivalentsError, TrialError, CheckError) as error:
            give_up(f"{lesson.slug}: {error}")
        except KeyboardInterrupt:
            give_up("interrupted: what was not run is not judged", code=ExitStatus.INTERRUPTED)
    if not well:
        raise typer.Exit(ExitStatus.FAILED)
