"""Finds which other exercises of a lesson an exercise's solution uses, so that its text can say so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from autograder.wording import enumeration

_SECTION = re.compile(r"^(?:\[Chapter section\]|Chapter section:)", re.MULTILINE)


def builds_on(sources: Mapping[str, str], names: Iterable[str]) -> dict[str, list[str]]:
    """By exercise: the exercises that its solution uses, in the lesson's order; only those that use one.

    Args:
        sources: the solution of each exercise, all of its cells together.
        names: the lesson's exercises, in order; `Tensor.backward` is a method, attached to `Tensor`.
    """
    order = list(names)
    methods = {name.rpartition(".")[2]: name for name in order if "." in name}
    found = {}
    for name, source in sources.items():
        nodes = list(ast.walk(ast.parse(source)))
        used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        called = {
            node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        used |= {methods[attribute] for attribute in called & methods.keys()}
        used |= {name.rpartition(".")[0]}
        if others := [one for one in order if one in used and one != name]:
            found[name] = others
    return found


def with_needs(text: str, others: list[str]) -> str:
    """An exercise's text with the line that names the exercises it builds on, above its link to the chapter."""
    line = f"Builds on your {enumeration([f'`{one}`' for one in others])}."
    at = _SECTION.search(text)
    if at is None:
        return f"{text.rstrip()}\n\n{line}"
    return f"{text[: at.start()].rstrip()}\n\n{line}\n\n{text[at.start() :]}"
