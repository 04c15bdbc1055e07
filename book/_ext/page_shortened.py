"""Shortens Python sources for a page: removes comments, docstrings and annotations."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any


def short(content: bytes, left_out: Collection[str] = ()) -> bytes:
    """A module without comments, docstrings and other strings that only readers see, annotations of functions, and
    imports of the packages in `left_out`.
    """
    tree = _Short(left_out).visit(ast.parse(content))
    return ast.unparse(ast.fix_missing_locations(tree)).encode() + b"\n"


class _Short(ast.NodeTransformer):
    def __init__(self, left_out: Collection[str]) -> None:
        self._left_out = left_out

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.generic_visit(node)
        node.body = [one for one in node.body if not self._is_left_out(one)]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def visit_FunctionDef(self, node: Any) -> ast.AST | None:
        self.generic_visit(node)
        if any(_name(one) == "overload" for one in node.decorator_list):
            return None
        node.returns = None
        given = node.args
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if one is not None:
                one.annotation = None
        node.body = node.body or [ast.Pass()]
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's name

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if _name(node.test) == "TYPE_CHECKING":
            return node.orelse or ast.Pass()
        node.body = node.body or [ast.Pass()]
        return node

    def _is_left_out(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Import):
            return all(one.name.partition(".")[0] in self._left_out for one in node.names)
        return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in self._left_out


def _name(node: ast.expr) -> str:
    return str(getattr(node, "id", None) or getattr(node, "attr", ""))


def lazy(content: bytes) -> bytes:
    """Rewrite a package's `__init__.py` to import each of its names on first use; most are never used."""
    origin = {
        one.asname or one.name: (node.module, one.name)
        for node in ast.parse(content).body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for one in node.names
    }
    return (
        f"import importlib\n_ORIGIN = {origin!r}\n"
        "def __getattr__(name):\n"
        "    if name not in _ORIGIN:\n"
        "        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')\n"
        "    module, own = _ORIGIN[name]\n"
        "    value = globals()[name] = getattr(importlib.import_module(module), own)\n"
        "    return value\n"
    ).encode()
