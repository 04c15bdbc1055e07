"""The addresses where the course's book and repository are published, from `published.toml`."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from course.own import extends_ours, own_course
from course.syllabus import SyllabusError

PUBLISHED = Path(__file__).with_name("published.toml")
ISSUE = ("title", "body")
VARIABLE = "BACKPROP_BOOK"
"""The environment variable with another address of the book, such as a mirror or a class's copy."""
_ADDRESS = re.compile(r"https?://[^\s/<>\"'`()\[\]]+(?:/[^\s<>\"'`()\[\]]*)?")


@dataclass(frozen=True)
class Published:
    """Both addresses, without a trailing slash; "" if there is none."""

    book: str = ""
    repository: str = ""

    def page(self, slug: str, anchor: str = "") -> str:
        """The address of a chapter's page, or of a place in it; "" if the book is not published."""
        if not self.book:
            return ""
        return f"{self.book}/{slug}.html{'#' if anchor else ''}{anchor}"

    def colab(self, slug: str) -> str:
        """The address that opens a lesson's notebook in Colab; "" unless the repository is on GitHub."""
        found = re.fullmatch(r"https://github\.com/([\w.-]+/[\w.-]+)", self.repository)
        if not found:
            return ""
        return f"https://colab.research.google.com/github/{found[1]}/blob/main/exercises/{slug}.ipynb"

    def new_issue(self, title: str, text: str) -> str:
        """The address that begins an issue with this title and text; "" without a repository.

        GitHub, Gitea and Forgejo have the same form of address, GitLab another.
        """
        if not self.repository:
            return ""
        gitlab = "gitlab" in (urlsplit(self.repository).hostname or "")
        path, names = ("/-/issues/new", ("issue[title]", "issue[description]")) if gitlab else ("/issues/new", ISSUE)
        return f"{self.repository}{path}?{urlencode(dict(zip(names, (title, text), strict=True)))}"


def read_published(path: Path) -> Published:
    """Read a file such as `published.toml`. `SyllabusError` names the entry that is wrong."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SyllabusError(f"{path.name} is no TOML: {error}") from None
    for key in raw.keys() - {"book", "repository"}:
        raise SyllabusError(f"{path.name}: {key!r} means nothing here; there are book and repository")
    return Published(**{key: _address(f"{path.name}: {key}", value) for key, value in raw.items()})


def published() -> Published:
    """The addresses in `published.toml`, which notebooks and README.md get: the same on every machine."""
    return _published(own_course())


@cache
def _published(own: Path | None) -> Published:
    file = PUBLISHED if own is None else own / PUBLISHED.name
    if own is not None and not file.is_file():
        return read_published(PUBLISHED) if extends_ours(own) else Published()
    return read_published(file)


def published_here() -> Published:
    """The addresses for the user of this process: `BACKPROP_BOOK`, if set, replaces the book's.

    Raises:
        SyllabusError: the variable is not an address.
    """
    elsewhere = os.environ.get(VARIABLE, "")
    if not elsewhere:
        return published()
    return Published(_address(f"the variable {VARIABLE}", elsewhere), published().repository)


def _address(where: str, value: object) -> str:
    if value == "":
        return ""
    if not isinstance(value, str) or not _ADDRESS.fullmatch(value):
        raise SyllabusError(f"{where} must be an address (https://...) or empty, and is {value!r}")
    return value.rstrip("/").removesuffix(".git")
