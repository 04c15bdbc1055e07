"""Writes the book's search index: the sections with their text, for MiniSearch.

`_static/sections.js` has a row for each section of the built pages: its page, anchor and title, the titles above it,
and its text. The text is what a reader sees (sentences, code, outputs, formulas as characters), each block on its own
lines; answers that open only after a reader's choice are left out. Only the search page loads it, by a script element,
so that it works from the disk.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import lxml.html
from lxml.html import HtmlElement
from sphinx.application import Sphinx

BOOK = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BOOK.parent))

from page_shell import bundled  # noqa: E402

from autograder.reading.formulas import readable  # noqa: E402

NAME = "sections.js"
HEADINGS = {f"h{level}" for level in range(1, 7)}
BLOCKS = {"p", "li", "pre", "tr", "dt", "dd", "figcaption", "summary", "legend", "blockquote"}
LEFT_OUT = {"script", "style", "button", "form", "nav", "noscript", "svg"}
LEFT_OUT_CLASSES = {"headerlink", "katex-html", "page-progress", "page-small", "exercise", "quiz-answer", "hide"}
LEFT_OUT_CLASSES |= {"chapter-time", "section-time", "sitting-end"}
"""Of these, `hide` is the folded source of a figure."""
IN_A_ROW = {"td", "th"}
SENTENCE = re.compile(r"(?<!\b[A-Z])\. ")
"""The end of a sentence, but not the full stop after a person's initial."""
NO_ANSWER = re.compile(r"TL;DR$")
"""Lines that answer no search."""
SPACES = re.compile(r"[ \t\u00a0]+")


class Section(NamedTuple):
    page: str
    anchor: str
    title: str
    above: list[str]
    """Titles of the enclosing sections, the page's title first."""
    text: str


def text_of(node: HtmlElement) -> Iterator[str]:
    """The text of a node without its subsections, with a line break around each block."""
    classes = set((node.get("class") or "").split())
    if not isinstance(node.tag, str) or node.tag in LEFT_OUT | HEADINGS or classes & LEFT_OUT_CLASSES:
        return
    if node.tag == "section" or "citation" in classes:
        return
    if "katex" in classes:
        yield " ".join(readable("".join(node.xpath(".//*[local-name()='annotation']/text()"))).split())
        return
    block = node.tag in BLOCKS and not any(one.tag in IN_A_ROW for one in node.iterancestors())
    yield "\n" if block else ""
    yield from words_of(node)
    yield "\n" if block else " · " if node.tag in IN_A_ROW and node.getnext() is not None else ""


def words_of(node: HtmlElement) -> Iterator[str]:
    """The text of a node and its children. Line breaks are kept in code, and replaced by spaces in prose."""
    kept = node.tag == "pre" or any(one.tag == "pre" for one in node.iterancestors())

    def plain(text: str | None) -> str:
        return (text or "") if kept else SPACES.sub(" ", (text or "").replace("\n", " "))

    yield plain(node.text)
    for child in node:
        yield from text_of(child)
        yield plain(child.tail)


def tidy(pieces: Iterator[str]) -> str:
    lines = (SPACES.sub(" ", line).strip() for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line and not NO_ANSWER.match(line))


def sections_of(page: str, html: str) -> Iterator[Section]:
    """The sections of a built page, in order; each entry of a bibliography counts as a section."""
    article = next(iter(lxml.html.document_fromstring(html).xpath("//article")), None)
    if article is None:
        return

    def walk(node: HtmlElement, above: list[str]) -> Iterator[Section]:
        heading = next((one for one in node if one.tag in HEADINGS), None)
        title = tidy(words_of(heading)) if heading is not None else page
        text = tidy(words_of(node))
        if text:
            yield Section(page, node.get("id") or "", title, above, text)
        for one in node.xpath(".//*[contains(concat(' ', @class, ' '), ' citation ')]"):
            if next(one.iterancestors("section")) is node:
                work = tidy(words_of(one.find("p")))
                yield Section(page, one.get("id"), SENTENCE.split(work)[1], [*above, title], work)
        for one in node.xpath(".//section"):
            if next(one.iterancestors("section")) is node:
                yield from walk(one, [*above, title])

    for top in article.xpath("./section"):
        yield from walk(top, [])


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write the sections of all pages to `_static/sections.js`."""
    if exception or app.builder.format != "html":
        return
    rows = []
    for page in sorted(app.env.found_docs):
        built = Path(app.outdir, f"{page}.html")
        if built.is_file():
            rows += [list(one) for one in sections_of(page, built.read_text(encoding="utf-8"))]
    data = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    Path(app.outdir, "_static", NAME).write_text(f"var sectionsOfTheBook = {data};\n", encoding="utf-8")


def bundle(app: Sphinx) -> None:
    if app.builder.format == "html":
        bundled(app, "search.js")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", bundle)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
