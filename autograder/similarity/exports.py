"""Exports a class's answers for Dolos and JPlag: one Python file for each hand-in of a lesson.

Dolos (dolos.ugent.be/docs/adding-metadata) reads a zip of the files, with an `info.csv` at its top that has `filename`
and, where known, `full_name`, `label` and `created_at`. JPlag (its wiki, How to Use JPlag) reads a folder with one
folder per submission; one more has the code that everybody was given, and `-bc` names it.
"""

from __future__ import annotations

import io
import shutil
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from autograder.learning.answers import answers
from autograder.learning.solutions import own_answers
from autograder.moments import moment_of
from autograder.places import Places
from autograder.reports.formats import write_text
from autograder.reports.safety import TableWriter, cell, file_stem
from autograder.similarity.class_answers import HandedIn, called
from autograder.submission import SubmissionError, read_submission
from course.syllabus import find_lesson

BASE, MODEL = "_handed_out", "_model_solution"
"""Names of files that are not a student's; a student's file name never begins with an underscore."""


def write_dolos(hand_ins: Iterable[HandedIn], out: Path) -> list[str]:
    """Write `dolos/<lesson>.zip` and, beside it, the handed-out code that Dolos must ignore."""
    lines = []
    for slug, files in _by_lesson(hand_ins).items():
        archive, ignored = out / "dolos" / f"{slug}.zip", out / "dolos" / f"{slug}{BASE}.py"
        table = io.StringIO()
        info = TableWriter(table, lineterminator="\n")
        info.writerow(["filename", "full_name", "label", "created_at"])
        archive.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
            for name, (one, code) in files.items():
                label = "model solution" if one.student is None else ""
                info.writerow([f"{name}.py", cell(called(one.student)), label, _time(one.at)])
                written.writestr(f"{name}.py", code)
            written.writestr("info.csv", table.getvalue())
        write_text(ignored, _handed_out(slug))
        lines.append(f"dolos: {archive}  (dolos run -l python -i {ignored.name} {archive.name})")
    return lines


def write_jplag(hand_ins: Iterable[HandedIn], out: Path) -> list[str]:
    """Write `jplag/<lesson>/<student>/<lesson>.py`, with the handed-out code in a folder of its own as base code."""
    lines = []
    for slug, files in _by_lesson(hand_ins).items():
        root = out / "jplag" / slug
        shutil.rmtree(root, ignore_errors=True)  # removes students who have left the class
        for name, (_, code) in files.items():
            write_text(root / name / f"{slug}.py", code)
        write_text(root / BASE / f"{slug}.py", _handed_out(slug))
        lines.append(f"jplag: {root}  (java -jar jplag.jar -l python3 -bc {root / BASE} {root})")
    return lines


def _by_lesson(hand_ins: Iterable[HandedIn]) -> dict[str, dict[str, tuple[HandedIn, str]]]:
    """The files of each lesson by name without `.py`, including the model solution."""
    found: dict[str, dict[str, tuple[HandedIn, str]]] = defaultdict(dict)
    for one in hand_ins:
        found[one.lesson][file_stem(one.student or "")] = one, one.code.encode("utf-8", "replace").decode()
    for slug, files in found.items():
        if parts := own_answers(slug):
            files[MODEL] = HandedIn(slug, None, "", ""), "\n\n\n".join(parts.values()) + "\n"
    return found


def _handed_out(slug: str) -> str:
    try:
        return "\n\n\n".join(answers(read_submission(Places().notebook(slug)), find_lesson(slug)).values()) + "\n"
    except SubmissionError:
        return ""


def _time(at: str) -> str:
    """A time in Dolos's format: `2019-07-23 17:12:33 +0200`."""
    when = moment_of(at)
    return f"{when:%Y-%m-%d %H:%M:%S %z}".strip() if when else ""
