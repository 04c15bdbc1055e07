"""Writes what docutils writes so that axe refuses it: entries of a bibliography, and empty cells in a table's head.

An entry has a role that ARIA has given up, `doc-biblioentry`, in a list with other children; it gets none. A cell of
the head without words is no header.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def _beside(node: nodes.Element, step: int) -> nodes.Node | None:
    siblings = node.parent.children
    at = siblings.index(node) + step
    return siblings[at] if 0 <= at < len(siblings) else None


def visit_citation(self: HTML5Translator, node: nodes.citation) -> None:
    if not isinstance(_beside(node, -1), nodes.citation):
        self.body.append('<div class="citation-list">\n')
    self.body.append(self.starttag(node, "div", classes=["citation"]))


def depart_citation(self: HTML5Translator, node: nodes.citation) -> None:
    self.body.append("</div>\n")
    if not isinstance(_beside(node, 1), nodes.citation):
        self.body.append("</div>\n")


def visit_entry(self: HTML5Translator, node: nodes.entry) -> None:
    HTML5Translator.visit_entry(self, node)
    if isinstance(node.parent.parent, nodes.thead) and not node.astext().strip() and not any(node.findall(nodes.image)):
        self.body[-1] = self.body[-1].replace("<th", "<td", 1)
        self.context[-1] = "</td>\n"


def depart_entry(self: HTML5Translator, node: nodes.entry) -> None:
    HTML5Translator.depart_entry(self, node)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
    app.add_node(nodes.entry, override=True, html=(visit_entry, depart_entry))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
