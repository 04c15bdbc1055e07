"""Extracts the sentences of a lesson's contracts, and reads contract.toml, which says which checks test each one.

`backprop build` gives new sentences their rows.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring.tree import AuthoringError, Course
from autograder.judging.explaining.rejections import Rejections
from autograder.places import Places
from autograder.toml_text import toml_key, toml_value

EXERCISE = re.compile(r'exercise="([\w.]+)"')
END = re.compile(r"(?<=[.!?])(?<!\bal\.)(?<!\be\.g\.)(\*{0,2}\)?)\s+(?=[A-Z0-9`*\"(∂Σ$])")
LINK = re.compile(r"^\[[^]]*\]\(\.\./book/[^)]*\)\.?$", re.MULTILINE)
ITEM = re.compile(r"^(?:[-*]|\d+\.) ")
ROW = re.compile(r"^(?=\[\[)", re.MULTILINE)


HEADER = """\
# The sentences of the contracts in solutions/{slug}.py, and the checks that fail where one is ignored.
# `wrong`: a known mistake that these checks reject and no other visible check; `point`: what the exercise is
# for (the syllabus's `point` lists which of its checks cost a third of the points); `unasked`: why no check asks.
# `backprop build` gives new sentences their rows, and keeps what is written here; `backprop build --check` compares
# the rows with contracts.
"""
"""The head of a lesson's contract.toml."""


@dataclass(frozen=True)
class Row:
    """The entry of one sentence in a lesson's contract.toml."""

    exercise: str
    says: str
    checks: tuple[str, ...] = ()
    """The checks that fail if an answer ignores the sentence."""
    wrong: str = ""
    """A known mistake that these checks reject and no other visible check does."""
    point: bool = False
    """Whether the sentence is the purpose of the exercise: one of its checks is in the syllabus's `point`."""
    unasked: str = ""
    """Why no check tests the sentence."""


def rows_of(path: Path) -> list[Row]:
    """The rows of a lesson's file, in order. `tomllib.TOMLDecodeError` or `TypeError` if the file is wrong."""
    return _rows_in(path.read_text(encoding="utf-8"))


def _rows_in(text: str) -> list[Row]:
    content: dict[str, list[dict[str, Any]]] = tomllib.loads(text)
    return [
        Row(exercise, **{**row, "checks": tuple(row.get("checks", ()))})
        for exercise, rows in content.items()
        for row in rows
    ]


def sentences_of(source: str) -> dict[str, list[str]]:
    """The sentences of each exercise's contract, in order: those of the Markdown before its cells and its docstrings.

    Headings and links to chapters are left out. A row of a table or a block of code counts as a sentence.
    """
    found: dict[str, list[str]] = {}
    waiting: list[str] = []
    for cell in re.split(r"^# %%", source, flags=re.MULTILINE)[1:]:
        head, _, body = cell.partition("\n")
        named = EXERCISE.search(head)
        if head.strip().startswith("[markdown]"):
            waiting += _of_markdown("\n".join(line.removeprefix("#").removeprefix(" ") for line in body.split("\n")))
        elif named:
            of_it = found.setdefault(named[1], [])
            of_it += [one for one in [*waiting, *_of_docstrings(body)] if one not in of_it]
            waiting = []
    return found


def _of_markdown(text: str) -> Iterator[str]:
    for block in _blocks(LINK.sub("", text)):
        if block[0].startswith(("    ", "```")):
            yield " ".join(" ".join(line.strip("`") for line in block).split())
        elif block[0].startswith("|"):
            cells = " ".join(block[0].strip("| ").split())
            if set(cells) - set("|-: "):
                yield cells
        else:
            yield from _split(" ".join(block))


def _blocks(text: str) -> Iterator[list[str]]:
    """The lines of each paragraph, list item, table row and code block; no headings."""
    block: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fence = line.startswith("```")
        code = fenced or fence or line.startswith("    ")
        before = bool(block) and block[0].startswith(("    ", "```"))
        begins = ITEM.match(line) or line.startswith(("#", "|")) or not line.strip() or code is not before
        if block and begins and not fenced:
            yield block
            block = []
        if line.strip() and (code or not line.startswith("#")):
            block.append(line if code else ITEM.sub("", line, count=1))
        if fence and fenced:
            yield block
            block = []
        fenced = fenced is not fence
    if block:
        yield block


def _of_docstrings(code: str) -> Iterator[str]:
    """The sentences of the docstrings of a cell's top-level functions and classes."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (said := ast.get_docstring(node)):
            yield from _split(said)


def _split(text: str) -> Iterator[str]:
    for one in END.sub(r"\1\n", " ".join(text.split())).split("\n"):
        if "](../book/" not in one:
            yield one.strip()


def text_of(slug: str, places: Places) -> str:
    """The text of the lesson's contract.toml with a row for every sentence of its contracts, in their order.

    Existing rows stay unchanged, with their comments. A row whose sentence is gone stands after the
    other rows of its exercise, so that what it says can be moved to the sentence that replaced it.

    Raises:
        tomllib.TOMLDecodeError, TypeError: the file cannot be read.
    """
    path = places.contract(slug)
    text = path.read_text(encoding="utf-8") if path.is_file() else HEADER.format(slug=slug)
    _rows_in(text)  # raises with the line in the whole file
    head, *written = ROW.split(text)
    there: dict[str, dict[str, str]] = {}
    for block in written:
        ((exercise, (row,)),) = tomllib.loads(block).items()
        of_it = there.setdefault(exercise, {})
        of_it[row["says"]] = "\n\n".join([*filter(None, [of_it.get(row["says"])]), block.rstrip()])
    sentences = sentences_of(places.source(slug).read_text(encoding="utf-8"))
    blocks = [head.rstrip()]
    for exercise in dict.fromkeys([*sentences, *there]):
        of_it = there.get(exercise, {})
        blocks += [of_it.pop(says, "") or as_text(Row(exercise, says)) for says in sentences.get(exercise, ())]
        blocks += of_it.values()
    return "\n\n".join(blocks) + "\n"


def as_text(row: Row) -> str:
    """A row as contract.toml has it."""
    lines = [f"[[{toml_key(row.exercise)}]]", f"says = {toml_value(row.says)}"]
    if row.unasked:
        return "\n".join([*lines, f"unasked = {toml_value(row.unasked)}"])
    lines.append(f"checks = {toml_value(list(row.checks))}")
    lines += [f"wrong = {toml_value(row.wrong)}"] if row.wrong else []
    return "\n".join([*lines, "point = true"] if row.point else lines)


def have_contracts(course: Course) -> bool:
    """Whether a lesson of the course has a contract.toml; then each needs one."""
    return any(course.contract(slug).is_file() for slug in course.lessons)


def generated(course: Course) -> dict[Path, str]:
    """The contract.toml of each of the course's own lessons as `text_of` gives it, by file; none if no lesson has one.

    `AuthoringError` if a file cannot be read.
    """
    own = [slug for slug in course.lessons if have_contracts(course) and course.of(slug) is course]
    found = {}
    for slug in own:
        try:
            found[course.contract(slug)] = text_of(slug, course)
        except (tomllib.TOMLDecodeError, TypeError) as error:
            raise AuthoringError(f"{course.relative(course.contract(slug))}: it cannot be read ({error})") from error
    return found


def witnesses(row: Row, rejections: Rejections) -> list[str]:
    """The known mistakes that only checks of this row reject, among the visible ones."""
    return sorted(
        mistake
        for (exercise, mistake), rejecting in rejections.items()
        if exercise == row.exercise and rejecting and rejecting <= set(row.checks)
    )
