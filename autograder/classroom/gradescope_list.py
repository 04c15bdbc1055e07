"""Gradescope's list of submissions: whose each folder of its export is, and when it was handed in."""

from __future__ import annotations

import os
import re
from datetime import date
from pathlib import Path
from typing import Any

from autograder.classroom.student_names import as_folder

MOST_METADATA = 64 * 2**20
"""Bytes of the list: it holds all results of all attempts."""


def listed_in(file: Path, remarks: list[str]) -> tuple[dict[str, list[str]], dict[str, tuple[str, int]]]:
    """The submitters of each folder and when it was handed in, by Gradescope's list."""
    if not os.path.lexists(file):
        return {}, {}
    import yaml

    try:
        if file.stat().st_size > MOST_METADATA:
            raise ValueError(f"it has more than {MOST_METADATA // 2**20} MiB")
        text = file.read_text(encoding="utf-8")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where there is one
        listed = yaml.load(text, Loader=loader)  # both are safe ones
        if not isinstance(listed, dict):
            raise ValueError("it is no list of submissions")
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        what = " ".join(str(error).split())
        remarks.append(f"{file}: cannot be read ({what}); students are called by the numbers of their submissions")
        return {}, {}
    found = {str(name): _submitters(entry, str(name)) for name, entry in listed.items()}
    turns = {str(name): _turn(entry, str(name)) for name, entry in listed.items()}
    return {name: students for name, students in found.items() if students}, turns


def _turn(entry: Any, folder: str) -> tuple[str, int]:
    """When a submission was made, as text that sorts by time, and its number, which is higher the later it was."""
    made = entry.get(":created_at") if isinstance(entry, dict) else None
    number = re.search(r"\d{1,18}$", folder)
    return (str(made)[:40] if isinstance(made, date | str) else "", int(number[0]) if number else 0)


def _submitters(entry: Any, folder: str) -> list[str]:
    """By mail address or number; a name alone may be another one's too, so that the folder's goes with it."""
    submitters = entry.get(":submitters") if isinstance(entry, dict) else None
    found = []
    for submitter in submitters if isinstance(submitters, list) else []:
        known = submitter if isinstance(submitter, dict) else {}
        name = known.get(":name")
        names = [known.get(":email"), known.get(":sid"), f"{name}_{folder}" if name else None]
        found += [as_folder(str(name)) for name in names if name][:1]
    return list(dict.fromkeys(found))
