"""Tells learners where to read about an exercise: the URL of its section, or the command that shows it."""

from __future__ import annotations

import re

from course.published import Published, published, published_here
from course.syllabus import Exercise, syllabus

LINK = re.compile(r"\[([^][\n]*)\]\(\.\./book/(\w+)\.md(?:#([\w-]+))?\)")
"""A link to a chapter in a lesson's source; groups: words, chapter, label."""


def address_of(exercise: Exercise) -> str:
    """The URL of the section that teaches `exercise`; "" if the book is not published."""
    return published_here().page(exercise.lesson, exercise.anchor)


def where_to_read(exercise: Exercise) -> str:
    """The URL of an exercise's section or, if there is none, the command: `backprop read ch06/relu_vjp`."""
    return address_of(exercise) or read_command(exercise.lesson, exercise.anchor)


def read_command(slug: str, anchor: str = "") -> str:
    """The command that shows a chapter, or its section with the label `anchor`."""
    lesson = syllabus().get(slug)
    named = [one.name for one in lesson.exercises if one.anchor == anchor] if lesson else []
    short = slug.partition("_")[0]
    return f"backprop read {f'{short}/{named[0]}' if named else anchor or short}"


def with_links(text: str, places: Published | None = None) -> str:
    """The Markdown of a lesson's source with links that work wherever its notebook is copied.

    Links lead to the published book; if it is not published, they become the command that shows the section. The link
    to a whole chapter, of which each notebook has one, always has the command too, for readers offline. A link alone
    on its line becomes a separate paragraph, so that a command in it is not broken across lines.
    """
    places = published() if places is None else places
    text = re.sub(rf"(?<=[^\n])\n(?={LINK.pattern}$)", "\n\n", text, flags=re.MULTILINE)
    return LINK.sub(lambda match: _link(places, *match.groups(default="")), text)


def _link(places: Published, words: str, slug: str, anchor: str) -> str:
    command = f"`{read_command(slug, anchor)}`"
    address = places.page(slug, anchor)
    if anchor:
        return f"[{words}]({address})" if address else f"{words}: {command}"
    return f"[{words}]({address}) ({command} shows it offline)" if address else f"{words} ({command} shows it)"
