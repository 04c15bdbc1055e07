"""Which parts of a function its wrong outputs depend on, found in the source alone.

A slice in the sense of Weiser, without control flow: a statement counts for an output if it binds a name that the
output uses, directly or through others. So it is a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autograder.diagnosis.mutation.text import Source

WRONG, SHARED, RIGHT = 0, 1, 2
"""Whether a part is used for wrong outputs alone (or nobody knows), for both, or for right ones alone."""


class Slices:
    """The parts of a source that bind its outputs.

    Args:
        names: of all outputs.
        wrong: names of the wrong ones.
    """

    def __init__(
        self, source: Source, regions: Collection[ast.AST], names: Collection[str], wrong: Collection[str]
    ) -> None:
        self._source = source
        self._of: dict[ast.AST, set[bool]] = {}
        """By expression or statement: whether it is for wrong outputs, for right ones, or both."""
        if len(names) < 2 or not wrong or len(wrong) == len(names):
            return
        nodes = [node for region in regions for node in ast.walk(region)]
        self._bindings = [binding for node in nodes for binding in _bindings(node)]
        for node in nodes:
            for name, expression in _outputs(node, list(names)):
                self._note(expression, name in wrong)

    def level(self, node: ast.AST) -> int:
        """`WRONG`, `SHARED` or `RIGHT`, for the smallest part around `node` that is known."""
        at: ast.AST | None = node
        while at is not None:
            if at in self._of:
                sides = self._of[at]
                return SHARED if len(sides) == 2 else WRONG if True in sides else RIGHT
            if isinstance(at, ast.stmt):
                break
            at = self._source.parents.get(at)
        return SHARED if self._of else WRONG

    def _note(self, expression: ast.AST, wrong: bool) -> None:
        """Note an output's expression, and the statements that bind what it uses."""
        self._of.setdefault(expression, set()).add(wrong)
        waiting, known = _names(expression), set[str]()
        while waiting:
            name = waiting.pop()
            known.add(name)
            for part, bound, used in self._bindings:
                if name in bound:
                    self._of.setdefault(part, set()).add(wrong)
                    waiting |= used - known


def bound_for(regions: Collection[ast.AST], ran: Collection[int], lines: Collection[int]) -> set[int]:
    """The lines that ran and bind names which, of all that ran, only the given lines use, directly or through others.

    Args:
        ran: the lines that a call ran.
        lines: some of them.
    """
    nodes = [node for region in regions for node in ast.walk(region)]
    uses = [
        (node.id, node.lineno)
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno in ran
    ]
    bindings = [node for node in nodes if isinstance(node, ast.Assign) and node.lineno in ran]
    found, wanted = set[int](), set(lines)
    for node in reversed(bindings):
        bound, own = _bound_in(node), range(node.lineno, (node.end_lineno or node.lineno) + 1)
        users = {line for name, line in uses if name in bound and line not in own}
        if users and users <= wanted:
            found.update(own)
            wanted.update(own)
    return found


def _bound_in(node: ast.Assign) -> set[str]:
    return {one.id for target in node.targets for one in ast.walk(target) if isinstance(one, ast.Name)}


def _outputs(node: ast.AST, names: list[str]) -> Iterator[tuple[str, ast.AST]]:
    """The outputs that a node gives, with the expression of each: a tuple returned, a dict, or one entry of a dict."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(names):
        yield from zip(names, node.value.elts, strict=True)
    elif isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        yield from ((key, value) for key, value in zip(keys, node.values, strict=True) if key in names)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        key = node.targets[0].slice
        if isinstance(key, ast.Constant) and key.value in names:
            yield key.value, node


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _bindings(node: ast.AST) -> Iterator[tuple[ast.AST, set[str], set[str]]]:
    """The parts of a statement that bind names, or write entries of them, with these names and those that they use."""
    if isinstance(node, ast.For):
        yield node, _bound(node.target), _names(node.iter)
    elif isinstance(node, ast.AugAssign):
        yield node, _bound(node.target), _names(node.value)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for one, value in zip(target.elts, node.value.elts, strict=False):
                    yield value, _bound(one), _names(value)
            else:
                yield node, _bound(target), _names(node.value)


def _bound(target: ast.expr) -> set[str]:
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    return {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
