"""Writes the course for the learners of a class: what they need to work and get feedback, without any answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from string import Template

from autograder.authoring.books_of_lessons import Track, books_of, untold
from autograder.authoring.handed_out import whole_or_none
from autograder.authoring.own_release import FOLDER, TRUST, lead_to, write_own
from autograder.authoring.tree import AuthoringError, Course
from autograder.judging.version import module_files, read_by
from autograder.places import ROOT, Places, modules_in
from course.own import title_of
from course.syllabus import OWN_SLUG

FILES = ("LICENSE", "LICENSE-CC-BY-4.0", "constraints.txt", "pyproject.toml", "setup.py")
OF_AUTHORS = ("authoring", "packed", "sample_class")
"""Parts of the grader that contain answers, or process them."""
OF_A_LESSON = (
    *("mistakes", "oracles", "contract.toml", "equivalents.toml", "factors.toml", "rejections.toml"),
    "answers.book",
)
"""Parts of a lesson's folder that are left out; the answer book is written separately."""
IMPORT = re.compile(r"^\s*(?:from|import) (course[\w.]*)", re.MULTILINE)
NO_PART = ("__pycache__", "*.pyc", ".*")
README = Path(__file__).with_name("release_readme.md")
ABOUT = " on backpropagation: for every operation, what comes back, in which shape, and why"
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
"""The date of all files in a zip, constant so that the same course gives the same bytes."""


def release(
    course: Course,
    out: Path,
    slugs: Iterable[str] = (),
    *,
    pages: bool = False,
    beside: bool = True,
    say: Callable[[str], None] = print,
    track: Track = untold,
) -> None:
    """Write the course without its answers into the new folder `out`, or into a zip of that name.

    Args:
        slugs: the lessons to release; all if empty.
        pages: whether to add the built book.
        beside: whether answer books that are written stay beside the checks, too.
        say: called with a line before slow steps.
        track: shows how many of the answer books are written.

    Raises:
        AuthoringError: `out` exists already, a lesson's files are wrong, or the book is not built.
        OSError: `out` cannot be written.
    """
    if out.exists():
        raise AuthoringError(f"{out} is there already: name a folder or a zip that is not")
    zipped = out.suffix == ".zip"
    folder = out.with_name(f".{out.name}.part") if zipped else out
    with whole_or_none(folder):
        _write(course, folder, list(slugs) or list(course.lessons), pages, beside, say, track)
        if zipped:
            _zip(folder, out)
    if zipped:
        shutil.rmtree(folder)


def _write(
    course: Course,
    folder: Path,
    slugs: list[str],
    pages: bool,
    beside: bool,
    say: Callable[[str], None],
    track: Track,
) -> None:
    grader = _grader_of(course)
    of_it = [slug for slug in slugs if _is_of(grader, course, slug)]
    shutil.copytree(grader.root / "autograder", folder / "autograder", ignore=_left_out(grader, of_it))
    for file in _modules_of_the_course(course, grader, slugs):
        target = folder / file.relative_to(grader.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    for name in FILES:
        shutil.copy(grader.root / name, folder)
    for slug in of_it:
        for file in (grader.chapter(slug), *([] if course.is_own else [grader.notebook(slug)])):
            target = folder / file.relative_to(grader.root)
            target.parent.mkdir(exist_ok=True)
            shutil.copy(file, target)
    syllabus = folder / "course" / "syllabus.toml"
    syllabus.write_text(only_lessons(syllabus.read_text(encoding="utf-8"), set(of_it)), encoding="utf-8")
    released = Places(folder)
    if course.is_own:
        released = write_own(course, folder / FOLDER, slugs, _left_out(course, slugs))
        lead_to(folder, FOLDER)
    for slug, content in books_of(course, slugs, beside=beside, say=say, track=track).items():
        released.answer_book(slug).write_bytes(content)
    first = course.lessons[slugs[0]]
    readme = Template(README.read_text(encoding="utf-8"))
    (folder / "README.md").write_text(
        readme.substitute(
            title=title_of(course.root if course.is_own else None),
            about="" if course.is_own else ABOUT,
            trust=TRUST if course.is_own else "",
            lessons=len(slugs),
            exercises=sum(len(course.lessons[slug].exercises) for slug in slugs),
            first=f"{first.slug.partition('_')[0]}/{first.exercises[0].name}",
        ),
        encoding="utf-8",
    )
    if pages:
        if not course.pages.is_dir():
            raise AuthoringError("the book is not built: run 'make book', or release without --book")
        answers = shutil.ignore_patterns("_sources", "*.ipynb", "*.solved.json")
        shutil.copytree(course.pages, released.pages, ignore=answers)
        _without_own_answers(released.pages)


def _without_own_answers(pages: Path) -> None:
    """Tell the scripts of these pages that there are no model solutions to fetch."""
    manifest = pages / "_static" / "page" / "manifest.json"
    with suppress(FileNotFoundError):  # the pages were built without Python
        said = json.loads(manifest.read_text(encoding="utf-8"))
        manifest.write_text(json.dumps({**said, "solved": []}), encoding="utf-8")


def _grader_of(course: Course) -> Places:
    """The course that has the grader in it: `course` itself, or this repository if `course` is your own."""
    return Places(ROOT) if course.is_own else course


def _is_of(grader: Places, course: Course, slug: str) -> bool:
    return grader is course or course.of(slug) == grader


def _left_out(course: Places, slugs: list[str]) -> Callable[[str, list[str]], set[str]]:
    """The `ignore` function for `shutil.copytree`: the names in a folder that a release does not contain."""
    unwanted = shutil.ignore_patterns(*NO_PART)

    def left_out(folder: str, names: list[str]) -> set[str]:
        here, found = Path(folder), unwanted(folder, names)
        if here == course.root / "autograder":
            found |= set(OF_AUTHORS) & set(names)
        if here == course.lessons_folder:
            found |= {"conftest.py"} | {name for name in names if OWN_SLUG.fullmatch(name) and name not in slugs}
        if here.parent == course.lessons_folder:
            found |= set(OF_A_LESSON) & set(names)
        return found

    return left_out


def _modules_of_the_course(course: Course, grader: Places, slugs: list[str]) -> Iterator[Path]:
    """The files of `course/` that the grader and the notebooks need.

    Other modules are imported by chapters only, and some of them are answers.
    """
    left_out = _left_out(grader, [slug for slug in slugs if _is_of(grader, course, slug)])
    waiting = [file for slug in slugs for file in _imported(course.notebook(slug))]
    for lesson in (course.lessons[slug] for slug in slugs):
        environments = (lesson.environment, *lesson.environments)
        waiting += [file for one in environments for module in one.modules for file in module_files(module)]
    if course.is_own:
        for slug in slugs:
            waiting += [*modules_in(course.checks(slug)), *modules_in(course.scenarios(slug))]
        waiting += course.lessons_folder.glob("*.py")
    for folder, folders, names in os.walk(grader.root / "autograder"):
        out = left_out(folder, [*folders, *names])
        folders[:] = set(folders) - out
        waiting += [Path(folder, name) for name in set(names) - out if name.endswith(".py")]
    needed: set[Path] = set()
    while waiting:
        file = waiting.pop()
        if file not in needed and file.is_file():
            needed.add(file)
            waiting += [
                grader.root / other.relative_to(ROOT) if other.is_relative_to(ROOT) else other
                for other in read_by(file)
            ]
    of_the_course = grader.root / "course"
    beside = [*of_the_course.glob("*.to*"), *of_the_course.glob("*.mplstyle"), *of_the_course.glob("py.typed")]
    yield from sorted(file for file in needed if file.is_relative_to(of_the_course))
    yield from sorted([*beside, *of_the_course.glob("data/*.*")])


def _imported(notebook: Path) -> list[Path]:
    """The files of the modules of `course/` that a notebook's cells import."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return [file for name in IMPORT.findall(code) for file in module_files(name)]


def only_lessons(syllabus: str, slugs: set[str]) -> str:
    """The text of a syllabus with its head and these lessons alone, without `why`, which explains solutions."""
    syllabus = re.sub(r"^why = .*\n", "", syllabus, flags=re.MULTILINE)
    head, *lessons = re.split(r"^(?=\[\[lesson\]\])", syllabus, flags=re.MULTILINE)

    def slug_of(text: str) -> str:
        found = re.search(r'^slug = "(\w+)"', text, re.MULTILINE)
        return found[1] if found else ""

    return head + "".join(text for text in lessons if slug_of(text) in slugs)


def _zip(folder: Path, out: Path) -> None:
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _files(folder):
            entry = zipfile.ZipInfo(f"{out.stem}/{file.relative_to(folder).as_posix()}", ZIP_TIME)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in sorted(folder.rglob("*")) if file.is_file())
