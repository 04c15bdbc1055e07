"""Names of libraries in code: each has an entry in the glossary, to which its first use on a page is linked.

A build fails where visible code uses a name of NumPy or PyTorch that no entry explains and that `before.md` does not
take for granted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from live_cells import HIDDEN
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from terms import CHAPTERS, GLOSSARY, not_yet_introduced, terms_of

logger = logging.getLogger(__name__)

BEFORE = "before"
"""The page of what readers need: the names that it mentions are not explained again."""
LIBRARIES = {"np", "torch", "F", "nn", "math"}
NO_NAMES = {"__doc__", "default"}
"""Attributes that say nothing of what is used."""
UNSEEN = re.compile(r"tag_(?:hide|remove)|exercise")
"""Classes of what is closed at first, or has an editor."""
USE = re.compile(r'(?P<before><span class="o">\.</span>)(?P<span><span class="\w+">(?P<name>\w+)</span>)')
CELL = re.compile(r'<div class="cell (?P<classes>[^"]*)">(?:(?!<div class="cell ).)*?</pre>', re.DOTALL)
"""A cell of the page, to the end of its code."""


class Names(ast.NodeVisitor):
    """Collects the names of libraries in code: the `einsum` of `np.einsum`, the `Linear` of `torch.nn.Linear`."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in LIBRARIES:
            while node.attr in NO_NAMES and isinstance(node.value, ast.Attribute):
                node = node.value
            self.found.setdefault(node.attr, ast.unparse(node))
        else:
            self.generic_visit(node)


def names_in(code: str) -> dict[str, str]:
    """Each name of a library in a cell, and how the cell spells it; none if the cell is no Python."""
    try:
        tree = ast.parse(re.sub(r"^[%!].*$", "", code, flags=re.MULTILINE))
    except SyntaxError:
        return {}
    names = Names()
    names.visit(tree)
    return names.found


def visible_code(doctree: nodes.document) -> Iterator[nodes.literal_block]:
    """The code of cells that readers see without opening anything."""
    for cell in doctree.findall(nodes.container):
        if cell.get("nb_element") == "cell_code" and not HIDDEN & {tag.removeprefix("tag_") for tag in cell["classes"]}:
            for part in cell.children:
                if isinstance(part, nodes.container) and part.get("nb_element") == "cell_code_source":
                    yield from part.findall(nodes.literal_block)


def ask_for_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Warn of names in a page's visible code that no entry explains."""
    if not {GLOSSARY, BEFORE} <= app.env.found_docs or not CHAPTERS.match(docname):  # `one_page` builds few pages
        return
    terms = terms_of(app.env.get_doctree(GLOSSARY))
    known = {name for term in terms for name in term.names + term.words} | _taken_for_granted(app.env)
    unknown: dict[str, str] = {}
    for block in visible_code(doctree):
        unknown |= {name: spelt for name, spelt in names_in(block.astext()).items() if name not in known | set(unknown)}
    for spelt in unknown.values():
        logger.warning("no entry of the glossary explains %s", spelt, location=docname, type="terms")


def _taken_for_granted(env: BuildEnvironment) -> set[str]:
    """Names of libraries that the page of what readers need mentions."""
    mentioned = [one.astext() for one in env.get_doctree(BEFORE).findall(nodes.literal)]
    return {name for text in mentioned for name in re.findall(r"\w+", text)}


def link_names(app: Sphinx, docname: str, _template: str, context: dict[str, Any], doctree: Any) -> None:
    """Link the first visible use of each name in a page's code, up to the page that introduces the name."""
    if doctree is None or GLOSSARY not in app.env.found_docs or not CHAPTERS.match(docname):
        return
    terms = [term for term in terms_of(app.env.get_doctree(GLOSSARY)) if term.names]
    waiting = {name: term for term in not_yet_introduced(app.env, terms, docname) for name in term.names}
    address = app.builder.get_relative_uri(docname, GLOSSARY)

    def linked(use: re.Match[str]) -> str:
        term = waiting.get(use["name"])
        if term is None:
            return use[0]
        for name in term.names:
            waiting.pop(name, None)
        return f'{use["before"]}<a class="term reference internal" href="{address}#{term.id}">{use["span"]}</a>'

    def in_block(block: re.Match[str]) -> str:
        return USE.sub(linked, block[0]) if not UNSEEN.search(block["classes"]) else block[0]

    context["body"] = CELL.sub(in_block, context["body"])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", ask_for_entries)
    app.connect("html-page-context", link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
