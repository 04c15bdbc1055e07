"""What a page's Python unpacks: the grader and what it stands on, once, the checks of each lesson, and its answers.

A lesson's answer book is in parts, one an exercise: who checks one waits for its part alone.

All of it comes from a release of the course, which holds no answer.
"""

from __future__ import annotations

import bz2
import importlib.util
import io
import json
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from page_shortened import lazy, short

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from autograder.answerbook import read_book  # noqa: E402
from autograder.places import Places  # noqa: E402

GRADER = ("answerbook", "diagnosis", "isolation", "judging", "page", "worker")
"""The parts of the grader that judge; the others are commands, reports and classes."""
ALONE = ("notebook/card.py",)
"""Single files that these need, of parts that they do not need."""
PACKAGES = ("_pytest", "pytest", "pluggy", "iniconfig")
LEFT_OUT = ("packaging", "pygments")
"""What pytest would import as well: for versions and for colours."""
NOT_ASKED_FOR = (
    *("approx", "cacheprovider", "debugging", "doctest", "faulthandler", "freeze_support", "junitxml"),
    *("legacypath", "logging", "monkeypatch", "pastebin", "pytester", "pytester_assertions", "recwarn", "setuponly"),
    *("setupplan", "stepwise", "subtests", "terminalprogress", "threadexception", "tmpdir", "tracemalloc"),
    *("unittest", "unraisableexception", "warnings"),
)
"""Modules of pytest that checks do without: plugins that the judge switches off, and what only these import."""
OLD_PATHS = b"class path:\n    class local:\n        pass\n"
"""Of pytest's `py`, the type that it names: 35 KB of old paths, which no check asks for, stay out."""
NO_PROCESSES = (
    *("isolation/allowed", "isolation/forking", "isolation/launched", "isolation/process", "isolation/python"),
    *("isolation/sandbox", "isolation/spawning", "isolation/tasks", "isolation/zygote"),
    *("worker/bootstrap", "worker/compilers", "worker/forkserver", "worker/landlock", "worker/mounts"),
    *("worker/native", "worker/nodes", "worker/policy", "worker/privileges", "worker/process_name"),
    *(
        "worker/returned",
        "worker/scratch",
        "worker/seccomp",
        "worker/serve",
        "worker/tampering",
        "worker/tasks",
        "worker/zygote",
    ),
    *("__main__", "begun", "distribution", "toml_text", "workbook"),
)
"""Modules of the grader that start and confine processes, which a browser has none of, or that commands begin with."""
NO_COURSE = (
    *("data", "experiments", "widgets", "instruments", "process_groups", "pages.py", "figures.py", "llama.py"),
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
    for name in NO_PROCESSES:
        del files[f"autograder/{name}.py"]
    files["autograder/notebook/__init__.py"] = b""  # its own asks for a kernel
    files |= _tree(course, [one for one in course.iterdir() if one.name not in NO_COURSE], "course")
    files["course/syllabus.toml"] = _only(files["course/syllabus.toml"].decode(), slugs).encode()
    for name in PACKAGES:
        files |= {at: text for at, text in _package(name).items() if not _never_asked_for(at)}
    files = {at: short(content, LEFT_OUT) if at.endswith(".py") else content for at, content in files.items()}
    return _archive(files | {"pytest/__init__.py": lazy(files["pytest/__init__.py"]), "py.py": OLD_PATHS})


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
    """The files of a package that is installed here."""
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent
    return _tree(folder, [folder], name)


def of_lesson(release: Path, slug: str) -> tuple[bytes, dict[str, bytes]]:
    """The archive of a lesson, with its checks and scenarios; and by exercise its part of the answer book."""
    places = Places(release)
    folder, book = places.folder(slug), places.answer_book(slug)
    answers = read_book(book)
    answers.hold_to(places)
    common, parts = answers.in_parts()
    at = f"autograder/lessons/{slug}"
    files = _tree(folder, [folder], at) | {f"{at}/{book.name}": common.to_bytes()}
    return _archive(files), {exercise: part.to_bytes() for exercise, part in parts.items()}


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
    return at.startswith("_pytest/_py/") or at in {f"_pytest/{name}.py" for name in NOT_ASKED_FOR}


def _archive(files: dict[str, bytes]) -> bytes:
    """A tar, compressed as one: bzip2 makes a fifth less of sources than gzip, and Pyodide has no better one.

    The same files give the same bytes.
    """
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for at in sorted(files):
            entry = tarfile.TarInfo(at)
            entry.size = len(files[at])
            archive.addfile(entry, io.BytesIO(files[at]))
    return bz2.compress(content.getvalue())


def write(release: Path, slugs: Iterable[str], out: Path) -> dict[str, bytes]:
    """Write all archives, parts of answer books and notebooks into the folder `out`; returns them by part.

    Parts are `grader`, `data`, a lesson's slug, and slug and exercise with a slash between them.
    """
    slugs = list(slugs)
    parts = {"grader": common(release, slugs), "data": data(release)}
    for slug in slugs:
        parts[slug], answers = of_lesson(release, slug)
        parts |= {f"{slug}/{exercise}": part for exercise, part in answers.items()}
        (out / f"{slug}.json").write_text(notebook(release / "exercises" / f"{slug}.ipynb"), encoding="utf-8")
    for part, content in parts.items():
        file = out / file_of(part)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    return parts


MOST_BYTES = 400_000
"""Of the grader and what an exercise needs beside it, before its first verdict."""


def before_a_verdict(sizes: dict[str, int], digits: Iterable[str]) -> dict[str, int]:
    """By `lesson/exercise`: the bytes of all parts that its first check fetches, beside Python and NumPy.

    Args:
        digits: the lessons that need them.
    """
    digits, found = set(digits), {}
    for part in sizes:
        slug, _, exercise = part.partition("/")
        if exercise:
            found[part] = sizes["grader"] + sizes[slug] + sizes[part] + (sizes["data"] if slug in digits else 0)
    return found


def file_of(part: str) -> str:
    """Where a part lies; `parts.js` fetches it from there."""
    return f"{part}.book" if "/" in part else f"{part}.tar.bz2"
