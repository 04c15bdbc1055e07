"""Rule 0: the files on disk are those that the syllabus implies, and generated files are up to date."""

from __future__ import annotations

import ast
from pathlib import Path

from autograder.authoring import promises, readme
from autograder.authoring.rules.problem import Problem
from autograder.authoring.sample_class import SAMPLE_CLASS, sample_files
from autograder.authoring.stubs import notebook_text, stub_notebook
from autograder.authoring.tree import AuthoringError, Course
from autograder.judging.explaining.rejections import is_of


def files_are_python(course: Course) -> list[Problem]:
    """All Python files of the lessons can be parsed."""
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
    """Every lesson has all of its files, and every file belongs to a lesson."""
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
        if path not in known and not path.name.startswith("_")  # such names are shared by lessons
    ]
    return missing + unknown


def _of_lessons(course: Course) -> list[Path]:
    """The files and folders on disk that should belong to a lesson."""
    folders = (path for path in course.lessons_folder.glob("*") if path.is_dir() and path.name != "__pycache__")
    return [
        *sorted(course.solutions.glob("*.py")),
        *sorted(course.notebooks.glob("*.ipynb")),
        *sorted(folders),
        *sorted(course.chapters.glob("ch[0-9][0-9]_*.md")),
    ]


def notebooks_in_step(course: Course) -> list[Problem]:
    """Each notebook on disk is, byte for byte, the one built from its source."""
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
    """Each rejections.toml was made from the lesson's current text; `judged` tests whether it is right."""
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


def readme_in_step(course: Course) -> list[Problem]:
    """README.md has the figures and the table that the syllabus gives."""
    try:
        texts = readme.generated(course)
    except AuthoringError as error:
        file, _, what = str(error).partition(": ")
        return [Problem(file, what, "write it")]
    return [
        Problem(course.relative(path), "its figures or its table of lessons are old", "run `backprop build`")
        for path, text in texts.items()
        if path.read_text(encoding="utf-8") != text
    ]


def promises_in_step(course: Course) -> list[Problem]:
    """SECURITY.md has the row that the checks of each lesson give."""
    file = promises.file_of(course)
    if file is None:
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return [
        Problem(course.relative(file), f"its row for {slug} is old", "run `backprop build`, and read what it changes")
        for slug, lesson in course.lessons.items()
        if promises.row_of(slug, promises.promised(lesson, course.root)) not in lines
    ]


def generated_files_in_step(course: Course) -> list[Problem]:
    """Everything that `backprop build` writes is up to date: notebooks first, as the sample class is made of them."""
    return notebooks_in_step(course) or sample_class_in_step(course)


def sample_class_in_step(course: Course) -> list[Problem]:
    """The sample class on disk is the one built from the sources."""
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
