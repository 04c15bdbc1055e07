"""The file with all of a reader's progress, which the book's pages write and read, too (`book/_page/whole.js`).

    {"format": "backprop-progress", "version": 1, "pages": {"ch06_vjps": {
        "answers": {"ch06-relu_vjp": "def relu_vjp…"},      by the id of the cell
        "own": [{"before": "relu_vjp/", "source": "…"}],    cells that the course does not have
        "results": {"relu_vjp": {"status": "passed", "points": 2, "of": 2, "best": 2}}, …}}}

A page's file has more, such as choices in quizzes, which is kept as it is. Other people may have written a file, so all
of it is validated, within the same limits as in a page.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.learning.progress import text_of
from autograder.new_files import refuse_link

FORMAT, VERSION = "backprop-progress", 1
MOST_BYTES = 8_000_000
MOST_ANSWER, MOST_CELLS, MOST_OWN, MOST_ALL = 50_000, 200, 200_000, 1_500_000
"""Characters of an answer, number of own cells, characters of theirs, and of all texts: those of `limits.js`."""
MOST_PAGES, MOST_NAMES, MOST_CHOICES = 100, 200, 500
MOST_POINTS = 1000
STATUSES = ("passed", "partial", "failed", "missing", "error", "timeout", "forbidden")
"""As in `book/_page/statuses.js`."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


class WholeError(ValueError):
    """A file that is not one of progress; the message says why. Nothing was changed."""


@dataclass
class Page:
    """A chapter's part of the file."""

    answers: dict[str, str] = field(default_factory=dict)
    """The source of each changed cell, by its id in the course's notebook."""
    own: list[tuple[str, str]] = field(default_factory=list)
    """The learner's own cells: the exercise and part that each precedes, as `relu_vjp/`, and its source."""
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By exercise: `status`, `points`, `of` and `best`, with what else a page notes."""


def read(file: Path) -> tuple[dict[str, Any], dict[str, Page]]:
    """Read a file: its JSON, and its pages validated. `WholeError`, or `OSError` if it cannot be read."""
    try:
        text = text_of(file, MOST_BYTES)
        data: Any = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        raise WholeError("it is not JSON") from None
    if text is None:
        raise WholeError(f"it is not a regular file, or has more than {MOST_BYTES:,} bytes")
    return data, _pages(data)


def _pages(data: Any) -> dict[str, Page]:
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise WholeError("it is not a progress file; 'Save everything' in the book and 'backprop save' write one")
    version = data.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise WholeError("it has no version")
    if version > VERSION:
        raise WholeError(f"a newer edition of the course has written it (version {version}; this one reads {VERSION})")
    pages = _named(data.get("pages"), MOST_PAGES, "pages")
    found = {name: _page(page, name) for name, page in pages.items()}
    letters = sum(_letters_of(page) for page in pages.values())
    if letters > MOST_ALL:
        raise WholeError(f"it has {letters:,} characters of answers, and at most {MOST_ALL:,} are read")
    return found


def _letters_of(page: dict[str, Any]) -> int:
    """The characters of a page's texts as JavaScript counts them: those of its own cells with their JSON."""
    found = [page.get(kind) for kind in ("answers", "code", "scratch")]
    texts = [text for one in found if isinstance(one, dict) for text in one.values() if isinstance(text, str)]
    return sum(map(_letters, texts)) + _letters_of_own(page.get("own") or [])


def _letters_of_own(own: list[Any]) -> int:
    return _letters(json.dumps(own, ensure_ascii=False, separators=(",", ":")))


def _letters(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _page(page: Any, name: str) -> Page:
    if not isinstance(page, dict):
        raise WholeError(f"its entry for {name} is not a page")
    answers = _named(page.get("answers") or {}, MOST_NAMES, f"answers of {name}")
    for cell, text in answers.items():
        if not isinstance(text, str) or _letters(text) > MOST_ANSWER:
            raise WholeError(f"the answer {cell} in it is no text of at most {MOST_ANSWER:,} characters")
    own = page.get("own") or []
    whole = isinstance(own, list) and len(own) <= MOST_CELLS and all(map(_is_own, own))
    if not whole or _letters_of_own(own) > MOST_OWN:
        raise WholeError(f"it has too many or too long cells of your own for {name}")
    results = _named(page.get("results") or {}, MOST_NAMES, f"results of {name}")
    for exercise, result in results.items():
        if not _is_result(result):
            raise WholeError(f"its result for {exercise} is not valid")
    return Page(answers, [(one["before"], one["source"]) for one in own], results)


def _named(value: Any, most: int, what: str) -> dict[str, Any]:
    if not isinstance(value, dict) or len(value) > most or not all(_NAME.fullmatch(name) for name in value):
        raise WholeError(f"the {what} in it are not at most {most} entries by name")
    return value


def _is_own(one: Any) -> bool:
    texts = [one.get(key) for key in ("before", "source")] if isinstance(one, dict) else [None]
    return all(isinstance(text, str) for text in texts) and len(str(texts[0])) <= 200


def _is_result(one: Any) -> bool:
    if not isinstance(one, dict) or one.get("status") not in STATUSES:
        return False
    return all(_is_points(one.get(key)) for key in ("points", "of", "best"))


def _is_points(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_POINTS


def write(file: Path, pages: dict[str, Page]) -> None:
    """Write a file with these pages. What a file of this name has besides them is kept, answers and cells included.

    Raises:
        WholeError: the file exists, and is not one of progress.
        OSError: the file cannot be read or written, or is a symbolic link.
    """
    from autograder.judging.records.results import write_json

    refuse_link(file)
    data: dict[str, Any] = read(file)[0] if file.exists() else {"format": FORMAT, "version": VERSION}
    before: dict[str, Any] = data.get("pages", {})
    for name, page in pages.items():
        former = before.get(name, {})
        own = [{"before": place, "source": source} for place, source in page.own]
        own += [one for one in former.get("own") or [] if one["source"].strip() not in {cell["source"] for cell in own}]
        answers = {**(former.get("answers") or {}), **page.answers}
        results = {**(former.get("results") or {}), **page.results}
        before[name] = {**former, "answers": answers, "own": own, "results": results}
    saved = datetime.now(UTC).isoformat(timespec="seconds")
    whole = {**data, "version": VERSION, "saved": saved, "pages": before}
    try:
        _pages(whole)
    except WholeError as error:
        raise WholeError(f"{error}, so it could not be loaded; nothing was written") from None
    write_json(file, whole)
