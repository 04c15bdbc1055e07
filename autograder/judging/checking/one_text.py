"""Joins the modules of a folder into one source text for a worker, which never sees the lessons' folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from autograder.places import modules_in

FUTURE = "from __future__ import annotations\n"


def one_text(folder: Path, files: Iterable[Path] | None = None) -> str:
    """The source of these modules (default: all of the folder), each once and after the modules that it imports.

    All modules share one namespace, so no two may define the same name. Empty if there is no module.
    """
    package = ".".join(re.escape(part) for part in folder.parts[-2:])
    beside = re.compile(rf"^from [\w.]*\b{package}\.(\w+) import (?:\([^)]*\)|[^(\n]*)\n", re.MULTILINE)
    texts: dict[Path, str] = {}

    def add(file: Path) -> None:
        if file not in texts:
            text = file.read_text(encoding="utf-8")
            for name in beside.findall(text):
                add(folder / f"{name}.py")
            texts[file] = beside.sub("", text).replace(FUTURE, "")

    for file in modules_in(folder) if files is None else files:
        add(file)
    return "\n\n".join([FUTURE, *texts.values()]) if texts else ""
