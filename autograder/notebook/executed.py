"""Tracks the cells that a kernel ran, and selects those that a new process must run to get to the same state."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from symtable import SymbolTable, symtable
from typing import Any

_ONLY_A_CHECK = re.compile(r"(?:\s*+check\([^)]*+\)[ \t]*+(?:#[^\n]*+)?)++\s*+\Z")
DEMO = "# A demo"
"""How the course's demonstration cells begin. They are left out: no exercise needs them, and some are slow."""
MOST_EARLIER = 3
"""How many earlier runs of one cell are kept at most: cells that use each other would otherwise keep all of them."""
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(eq=False)
class _Run:
    """One run of a cell."""

    key: str
    """Identifies the cell: the editor's id for it, or its source if there is no id."""
    source: str
    label: str
    failed: bool = False
    ran_again: bool = False
    """Whether the cell ran again later, perhaps with another source."""


class ExecutedCells:
    """The sources of the cells that the kernel ran, in the order of their last run.

    An earlier run of a cell is kept as well if a cell that ran before the next run still depends on it: on a default
    value, a base class, or the class that operators were attached to.
    """

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._shell = shell()
        if self._shell is not None:
            for count, source in enumerate(self._shell.user_ns.get("In", [])):
                self.add(source, None, count)
            self._shell.events.register("pre_run_cell", self._before)
            self._shell.events.register("post_run_cell", self._after)

    def as_request(self) -> dict[str, list[str]]:
        """The cells that a new process must run, as sources and labels like `In [3]`."""
        return {"cells": [run.source for run in self._runs], "labels": [run.label for run in self._runs]}

    def remembered(self, message: str) -> str:
        """A note on a name that `message` calls undefined and this kernel still has; empty if there is none."""
        match = re.search(r"name '(\w+)' is not defined", message)
        if match is None or self._shell is None or match[1] not in self._shell.user_ns:
            return ""
        if match[1] in self._shell.user_ns_hidden:  # defined by IPython, like `exit` or `In`
            return ""
        if "\nBefore that, " in message:  # the message says already why the cell that defines it failed
            return ""
        return (
            f"This kernel still has {match[1]}, from a cell that has changed since or was not run here as it stands: "
            "run a cell that defines it. After a restart it would be gone here, too."
        )

    def add(self, source: str, cell: str | None, count: int) -> None:
        """Record that a cell runs as `In [count]`; `cell` is the editor's id for it, if it has one."""
        key = cell or source
        for run in self._runs:
            run.ran_again = run.ran_again or run.key == key
        if source.strip() and not _ONLY_A_CHECK.match(source) and not source.startswith(DEMO):
            self._runs.append(_Run(key, source, f"In [{count}]"))
        self._runs = self._still_needed()

    def _before(self, info: Any) -> None:
        number = len(self._shell.user_ns["In"])  # not the execution count, which IPython 9 has increased by now
        self.add(info.raw_cell, getattr(info, "cell_id", None), number)

    def _after(self, result: Any) -> None:
        if self._runs and self._runs[-1].source == getattr(result.info, "raw_cell", None):
            self._runs[-1].failed = not result.success

    def _still_needed(self) -> list[_Run]:
        needed: list[_Run] = []
        for i, run in reversed(list(enumerate(self._runs))):
            earlier = sum(one.key == run.key and one.ran_again for one in needed)
            may_be = not run.failed and earlier < MOST_EARLIER
            if not run.ran_again or (may_be and self._is_needed(run, needed, self._runs[i + 1 :])):
                needed.insert(0, run)
        return needed

    def _is_needed(self, run: _Run, needed: list[_Run], later: list[_Run]) -> bool:
        """Whether a needed cell that ran before this cell ran again depends on this run of it."""
        did = effects(run.source)
        for other in later:
            if other.key == run.key:
                return False
            if other in needed and did & self._all_mentioned(other):
                return True
        return False

    def _all_mentioned(self, run: _Run) -> set[str]:
        """The names in a cell and, recursively, in the cells that define them: a call uses what the function uses."""
        names, left = set(mentions(run.source)), [one for one in self._runs if one is not run]
        while more := [one for one in left if effects(one.source) & names]:
            left = [one for one in left if one not in more]
            names.update(*(mentions(one.source) for one in more))
        return names


@lru_cache(1000)
def effects(source: str) -> frozenset[str]:
    """The names that a cell binds at its top level, or whose objects it changes there."""
    tree = _parsed(source)
    return mentions(source) if tree is None else frozenset(_effects(tree.body))


@lru_cache(1000)
def mentions(source: str) -> frozenset[str]:
    """The global names that a cell, or a function in it, reads; all words if the cell is not pure Python.

    Parameters and local variables are not among them.
    """
    if _parsed(source) is None:
        return frozenset(_WORD.findall(source))
    return frozenset(_looked_up(symtable(source, "a cell", "exec")))


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):  # magics, for example
        return None


def _looked_up(scope: SymbolTable) -> Iterator[str]:
    of_module = scope.get_type() == "module"
    for symbol in scope.get_symbols():
        if symbol.is_referenced() and (of_module or symbol.is_global()):
            yield symbol.get_name()
    for inner in scope.get_children():
        yield from _looked_up(inner)


def _effects(body: Iterable[ast.AST]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).split(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        elif isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            yield from _root(node)  # `Tensor.__add__ = add`
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from _root(node.value.func)  # `kept.append(1)`
        if not isinstance(node, ast.Lambda):
            yield from _effects(ast.iter_child_nodes(node))


def _root(node: ast.AST) -> Iterator[str]:
    """The name at the root of an attribute or subscript, `a` of `a.b[0]`; none if the root is not a name."""
    of_something = isinstance(node, ast.Attribute | ast.Subscript)
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if of_something and isinstance(node, ast.Name):
        yield node.id


def shell() -> Any:
    """The running IPython shell; None outside of IPython."""
    try:
        from IPython import get_ipython
    except ImportError:
        return None
    return get_ipython()
