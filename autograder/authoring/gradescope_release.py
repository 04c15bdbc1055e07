"""Writes the zip for Gradescope: scripts, the grader with solutions and salt, and the course without either.

Gradescope unpacks it to /autograder/source, runs setup.sh once, as root, and run_autograder for each submission
(https://gradescope-autograders.readthedocs.io/en/latest/specs/). The copy of the course without solutions is for
machines whose kernel cannot confine a submission: there a submission can read no answer to a hidden case.
"""

from __future__ import annotations

import shutil
import tomllib
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

from autograder.authoring.books_of_lessons import Track, untold
from autograder.authoring.handed_out import CPU_TORCH, Placeholder, needs_torch, whole_or_none
from autograder.authoring.own_release import FOLDER
from autograder.authoring.release import FILES, ZIP_TIME, release
from autograder.authoring.tree import AuthoringError, Course
from autograder.places import OWN_LESSONS, ROOT
from autograder.reports.formats import VISIBILITIES
from course.own import FILE

TEMPLATE = Path(__file__).parents[1] / "templates" / "gradescope"
OF_THE_GRADER = ("autograder", "course", "exercises", "solutions")
OF_A_COURSE = (FILE, "published.toml", "answers", OWN_LESSONS, "exercises", "solutions")
NOT_OF_IT = ("__pycache__", "*.pyc", ".*", "sample_class", "authoring", "widgets", "results")
PROGRAMS = ("setup.sh", "run_autograder")
SECRET = "salt"
TORCH = f'/opt/backprop/bin/pip install --quiet --constraint "$constraints" {CPU_TORCH}\n'


def release_gradescope(
    course: Course,
    out: Path,
    slugs: Iterable[str] = (),
    *,
    salt: str,
    hidden: str = "hidden",
    say: Callable[[str], None] = print,
    track: Track = untold,
) -> None:
    """Write the zip `out`.

    Args:
        salt: the class's secret for hidden inputs.
        hidden: Gradescope's visibility for the checks on hidden inputs.

    Raises:
        AuthoringError: `out` exists already or is not named as a zip, `hidden` is unknown, or a lesson's files are
            wrong.
        OSError: `out` cannot be written.
    """
    if out.exists() or out.suffix != ".zip":
        raise AuthoringError(f"{out} is there already" if out.exists() else f"{out}: name a zip, as gradescope.zip")
    if hidden not in VISIBILITIES:
        raise AuthoringError(f"there is no visibility {hidden!r}; there are {', '.join(VISIBILITIES)}")
    wanted = list(slugs) or list(course.lessons)
    with whole_or_none(out.with_name(f".{out.name}.part")) as part:
        part.mkdir(parents=True)
        release(course, part / "visible", wanted, say=say, track=track)
        engine = ROOT if course.is_own else course.root
        for name in OF_THE_GRADER:
            shutil.copytree(engine / name, part / "grader" / name, ignore=shutil.ignore_patterns(*NOT_OF_IT))
        for name in FILES:
            shutil.copy(engine / name, part / "grader")
        if course.is_own:
            _write_own(course, part / "grader" / FOLDER)
        (part / SECRET).write_text(f"{salt}\n", encoding="utf-8")
        _fill_in(course, part, wanted, hidden)
        _zip(part, out)
    shutil.rmtree(part)


def _write_own(course: Course, folder: Path) -> None:
    """Copy a course of your own, with its solutions, into `folder`."""
    folder.mkdir()
    for name in OF_A_COURSE:
        there = course.root / name
        if there.is_dir():
            shutil.copytree(there, folder / name, ignore=shutil.ignore_patterns(*NOT_OF_IT))
        elif there.is_file():
            shutil.copy(there, folder)


def _fill_in(course: Course, folder: Path, slugs: list[str], hidden: str) -> None:
    torch = needs_torch(course, slugs)
    words = {
        "lessons": " ".join(slugs),
        "names": ", ".join(f"`{slug}.ipynb`" for slug in slugs),
        "worth": f"{sum(course.lessons[slug].points for slug in slugs):g}",
        "memory": "PyTorch wants 3 GB" if torch else "no lesson here needs PyTorch",
        "install_torch": TORCH if torch else "",
        "hidden": hidden,
        "own": FOLDER if course.is_own else "",
    }
    for file in sorted(TEMPLATE.iterdir()):
        text = Placeholder(file.read_text(encoding="utf-8")).substitute(words)
        (folder / file.name).write_text(text, encoding="utf-8")
    project = tomllib.loads((folder / "grader" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (folder / "requirements.txt").write_text("\n".join(project["dependencies"]) + "\n", encoding="utf-8")


def _zip(folder: Path, out: Path) -> None:
    """Zip the content of `folder` without the folder itself: Gradescope wants its two scripts at the top."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), ZIP_TIME)
            mode = 0o755 if file.name in PROGRAMS else 0o600 if file.name == SECRET else 0o644
            entry.external_attr = mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())
