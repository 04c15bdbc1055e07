"""The `quiz` directive: a question whose options each have an answer to the reader.

Each option is a `<details>`, so a quiz needs no script and prints with its answers; `_reader/quiz.js` makes it a form.

    :::{quiz} What is the shape of $dW$?
    - The shape of $W$.
      + Yes. A gradient has the shape of its input.
    - A single number.
      - No. $L$ is a single number, and $dW$ has one entry for each entry of $W$.
    :::

The argument is the question. Every item is an option, and the list inside it has the answer to the reader: `+` if the
option is right, `-` if it is wrong; several may be right. Text may follow the question before the options. Readers see
the options shuffled (`autograder/reading/quizzes.py`). `:holds:` is an expression, such as the one that gives a right
option's number; the build evaluates it and fails if it is false.
"""

from __future__ import annotations

import hashlib
import math
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from autograder.reading.quizzes import drawn_order


class Option(nodes.General, nodes.Element):
    """One `<details>`: a `Choice`, then the answer."""


class Choice(nodes.Part, nodes.TextElement):
    """The `<summary>` that the reader opens."""


class Question(Directive):
    """Base class of quizzes and predictions: a question and its options."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def question(self, name: str) -> list[nodes.Node]:
        """The question as a paragraph of class `name`, followed by the parser's messages."""
        inline, messages = self.state.inline_text(self.arguments[0], self.lineno)
        return [nodes.paragraph("", "", *inline, classes=[name]), *messages]

    def identity(self) -> str:
        """An id that changes only with the question's text."""
        return hashlib.sha256(" ".join(self.arguments[0].split()).encode()).hexdigest()[:8]

    def parts(self) -> tuple[list[nodes.Node], list[Option]]:
        """The text before the options, and the options in the order that readers see."""
        lead: list[nodes.Node] = []
        written: list[Option] = []
        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        for child in body.children:
            if isinstance(child, nodes.bullet_list):
                written += [self.option(item) for item in child.children]
            else:
                lead.append(child)
        if len(written) < 2 or not any(option["right"] for option in written):
            raise self.error("a quiz needs at least two options, at least one of them right (`+`)")
        return lead, [written[at] for at in drawn_order(self.arguments[0], len(written))]

    def option(self, item: nodes.Element) -> Option:
        """Convert an item with an option's text and a one-item list, its answer, to an `Option`."""
        if len(item) != 2 or not isinstance(item[1], nodes.bullet_list) or len(item[1]) != 1:
            raise self.error(f"an option is a text and one answer marked + or -: {item.astext()!r}")
        option = Option(right=item[1]["bullet"] == "+")
        option += [Choice("", "", *item[0].children), *item[1][0].children]
        return option


class Quiz(Question):
    option_spec: ClassVar = {"holds": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        claim = self.options.get("holds")
        if claim is not None and not eval(claim, {"ceil": math.ceil, "sqrt": math.sqrt}):
            raise self.error(f"what the quiz computes is not true: {claim}")
        lead, options = self.parts()
        box = nodes.container(classes=["quiz"], ids=[f"quiz-{self.identity()}"])
        box += [*self.question("quiz-question"), *lead, *options]
        return [box]


def visit_option(self: HTML5Translator, node: Option) -> None:
    self.body.append(f'<details class="quiz-option {"right" if node["right"] else "wrong"}">')


def depart_option(self: HTML5Translator, node: Option) -> None:
    self.body.append("</div></details>\n")


def visit_choice(self: HTML5Translator, node: Choice) -> None:
    self.body.append("<summary>")


def depart_choice(self: HTML5Translator, node: Choice) -> None:
    self.body.append('</summary><div class="quiz-answer">')


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(Option, html=(visit_option, depart_option))
    app.add_node(Choice, html=(visit_choice, depart_choice))
    app.add_directive("quiz", Quiz)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
