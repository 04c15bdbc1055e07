"""Rule 0: what is on disk is what the syllabus lists, and each notebook is what its source gives."""

from __future__ import annotations

import ast
from pathlib import Path

from autograder.authoring.rules.problem import Problem
from autograder.authoring.sample_class import SAMPLE_CLASS, sample_files
from autograder.authoring.stubs import notebook_text, stub_notebook
from autograder.authoring.tree import AuthoringError, Course
from autograder.judging.explaining.rejections import is_of


def files_are_python(course: Course) -> list[Problem]:
    """What a lesson consists of can be parsed."""
    problems = []
    for slug in course.lessons:
        for path in dict.fromkeys((*course.files(slug), *course.modules(slug))):
            if path.suffix != ".py" or not path.is_file():
                continue
            try:
                ast.parse(path.read_text(encoding="utf-8"))
            except (SyntaxError, UnicodeDecodeError) as error:
                where = f"line {error.lineno}: {error.msg}" if isinstance(error, SyntaxError) else str(error)
                problems.append(Problem(course.relative(path), f"it is no Python ({where})", "mend it"))
    return problems


def listed_files(course: Course) -> list[Problem]:
    """Every lesson has all of its files, and every file its lesson."""
    expected = [path for slug in course.lessons for path in course.files(slug) if path != course.notebook(slug)]
    syllabus = course.relative(course.syllabus)
    missing = [
        Problem(course.relative(path), "this file is missing", f"write it or take the lesson out of {syllabus}")
        for path in expected
        if not path.is_file()
    ]
    known = {path for slug in course.lessons for path in (*course.files(slug), course.folder(slug))}
    unknown = [
        Problem(course.relative(path), f"no lesson of {syllabus} has this", "list the lesson or delete it")
        for path in _of_lessons(course)
        if path not in known and not path.name.startswith("_")
    ]
    return missing + unknown


def _of_lessons(course: Course) -> list[Path]:
    """What there is that belongs to a lesson, or may. Names with a leading underscore are shared by lessons."""
    folders = (path for path in course.lessons_folder.glob("*") if path.is_dir() and path.name != "__pycache__")
    return [
        *sorted(course.solutions.glob("*.py")),
        *sorted(course.notebooks.glob("*.ipynb")),
        *sorted(folders),
        *sorted(course.chapters.glob("ch[0-9][0-9]_*.md")),
    ]


def notebooks_in_step(course: Course) -> list[Problem]:
    """Each notebook on disk is, byte for byte, the one that its source gives."""
    problems = []
    for slug, lesson in course.lessons.items():
        if not course.source(slug).is_file():
            continue  # `listed_files` says so
        file = course.relative(course.notebook(slug))
        try:
            expected = notebook_text(stub_notebook(lesson, course.source(slug).parent))
        except AuthoringError as error:
            source, _, what = str(error).partition(": ")
            problems.append(Problem(source, what, "mend the source"))
            continue
        if not course.notebook(slug).is_file():
            problems.append(Problem(file, "this notebook is missing", "run `backprop build`"))
        elif course.notebook(slug).read_bytes() != expected.encode():
            problems.append(
                Problem(file, f"it is not what {course.relative(course.source(slug))} gives", "run `backprop build`")
            )
    return problems


def rejections_in_step(course: Course) -> list[Problem]:
    """What is written of checks and known mistakes was made of the lesson as it is; `judged` looks whether it is so."""
    problems = []
    for slug in course.lessons:
        if not course.source(slug).is_file():
            continue  # `listed_files` says so
        file = course.rejections(slug)
        if not file.is_file():
            problems.append(Problem(course.relative(file), "this file is missing", "run `backprop build`"))
        elif not is_of(course, slug):
            problems.append(Problem(course.relative(file), "it was made of another text", "run `backprop build`"))
    return problems


def generated_files_in_step(course: Course) -> list[Problem]:
    """What `backprop build` writes of the sources is as it would be; the sample class is made of the notebooks."""
    return notebooks_in_step(course) or sample_class_in_step(course)


def sample_class_in_step(course: Course) -> list[Problem]:
    """The sample class on disk is the one that the sources give."""
    folder = course.root / SAMPLE_CLASS
    texts = sample_files(course)
    on_disk = {path.relative_to(folder).as_posix() for path in folder.rglob("ch[0-9][0-9]_*") if path.is_file()}
    wrong = [
        name for name in sorted(texts) if name not in on_disk or (folder / name).read_bytes() != texts[name].encode()
    ]
    advice = "run `backprop build`, and read what it changes"
    return [Problem(f"{SAMPLE_CLASS}/{name}", "it is not what the sources give", advice) for name in wrong] + [
        Problem(
            f"{SAMPLE_CLASS}/{name}",
            "no recipe makes this submission",
            "add it to autograder/authoring/sample_class.py",
        )
        for name in sorted(on_disk - set(texts))
    ]
