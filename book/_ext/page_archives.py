"""What a page's Python unpacks: the grader and what it stands on, once, and the checks of each lesson.

All of it comes from a release of the course, which holds no answer.
"""

from __future__ import annotations

import ast
import gzip
import importlib.util
import io
import json
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

GRADER = ("answerbook", "diagnosis", "isolation", "judging", "page", "worker")
"""The parts of the grader that judge; the others are commands, reports and classes."""
ALONE = ("notebook/card.py",)
"""Single files that these need, of parts that they do not need."""
PACKAGES = ("_pytest", "pytest", "pluggy", "iniconfig", "packaging", "pygments", "py")
UNUSED = ("/lexers/", "/formatters/", "/styles/", "/sphinxext.py", "/unistring.py")
"""Folders of Pygments, which pytest imports and nobody here uses, of which it needs a few modules."""
USED = ("__init__.py", "_mapping.py", "python.py", "diff.py", "terminal.py", "default.py", "unistring.py")
NO_COURSE = ("experiments", "widgets", "instruments", "process_groups.py", "pages.py", "figures.py", "llama.py")
"""Parts of the course that want PyTorch, Matplotlib or a notebook."""


def common(release: Path) -> bytes:
    """The archive that all lessons need: the grader, the course's modules, pytest."""
    files: dict[str, bytes] = {}
    grader, course = release / "autograder", release / "course"
    files |= _tree(grader, [grader / part for part in GRADER], "autograder")
    own = [*(grader / one for one in ALONE), *grader.glob("*.py"), *(grader / "lessons").glob("*.npz")]
    files |= {f"autograder/{file.relative_to(grader).as_posix()}": file.read_bytes() for file in own}
    files["autograder/notebook/__init__.py"] = b""  # its own asks for a kernel
    files |= _tree(course, [one for one in course.iterdir() if one.name not in NO_COURSE], "course")
    for name in PACKAGES:
        files |= {at: text for at, text in _package(name).items() if _used(at)}
    return _archive({at: _short(content) if at.endswith(".py") else content for at, content in files.items()})


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


def _used(at: str) -> bool:
    return not at.startswith("pygments") or not any(part in at for part in UNUSED) or at.endswith(USED)


def _short(content: bytes) -> bytes:
    """Python without comments and docstrings: a third less to fetch."""
    tree = ast.parse(content)
    for node in ast.walk(tree):
        body: Any = getattr(node, "body", None)
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            body[:1] = [] if isinstance(node, ast.Module) else [ast.Pass()]
    return ast.unparse(tree).encode() + b"\n"


def _archive(files: dict[str, bytes]) -> bytes:
    """A tar, compressed as one: a third smaller than a zip of so many small files. The same files, the same bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for at in sorted(files):
            entry = tarfile.TarInfo(at)
            entry.size = len(files[at])
            archive.addfile(entry, io.BytesIO(files[at]))
    return gzip.compress(content.getvalue(), 9, mtime=0)


def write(release: Path, slugs: Iterable[str], out: Path) -> None:
    """Write all archives and notebooks into the folder `out`."""
    (out / "grader.tgz").write_bytes(common(release))
    for slug in slugs:
        (out / f"{slug}.tgz").write_bytes(of_lesson(release, slug))
        (out / f"{slug}.json").write_text(notebook(release / "exercises" / f"{slug}.ipynb"), encoding="utf-8")
