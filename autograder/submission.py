"""Reads submissions: notebooks, and Python files in cells."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.magics import takes_the_body
from autograder.wording import clean

MAX_BYTES = 10 * 2**20
"""The limit on a file's size: code is never that large."""
MAX_CELLS = 2000
MAX_SOURCE = 2**20
"""The limit on one cell, in characters."""
MAX_MARK = 1000
"""How many characters of a `# %%` line are read."""
NOTEBOOKS = (".ipynb.txt", ".ipynb.json", ".ipynb", ".json")
"""Endings of notebooks' names, including those that browsers and systems add."""
SCRIPTS = (".py.txt", ".py")
NOT_GRADED = {"setup", "check", "demo"}
"""Tags of the cells that the course adds around the learner's work."""

WESTERN = {"iso-8859-1", "iso-8859-15", "cp1252"}
"""Encodings besides UTF-8 that a Python file may declare."""
_OURS, _DEFINES = "<<<<<<< ", re.compile(r"^(?:async\s+)?(?:def|class)\s+\w", re.MULTILINE)
_LFS = "version https://git-lfs"
_WEB_PAGE = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_SPACE = re.compile(r"\s*")
_MARIMO = re.compile(r"^(?:import marimo|from marimo import)\b", re.MULTILINE)
_APP = re.compile(r"^\w+ = (?:marimo\.)?App\(", re.MULTILINE)
_MARK = re.compile(r"^# %%(.*)$")
_TAGS = re.compile(r"tags=\[([^\][]*)\]")
_EXERCISE = re.compile(r'exercise="([\w.]+)"')


class SubmissionError(ValueError):
    """A file that cannot be graded; the message says why and what to do."""


@dataclass(frozen=True)
class Cell:
    """A piece of a submission's code."""

    number: int
    source: str
    label: str
    """Its position in words: `cell 7` or `cell 9 (relu_vjp)` of a notebook, `In [5]`, `line 40` of a file."""
    offset: int = 0
    """The number of lines before it in its file; 0 in a notebook, whose lines are counted by cell."""
    exercise: str = ""
    """The exercise that the cell is marked with; empty if none."""


@dataclass(frozen=True)
class Submission:
    """The cells of one file, and the hash of its bytes."""

    name: str
    """The file's name in feedback."""
    sha256: str
    module: str
    """The code's `__name__`: `__main__` for a notebook; a Python file is imported."""
    cells: tuple[Cell, ...]
    no_code: tuple[Cell, ...] = ()
    """Cells with definitions that do not run: Markdown and raw cells, and cells with certain magics."""

    @classmethod
    def empty(cls) -> Submission:
        """A submission without cells."""
        return cls("nothing", hashlib.sha256(b"").hexdigest(), "submission", ())

    @classmethod
    def of_cells(cls, name: str, sources: list[str], labels: list[str] | None = None) -> Submission:
        """A submission of the cells that a kernel ran, with labels such as `In [5]`."""
        labels = labels or [f"cell {i}" for i in range(1, len(sources) + 1)]
        cells = tuple(Cell(i, s, label) for i, (s, label) in enumerate(zip(sources, labels, strict=True), 1))
        return cls(name, hashlib.sha256("\0".join(sources).encode()).hexdigest(), "__main__", *_split_by_magic(cells))

    def names(self, exercise: str) -> bool:
        """Whether the code mentions an exercise's name; for `Tensor.backward`, both parts of it."""
        text = "\n".join(cell.source for cell in self.cells)
        return all(re.search(rf"\b{re.escape(part)}\b", text) for part in exercise.split("."))


def stem_of(name: str) -> str | None:
    """A file's name without the ending of a notebook or Python file; None if it has no such ending."""
    for ending in (*NOTEBOOKS, *SCRIPTS):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return None


def lines_of(text: str) -> list[str]:
    """The lines as Python counts them, with line ends. `str.splitlines` also splits at form feeds, even in comments."""
    return io.StringIO(text, newline="").readlines()


def read_submission(path: Path, *, inside: Path | None = None) -> Submission:
    """Read a notebook, or a Python file in cells.

    Args:
        inside: the folder that the file must be in after links are resolved; any if None.

    Raises:
        SubmissionError: missing, not a regular file, outside of `inside`, too large, not text, or not a notebook.
    """
    return parse_submission(path.name, read_bytes(path, inside))


def parse_submission(name: str, data: bytes) -> Submission:
    """Parse a file's content as a notebook or a Python file, depending on name and content.

    Raises:
        SubmissionError: empty, too many or too large cells, not text, or not a notebook.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    if not data.strip():
        raise SubmissionError("the file is empty; hand in the notebook again")
    notebook = name.lower().endswith(NOTEBOOKS)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if not notebook and (declared := _declared_encoding(data)):
            return Submission(
                name, sha256, "submission", *_split_by_magic(_python_cells(data.decode(declared, "replace")))
            )
        what = "so it is no notebook; export it again" if notebook else "as Python's files are; save it as UTF-8"
        raise SubmissionError(f"the file is not UTF-8 text, {what}") from None
    if notebook or _looks_like_a_notebook(text):
        cells, taken = _split_by_magic(_notebook_cells(text))
        return Submission(name, sha256, "__main__", cells, (*_definitions_outside_code(text), *taken))
    return Submission(name, sha256, "submission", *_split_by_magic(_python_cells(text)))


def _declared_encoding(data: bytes) -> str:
    """The encoding that a Python file's first lines declare, if it is in `WESTERN`; else empty."""
    try:
        declared, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        return ""
    return declared if declared in WESTERN else ""


def _looks_like_a_notebook(text: str) -> bool:
    """Whether a file with the name of a Python file has the content of a notebook."""
    return text.lstrip().startswith("{") and '"nbformat"' in text


def read_bytes(path: Path, inside: Path | None) -> bytes:
    """The content of a file that may be graded. `SubmissionError` as for `read_submission`.

    The checks use the opened file, not its path, which the submitter might exchange between check and reading.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            opened = os.fstat(descriptor)
            _refuse_unsuitable(path, opened, inside)
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(opened.st_size + 1)  # a read takes the memory that it asks for
                return data if len(data) <= opened.st_size else data + file.read(MAX_BYTES + 1 - len(data))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SubmissionError(f"the file cannot be read ({error.strerror})") from None


def _refuse_unsuitable(path: Path, opened: os.stat_result, inside: Path | None) -> None:
    if inside is not None and not _is_inside(path, opened, inside):
        raise SubmissionError("the file is a link that leads out of its folder; hand in the file itself")
    if stat.S_ISDIR(opened.st_mode):
        raise SubmissionError("this is a folder; hand in the notebook itself")
    if not stat.S_ISREG(opened.st_mode):
        raise SubmissionError("this is not a regular file; hand in a notebook")
    if opened.st_size > MAX_BYTES:
        size, limit = opened.st_size / 2**20, MAX_BYTES // 2**20
        raise SubmissionError(f"the file has {size:.0f} MiB, and {limit} MiB is the limit; clear its outputs")


def _is_inside(path: Path, opened: os.stat_result, folder: Path) -> bool:
    """Whether the file that was opened as `path` is in `folder`, and `folder` is not a link."""
    real = os.path.realpath(path)  # for a link to itself `Path.resolve` raises another error than OSError
    if not Path(real).is_relative_to(os.path.join(os.path.realpath(folder.parent), folder.name)):
        return False
    found = os.stat(real, follow_symlinks=False)
    return (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino)


def _limited(cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
    if len(cells) > MAX_CELLS:
        raise SubmissionError(f"the file has {len(cells)} cells of code, and {MAX_CELLS} is the limit")
    for cell in cells:
        if len(cell.source) > MAX_SOURCE:
            raise SubmissionError(f"{cell.label} has more than {MAX_SOURCE:,} characters of code; is it data?")
    return cells


def _split_by_magic(cells: tuple[Cell, ...]) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """The cells that run in the notebook's namespace, and those with definitions that a cell magic keeps out of it.

    Raises:
        SubmissionError: too many cells, or one is too large.
    """
    taken = {cell.number: magic for cell in _limited(cells) if (magic := takes_the_body(cell.source))}
    return (
        tuple(cell for cell in cells if cell.number not in taken),
        tuple(
            replace(cell, label=f"{cell.label} begins with {clean(taken[cell.number], 30)}")
            for cell in cells
            if cell.number in taken and _DEFINES.search(cell.source)
        ),
    )


def _definitions_outside_code(text: str) -> Iterator[Cell]:
    """The Markdown and raw cells of a notebook that look like definitions."""
    for number, cell in enumerate(json.loads(text)["cells"], 1):
        if not isinstance(cell, dict) or cell.get("cell_type") not in ("markdown", "raw"):
            continue
        source = _joined(cell.get("source")) or ""
        if len(source) <= MAX_SOURCE and _DEFINES.search(source):
            yield Cell(number, source, f"cell {number} is a {cell['cell_type'].capitalize()} cell")


def _is_a_web_page(text: str) -> bool:
    """Whether a text, after comments, begins like HTML. No single regex: it could backtrack catastrophically."""
    begin = _end_of_space(text, 0)
    if text[begin : begin + 5].lower() == "<?xml":
        begin = _end_of_space(text, text.find(">", begin) + 1)
    while text.startswith("<!--", begin):
        end = text.find("-->", begin + 4)
        if end < 0:
            return False
        begin = _end_of_space(text, end + 3)
    return _WEB_PAGE.match(text, begin) is not None


def _end_of_space(text: str, begin: int) -> int:
    found = _SPACE.match(text, begin)
    return found.end() if found else begin


def _is_marimo(text: str) -> bool:
    imported = _MARIMO.search(text)
    return imported is not None and _APP.search(text, imported.end()) is not None


def _refuse_a_web_page(text: str) -> None:
    if _is_a_web_page(text):
        raise SubmissionError(
            "this is a web page, as one to sign in, and no notebook; open the notebook where you work, save or "
            "download it there, and hand in that file"
        )


def _notebook_cells(text: str) -> tuple[Cell, ...]:
    _refuse_a_web_page(text)
    if text.startswith(_LFS):
        raise SubmissionError(
            "this is Git LFS's pointer to the notebook; run 'git lfs pull', and hand in what that brings"
        )
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        if any(line.startswith(_OURS) for line in text.splitlines()):
            raise SubmissionError(
                "git left both sides of a merge conflict in the file (a line begins with <<<<<<<); keep one of them"
            ) from None
        raise SubmissionError(
            f"line {error.lineno} is not JSON ({error.msg}), so this is no notebook; save it again"
        ) from None
    except (RecursionError, ValueError):
        raise SubmissionError("the file is not a notebook; save it again") from None
    raw = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(raw, list):
        raise SubmissionError("the file has no list of cells, so it is no notebook of format 4; save it again")
    if len(raw) > MAX_CELLS:
        raise SubmissionError(f"the notebook has {len(raw)} cells, and {MAX_CELLS} is the limit")
    cells = []
    for number, cell in enumerate(raw, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source, metadata = _joined(cell.get("source")), cell.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        if source is None:
            raise SubmissionError(f"cell {number} has no readable source; save the notebook again")
        tags = metadata.get("tags")
        if NOT_GRADED.isdisjoint(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else True:
            exercise = metadata.get("exercise")
            known = clean(exercise, 60) if isinstance(exercise, str) else ""
            label = f"cell {number} ({known})" if known else f"cell {number}"
            cells.append(Cell(number, source, label, exercise=known))
    return tuple(cells)


def _joined(source: Any) -> str | None:
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return source.encode("utf-8", "replace").decode() if isinstance(source, str) else None


def _python_cells(text: str) -> tuple[Cell, ...]:
    """The cells of a py:percent file; without `# %%` lines the whole file is one cell."""
    _refuse_a_web_page(text)
    if _is_marimo(text):
        raise SubmissionError(
            "this is a marimo notebook, whose cells are functions of its own; hand in what "
            "'marimo export ipynb FILE.py -o FILE.ipynb' makes of it"
        )
    starts: list[tuple[int, str]] = [(0, "")]
    lines = lines_of(text)
    for number, line in enumerate(lines):
        match = _MARK.match(line.rstrip("\r\n")) if line.startswith("# %%") else None  # fast for a million lines
        if match:
            starts.append((number + 1, match[1][:MAX_MARK]))
        if len(starts) > 2 * MAX_CELLS:
            raise SubmissionError(f"the file has {2 * MAX_CELLS} cells and more, and {MAX_CELLS} is the limit")
    cells = []
    for (first, options), (after, _) in zip(starts, [*starts[1:], (len(lines) + 1, "")], strict=True):
        tags = _TAGS.search(options)
        names = set(re.findall(r"[\w-]+", tags[1])) if tags else set()
        source = "".join(lines[first : after - 1])
        if "[markdown]" in options or not NOT_GRADED.isdisjoint(names) or not source.strip():
            continue
        exercise = _EXERCISE.search(options)
        cells.append(
            Cell(first + 1, source, f"line {first + 1}", offset=first, exercise=exercise[1] if exercise else "")
        )
    return tuple(cells)
