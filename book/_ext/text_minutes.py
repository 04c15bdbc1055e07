"""The rule for times: how many minutes a part of a page takes to read. `book/REVIEWING.md` says where its numbers come
from, and a test holds that table against these constants.

What is closed at first takes no time, because nobody has to open it; questions do, with their answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from docutils import nodes
from page_blocks import Block
from predict import Closed
from sphinx_design.dropdown import dropdown_main, dropdown_title

WORDS_A_MINUTE = 200
SECONDS = {
    "inline formula": 3,
    "displayed formula": 30,
    "line of code": 3,
    "line of output": 1,
    "row of a table": 3,
    "figure": 30,
    "quiz or prediction": 60,
    "interview question": 120,
}
"""Seconds for one of each."""
QUESTIONS = {"quiz", "predict"}
"""Classes of boxes that ask."""
UNWORDED = (
    *(nodes.Invisible, nodes.raw, nodes.literal_block, nodes.math_block, nodes.math, nodes.table),
    Closed,
)
"""Nodes without words that everyone reads."""
UNWORDED_CLASSES = {*QUESTIONS, "widget", "page-small"}
"""Classes of such nodes."""
INTERVIEW = "Interview questions"
"""The heading of a section whose closed boxes are questions to answer aloud."""
OWN_TIME = ("exercise", "exercise-rules", "rule", "page-progress", "page-end", "live-tools")
"""Classes of parts that belong to the exercises' time, or that a script fills."""


@dataclass
class Part:
    """A section of a page, without its subsections."""

    section: nodes.section
    depth: int
    """1 for the chapter's own section, 2 for those below it."""
    seconds: float = 0.0
    exercises: list[str] = field(default_factory=list)
    """Names of the exercises at its end."""

    words: int = 0
    """Words of its prose: questions, code, tables and what is closed at first do not count."""

    @property
    def text(self) -> float:
        """Minutes of its text."""
        return self.seconds / 60


def parts_of(page: nodes.Element, depth: int = 1) -> Iterator[Part]:
    """The sections of a page in its order."""
    for section in page.children:
        if isinstance(section, nodes.section):
            own = [child for child in section.children if not isinstance(child, nodes.section)]
            asks = str(section[0].astext()) == INTERVIEW
            yield Part(section, depth, sum(seconds(child, asks) for child in own), words=sum(map(words, own)))
            yield from parts_of(section, depth + 1)


def seconds(node: nodes.Node, asks: bool = False) -> float:
    """The seconds for a node and what is in it; `asks`: closed boxes are interview questions."""
    if isinstance(node, nodes.Text):
        return len(node.astext().split()) * 60 / WORDS_A_MINUTE
    if not isinstance(node, nodes.Element) or isinstance(node, nodes.Invisible | nodes.raw):
        return 0
    classes = set(node.get("classes", []))
    if classes & QUESTIONS:
        return SECONDS["quiz or prediction"]
    if _is_closed(node, classes):
        return SECONDS["interview question"] if asks else 0
    if isinstance(node, nodes.literal_block):
        lines = sum(1 for line in node.astext().splitlines() if line.strip())
        return lines * SECONDS["line of output" if "output" in classes else "line of code"]
    if isinstance(node, nodes.math_block):
        return SECONDS["displayed formula"]
    if isinstance(node, nodes.math):
        return SECONDS["inline formula"]
    if isinstance(node, nodes.image):
        return SECONDS["figure"]
    row = SECONDS["row of a table"] if isinstance(node, nodes.row) else 0
    return row + sum(seconds(child, asks) for child in node.children)


def words(node: nodes.Node) -> int:
    """The words of prose in a node that every reader sees."""
    if isinstance(node, nodes.Text):
        return sum(any(map(str.isalnum, word)) for word in node.astext().split())
    if not isinstance(node, nodes.Element) or isinstance(node, UNWORDED):
        return 0
    classes = set(node.get("classes", []))
    return 0 if classes & UNWORDED_CLASSES or _is_closed(node, classes) else sum(map(words, node.children))


def folded(page: nodes.Element, title: str) -> Iterator[tuple[nodes.Element, float]]:
    """The boxes that are closed at first and whose titles begin so: that title, and the minutes of what is inside."""
    for box in page.findall(dropdown_main):
        head = next(iter(box.findall(dropdown_title)), None)
        if head is not None and head.astext().strip().startswith(title):
            yield head, sum(seconds(child) for child in box.children if child is not head) / 60


def _is_closed(node: nodes.Element, classes: set[str]) -> bool:
    if isinstance(node, Block):
        given = node["attributes"]
        return (node["tag"] == "details" and "open" not in given) or given.get("class", "") in OWN_TIME
    hidden = {"tag_hide-input", "tag_hide-cell"} & set(node.parent.get("classes", []) if node.parent else ())
    if hidden and "cell_input" in classes:
        return True
    if isinstance(node, dropdown_main) or node.get("design_component") == "dropdown":  # after and before transforms
        return not node.get("opened")
    return bool({"dropdown", "live-elsewhere"} & classes)
