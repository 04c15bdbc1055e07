"""Quizzes and predictions of the chapters: what a reader can choose, and in which order.

Authors tend to write the right option second, so the order that readers see is drawn: from the question's own words and
`SEED`, which makes it the same in the book, in the terminal and at every build.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SEED = 1
_QUIZ = re.compile(
    r"^(?P<fence>:{3,})\{(?:quiz|predict)\} (?P<question>.+)\n(?P<body>(?:.*\n)*?)(?P=fence)$", re.MULTILINE
)


class Option(NamedTuple):
    """One answer that a reader can choose, and the response to it."""

    text: str
    right: bool
    answer: str


class Quiz(NamedTuple):
    """A question, what stands between it and its options, and these in the order in which readers see them."""

    question: str
    lead: list[str]
    options: list[Option]


def drawn_order(question: str, count: int) -> list[int]:
    """Which option, as authors number them, stands at each place."""
    words = " ".join(question.split())

    def draw(option: int) -> bytes:
        return hashlib.sha256(f"{SEED} {option} {words}".encode()).digest()

    return sorted(range(count), key=draw)


def parse(question: str, body: Sequence[str]) -> Quiz:
    """The quiz with these lines between its fences."""
    lead = [line for line in body if line[:2] not in ("- ", "  ")]
    written: list[list[str]] = []
    for line in body:
        if line.startswith("- "):
            written.append([line[2:]])
        elif line.startswith("  ") and written:
            written[-1].append(line.strip())
    options = [_option(lines) for lines in written]
    return Quiz(question, lead, [options[at] for at in drawn_order(question, len(options))])


def _option(lines: list[str]) -> Option:
    at = next((i for i, line in enumerate(lines) if i and line[:2] in ("+ ", "- ")), len(lines))
    answer = [lines[at][2:], *lines[at + 1 :]] if at < len(lines) else []
    return Option(" ".join(lines[:at]), at < len(lines) and lines[at].startswith("+ "), " ".join(answer))


def quizzes(source: str) -> Iterator[Quiz]:
    """The quizzes and predictions in a chapter's source text, in their order."""
    for found in _QUIZ.finditer(source):
        yield parse(found["question"], found["body"].splitlines())
