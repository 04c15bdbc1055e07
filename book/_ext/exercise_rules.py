"""The rules that hold for all exercises of a lesson: a box above the first one, and a fold in each that opens them.

They are the notebook's introduction below its first paragraph, which says what the lesson is about, and the code that
all exercises share. `book/_page/rules.js` copies the box into a fold when it opens; without a script it is a link.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from page_blocks import block
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
ANCHOR = "exercise-rules"
TITLE = "Rules for all exercises of this chapter"
_FIRST_EXERCISE = re.compile(r"^## `", re.MULTILINE)


def rules_of(cells: list[dict[str, Any]]) -> tuple[str, str]:
    """The rules and the shared code at the head of a lesson's notebook, given its cells; either may be empty."""
    head = []
    for cell in cells:
        if cell["cell_type"] == "markdown" and _FIRST_EXERCISE.match("".join(cell["source"])):
            break
        head.append(cell)
    texts = [cell for cell in head if cell["cell_type"] == "markdown" and cell["id"].partition("-")[2] != "how"]
    paragraphs = "".join("".join(cell["source"]) for cell in texts[:1]).split("\n\n")
    below = [one.strip() for one in paragraphs if not one.startswith("# ")][1:]
    given = ["".join(one["source"]) for one in head if one["cell_type"] == "code" and _is_given(one)]
    return "\n\n".join(below), "\n\n".join(given)


def _is_given(cell: dict[str, Any]) -> bool:
    return "setup" not in cell["metadata"].get("tags", ())


class Rules(SphinxDirective):
    """`exercise-rules ch06_vjps`: the box; nothing for a lesson without such rules."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        file = ROOT / "exercises" / f"{self.arguments[0]}.ipynb"
        self.env.note_dependency(str(file))
        text, given = rules_of(json.loads(file.read_text(encoding="utf-8"))["cells"])
        if not (text or given):
            return []
        body = nodes.container(classes=["exercise-contract"])
        self.state.nested_parse(StringList(text.splitlines(), self.env.docname), self.content_offset, body)
        box = block("div", block("p", nodes.Text(TITLE), class_="page-head"), body, class_="exercise-rules", id=ANCHOR)
        if given:
            box += nodes.paragraph("", "Every exercise can use:")
            box += nodes.literal_block(given, given, language="python3")
        return [box]


def fold(cells: list[dict[str, Any]]) -> list[nodes.Node]:
    """The fold in an exercise, with a link to the box; nothing for a lesson without such rules."""
    if not any(rules_of(cells)):
        return []
    link = block("a", nodes.Text("They are above the first exercise."), href=f"#{ANCHOR}")
    return [block("details", block("summary", nodes.Text(TITLE)), block("p", link), class_="exercise-all")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("exercise-rules", Rules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
