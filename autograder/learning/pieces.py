"""Reads, changes and writes the cells of a learner's notebook or Python file in cells."""

from __future__ import annotations

import io
import json
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.submission import NOTEBOOKS, read_bytes, read_submission

MARK = re.compile(r"^# %%.*$")


@dataclass
class Piece:
    """One cell."""

    source: str
    exercise: str = ""
    """The exercise that the cell is marked with; empty if none."""
    part: str = ""
    ident: str = ""
    """The id of a notebook's cell, which survives when its metadata is lost; empty in a Python file."""
    code: bool = True
    raw: dict[str, Any] = field(default_factory=dict)
    """The cell's JSON, in a notebook."""
    mark: str = ""
    """The `# %%` line at its beginning, in a Python file; empty before the first such line."""

    def checks(self, exercise: str) -> bool:
        """Whether this is the check cell of an exercise."""
        return self.code and re.match(rf"\s*check\(\s*['\"]{re.escape(exercise)}['\"]", self.source) is not None


class WorkFile:
    """A notebook or a Python file as a list of cells; everything else in it stays unchanged."""

    def __init__(self, path: Path) -> None:
        """Read a file. `SubmissionError` if `check` could not read it either."""
        read_submission(path)
        self.path = path
        text = read_bytes(path, None).decode("utf-8")
        self._bom = "\ufeff" if text.startswith("\ufeff") else ""
        text = text.removeprefix("\ufeff")
        self.is_notebook = path.name.lower().endswith(NOTEBOOKS) or ('"nbformat"' in text[: 10**6] and text[:1] == "{")
        self._notebook = json.loads(text) if self.is_notebook else {}
        self.newline = "\r\n" if "\r\n" in text else "\n"
        self.pieces = _of_notebook(self._notebook["cells"]) if self.is_notebook else _of_python(text)

    def save(self) -> None:
        """Replace the file atomically, keeping its mode and, if it is a symbolic link, the link. `OSError`."""
        from autograder.judging.records.results import whole_file

        text = self._text()
        file = self.path.resolve()
        mode = stat.S_IMODE(file.stat().st_mode)
        with whole_file(file) as out:
            out.write(self._bom + text)
        os.chmod(file, mode)

    def _text(self) -> str:
        if not self.is_notebook:
            return "".join(piece.mark + piece.source for piece in self.pieces)
        notebook = {**self._notebook, "cells": [piece.raw for piece in self.pieces]}
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        try:
            text.encode()
        except UnicodeEncodeError:  # a lone surrogate, which only JSON's escapes can express
            text = json.dumps(notebook, indent=1) + "\n"
        return text

    def put(self, piece: Piece, stub: Piece) -> None:
        """Give a piece the source and the mark of `stub`, a cell of the course's notebook."""
        after = piece.source[len(piece.source.rstrip()) :] if piece.source.strip() else ""
        self.write(piece, stub.source, after or 2 * self.newline)
        if self.is_notebook:
            metadata = piece.raw.get("metadata")
            metadata = {**(metadata if isinstance(metadata, dict) else {}), **stub.raw["metadata"]}
            piece.raw |= {"cell_type": "code", "metadata": metadata}
        elif (piece.exercise, piece.part) != (stub.exercise, stub.part):
            part = f' part="{stub.part}"' if stub.part else ""
            piece.mark = f'# %% exercise="{stub.exercise}"{part}{self.newline}'
        piece.exercise, piece.part, piece.code = stub.exercise, stub.part, True

    def write(self, piece: Piece, source: str, end: str = "") -> None:
        """Replace a piece's source; clear a notebook cell's outputs, or append `end` in a Python file."""
        if self.is_notebook:
            piece.source = source
            piece.raw |= {"source": source.splitlines(keepends=True), "execution_count": None, "outputs": []}
        else:
            piece.source = source.replace("\r\n", "\n").replace("\n", self.newline) + end

    def insert(self, at: int, stub: Piece) -> Piece:
        """Insert a copy of `stub` before the piece with the index `at`, and return it."""
        taken = {piece.ident for piece in self.pieces}
        named = {} if stub.ident in taken or "id" not in self._ids() else {"id": stub.ident}
        piece = Piece("", ident=stub.ident, raw=dict(named))
        self.put(piece, stub)
        self.pieces.insert(at, piece)
        return piece

    def place(self, number: int) -> str:
        """The position of a piece in words: `cell 7` of a notebook, `line 40` of a file."""
        if self.is_notebook:
            return f"cell {number + 1}"
        before = "".join(piece.mark + piece.source for piece in self.pieces[:number])
        return f"line {before.count(chr(10)) + 1}"

    def _ids(self) -> set[str]:
        """The keys that cells have: in formats before 4.5 cells have no id, and must not get one."""
        return {key for piece in self.pieces for key in piece.raw}


def stubs(notebook: Path, exercise: str) -> list[Piece]:
    """The stub cells of an exercise in the course's notebook, one for each part. `SubmissionError`."""
    return [piece for piece in WorkFile(notebook).pieces if piece.exercise == exercise]


def _of_notebook(cells: list[Any]) -> list[Piece]:
    pieces = []
    for cell in cells:
        known = cell if isinstance(cell, dict) else {}
        source, metadata = known.get("source", ""), known.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        source = "".join(source) if isinstance(source, list) else source
        pieces.append(
            Piece(
                source if isinstance(source, str) else "",
                _text_of(metadata, "exercise"),
                _text_of(metadata, "part"),
                _text_of(known, "id"),
                known.get("cell_type") == "code",
                known,
            )
        )
    return pieces


def _text_of(entries: dict[str, Any], key: str) -> str:
    value = entries.get(key)
    return value if isinstance(value, str) else ""


def _of_python(text: str) -> list[Piece]:
    pieces = [Piece("")]
    for line in io.StringIO(text, newline="").readlines():
        if MARK.match(line.rstrip("\r\n")):
            exercise, part = (re.search(rf'\b{key}="([^"]*)"', line) for key in ("exercise", "part"))
            pieces.append(
                Piece(
                    "",
                    exercise[1] if exercise else "",
                    part[1] if part else "",
                    code="[markdown]" not in line,
                    mark=line,
                )
            )
        else:
            pieces[-1].source += line
    return pieces
