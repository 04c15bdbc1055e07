"""Where a learner reads about a lesson or an exercise: a page of the published book, or the command that shows it."""

from __future__ import annotations

import re

from course.published import Published, published, published_here
from course.syllabus import Exercise, syllabus

LINK = re.compile(r"\[([^][\n]*)\]\(\.\./book/(\w+)\.md(?:#([\w-]+))?\)")
"""A link to a chapter as sources of lessons write it: words, chapter, label."""


def address_of(exercise: Exercise) -> str:
    """The address of the section that teaches `exercise`; "" where the book is not published."""
    return published_here().page(exercise.lesson, exercise.anchor)


def where_to_read(exercise: Exercise) -> str:
    """The address of its section, and where there is none, the command: `backprop read ch06/relu_vjp`."""
    return address_of(exercise) or read_command(exercise.lesson, exercise.anchor)


def read_command(slug: str, anchor: str = "") -> str:
    """What to type to read a chapter, or the place in it with the label `anchor`."""
    lesson = syllabus().get(slug)
    named = [one.name for one in lesson.exercises if one.anchor == anchor] if lesson else []
    short = slug.partition("_")[0]
    return f"backprop read {f'{short}/{named[0]}' if named else anchor or short}"


def with_links(text: str, places: Published | None = None) -> str:
    """The Markdown of a lesson's source with links that work wherever its notebook goes.

    One that stands alone in its line gets a paragraph of its own, in which a command is not broken in two. They lead to
    the published book. Where there is none, they become the command that shows the section. The link to a
    chapter as a whole, of which a notebook has one, names the command in any case: it needs no network.
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
