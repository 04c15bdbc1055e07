"""A question that answers back: the `quiz` directive. Each option is a `<details>`, so it needs no script.

    :::{quiz} What is the shape of $dW$?
    - The shape of $W$.
      + Yes. A gradient has the shape of its input.
    - A single number.
      - No. $L$ is a single number, and $dW$ has one entry for each entry of $W$.
    :::

The argument is the question. Every item is an option; the list inside it holds the answer to the reader: `+` where the
option is right, `-` where it is not. More text may stand between the question and the options.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


class Option(nodes.General, nodes.Element):
    """One `<details>`: a `Choice`, then the answer."""


class Choice(nodes.Part, nodes.TextElement):
    """The `<summary>` that the reader opens."""


class Quiz(Directive):
    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        box = nodes.container(classes=["quiz"])
        question = nodes.paragraph(classes=["quiz-question"])
        inline, messages = self.state.inline_text(self.arguments[0], self.lineno)
        question += inline
        box += [question, *messages]
        body = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, body)
        for child in body.children:
            if isinstance(child, nodes.bullet_list):
                box += [self.option(item) for item in child.children]
            else:
                box += child
        options = list(box.findall(Option))
        if len(options) < 2 or not any(option["right"] for option in options):
            raise self.error("a quiz needs at least two options, at least one of them right (`+`)")
        return [box]

    def option(self, item: nodes.Element) -> Option:
        """An item with the option's text and a list of one item, the answer, as an `Option`."""
        if len(item) != 2 or not isinstance(item[1], nodes.bullet_list) or len(item[1]) != 1:
            raise self.error(f"an option is a text and one answer marked + or -: {item.astext()!r}")
        option = Option(right=item[1]["bullet"] == "+")
        option += [Choice("", "", *item[0].children), *item[1][0].children]
        return option


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
