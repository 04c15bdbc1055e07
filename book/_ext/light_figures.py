"""Rounds the coordinates in figures: Matplotlib writes six decimals of a point, and two are enough."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

DECIMALS = 2
_PATH = re.compile(r'(?<= d=")[^"]+')
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_STEP = re.compile(r"(L [^ ]+ [^ ]+) \n?(?:\1 \n?)+")


def rounded(path: str) -> str:
    """Round a path's coordinates, and remove line segments that have no length after that."""
    fewer = _NUMBER.sub(lambda found: f"{float(found[0]):.{DECIMALS}f}".rstrip("0").rstrip("."), path)
    return _STEP.sub(r"\1 \n", fewer)


def lighten(app: Sphinx, error: Exception | None) -> None:
    """Round the paths in all figures of the built book."""
    if error is not None or app.builder.format != "html":
        return
    for file in Path(app.outdir, "_images").glob("*.svg"):
        text = file.read_text(encoding="utf-8")
        file.write_text(_PATH.sub(lambda found: rounded(found[0]), text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
