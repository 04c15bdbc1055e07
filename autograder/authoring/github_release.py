"""Writes a template repository for learners: notebooks, the course without answers, a workflow that checks each push.

The workflow installs the course from the repository itself. So it needs no token and no other repository, and the
course's version stays the same.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from autograder.authoring.books_of_lessons import Track, untold
from autograder.authoring.handed_out import CPU_TORCH, Placeholder, needs_torch, whole_or_none
from autograder.authoring.own_release import FOLDER, TRUST, lead_to
from autograder.authoring.release import release
from autograder.authoring.tree import AuthoringError, Course
from course.own import title_of

TEMPLATE = Path(__file__).parents[1] / "templates" / "repository"
COURSE = ".course"
"""The folder of the course; hidden, so that no learner opens it by accident."""
INSTALL_TORCH = f"pip install --quiet --constraint {COURSE}/constraints.txt {CPU_TORCH}"
DOTTED = ("gitignore", "github", "devcontainer")
"""Names that get a leading dot in the repository; the templates lack it, or Git and GitHub would act on them here."""


def release_repository(
    course: Course,
    out: Path,
    slugs: Iterable[str] = (),
    *,
    say: Callable[[str], None] = print,
    track: Track = untold,
) -> None:
    """Write the files of a template repository into the new folder `out`.

    Raises:
        AuthoringError: `out` exists already, or a lesson's files are wrong.
        OSError: `out` cannot be written.
    """
    if out.exists():
        raise AuthoringError(f"{out} is there already: name a folder that is not")
    wanted = list(slugs) or list(course.lessons)
    with whole_or_none(out.with_name(f".{out.name}.part")) as part:
        part.mkdir(parents=True)
        release(course, part / COURSE, wanted, say=say, track=track)
        for slug in wanted:
            shutil.copy(course.notebook(slug), part)
        if course.is_own:
            lead_to(part, f"{COURSE}/{FOLDER}")
        _fill_in(course, part, wanted)
        part.rename(out)


def _cell(title: str) -> str:
    return title.replace("|", "\\|")


def _fill_in(course: Course, folder: Path, slugs: list[str]) -> None:
    torch = INSTALL_TORCH if needs_torch(course, slugs) else ""
    first = course.lessons[slugs[0]]
    words = {
        "title": title_of(course.root if course.is_own else None),
        "due": " ".join(slugs),
        "trust": TRUST if course.is_own else "",
        "trust_here": " && backprop trust" if course.is_own else "",
        "trust_there": "\n          backprop trust" if course.is_own else "",
        "install_torch": f"{torch}\n          " if torch else "",
        "install_torch_here": f"{torch} && " if torch else "",
        "first": f"{first.slug.partition('_')[0]}/{first.exercises[0].name}",
        "lessons": "\n".join(
            f"| [`{slug}.ipynb`]({slug}.ipynb) | {_cell(course.lessons[slug].title)} |" for slug in slugs
        ),
    }
    for file in sorted(TEMPLATE.rglob("*")):
        if file.is_file():
            parts = file.relative_to(TEMPLATE).parts
            target = folder.joinpath(f".{parts[0]}" if parts[0] in DOTTED else parts[0], *parts[1:])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(Placeholder(file.read_text(encoding="utf-8")).substitute(words), encoding="utf-8")
