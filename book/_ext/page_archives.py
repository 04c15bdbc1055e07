"""Makes the archives for a page's Python: the grader with its dependencies, each lesson's checks, and answer books.

A lesson's answer book is split by exercise, so that a check fetches only its own part. All archives are made from a
release of the course, which contains no solutions.
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
from course.syllabus import find_lesson  # noqa: E402

GRADER = ("answerbook", "diagnosis", "isolation", "judging", "page", "worker")
"""The packages of the grader that judging needs; the others are for commands, reports and classes."""
ALONE = ("notebook/card.py",)
"""Single files needed from other packages."""
PACKAGES = ("_pytest", "pytest", "pluggy", "iniconfig")
LEFT_OUT = ("packaging", "pygments")
"""Packages that pytest imports only for versions and colours."""
NOT_ASKED_FOR = (
    *("approx", "cacheprovider", "debugging", "doctest", "faulthandler", "freeze_support", "junitxml"),
    *("legacypath", "logging", "monkeypatch", "pastebin", "pytester", "pytester_assertions", "recwarn", "setuponly"),
    *("setupplan", "stepwise", "subtests", "terminalprogress", "threadexception", "tmpdir", "tracemalloc"),
    *("unittest", "unraisableexception", "warnings"),
)
"""Modules of pytest that checks do not need: plugins that the judge disables, and modules that only those import."""
OLD_PATHS = b"class path:\n    class local:\n        pass\n"
"""Replaces pytest's `py`, 35 KB of legacy paths, by the one type that pytest names."""
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
        "worker/versions",
        "worker/zygote",
    ),
    *("judging/repairs", "judging/asking/variant_run"),
    *("__main__", "begun", "cell_names", "distribution", "moments", "new_files", "sections", "toml_text", "workbook"),
)
"""Modules of the grader that a browser cannot use: they start and confine processes, or belong to commands."""
REPAIRS = (
    *("page/repair", "judging/repair", "judging/repair_here", "judging/asking/variants"),
    *("judging/asking/variants_here", "worker/variants"),
    *("judging/explaining/own_code", "judging/explaining/repairing", "judging/explaining/repair_words"),
    *("diagnosis/mutation/formulas", "diagnosis/mutation/habits", "diagnosis/mutation/operands"),
    *("diagnosis/mutation/repairs", "diagnosis/mutation/slicing"),
)
"""Modules that only the search for a repair needs: a page fetches them when nothing known explains a wrong answer."""
NO_COURSE = (
    *("data", "experiments", "widgets", "instruments", "process_groups", "pages.py", "figures.py", "llama.py"),
    *("debugging.py", "gpt.py", "trusted.py", "course.mplstyle", "py.typed"),
)
"""Parts of the course that need PyTorch, Matplotlib, a notebook or a home folder, or have their own archive."""


DATA = ("autograder/lessons/*.npz", "course/data/*.npz")
"""The digits and the held-out digits, in an archive for the lessons that name them."""


def common(release: Path, slugs: Iterable[str]) -> bytes:
    """The archive that all lessons need: the grader, the course's modules, pytest."""
    files: dict[str, bytes] = {}
    grader, course = release / "autograder", release / "course"
    files |= _tree(grader, [grader / part for part in GRADER], "autograder")
    own = [*(grader / one for one in ALONE), *grader.glob("*.py")]
    files |= {f"autograder/{file.relative_to(grader).as_posix()}": file.read_bytes() for file in own}
    for name in (*NO_PROCESSES, *REPAIRS):
        del files[f"autograder/{name}.py"]
    files["autograder/notebook/__init__.py"] = b""  # the real one needs a kernel
    files |= _tree(course, [one for one in course.iterdir() if one.name not in NO_COURSE], "course")
    files["course/syllabus.toml"] = _only(files["course/syllabus.toml"].decode(), slugs).encode()
    for name in PACKAGES:
        files |= {at: text for at, text in _package(name).items() if not _never_asked_for(at)}
    files = {at: short(content, LEFT_OUT) if at.endswith(".py") else content for at, content in files.items()}
    return _archive(files | {"pytest/__init__.py": lazy(files["pytest/__init__.py"]), "py.py": OLD_PATHS})


def repairs(release: Path) -> bytes:
    """The archive of `REPAIRS`."""
    files = {f"autograder/{name}.py": (release / "autograder" / f"{name}.py").read_bytes() for name in REPAIRS}
    return _archive({at: short(content) for at, content in files.items()})


def _only(syllabus: str, slugs: Iterable[str]) -> str:
    """The syllabus with only these lessons, and without comments."""
    head, *lessons = syllabus.split("\n[[lesson]]\n")
    kept = [text for text in lessons if any(text.startswith(f'slug = "{slug}"') for slug in slugs)]
    text = "\n[[lesson]]\n".join([head, *kept])
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


def data(release: Path) -> bytes:
    """The archive of the data sets, `DATA`."""
    found = [file for pattern in DATA for file in sorted(release.glob(pattern))]
    return _archive({file.relative_to(release).as_posix(): file.read_bytes() for file in found})


def with_data(release: Path, slug: str) -> list[str]:
    """The parts `slug/exercise` of a lesson's exercises whose checks load the digits."""
    checks = Places(release).checks(slug)
    names = [exercise.name for exercise in find_lesson(slug).exercises]
    return [
        f"{slug}/{name}"
        for name in names
        if (file := checks / f"{name.lower().replace('.', '_')}.py").is_file()
        and "load_digits" in file.read_text(encoding="utf-8")
    ]


def _package(name: str) -> dict[str, bytes]:
    """The files of an installed package."""
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent
    return _tree(folder, [folder], name)


def of_lesson(release: Path, slug: str) -> tuple[bytes, dict[str, bytes]]:
    """The archive of a lesson's checks and scenarios, and its answer book's part for each exercise."""
    places = Places(release)
    folder, book = places.folder(slug), places.answer_book(slug)
    answers = read_book(book)
    answers.hold_to(places)
    common, parts = answers.in_parts()
    at = f"autograder/lessons/{slug}"
    files = _tree(folder, [folder], at) | {f"{at}/{book.name}": common.to_bytes()}
    return _archive(files), {exercise: part.to_bytes() for exercise, part in parts.items()}


def notebook(file: Path) -> str:
    """The lesson's notebook as compact JSON, which a page fills with answers."""
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
    unused = {"pytest/__main__.py", "iniconfig/_version.py", *(f"_pytest/{name}.py" for name in NOT_ASKED_FOR)}
    return at.startswith("_pytest/_py/") or at in unused


def _archive(files: dict[str, bytes]) -> bytes:
    """A reproducible tar.bz2: a fifth smaller than gzip for sources, and Pyodide supports no better compression."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for at in sorted(files):
            entry = tarfile.TarInfo(at)
            entry.size = len(files[at])
            archive.addfile(entry, io.BytesIO(files[at]))
    return bz2.compress(content.getvalue())


def write(release: Path, slugs: Iterable[str], out: Path) -> dict[str, bytes]:
    """Write all archives, parts of answer books and notebooks into the folder `out`; return archives and parts by name.

    The names are `grader`, `data`, `repairs`, each lesson's slug, and `slug/exercise` for parts of answer books.
    """
    slugs = list(slugs)
    parts = {"grader": common(release, slugs), "data": data(release), "repairs": repairs(release)}
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
"""Maximum download for an exercise's first verdict, apart from Python and NumPy."""


def before_a_verdict(sizes: dict[str, int], digits: Iterable[str]) -> dict[str, int]:
    """By `lesson/exercise`: the bytes that its first check fetches, apart from Python and NumPy.

    Args:
        sizes: bytes by name, as in `write`.
        digits: the parts that need the archive `data`.
    """
    digits, found = set(digits), {}
    for part in sizes:
        slug, _, exercise = part.partition("/")
        if exercise:
            found[part] = sizes["grader"] + sizes[slug] + sizes[part] + (sizes["data"] if part in digits else 0)
    return found


def file_of(part: str) -> str:
    """The file name of an archive or part, from which `parts.js` fetches it."""
    return f"{part}.book" if "/" in part else f"{part}.tar.bz2"
