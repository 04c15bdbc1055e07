"""Selects the nodes of a source that are mutated, with small predicates for the operators."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from autograder.diagnosis.mutation.text import Source


def nodes_in(node: ast.AST, among: Callable[[ast.AST], bool] = lambda _: True) -> Iterator[ast.AST]:
    """`node` and its descendants, without annotations, decorators, docstrings and the texts of exceptions.

    Nodes that are not `among` those wanted are left out, with what is below them.
    """
    yield node
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "op", "ops", "ctx"):
            continue
        for item in child if isinstance(child, list) else [child]:
            if isinstance(item, ast.AST) and not _is_never_mutated(node, item) and among(item):
                yield from nodes_in(item, among)


def _is_never_mutated(parent: ast.AST, node: ast.AST) -> bool:
    """Whether a node is never mutated: docstrings, exceptions' arguments, f-strings, `assert` and `strict=`."""
    if isinstance(parent, ast.Raise) or isinstance(node, ast.JoinedStr | ast.Assert):
        return True
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def function_name(node: ast.Call) -> str:
    """The last part of the called function's name; empty if it has none."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def is_number(node: ast.AST) -> bool:
    """Whether a node is a literal number, with its sign if any, or True or False."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def is_base(source: Source, node: ast.AST) -> bool:
    """Whether a minus before `node` would bind differently: it is a right operand or the base of a power."""
    parent = source.parents[node]
    return isinstance(parent, ast.BinOp) and (parent.right is node or isinstance(parent.op, ast.Pow))
