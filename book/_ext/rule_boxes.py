"""The rule of an exercise, folded: readers derive it first, in a field of their own below the question.

    :::{rule} relu_vjp
    - $y = \\max(x, 0)$.
    - The gradient is $g$ where $x > 0$, and 0 elsewhere.
    :::

The first item says what the operation computes and stays open; the others are the rule and open on a click.
"""

from __future__ import annotations

from docutils import nodes
from page_blocks import block
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from course.syllabus import find_lesson

ASKS = "derive it first"
OPENS = "Show the rule"


class Rule(SphinxDirective):
    """`rule NAME` with a list: the question, and the parts of its answer."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        exercise = find_lesson(self.env.docname).exercise(self.arguments[0])
        body = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, body)
        found = body.children[0] if len(body) == 1 else None
        if not isinstance(found, nodes.bullet_list) or len(found) < 2:
            raise self.error("a rule is a list: what the operation computes, and then the rule")
        given, *parts = found.children
        title = block("p", class_="rule-title")
        title += [nodes.literal("", exercise.name), nodes.Text(f" ({exercise.tier}): {ASKS}")]
        question = block("div", *given.children, class_="rule-question")
        rule = nodes.bullet_list("", *parts) if len(parts) > 1 else block("div", *parts[0].children)
        answer = block("details", block("summary", nodes.Text(OPENS)), rule, class_="rule-answer")
        return [block("div", title, question, answer, class_="rule", data_exercise=exercise.full_name)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("rule", Rule)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
