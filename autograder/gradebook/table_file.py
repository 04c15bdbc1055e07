"""Reads teachers' TOML files; every error is one clear line."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from datetime import date, datetime, time, tzinfo
from pathlib import Path
from typing import Any

from autograder.classroom.lesson_names import lessons_named
from autograder.moments import FIRST_YEAR, LAST_YEAR, is_plausible
from course.syllabus import Lesson, syllabus


class TableError(ValueError):
    """An error in a file; the message says which file, where, and what to do."""


def read_toml(file: Path) -> dict[str, Any]:
    """The contents of the file. Raises `TableError` if it cannot be read."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise TableError(f"{file} cannot be read ({error.strerror})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise TableError(f"{file} is no TOML: {error}") from None


def refuse_unknown(table: dict[str, Any], known: Collection[str], where: str) -> None:
    """Refuse unknown keys: a typo must not make a due date vanish."""
    for key in table:
        if key not in known:
            raise TableError(f"{where}: there is no {key!r}; there are {', '.join(sorted(known))}")


def number(table: dict[str, Any], key: str, where: str, default: float = 0.0, most: float = 1e6) -> float:
    """A number from 0 to `most`."""
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise TableError(f"{where}: {key} must be a number from 0 to {most:g}, not {value!r}")
    return float(value)


def text(table: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    """A text that is not empty, unless that is the default."""
    value = table.get(key, default)
    if not isinstance(value, str) or (not value.strip() and value != default):
        raise TableError(f"{where}: {key} must be a text" + ("" if key in table else ", and is missing"))
    return value.strip()


def moment(table: dict[str, Any], key: str, where: str, zone: tzinfo) -> datetime | None:
    """The time under a key, in `zone` if it names none; a date means the end of that day. None without the key."""
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, date) and not is_plausible(value):
        raise TableError(f"{where}: {key} must be in the years from {FIRST_YEAR} to {LAST_YEAR}, not {value}")
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=zone)
    if isinstance(value, date):
        return datetime.combine(value, time(23, 59, 59), zone)
    raise TableError(f"{where}: {key} must be a date or a time without quotes, as 2027-03-01T23:59:00, not {value!r}")


def tables(data: dict[str, Any], key: str, file: Path) -> list[tuple[dict[str, Any], str]]:
    """The tables `[[key]]`, each with its place for messages."""
    found = data.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise TableError(f"{file}: write {key} as [[{key}]], a table each")
    return [(one, f"{file}: {key} {place}") for place, one in enumerate(found, 1)]


def lesson_called(name: object, where: str) -> Lesson:
    """The lesson with a name such as ch06 or its slug."""
    found = lessons_named(str(name))
    if len(found) != 1:
        raise TableError(f"{where}: there is no lesson {name!r}; there are {', '.join(syllabus())}")
    return syllabus()[found[0]]
