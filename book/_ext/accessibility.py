"""The directive `accessibility-record`: what axe looked at last, from `book/accessibility.json`.

`make accessibility` notes there the pages without a finding. The sentences name the pages that are not among them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

RECORD = Path(__file__).resolve().parents[1] / "accessibility.json"
OF_SPHINX = {"genindex", "search"}
"""Pages without a source."""


def sentences(record: dict[str, Any], pages: set[str]) -> list[str]:
    """The items of the list: the tool, the combinations, the pages, and those of this edition that it has not seen."""
    widths = list(dict.fromkeys(str(width) for width, _ in record["looks"]))
    themes = list(dict.fromkeys(theme for _, theme in record["looks"]))
    unseen = sorted(pages - set(record["pages"]))
    looks = len(record["looks"]) * len(record["pages"])
    tool = f"axe-core {record['axe']} with its {record['rules']} rules, in {record['browser']}, on {record['on']}"
    return [
        f"- **With**: {tool}.",
        f"- **Looked at**: {len(record['pages'])} pages, each {' and '.join(widths)} pixels wide and in the"
        f" {' and the '.join(themes)} theme, {looks} looks; in the dark theme by the rules of colors alone.",
        "- **Found**: nothing.",
        f"- **Not looked at yet**: {', '.join(unseen)}." if unseen else "- All pages of this edition were among them.",
    ]


class AccessibilityRecord(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(RECORD))
        record = json.loads(RECORD.read_text(encoding="utf-8"))
        body = nodes.container()
        lines = sentences(record, set(self.env.found_docs) | OF_SPHINX)
        self.state.nested_parse(StringList(lines, self.env.docname), self.content_offset, body)
        return body.children


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("accessibility-record", AccessibilityRecord)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
