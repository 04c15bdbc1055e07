"""Keeps what pages ran, below `.cache/pages`: a page runs again when it or anything that it could use has changed.

jupyter-cache keeps the cells. Its key is the page alone, so each state of the repository has a folder of its own. The
outputs of the teachers' commands are files beside them. After some days everything runs again, as the health rules do.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

BOOK = Path(__file__).resolve().parents[1]
ROOT = BOOK.parent
sys.path.insert(0, str(ROOT))

from autograder.authoring.state import RUN, state_of  # noqa: E402

FOLDER = ROOT / ".cache" / "pages"
KEPT_SECONDS = 7 * 24 * 3600
MADE = "made"
"""A file whose time says when a folder was begun."""
TAGS = re.compile(r"^:tags:.*$", re.MULTILINE)
"""Whether a cell may raise, for instance, which jupyter-cache does not compare."""


@cache
def folder() -> Path:
    """The folder of this state of the repository, made if need be; those of other states and old ones are removed."""
    tags = [(page.stem, TAGS.findall(page.read_text(encoding="utf-8"))) for page in sorted(BOOK.glob("*.md"))]
    own = FOLDER / state_of(*RUN, "book/_ext", root=ROOT, more=repr(tags))
    for other in FOLDER.glob("*"):
        if other != own or not _is_recent(own):
            shutil.rmtree(other, ignore_errors=True)
    if not own.is_dir():
        own.mkdir(parents=True)
        (own / MADE).touch()
    return own


def _is_recent(own: Path) -> bool:
    try:
        return (own / MADE).stat().st_mtime > time.time() - KEPT_SECONDS
    except OSError:
        return False


def said(name: str, text: str) -> list[list[str]] | None:
    """The outputs of a page's commands, kept by `keep_said` for the same text; None if there are none."""
    try:
        kept = json.loads(_file(name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept["outputs"] if kept["page"] == text else None


def keep_said(name: str, text: str, outputs: list[list[str]]) -> None:
    _file(name).write_text(json.dumps({"page": text, "outputs": outputs}), encoding="utf-8")


def _file(name: str) -> Path:
    return folder() / f"{name}.commands.json"


def keep_cells(app: Sphinx, config: Config) -> None:
    """Have jupyter-cache keep the cells of our book; books of tests always run."""
    if Path(app.srcdir).resolve() == BOOK:
        config.nb_execution_mode = "cache"
        config.nb_execution_cache_path = str(folder() / "cells")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", keep_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
