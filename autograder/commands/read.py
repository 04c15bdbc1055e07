"""`backprop read`: shows a chapter, or the section of an exercise, in the browser or the terminal."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.places import Places

WIDEST = 100
"""Longest line of prose in characters, for readability."""
STYLES = {"markdown.code": "bold cyan"}
"""Replaces rich's style of inline code, whose black background is out of place in a light terminal."""


def read(
    target: Annotated[
        str,
        typer.Argument(help="A lesson (ch06), an exercise (ch06/relu_vjp) or a label of the book (ch06-why)."),
    ],
    browser: Annotated[bool, typer.Option(help="Open the page in a browser where there is one.")] = True,
) -> None:
    """Read a chapter, or the section that teaches an exercise: in the browser if the book is there, else here."""
    from autograder.commands.console import give_up, say
    from autograder.places import Places
    from autograder.reading.labels import book

    places = Places()
    slug, label = _lesson_and_label(target)
    chapters = book(places)
    if places.is_own and not places.chapter(slug).is_file():
        _show(_in_the_notebook(places, slug), {})
        return
    if not chapters[slug]:
        give_up(f"{places.chapter(slug)} is not there: this installation came without the book")
    section = chapters[slug].get(label or slug.partition("_")[0])
    if section is None:
        near = difflib.get_close_matches(label, chapters[slug], n=3, cutoff=0.4)
        give_up(f"{slug} has no section {label!r}; there are {', '.join(near or chapters[slug])}")
    page = places.page(slug)
    if browser and (opened := _open(page, slug, label)):
        say(f"opened {opened}")
        return
    if page.is_file():
        say(f"the page for a browser is {page}{'#' if label else ''}{label}")
    titles = {one.label: one.title for found in chapters.values() for one in found.values()}
    _show(section.lines, titles)


def _in_the_notebook(places: Places, slug: str) -> tuple[str, ...]:
    """The text of a lesson's notebook, for a course without chapters."""
    from autograder.commands.console import give_up

    try:
        cells = json.loads(places.notebook(slug).read_text(encoding="utf-8"))["cells"]
    except FileNotFoundError:
        give_up(f"{places.notebook(slug)} is not there: 'backprop build' writes it")
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return tuple("\n\n".join(texts).splitlines())


def _lesson_and_label(target: str) -> tuple[str, str]:
    """The lesson and the label that `target` means; the label is "" for the whole chapter."""
    from autograder.commands.targets import lesson_and_exercise, lesson_called

    if label := re.fullmatch(r"(ch\d\d)-[\w-]+", target):
        return lesson_called(label[1]).slug, target
    lesson, exercise = lesson_and_exercise(re.sub(r"\.(ipynb|py)$", "", target))  # `target` may be the learner's file
    return lesson.slug, exercise.anchor if exercise else ""


def _open(page: Path, slug: str, label: str) -> str:
    """Open the local page, or else the published one; returns which, "" if none could be opened."""
    import webbrowser

    from autograder.reading.browser import open_page, reachable, shows_addresses, shows_files
    from course.published import published_here

    if page.is_file():
        return str(page) if shows_files() and open_page(page, label) else ""
    address = published_here().page(slug, label)
    return address if address and shows_addresses() and reachable(address) and webbrowser.open(address) else ""


def _show(lines: tuple[str, ...], titles: dict[str, str]) -> None:
    """Print a section in the terminal."""
    from rich.markdown import Markdown
    from rich.theme import Theme

    from autograder.commands.console import say
    from autograder.reading.plain import COMPUTED, plain
    from autograder.reports.screen import Screen

    text = plain(lines, titles)
    screen = Screen(theme=Theme(STYLES))
    screen.width = min(screen.width, WIDEST)
    with _paged(screen):
        screen.print(Markdown(text, code_theme="ansi_dark", hyperlinks=False))
    if COMPUTED in text:
        say(f"{COMPUTED} stands for a number that the book computes when it is built")


def _paged(screen: Console) -> AbstractContextManager[object]:
    """A pager for sections longer than the terminal: `less`, which keeps colors and ends if all fits."""
    if not sys.stdout.isatty() or sys.platform == "win32" or not shutil.which("less"):
        return nullcontext()
    os.environ.setdefault("LESS", "-FRX")
    return screen.pager(styles=True)
