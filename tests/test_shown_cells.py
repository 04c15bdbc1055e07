"""Cells that a page shows run when a reader copies them: no name in them comes from a cell that the page hides."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[1] / "book"
CELL = re.compile(r"^```\{code-cell\} python3\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TAGS = re.compile(r"^:tags: \[(.*)\]$", re.MULTILINE)
OPTIONS = re.compile(r"\A(?:---\n.*?\n---\n|(?::[^\n]*\n)+)", re.DOTALL)


def shown(page: str, folded: bool) -> list[str]:
    """The code of the cells that a reader sees; with `folded`, of those that open at a click, too, figures left out."""
    found = []
    for cell in CELL.findall((BOOK / f"{page}.md").read_text(encoding="utf-8")):
        tags = "".join(TAGS.findall(cell))
        code = OPTIONS.sub("", cell)
        if "remove" not in tags and ("hide-input" not in tags or (folded and "plt.show()" not in code)):
            found.append(code)
    return found


def undefined(code: str) -> list[str]:
    """Names that this code uses and nobody defines, as ruff finds them."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        "F821",
        "--output-format",
        "concise",
        "-",
    ]
    told = subprocess.run(command, input=code, capture_output=True, text=True).stdout
    return re.findall(r"F821 Undefined name `(\w+)`", told)


def test_each_cell_of_the_chapter_on_memory_stands_alone() -> None:
    cells = shown("ch10_activation_memory", folded=False)
    assert len(cells) > 8
    assert [(cell[:60], names) for cell in cells if (names := undefined(cell))] == []


def test_the_cells_of_the_chapter_on_debugging_need_only_what_is_shown() -> None:
    cells = shown("ch12_debugging", folded=True)
    assert len(cells) > 40
    assert cells[0].startswith("# What the cells of this page use")
    assert undefined("\n".join(cells)) == []


@pytest.mark.parametrize(("code", "names"), [("print(x)", ["x"]), ("x = 1\nprint(x)", [])])
def test_a_missing_name_is_found(code: str, names: list[str]) -> None:
    assert undefined(code) == names
