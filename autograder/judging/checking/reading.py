"""Imports a lesson's own files, turning errors into one line that says what is wrong and where."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.judging.records.errors import CheckError, LearnerError
from autograder.places import Places

FOLDERS = ("checks", "mistakes")
"""Folders whose files are named together with their lesson."""


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Turn whatever importing `file` raises into a `CheckError` that names the line."""
    try:
        yield
    except LearnerError:  # the submission's time ran out during the import
        raise
    except Exception as error:
        if not file.exists():
            places = Places()
            path = places.relative(file) if file.is_relative_to(places.root) else f"{file.parent.name}/{file.name}"
            raise CheckError(
                f"{path} is missing from this copy of the course, and nothing can be checked without it: "
                f"'git restore {path}' in the course's folder brings it back; without git, download the course again"
            ) from None
        what, line = str(error), None
        if isinstance(error, SyntaxError):
            what, line = error.msg, error.lineno
        else:
            lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == str(file)]
            line = lines[-1] if lines else None
        where = "/".join(file.parts[-3 if file.parent.name in FOLDERS else -2 :]) + (f", line {line}" if line else "")
        raise CheckError(f"{where}: {type(error).__name__}: {what}; mend it") from None
