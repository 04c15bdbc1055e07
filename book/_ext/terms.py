"""Links the first mention of a term that comes before the section that introduces it to its entry in the glossary.

Every entry of `glossary.md` ends with a link to the section that introduces the term. In the pages before that
section, and above it on its own page, the first mention in each section becomes a link, whose preview is the entry:
readers meet no word that nothing explains. A term without such a section is linked on every page. An entry written as
code (`` `einsum` ``) is a name of a library; `library_names` links those in code.

The terms of a question's options are linked in a line below it. The build fails where another mention cannot carry a
link (a formula, a picture's description) and none above it on the page does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from docutils import nodes
from quiz import Choice
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx_design.dropdown import dropdown_title

from autograder.reading.formulas import readable

logger = logging.getLogger(__name__)

GLOSSARY = "glossary"
BEFORE = "before"
"""The page of what readers need, which comes first: labels of its sections begin so."""
CHAPTERS = re.compile(r"ch\d\d|index$")
"""Pages whose terms are linked."""
PREFIX = 3
STARTS = re.compile(r"(?<![\w-])\w|[^\x00-\x7f]")
"""Where a mention may begin: at a word, or at a sign."""
ENDINGS = r"(?:s|es|ed|d|ing)?"
UNREAD = (
    *(nodes.literal_block, nodes.raw, nodes.comment, nodes.Invisible, nodes.citation),
    *(nodes.title, dropdown_title),
)
"""Nodes whose text is no prose; headings cannot wait for what they announce, and those of boxes carry no link."""
UNREAD_CLASSES = {
    *("hide", "exercise", "widget", "quiz-answer", "toggle", "live-elsewhere"),
    *("chapter-time", "section-time", "sitting-end"),
}
QUESTIONS = {"quiz", "predict"}
UNLINKED = (nodes.reference, addnodes.pending_xref, Choice)
UNLINKED_CLASSES = {"predict-options"}


@dataclass(frozen=True)
class Term:
    """An entry of the glossary."""

    words: tuple[str, ...]
    names: tuple[str, ...]
    """Names of libraries, without their module: the `einsum` of `np.einsum`."""
    id: str
    introduced: str
    """The label of the section that introduces the term; "" if none does."""


def terms_of(glossary: nodes.document) -> list[Term]:
    """The entries of the glossary page, before its references are resolved."""
    found = []
    for item in glossary.findall(nodes.definition_list_item):
        terms = [child for child in item.children if isinstance(child, nodes.term)]
        targets = [one["reftarget"] for one in item.findall(addnodes.pending_xref) if one.get("reftype") == "myst"]
        names = [one for one in terms if isinstance(one[0], nodes.literal)]
        found.append(
            Term(
                tuple(one[0].astext() for one in terms if one not in names),
                tuple(re.sub(r"\(.*", "", one[0].astext()).strip(".").rpartition(".")[2] for one in names),
                terms[0]["ids"][0],
                targets[-1] if targets else "",
            )
        )
    return found


class Mentions:
    """Finds mentions of terms in a text: in prose the words with their usual endings, in code the names."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._words: dict[str, list[tuple[re.Pattern[str], Term]]] = defaultdict(list)
        self.names: dict[str, Term] = {}
        for term in terms:
            for word in term.words:
                self._words[word[:PREFIX].lower()].append((_pattern(word), term))
            for name in (*term.names, *filter(str.isidentifier, term.words)):
                self.names.setdefault(name, term)

    def in_prose(self, text: str) -> Iterator[tuple[int, int, Term]]:
        """The start, the end and the term of each mention; where two overlap, the longer."""
        end = 0
        for start in (one.start() for one in STARTS.finditer(text)):
            if start >= end:
                here = [text[start : start + length].lower() for length in range(1, PREFIX + 1)]
                tried = [
                    (match.end(), term)
                    for prefix in dict.fromkeys(here)
                    for pattern, term in self._words.get(prefix, ())
                    if (match := pattern.match(text, start))
                ]
                if tried:
                    end, term = max(tried, key=lambda one: one[0])
                    yield start, end, term

    def in_code(self, text: str) -> Iterator[Term]:
        for name in re.findall(r"\w+", text):
            if name in self.names:
                yield self.names[name]


def _pattern(word: str) -> re.Pattern[str]:
    if not re.search(r"\w\w", word):
        return re.compile(re.escape(word))  # a sign
    words = re.escape(word).replace(r"\ ", r"[\s-]+")
    if word.endswith("e"):
        words = rf"{words[:-1]}(?:e{ENDINGS}|ing)"
    elif word.endswith("y"):
        words = rf"{words[:-1]}(?:y{ENDINGS}|ies|ied)"
    else:
        words += ENDINGS
    return re.compile(rf"(?<![\w-]){words}(?![\w-])", re.IGNORECASE if word.islower() else 0)


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
        if term.introduced.startswith(BEFORE):
            return -1
        chapter = re.match(r"ch\d\d", term.introduced)  # a page that this build leaves out
        known = [at for name, at in order.items() if chapter and name.startswith(chapter[0])]
        return known[0] if known else len(order) if not chapter or chapter[0] > docname[:4] else -1

    return [term for term in terms if place(term) >= order.get(docname, -1)]


class Linker:
    """Walks a page in reading order, and links terms that have not been introduced."""

    def __init__(self, address: str, terms: list[Term]) -> None:
        self.address = address
        self.waiting = {term.id: term for term in terms}
        self.mentions = Mentions(terms)
        self.linked: set[str] = set()
        """Ids of terms that are linked in this section, or on this page if no section introduces them."""
        self.explained: set[str] = set()
        """Ids of terms that are linked on this page: enough for what cannot carry a link itself."""
        self.missed: dict[str, str] = {}
        """Texts that mention a term in a place that cannot carry a link, by the term's id."""

    def walk(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Text):
            self._text(node)
        if not isinstance(node, nodes.Element):
            return
        self._pass(node)
        if isinstance(node, nodes.image):
            self._mention(node.get("alt", ""))
        elif isinstance(node, (nodes.math, nodes.math_block)):
            self._mention(readable(node.astext()))
        elif isinstance(node, nodes.literal):
            self._literal(node)
        elif not isinstance(node, UNREAD) and not UNREAD_CLASSES & _classes(node):
            if isinstance(node, UNLINKED[:2]):
                return  # a link explains itself
            before = set(self.missed)
            for child in list(node.children):
                self.walk(child)
            if QUESTIONS & _classes(node):
                self._words_of(node, [id_ for id_ in self.missed if id_ not in before])

    def _words_of(self, question: nodes.Element, ids: list[str]) -> None:
        """Add a line of links to a question for the terms of its options, which are there to be chosen."""
        if not ids:
            return
        line = nodes.paragraph("", "Words: ", classes=["question-words"])
        for at, id_ in enumerate(ids):
            term = self.waiting[id_]
            link = self._link(term)
            link += nodes.Text(term.words[0])
            line += [nodes.Text(", " if at else ""), link]
            self.linked.add(id_)
            del self.missed[id_]
        line += nodes.Text(".")
        question.insert(1, line)

    def _pass(self, node: nodes.Element) -> None:
        """Note what a node introduces or explains."""
        ids = set(node.get("ids", ()))
        if ids:
            self.waiting = {id_: term for id_, term in self.waiting.items() if term.introduced not in ids}
        if isinstance(node, nodes.section) and _level(node) == 2:
            self.explained |= self.linked
            self.linked = {id_ for id_ in self.linked if id_ in self.waiting and not self.waiting[id_].introduced}
        if isinstance(node, nodes.reference):
            target = node.get("refuri", "").partition("#")[2] or node.get("refid", "")
            if target:
                self.linked |= {term.id for term in self.waiting.values() if target in (term.id, term.introduced)}

    def _unexplained(self, term: Term) -> bool:
        return term.id in self.waiting and term.id not in self.linked

    def _mention(self, text: str) -> None:
        """Note the terms in a place that cannot carry a link."""
        self.explained |= self.linked
        for _start, _end, term in self.mentions.in_prose(text):
            if self._unexplained(term) and term.id not in self.explained:
                self.missed.setdefault(term.id, " ".join(text.split())[:100])

    def _literal(self, node: nodes.literal) -> None:
        for term in self.mentions.in_code(node.astext()):
            if self._unexplained(term) and _carries(node):
                self.linked.add(term.id)
                link = self._link(term)
                node.replace_self(_in_text(link, node.parent))
                link += node
                return

    def _text(self, node: nodes.Text) -> None:
        text = str(node)
        if not _carries(node):
            self._mention(text)
            return
        parts: list[nodes.Node] = []
        last = 0
        for start, end, term in self.mentions.in_prose(text):
            if self._unexplained(term):
                self.linked.add(term.id)
                link = self._link(term)
                link += nodes.Text(text[start:end])
                parts += [nodes.Text(text[last:start]), _in_text(link, node.parent)]
                last = end
        if parts:
            node.parent.replace(node, [*parts, nodes.Text(text[last:])])

    def _link(self, term: Term) -> nodes.reference:
        return nodes.reference("", "", internal=True, refuri=f"{self.address}#{term.id}", classes=["term"])


def _classes(node: nodes.Element) -> set[str]:
    """The classes of a node, or of the HTML element that a `Block` is."""
    return {*node.get("classes", ()), *node.get("attributes", {}).get("class", "").split()}


def _in_text(link: nodes.reference, parent: nodes.Element) -> nodes.TextElement:
    """The link, wrapped where its parent is a block: Sphinx writes links in blocks for pictures only."""
    return link if isinstance(parent, nodes.TextElement) else nodes.inline("", "", link)


def _level(section: nodes.section) -> int:
    """1 for the page's own section, 2 for those inside it, and so on."""
    level, node = 1, section.parent
    while node is not None:
        level, node = level + isinstance(node, nodes.section), node.parent
    return level


def _carries(node: nodes.Node) -> bool:
    """Whether a link may be put around the node, which a link or something else that reacts to a click may contain."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, UNLINKED) or UNLINKED_CLASSES & _classes(node):
            return False
    return True


def link_terms(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Link the terms of a page, and warn of those that no link explains."""
    env = app.env
    if GLOSSARY not in env.found_docs or not CHAPTERS.match(docname):
        return
    terms = terms_of(env.get_doctree(GLOSSARY))
    new = not_yet_introduced(env, terms, docname)
    linker = Linker(app.builder.get_relative_uri(docname, GLOSSARY), new)
    linker.walk(doctree)
    for id_, text in linker.missed.items():
        name = next((term.words + term.names)[0] for term in terms if term.id == id_)
        logger.warning("%s comes before what explains it: %s", repr(name), text, location=docname, type="terms")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", link_terms, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
