"""Writes a lesson's `covering.toml`: rows that cover all pairs of levels of an exercise's factors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.authoring.factors.space import Space, spaces_in
from autograder.authoring.tree import Course
from autograder.judging.checking.kinds import MIXED
from autograder.toml_text import toml_key, toml_value

TRIES = 20
"""How many covering arrays are made, of which the shortest is taken: each row is a call in every check of a class."""
HEADER = """\
# Rows of levels, by number, in which each two levels of two factors occur together, where they can. Written by
# `backprop build` from factors.toml.
"""


def rows_of(space: Space) -> list[dict[str, str]]:
    """Few rows that cover each pair of levels that can occur together, simple ones first; always the same rows."""
    from covertable import make  # for authors alone

    constraints = [
        {"operator": "fn", "requires": list(names), "evaluate": allowed} for names, allowed in space.constraints
    ]
    of_author = {f"{name} values": MIXED for name in space.values}
    levels: dict[str, list[str]] = {name: list(of_it) for name, of_it in space.levels.items() if name not in of_author}
    tried: list[list[Mapping[str, str]]] = [make(levels, constraints=constraints, salt=str(n)) for n in range(TRIES)]
    rows = [{name: of_author.get(name) or row[name] for name in space.levels} for row in min(tried, key=len)]
    return [*sorted(rows, key=space.strangeness), *space.further]


def generated(course: Course) -> dict[Path, str]:
    """The `covering.toml` of each of the course's own lessons that has a `factors.toml`, by file."""
    found = {}
    for slug in course.lessons:
        if course.of(slug) is course and course.factors(slug).is_file():
            path = course.covering(slug)
            found[path] = covering_text(spaces_in(course.factors(slug)), written(path))
    return found


def written(path: Path) -> dict[str, dict[str, Any]]:
    """The content of a `covering.toml`; empty if it is missing or cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, tomllib.TOMLDecodeError):
        return {}


def covering_text(spaces: Mapping[str, Space], before: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a lesson's `covering.toml`.

    Args:
        before: the file's content so far; rows of exercises that have not changed are kept.
    """
    parts = [HEADER]
    for exercise, space in spaces.items():
        if space.drawn:
            old = before.get(exercise, {})
            rows = old["rows"] if old.get("of") == space.digest else _numbered(space)
            parts.append(_table(exercise, space, rows))
    return "\n".join(parts)


def _numbered(space: Space) -> list[str]:
    levels = space.levels
    return [" ".join(str(levels[name].index(level)) for name, level in row.items()) for row in rows_of(space)]


def _table(exercise: str, space: Space, rows: list[str]) -> str:
    lines = [f"[{toml_key(exercise)}]", f'of = "{space.digest}"', f"arrays = {toml_value(space.arrays)}"]
    lines += [f"objects = {toml_value(list(space.objects))}"] if space.objects else []
    lines += [f"same = {toml_value(space.same)}"] if space.same else []
    lines += [f"cases.{toml_key(case)} = {toml_value(of_it)}" for case, of_it in space.cases.items()]
    lines += [f"levels.{toml_key(name)} = {toml_value(of_it)}" for name, of_it in space.levels.items()]
    lines += ["rows = [", *(f'    "{row}",' for row in rows), "]"]
    return "\n".join(lines) + "\n"
