"""`backprop report --format canvas-feedback`: a zip from which Canvas's own rules attach each file to its hand-in."""

from __future__ import annotations

import subprocess
import tokenize
import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePosixPath

import nbformat
import pytest
from markdown_it import MarkdownIt
from small_results import SLUG, a_result, write

pytestmark = pytest.mark.slow

Command = Callable[..., subprocess.CompletedProcess[str]]
HANDED_IN = {  # by the number that Canvas gives a file: its user, and what the student called it
    501: (9001, "ch06_vjps.ipynb"),
    502: (9002, "ch06_vjps-2.ipynb"),
    503: (9003, "my work (final).py"),
}
FILES = {
    "leeann_9001": "leeann_9001_501_ch06_vjps.ipynb",
    "vanderbergpiet_9002": "vanderbergpiet_LATE_9002_502_ch06_vjps-2.ipynb",
    "müllereve_9003": "müllereve_9003_503_my work (final).py",
}
HOSTILE = "<script>alert(1)</script> [link](javascript:alert(1)) \x1b[31m ![](https://x.example/a.png)"


def uploaded(archive: zipfile.ZipFile) -> dict[int, tuple[str, bytes]]:
    """By user: the attachment of the comment that Canvas makes, and its name.

    As in app/models/abstract_assignment.rb, `infer_comment_context_from_filename`: numbers after the user's name, where
    LATE is skipped; a file that is not among the user's hand-ins is ignored; the name shown is that of the hand-in.
    """
    comments = {}
    for name in archive.namelist():
        parts = [part for part in PurePosixPath(name).name.split("_") if part != "LATE"]
        if len(parts) < 4 or not (parts[1].isdigit() and parts[2].isdigit()):
            continue
        user, file = int(parts[1]), int(parts[2])
        if file in HANDED_IN and HANDED_IN[file][0] == user:
            comments[user] = HANDED_IN[file][1], archive.read(name)
    return comments


def class_results(tmp_path: Path) -> Path:
    one, two, three = (replace(a_result(student, 3), file=file) for student, file in FILES.items())
    wrong = [replace(exercise, status="failed", message=HOSTILE) for exercise in one.exercises[3:4]]
    one = replace(one, exercises=[*one.exercises[:3], *wrong, *one.exercises[4:]])
    three = replace(three, exercises=[*three.exercises[:3], *wrong, *three.exercises[4:]])
    elsewhere = replace(a_result("kim"), file="ch06_vjps.py")
    return write(tmp_path / "results", one, two, three, elsewhere)


def test_each_file_reaches_its_hand_in_and_is_of_its_kind(backprop: Command, tmp_path: Path) -> None:
    done = backprop("report", class_results(tmp_path), "--format", "canvas-feedback")
    assert done.returncode == 0, done.stderr
    assert "no comment for 1 hand-in without a name of Canvas's download: kim" in done.stdout + done.stderr
    path = tmp_path / "results" / "__reports__" / "canvas_feedback" / f"{SLUG}.zip"
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == sorted(FILES.values())
        comments = uploaded(archive)
    assert {user: name for user, (name, _) in comments.items()} == dict(HANDED_IN.values())
    for name, data in comments.values():
        if name.endswith(".py"):
            kinds = {token.type for token in tokenize.tokenize(BytesIO(data).readline)}
            assert kinds <= {tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER}
            assert "add_vjp" in data.decode()
        else:
            notebook = nbformat.reads(data.decode(), as_version=4)
            nbformat.validate(notebook)
            assert {cell.cell_type for cell in notebook.cells} == {"markdown"}
            assert "3/3" in notebook.cells[0].source


def test_what_students_wrote_is_shown_as_text(backprop: Command, tmp_path: Path) -> None:
    backprop("report", class_results(tmp_path), "--format", "canvas-feedback")
    with zipfile.ZipFile(tmp_path / "results" / "__reports__" / "canvas_feedback" / f"{SLUG}.zip") as archive:
        comments = uploaded(archive)
    notebook = nbformat.reads(comments[9001][1].decode(), as_version=4)
    shown = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render("".join(c.source for c in notebook.cells))
    assert "alert(1)" in shown
    assert not [live for live in ("<script", "<img", "href=", "\x1b") if live in shown]
    assert b"\x1b" not in comments[9003][1]
