"""Tracebacks for a page: only the reader's own lines, and the line to mark in an editor."""

from __future__ import annotations

import re
import traceback
from typing import Any

from autograder.worker.imports import CELLS

HERE = "this code"
"""File name in tracebacks of code that is no exercise's cell."""
MOST_FRAMES = 4
"""A deep recursion shows this many of its innermost lines."""
MOST_MESSAGE = 2000
_PLACE = re.compile(r"\bcell ([\w.]+)(?:, part (\d+))?, line (\d+)")


def short(error: BaseException) -> str:
    """An exception in a few lines: the reader's own lines that led to it, and its message."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if _own(one.filename)]
    left_out = [f"  … {len(frames) - MOST_FRAMES} more"] * (len(frames) > MOST_FRAMES)
    lines = [line for one in frames[-MOST_FRAMES:] for line in _of_frame(one)]
    try:
        said = traceback.format_exception_only(error)
    except Exception:  # a method of the reader's own exception raises
        said = [type(error).__name__]
    return "\n".join([*left_out, *lines, "".join(said).rstrip()[:MOST_MESSAGE]])


def _own(file: str) -> bool:
    return file.startswith(CELLS) or file == HERE


def _of_frame(frame: traceback.FrameSummary) -> list[str]:
    return [f"{frame.filename}, line {frame.lineno}:", f"    {frame.line or ''}"]


def place_in(text: str, exercise: str) -> dict[str, int] | None:
    """The first line of an exercise's cells that a text names, `{"part": 1, "line": 3}`; None if it names none."""
    for match in _PLACE.finditer(text):
        if match[1] == exercise:
            return {"part": int(match[2] or 1), "line": int(match[3])}
    return None


def place_of(error: BaseException, exercise: str) -> dict[str, int] | None:
    """The innermost line of an exercise's cells that an exception went through, as `place_in` gives it."""
    frames = traceback.extract_tb(error.__traceback__)
    found: list[Any] = [place_in(f"{one.filename}, line {one.lineno}", exercise) for one in reversed(frames)]
    return next(filter(None, found), None)
