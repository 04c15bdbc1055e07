"""What a page's Python unpacks: the grader and what it stands on, once, and the checks of each lesson.

All of it comes from a release of the course, which holds no answer.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from page_shortened import lazy, short

GRADER = ("answerbook", "diagnosis", "isolation", "judging", "page", "worker")
"""The parts of the grader that judge; the others are commands, reports and classes."""
ALONE = ("notebook/card.py",)
"""Single files that these need, of parts that they do not need."""
PACKAGES = ("_pytest", "pytest", "pluggy", "iniconfig", "py")
LEFT_OUT = ("packaging", "pygments")
"""What pytest would import as well: for versions and for colours."""
NOT_ASKED_FOR = (
    *("cacheprovider", "debugging", "doctest", "faulthandler", "freeze_support", "junitxml"),
    *("legacypath", "logging", "monkeypatch", "pastebin", "pytester", "pytester_assertions", "recwarn", "setuponly"),
    *("setupplan", "stepwise", "subtests", "terminalprogress", "threadexception", "tmpdir", "tracemalloc"),
    *("unittest", "unraisableexception", "warnings"),
)
"""Modules of pytest that checks do without: plugins that the judge switches off, and what only these import."""
NO_COURSE = (
    *("data", "experiments", "widgets", "instruments", "process_groups.py", "pages.py", "figures.py", "llama.py"),
    *("debugging.py", "gpt.py"),
)
"""Parts of the course that want PyTorch, Matplotlib or a notebook, or have an archive of their own."""


DATA = ("autograder/lessons/*.npz", "course/data/*.npz")
"""The digits, and those that are kept back: an archive of its own, for the lessons that name them."""


def common(release: Path, slugs: Iterable[str]) -> bytes:
    """The archive that all lessons need: the grader, the course's modules, pytest."""
    files: dict[str, bytes] = {}
    grader, course = release / "autograder", release / "course"
    files |= _tree(grader, [grader / part for part in GRADER], "autograder")
    own = [*(grader / one for one in ALONE), *grader.glob("*.py")]
    files |= {f"autograder/{file.relative_to(grader).as_posix()}": file.read_bytes() for file in own}
    files["autograder/notebook/__init__.py"] = b""  # its own asks for a kernel
    files |= _tree(course, [one for one in course.iterdir() if one.name not in NO_COURSE], "course")
    files["course/syllabus.toml"] = _only(files["course/syllabus.toml"].decode(), slugs).encode()
    for name in PACKAGES:
        files |= {at: text for at, text in _package(name).items() if not _never_asked_for(at)}
    files = {at: short(content, LEFT_OUT) if at.endswith(".py") else content for at, content in files.items()}
    return _archive(files | {"pytest/__init__.py": lazy(files["pytest/__init__.py"])})


def _only(syllabus: str, slugs: Iterable[str]) -> str:
    """The syllabus with these lessons alone."""
    head, *lessons = syllabus.split("\n[[lesson]]\n")
    kept = [text for text in lessons if any(text.startswith(f'slug = "{slug}"') for slug in slugs)]
    return "\n[[lesson]]\n".join([head, *kept])


def data(release: Path) -> bytes:
    """The archive of what lessons count and train on."""
    found = [file for pattern in DATA for file in sorted(release.glob(pattern))]
    return _archive({file.relative_to(release).as_posix(): file.read_bytes() for file in found})


def needs_data(release: Path, slug: str) -> bool:
    """Whether a lesson's checks, or its exercises, name the digits."""
    files = [*(release / "autograder" / "lessons" / slug).rglob("*.py"), release / "exercises" / f"{slug}.ipynb"]
    return any("digits" in file.read_text(encoding="utf-8") for file in files)


def _package(name: str) -> dict[str, bytes]:
    """The files of a package that is installed here, or of a module."""
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    file = Path(found.origin)
    return {file.name: file.read_bytes()} if file.stem == name else _tree(file.parent, [file.parent], name)


def of_lesson(release: Path, slug: str) -> bytes:
    """The archive of a lesson: its checks and scenarios, and its answer book."""
    folder = release / "autograder" / "lessons" / slug
    return _archive(_tree(folder, [folder], f"autograder/lessons/{slug}"))


def notebook(file: Path) -> str:
    """The lesson's notebook without outputs, as a page fills it."""
    return json.dumps(json.loads(file.read_text(encoding="utf-8")), ensure_ascii=False, separators=(",", ":"))


def _tree(base: Path, roots: Iterable[Path], at: str) -> dict[str, bytes]:
    return {f"{at}/{file.relative_to(base).as_posix()}": file.read_bytes() for root in roots for file in _files(root)}


def _files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    for file in sorted(root.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts and file.suffix not in (".pyc", ".so", ".typed"):
            yield file


def _never_asked_for(at: str) -> bool:
    return at in {f"_pytest/{name}.py" for name in NOT_ASKED_FOR}


def _archive(files: dict[str, bytes]) -> bytes:
    """A tar, compressed as one: a third smaller than a zip of so many small files. The same files, the same bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for at in sorted(files):
            entry = tarfile.TarInfo(at)
            entry.size = len(files[at])
            archive.addfile(entry, io.BytesIO(files[at]))
    return gzip.compress(content.getvalue(), 9, mtime=0)


def write(release: Path, slugs: Iterable[str], out: Path) -> list[str]:
    """Write all archives and notebooks into the folder `out`; returns the lessons that need the digits."""
    slugs = list(slugs)
    (out / "grader.tgz").write_bytes(common(release, slugs))
    (out / "data.tgz").write_bytes(data(release))
    for slug in slugs:
        (out / f"{slug}.tgz").write_bytes(of_lesson(release, slug))
        (out / f"{slug}.json").write_text(notebook(release / "exercises" / f"{slug}.ipynb"), encoding="utf-8")
    return [slug for slug in slugs if needs_data(release, slug)]
