"""Reads Gradescope's list of submissions: whose each folder of its export is, and when it was handed in."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import Any

from autograder.classroom.student_names import as_folder
from autograder.moments import is_plausible
from autograder.wording import clean, enumeration

MOST_METADATA = 64 * 2**20
"""Largest list in bytes; it contains all results of all attempts."""
FOLDER = re.compile(r"submission_\d+")
"""Gradescope's names for folders."""
MOST_NAMED = 3


def listed_in(
    file: Path, folders: Collection[str], remarks: list[str]
) -> tuple[dict[str, list[str]], dict[str, tuple[str, int]]]:
    """The submitters of each folder, and its time and number as a sort key, from Gradescope's list.

    The list is used only if most `folders` beside it are Gradescope's, and only for those: otherwise a student who puts
    a file into a class folder could claim others' hand-ins.
    """
    if not os.path.lexists(file):
        return {}, {}
    if folders and 2 * sum(1 for name in folders if FOLDER.fullmatch(name)) <= len(folders):
        remarks.append(
            f"{file}: passed over, since most of the folders beside it are not Gradescope's (submission_<number>)"
        )
        return {}, {}
    import yaml

    try:
        if not file.is_file():
            raise ValueError("it is no file")
        if file.stat().st_size > MOST_METADATA:
            raise ValueError(f"it has more than {MOST_METADATA // 2**20} MiB")
        text = file.read_text(encoding="utf-8")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # if installed, ten times as fast
        listed = yaml.load(text, Loader=loader)  # both loaders are safe
        if not isinstance(listed, dict):
            raise ValueError("it is no list of submissions")
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        what = " ".join(str(error).split())
        remarks.append(f"{file}: cannot be read ({what}); students are called by the numbers of their submissions")
        return {}, {}
    others = [clean(str(name)) for name in listed if not FOLDER.fullmatch(str(name))]
    if others:
        named = others[:MOST_NAMED] + ([f"{len(others) - MOST_NAMED:,} more"] if len(others) > MOST_NAMED else [])
        remarks.append(f"{file}: lists {enumeration(named)}, which Gradescope calls no folder; passed over")
    listed = {name: entry for name, entry in listed.items() if FOLDER.fullmatch(str(name))}
    found = {str(name): _submitters(entry, str(name)) for name, entry in listed.items()}
    turns = {str(name): _turn(entry, str(name)) for name, entry in listed.items()}
    return {name: students for name, students in found.items() if students}, turns


def _turn(entry: Any, folder: str) -> tuple[str, int]:
    """Creation time of a submission as text that sorts by time, and its number, which increases with time."""
    made = entry.get(":created_at") if isinstance(entry, dict) else None
    number = re.search(r"\d{1,18}$", folder)
    if isinstance(made, date) and not is_plausible(made):
        made = None
    return (str(made)[:40] if isinstance(made, date | str) else "", int(number[0]) if number else 0)


def _submitters(entry: Any, folder: str) -> list[str]:
    """The submitters by mail address or number; a bare name may be shared, so the folder's name is appended."""
    submitters = entry.get(":submitters") if isinstance(entry, dict) else None
    found = []
    for submitter in submitters if isinstance(submitters, list) else []:
        known = submitter if isinstance(submitter, dict) else {}
        name = known.get(":name")
        names = [known.get(":email"), known.get(":sid"), f"{name}_{folder}" if name else None]
        found += [as_folder(str(name)) for name in names if name][:1]
    return list(dict.fromkeys(found))
