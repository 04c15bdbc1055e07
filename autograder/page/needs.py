"""Finds the statements of earlier cells that a page's cell needs.

A page's hidden cells also draw, glue numbers into sentences and import PyTorch. A reader who runs one cell needs none
of that, so only statements that define the names it uses run, those that these need, and so on.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from autograder.worker.lines import lines_of

SHOWS = {"display", "glue", "print", "style", "table", "exercise_table"}
"""Functions that show their arguments without changing them."""
_BUILTIN = frozenset(dir(builtins))


@dataclass(frozen=True)
class Statement:
    """A top-level statement of a cell."""

    cell: int
    line: int
    source: str
    gives: frozenset[str]
    """The names that it binds."""
    changes: frozenset[str]
    """The names whose values it may change in place."""
    uses: frozenset[str]
    later: frozenset[str]
    """The names in `uses` that only its functions' bodies use, so they may be bound below it."""

    @property
    def touches(self) -> frozenset[str]:
        return self.gives | self.changes


def parsed(source: str) -> ast.Module:
    r"""Parse without warnings: Python warns about escapes such as `"\,"` again when the source runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


@lru_cache(maxsize=512)
def statements(cell: int, source: str) -> tuple[Statement, ...]:
    """The statements of a cell. Raises `SyntaxError` if it is not Python."""
    lines, found = lines_of(source, keepends=True), []
    for node in parsed(source).body:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        text = "".join(lines[first - 1 : node.end_lineno])
        if node.col_offset or not _alone(text):  # several statements in one line
            text = ast.unparse(node)
        names = Names()
        names.visit(node)
        changed = frozenset(_changed(node)) - names.bound
        later = frozenset(names.later - names.used)
        used = frozenset(names.used | names.later)
        found.append(Statement(cell, first, text, frozenset(names.bound), changed, used, later))
    return tuple(found)


def _alone(text: str) -> bool:
    try:
        return len(parsed(text).body) == 1
    except SyntaxError:
        return False


def needed(cells: Sequence[str], at: int, foreign: Iterable[str] = ()) -> list[Statement]:
    """The statements above cell `at` that it needs, in their order.

    Earlier cells that are not valid Python are skipped. `foreign` names packages that a page lacks: passing a value to
    an object of theirs, such as a figure, draws the value and does not count as changing it.
    """
    above: list[Statement] = []
    for cell in range(at):
        with suppress(SyntaxError):
            above += statements(cell, cells[cell])
    strange = _made_of(above, foreign)
    at_the_end, taken = set(free(cells[at])), list[Statement]()
    while True:  # repeat, because a function may call one defined below it, which is then needed as well
        wanted, taken = set(at_the_end), []
        for one in reversed(above):
            if one.gives & wanted or (one.changes & wanted and not one.uses & strange):
                taken.append(one)
                wanted = (wanted - (one.gives - one.uses)) | one.uses
        if at_the_end >= (later := set().union(*(one.later for one in taken))):
            return taken[::-1]
        at_the_end |= later


def _made_of(above: Sequence[Statement], foreign: Iterable[str]) -> set[str]:
    """The names bound to missing packages, or to values computed from them."""
    packages, found = set(foreign), set[str]()
    for one in above:
        modules = {module.partition(".")[0] for module, _ in imports(one.source)}
        if modules & packages or one.uses & found:
            found |= one.gives
        else:
            found -= one.gives
    return found


def free(source: str) -> frozenset[str]:
    """The names that a cell uses before binding them. Raises `SyntaxError` if it is not Python."""
    bound: set[str] = set()
    used: set[str] = set()
    for one in statements(-1, source):
        used |= one.uses - bound
        bound |= one.gives
    return frozenset(used)


class Names(ast.NodeVisitor):
    """Collects the names that module-level code binds, and those that it uses before binding them, in run order."""

    def __init__(self, local: frozenset[str] = frozenset()) -> None:
        self.bound: set[str] = set()
        self.used: set[str] = set()
        self.later: set[str] = set()
        """Names used in functions' bodies, that is, only when these are called."""
        self._local = local
        """Local names of the enclosing functions."""

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)
        elif node.id not in self.bound | self._local | _BUILTIN:
            self.used.add(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        for part in (node.value, *node.targets):
            self.visit(part)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        for part in (node.value, node.target):
            self.visit(part)
        if isinstance(node.target, ast.Name):
            self.used.add(node.target.id)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        for part in (node.value, node.target):
            if part is not None:
                self.visit(part)

    def visit_For(self, node: ast.For) -> None:
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def visit_Import(self, node: ast.Import) -> None:
        self.bound.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.bound.update(alias.asname or alias.name for alias in node.names)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self.bound.add(node.name)
        self._within(node.args, node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)  # type: ignore[arg-type]

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self._within(node.args, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)):
            self.visit(part)
        self.bound.add(node.name)
        self._within(None, node.body)

    def _comprehension(self, node: Any) -> None:
        targets = Names()
        for one in node.generators:
            targets.visit(one.target)
        inside = Names(self._local | targets.bound)
        inside.generic_visit(node)
        self.used |= inside.used - self.bound
        self.later |= inside.later - self.bound

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            self._comprehension(node)
        else:
            super().visit(node)

    def _within(self, arguments: ast.arguments | None, body: Sequence[ast.AST]) -> None:
        """Add a function's global names to `later`: they may be bound by the time that it is called."""
        local: set[str] = set()
        if arguments is not None:
            every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
            local |= {one.arg for one in every if one is not None}
        first = Names()
        for part in body:
            first.visit(part)
        inside = Names(self._local | local | first.bound)
        for part in body:
            inside.visit(part)
        self.later |= (inside.used | inside.later) - self.bound


def imports(source: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The modules that code imports, with the names imported from each; no names for `import module`."""
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, tuple(alias.name for alias in node.names)


def _changed(node: ast.stmt) -> Iterator[str]:
    """Names whose values a statement may change in place: by assigning to a part, or by passing them to a call."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return
    for one in ast.walk(node):
        if isinstance(one, ast.Attribute | ast.Subscript) and not isinstance(one.ctx, ast.Load):
            yield from _root(one)
    for call in _calls_for_their_effect(node):
        if isinstance(call.func, ast.Attribute):
            yield from _root(call.func)
        elif not (isinstance(call.func, ast.Name) and call.func.id in SHOWS):
            for value in (*call.args, *(keyword.value for keyword in call.keywords)):
                yield from _root(value)
                if isinstance(
                    value, ast.Call
                ):  # backward(power(a, 2), 1.0): what is made of a is changed, and a with it
                    yield from _named(value.args)


def _calls_for_their_effect(node: ast.stmt) -> Iterator[ast.Call]:
    for one in ast.walk(node):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            yield one.value


def _named(values: Iterable[ast.expr]) -> Iterator[str]:
    for value in values:
        for one in ast.walk(value):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
                yield one.id


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
