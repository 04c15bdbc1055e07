"""Links the first mention of a term that comes before the section that introduces it to its entry in the glossary.

Every entry of `glossary.md` ends with a link to the section that introduces the term. In the pages before that
section, and above it on its own page, the first mention in each section becomes a link, whose preview is the entry:
readers meet no word that nothing explains. A term without such a section is linked on every page. An entry written as
code (`` `einsum` ``) is a name of a library: it is linked in code, too.

The build fails where a mention cannot carry a link (an option of a quiz, a formula, a picture's description) and none
above it in its section does, and where visible code uses a name of NumPy or PyTorch that no entry explains and that
`before.md` does not take for granted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from docutils import nodes
from live_cells import HIDDEN
from quiz import Choice
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from autograder.reading.formulas import readable

logger = logging.getLogger(__name__)

GLOSSARY = "glossary"
BEFORE = "before"
"""The page of what readers need: names of libraries that it mentions are not explained again."""
LIBRARIES = {"np", "torch", "F", "nn", "math"}
ENDINGS = r"(?:s|es|ed|d|ing)?"
UNREAD = (nodes.literal_block, nodes.raw, nodes.comment, nodes.Invisible, nodes.title, nodes.citation)
"""Nodes whose text is no prose; a heading cannot wait for what it announces."""
UNREAD_CLASSES = {"hide", "exercise", "widget", "quiz-answer", "toggle"}
UNLINKED = (nodes.reference, addnodes.pending_xref, Choice)
UNLINKED_CLASSES = {"predict-options"}


@dataclass(frozen=True)
class Term:
    """An entry of the glossary."""

    names: tuple[str, ...]
    id: str
    introduced: str
    """The label of the section that introduces the term; "" if none does."""
    code: bool
    """Whether the names are names of a library."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(_pattern(name, self.code) for name in self.names))


def _pattern(name: str, code: bool) -> str:
    if code:
        return rf"(?<![\w]){re.escape(name)}(?!\w)"
    if not re.search(r"\w", name) or len(name) == 1 and not name.isascii():
        return re.escape(name)  # a sign
    words = re.escape(name).replace(r"\ ", r"[\s-]+")
    flags = "" if any(letter.isupper() for letter in name) else "i"
    words = re.sub(r"e$", f"(?:e{ENDINGS}|ing)", words) if name.endswith("e") else words + ENDINGS
    if name.endswith("y"):
        words = rf"(?:{words}|{re.escape(name[:-1])}ies)"
    return rf"(?{flags}:(?<![\w-]){words}(?![\w-]))" if flags else rf"(?<![\w-]){words}(?![\w-])"


def terms_of(glossary: nodes.document) -> list[Term]:
    """The entries of the glossary page, before its references are resolved."""
    found = []
    for item in glossary.findall(nodes.definition_list_item):
        terms = [child for child in item.children if isinstance(child, nodes.term)]
        targets = [one["reftarget"] for one in item.findall(addnodes.pending_xref) if one.get("reftype") == "myst"]
        code = isinstance(terms[0][0], nodes.literal)
        names = tuple(re.sub(r"[`.()]", "", one[0].astext()) if code else one[0].astext() for one in terms)
        found.append(Term(names, terms[0]["ids"][0], targets[-1] if targets else "", code))
    return found


def _order(env: BuildEnvironment) -> dict[str, int]:
    return {name: at for at, name in enumerate(env.external_site_map)}  # type: ignore[attr-defined]


def not_yet_introduced(env: BuildEnvironment, terms: list[Term], docname: str) -> list[Term]:
    """The terms that are introduced in this page, in a later one, or in none."""
    order = _order(env)
    labels = env.get_domain("std").anonlabels  # type: ignore[attr-defined]

    def place(term: Term) -> int:
        target = labels.get(term.introduced, ("",))[0]
        if target in order:
            return order[target]
        chapter = re.match(r"ch\d\d", term.introduced)  # a page that this build leaves out
        known = [at for name, at in order.items() if chapter and name.startswith(chapter[0])]
        return known[0] if known else len(order) if not chapter or chapter[0] > docname[:4] else -1

    return [term for term in terms if place(term) >= order.get(docname, -1)]


class Linker:
    """Walks a page in reading order, and links terms that have not been introduced."""

    def __init__(self, address: str, terms: list[Term]) -> None:
        self.address = address
        self.waiting = terms
        self.linked: set[str] = set()
        self.missed: dict[str, str] = {}

    def walk(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Element):
            self._introduce(set(node.get("ids", ())))
            if isinstance(node, nodes.section) and isinstance(node.parent, nodes.section):
                if not isinstance(node.parent.parent, nodes.section):
                    self.linked = set()
            if isinstance(node, nodes.reference):
                target = node.get("refuri", "").partition("#")[2] or node.get("refid", "")
                self.linked |= {term.id for term in self.waiting if target in (term.id, term.introduced)}
            if isinstance(node, nodes.image):
                self._mention(node.get("alt", ""), node)
            if isinstance(node, (nodes.math, nodes.math_block)):
                self._mention(readable(node.astext()), node)
                return
            if isinstance(node, UNREAD) or UNREAD_CLASSES & set(node.get("classes", ())):
                return
            if isinstance(node, nodes.literal):
                self._literal(node)
                return
            for child in list(node.children):
                self.walk(child)
        elif isinstance(node, nodes.Text):
            self._text(node)

    def _introduce(self, ids: set[str]) -> None:
        if ids:
            self.waiting = [term for term in self.waiting if term.introduced not in ids]

    def _mention(self, text: str, node: nodes.Node) -> None:
        """Note terms in a place that cannot carry a link."""
        for term in self.waiting:
            if term.id not in self.linked and not term.code and term.pattern.search(text):
                self.missed.setdefault(term.id, " ".join(text.split())[:100])

    def _literal(self, node: nodes.literal) -> None:
        text = node.astext()
        for term in self.waiting:
            if term.code and term.id not in self.linked and term.pattern.search(text) and _carries(node):
                self.linked.add(term.id)
                link = self._link(term)
                node.replace_self(link)
                link += node
                return

    def _text(self, node: nodes.Text) -> None:
        text = str(node)
        if not _carries(node):
            self._mention(text, node)
            return
        found = []
        for term in self.waiting:
            match = None if term.code or term.id in self.linked else term.pattern.search(text)
            if match:
                found.append((match.start(), -match.end(), term))
        parts: list[nodes.Node] = []
        end = 0
        for start, minus_stop, term in sorted(found, key=lambda one: one[:2]):
            if start < end or term.id in self.linked:
                continue  # inside a longer term; the next mention is linked
            self.linked.add(term.id)
            link = self._link(term)
            link += nodes.Text(text[start:-minus_stop])
            parts += [nodes.Text(text[end:start]), link]
            end = -minus_stop
        if parts:
            node.parent.replace(node, [*parts, nodes.Text(text[end:])])

    def _link(self, term: Term) -> nodes.reference:
        return nodes.reference("", "", internal=True, refuri=f"{self.address}#{term.id}", classes=["term"])


def _carries(node: nodes.Node) -> bool:
    """Whether a link may be put around the node: not inside another link, or inside what opens or is chosen by a click."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, UNLINKED) or UNLINKED_CLASSES & set(node.get("classes", ())):
            return False
    return True


class Names(ast.NodeVisitor):
    """Collects the names of libraries in code: the `einsum` of `np.einsum`, the `nn` and `Linear` of `torch.nn.Linear`."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in LIBRARIES:
            self.found.setdefault(node.attr, ast.unparse(node))
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


def link_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link the terms of a page, and warn of those that no link explains."""
    env = app.env
    chapter = re.match(r"ch\d\d|index$", docname)
    if GLOSSARY not in env.found_docs or not chapter:
        return
    terms = terms_of(env.get_doctree(GLOSSARY))
    new = not_yet_introduced(env, terms, docname)
    linker = Linker(app.builder.get_relative_uri(docname, GLOSSARY), new)
    linker.walk(doctree)
    for id_, text in linker.missed.items():
        name = next(term.names[0] for term in terms if term.id == id_)
        logger.warning("%s comes before what explains it: %s", repr(name), text, location=docname, type="terms")
    known = {name for term in terms if term.code for name in term.names} | _taken_for_granted(env)
    unknown: dict[str, str] = {}
    for block in visible_code(doctree):
        unknown |= {name: spelt for name, spelt in names_in(block.astext()).items() if name not in known | set(unknown)}
    for spelt in unknown.values():
        logger.warning("no entry of the glossary explains %s", spelt, location=docname, type="terms")


def _taken_for_granted(env: BuildEnvironment) -> set[str]:
    """Names of libraries that the page of what readers need mentions."""
    if BEFORE not in env.found_docs:
        return set()
    mentioned = [one.astext() for one in env.get_doctree(BEFORE).findall(nodes.literal)]
    return {name for text in mentioned for name in re.findall(r"\w+", text)}


def link_code(app: Sphinx, docname: str, _template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Link the first use of each library name in a page's code, up to the page that introduces the name."""
    if doctree is None or GLOSSARY not in app.env.found_docs or not re.match(r"ch\d\d|index$", docname):
        return
    terms = [term for term in terms_of(app.env.get_doctree(GLOSSARY)) if term.code]
    address = app.builder.get_relative_uri(docname, GLOSSARY)
    body = context["body"]
    for term in not_yet_introduced(app.env, terms, docname):
        names = "|".join(re.escape(name) for name in term.names)
        use = re.compile(rf'(?<=<span class="o">\.</span>)(<span class="\w+">(?:{names})</span>)')
        body = use.sub(rf'<a class="term reference internal" href="{address}#{term.id}">\1</a>', body, count=1)
    context["body"] = body


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", link_terms, priority=900)
    app.connect("html-page-context", link_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
