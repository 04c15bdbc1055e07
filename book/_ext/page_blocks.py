"""HTML elements with attributes as nodes of a page, which docutils has no names for."""

from __future__ import annotations

import html

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


class Block(nodes.General, nodes.Element):
    """An HTML element with attributes; its children are its content."""


def visit_block(self: HTML5Translator, node: Block) -> None:
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in node["attributes"].items())
    self.body.append(f"<{node['tag']}{attributes}>\n")


def depart_block(self: HTML5Translator, node: Block) -> None:
    self.body.append(f"</{node['tag']}>\n")


def block(tag: str, *children: nodes.Node, **attributes: str) -> Block:
    """The element `tag`; `class_` is its class, and `data_cell` its `data-cell`."""
    node = Block(tag=tag, attributes={name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()})
    node += list(children)
    return node


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(Block, html=(visit_block, depart_block))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
