"""Which nodes of a source are mutated, and what the operators ask of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.diagnosis.mutation.text import Source


def nodes_in(node: ast.AST) -> Iterator[ast.AST]:
    """`node` and what is inside it, but for annotations, decorators, docstrings and what exceptions say."""
    yield node
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "op", "ops", "ctx"):
            continue
        for item in child if isinstance(child, list) else [child]:
            if isinstance(item, ast.AST) and not _is_left_alone(node, item):
                yield from nodes_in(item)


def _is_left_alone(parent: ast.AST, node: ast.AST) -> bool:
    """Docstrings, what exceptions and f-strings say, and `strict=`."""
    if isinstance(parent, ast.Raise) or isinstance(node, ast.JoinedStr | ast.Assert):
        return True
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def function_name(node: ast.Call) -> str:
    """The last name of the function that is called; empty if it has none."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def is_number(node: ast.AST) -> bool:
    """Whether this is a number as it is written, its sign included, or True or False."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def is_base(source: Source, node: ast.AST) -> bool:
    """Whether a minus before `node` would be read as one before a power or as a subtraction."""
    parent = source.parents[node]
    return isinstance(parent, ast.BinOp) and (parent.right is node or isinstance(parent.op, ast.Pow))
