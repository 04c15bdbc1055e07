"""Edits that put other names in the place of an operand, or add one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.diagnosis.mutation import operators as of
from autograder.diagnosis.mutation.nodes import function_name, is_number
from autograder.diagnosis.mutation.text import Source, Splice

MOST_NAMES = 10
"""Names in scope that are tried in place of one: the parameters first, then those bound last."""
MOST_ATTRIBUTES = 6
_NO_OPERANDS = ("self", "ctx", "cls", "_")
_RENAMED = {"grad": ("data", "value"), "data": ("grad",), "value": ("grad",)}
Edits = Iterator[tuple[Splice, str, ast.AST]]


def strings(source: Source, node: ast.AST) -> Edits:
    """Another text of the source, such as the name of another function."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 20:
        texts = {
            one.value
            for one in ast.walk(source.tree)
            if isinstance(one, ast.Constant) and isinstance(one.value, str) and len(one.value) < 20
        }
        for other in sorted(texts)[:MOST_NAMES]:
            yield of.instead(source, node, repr(other)), "with another text", node


def names(source: Source, node: ast.AST) -> Edits:
    """Another name that is in scope, in the place of a name, an attribute or a constant; one more or less than it."""
    parent = source.parents[node]
    if isinstance(parent, ast.Call) and parent.func is node:
        return
    text = source.text(node) if isinstance(node, ast.expr) else ""
    loaded = isinstance(getattr(node, "ctx", None), ast.Load)
    if isinstance(node, ast.Name) and loaded and node.id not in source.modules:
        for other in in_scope(source, node):
            if other != text:
                yield of.instead(source, node, other), f"with another name in the place of `{text}`", node
        for constant in ("0", "1", "0.0", "1.0"):
            yield of.instead(source, node, constant), f"with a constant in the place of `{text}`", node
        if isinstance(parent, ast.BinOp | ast.Call | ast.Subscript | ast.Slice | ast.Compare):
            for other in (f"({text} - 1)", f"({text} + 1)"):
                yield of.instead(source, node, other), f"with one more or one less than `{text}`", node
    elif isinstance(node, ast.Attribute) and loaded and not _is_of_module(source, node):
        for other in _RENAMED.get(node.attr, ()):
            yield of.instead(source, node, f"{source.text(node.value)}.{other}"), "with another attribute", node
        for other in [*_attributes(source, node), *in_scope(source, node)]:
            if other != text:
                yield of.instead(source, node, other), f"with another name in the place of `{text}`", node
    elif is_number(node) and isinstance(parent, ast.Call | ast.keyword | ast.BinOp | ast.Compare):
        for other in in_scope(source, node):
            yield of.instead(source, node, other), "with a variable in the place of a constant", node


def more(source: Source, node: ast.AST) -> Edits:
    """A factor or a term more: 2, a half, a number of entries, or a name in scope."""
    if isinstance(node, ast.Call) and function_name(node) not in ("range", "len", "zip", "enumerate"):
        yield of.instead(source, node, f"(({source.text(node)}) ** 2)"), "squared,", node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        for operand in (node.left, node.right):
            yield of.instead(source, operand, f"(2 * ({source.text(operand)}))"), "with a term counted twice", operand
    value = node.value if isinstance(node, ast.Return | ast.Assign | ast.AugAssign) else None
    for whole in value.elts if isinstance(value, ast.Tuple) else [value]:
        if not isinstance(whole, ast.BinOp | ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.UnaryOp):
            continue
        text = f"({source.text(whole)})"
        for factor in ("* 2", "/ 2"):
            yield of.instead(source, whole, f"({text} {factor})"), "with another constant factor", whole
        yield of.instead(source, whole, f"({text} ** 2)"), "squared,", whole
        yield of.instead(source, whole, f"(1 - {text})"), "taken from 1,", whole
        for name in in_scope(source, node):
            if name == source.text(whole):
                continue
            yield of.instead(source, whole, f"({text} * {name})"), "with one more factor", whole
            yield of.instead(source, whole, f"({text} / {name})"), "with one more divisor", whole
            for symbol in "+-":
                yield of.instead(source, whole, f"({text} {symbol} {name})"), "with one more term", whole
            for count in (f"len({name})", f"{name}.size", f"{name}.shape[-1]"):
                yield of.instead(source, whole, f"({text} / {count})"), "divided by a number of entries,", whole
                yield of.instead(source, whole, f"({text} * {count})"), "multiplied by a number of entries,", whole


def in_scope(source: Source, node: ast.AST) -> list[str]:
    """The parameters of the functions around `node`, and the names bound up to its line in the innermost one."""
    around, known, stored = source.parents.get(node), list[str](), list[str]()
    innermost = True
    while around is not None:
        if isinstance(around, ast.FunctionDef | ast.Lambda):
            known += [argument.arg for argument in (*around.args.args, *around.args.kwonlyargs)]
            if innermost:
                line: int = node.lineno  # type: ignore[attr-defined]
                before = sorted(source.bound_in(around), key=lambda pair: (pair[1] == line, -pair[1]))
                stored = [name for name, bound_at in before if bound_at <= line]
            innermost = False
        around = source.parents.get(around)
    return [name for name in dict.fromkeys([*known, *stored]) if name not in _NO_OPERANDS][:MOST_NAMES]


def _attributes(source: Source, node: ast.Attribute) -> list[str]:
    """Other attributes that the function around `node` reads, such as `self.value`."""
    around = source.parents.get(node)
    while around is not None and not isinstance(around, ast.FunctionDef):
        around = source.parents.get(around)
    found = [] if around is None else source.attributes_in(around)
    return [text for text in found if text != source.text(node)][:MOST_ATTRIBUTES]


def _is_of_module(source: Source, node: ast.Attribute) -> bool:
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    return isinstance(root, ast.Name) and root.id in source.modules
