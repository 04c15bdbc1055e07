"""Predict, then see: the `predict` directive keeps the output of the code cell below it closed behind a question.

    :::{predict} What does the last line print?
    - `6.0`
      - That would count the first message once more.
    - `4.0`
      + Each of the two additions doubles it.
    :::

It is written like a quiz with two to four options, one of them right, directly before its cell. The build fails unless
the cell's output contains the right option's text (or the text of `:shows:`), or matches the regular expression of
`:matches:`; with `:asserts:`, unless a cell of the page asserts that expression. The question appears between code and
output or, with `:above:`, above the code. Without JavaScript, the output opens on a click.

The paragraph after the cell is about the answer, so it is closed with the output; `:closes: 2` closes two, `:closes: 0`
none. A paragraph that begins with a number in bold begins something new. The build also fails if a number or a piece of
code that only the right option has, and not the question, is in open text beside the cell, in the caption, or in the
description of the picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from quiz import Question
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)
CLOSED = "Just show me"
_NUMBER = re.compile(r"[-−]?\d[\d,.]*\d")
_BEGINS = re.compile(r"\d+\. ")
"""How a paragraph begins that is the next of several, as in **2. Level by level.**"""


class Prediction(nodes.General, nodes.Element):
    """A question that has not been moved into its cell yet."""


class Closed(nodes.General, nodes.Element):
    """The `<details>` that contains the output."""


class Predict(Question):
    option_spec: ClassVar = {
        "shows": directives.unchanged_required,
        "matches": directives.unchanged_required,
        "asserts": directives.unchanged_required,
        "above": directives.flag,
        "closes": directives.nonnegative_int,
    }

    def run(self) -> list[nodes.Node]:
        lead, options = self.parts()
        right = [option for option in options if option["right"]]
        if len(options) > 4 or len(right) != 1:
            raise self.error("a prediction has two to four options, one of them right (`+`)")
        node = Prediction(**{"shows": right[0][0].astext(), **self.options})
        node.line, node.source = self.lineno, self.state.document.current_source
        node["telling"] = _telling(
            right[0][0], [*(one[0] for one in options if not one["right"]), *lead], self.arguments[0]
        )
        texts = nodes.bullet_list(classes=["predict-options"])
        for option in options:
            item = nodes.list_item("", nodes.paragraph("", "", *option[0].children))
            texts += item
            item["classes"] = ["right"] if option["right"] else []
        node["identity"] = f"predict-{self.identity()}"
        node += [*self.question("predict-question"), *lead, texts]
        closed = Closed()
        for option in options:
            kind = "right" if option["right"] else "wrong"
            closed += nodes.container("", *option.children[1:], classes=["quiz-answer", kind])
        node += closed
        return [node]


def close_outputs(app: Sphinx, doctree: nodes.document) -> None:
    """Move each question into its cell, and wrap the cell's output in a `Closed` node."""
    for node in list(doctree.findall(Prediction)):
        cell = node.next_node(descend=False, siblings=True)
        parts = [child for child in getattr(cell, "children", ()) if isinstance(child, nodes.container)]
        outputs = [part for part in parts if part.get("nb_element") == "cell_code_output"]
        box = nodes.container(classes=["predict"], ids=[node["identity"]])
        box += node.children
        closed = next(iter(box.findall(Closed)))
        box.remove(closed)
        wrong = _fault(app, node, cell, outputs)
        if wrong:
            logger.warning("a prediction %s", wrong, location=node, type="predict")
            node.replace_self(box)
            continue
        answer = _paragraphs_after(cell)[: node.get("closes", 1)]
        cell.remove(outputs[0])
        closed.insert(0, outputs[0])
        for paragraph in answer:
            paragraph.parent.remove(paragraph)
            closed += paragraph
        cell.insert(0 if "above" in node else len(cell), box)
        cell += nodes.container("", closed, classes=["cell_output"])
        if told := _told_beside(node, cell, outputs[0]):
            logger.warning("a prediction is told in open text beside it: %s", told, location=node, type="predict")
        node.parent.remove(node)


def _telling(right: nodes.Element, others: Iterable[nodes.Element], question: str) -> list[str]:
    """The numbers of two digits or more, and the code, that only the right option has."""
    words = [*_NUMBER.findall(right.astext()), *(one.astext() for one in right.findall(nodes.literal))]
    elsewhere = " ".join([question, *(one.astext() for one in others)])
    return [word for word in dict.fromkeys(words) if len(word) > 1 and not _stands_in(word, elsewhere)]


def _stands_in(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(word)}(?!\w)", text) is not None


def _paragraphs_after(cell: nodes.Element) -> list[nodes.paragraph]:
    """The paragraphs that follow a cell directly, up to what begins something new."""
    following = cell.parent.children[cell.parent.index(cell) + 1 :]
    own = takewhile(lambda one: isinstance(one, nodes.paragraph) and not _BEGINS.match(one.astext()), following)
    return [one for one in own if isinstance(one, nodes.paragraph)]


def _told_beside(node: Prediction, cell: nodes.Element, output: nodes.Element) -> str:
    """A telling word of the right option that stands open, with its sentence; "" if none does."""
    above = cell.parent.children[cell.parent.index(node) - 1 : cell.parent.index(node)]
    captions = [*output.findall(nodes.caption), *output.findall(nodes.image)]
    beside = [*above, *_paragraphs_after(cell)[:2], *captions]
    texts = [one.get("alt", "") if isinstance(one, nodes.image) else one.astext() for one in beside]
    return next(
        (f"{word!r} in {text[:200]!r}" for text in texts for word in node["telling"] if _stands_in(word, text)), ""
    )


def _fault(app: Sphinx, node: Prediction, cell: Any, outputs: list[nodes.Element]) -> str:
    """What is wrong with a prediction; "" if the build confirms it."""
    if not isinstance(cell, nodes.container) or cell.get("nb_element") != "cell_code":
        return "stands right before a code cell, and here it does not"
    if not outputs:
        return "needs a cell with an output"
    if "asserts" in node:
        source = Path(app.env.doc2path(app.env.docname)).read_text(encoding="utf-8")
        asserted = [line for line in source.splitlines() if line.lstrip().startswith("assert ")]
        found = any(node["asserts"] in line for line in asserted)
        return "" if found else f"is asserted by no cell of the page: {node['asserts']!r}"
    shown = outputs[0].astext()
    if "matches" in node:
        found = re.search(node["matches"], shown) is not None
        return "" if found else f"is not what its cell shows: {node['matches']!r} finds nothing in {shown[:300]!r}"
    if node["shows"] not in shown:
        return f"is not what its cell shows: {node['shows']!r} is not in {shown[:300]!r}"
    return ""


def visit_closed(self: HTML5Translator, node: Closed) -> None:
    self.body.append(f'<details class="predict-output"><summary>{CLOSED}</summary>')


def depart_closed(self: HTML5Translator, node: Closed) -> None:
    self.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(Prediction)
    app.add_node(Closed, html=(visit_closed, depart_closed))
    app.add_directive("predict", Predict)
    app.connect("doctree-read", close_outputs, priority=900)  # after `live_cells`, which counts the parts of cells
    return {"parallel_read_safe": True, "parallel_write_safe": True}
