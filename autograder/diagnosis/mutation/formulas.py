"""Edits that mend a formula as a whole: a factor that comes too late, a mask behind a softmax, an overflow.

Each stands for a mistake that people make, and changes several places of one statement, which edits of single operands
do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.diagnosis.mutation.nodes import function_name
from autograder.diagnosis.mutation.operands import in_scope
from autograder.diagnosis.mutation.operators import instead
from autograder.diagnosis.mutation.text import Source, Splice

Edits = Iterator[tuple[Splice, str, ast.AST]]
MOST_NAMES = 4


def earlier_factor(source: Source, node: ast.AST) -> Edits:
    """A factor of a whole product moved to a name within the product: `f * (h - h.mean())` with `h * f` for `h`."""
    around = source.parents.get(node)
    if not _is_product(node) or (around is not None and _is_product(around)):
        return
    factors = list(_factors(node))
    for factor in factors:
        others = [one for one in factors if one is not factor]
        names = [one for other in others for one in _data(source, other)]
        inner = [one for one in names if one not in others]  # in a product of names it is the same wherever it is
        text = source.text(factor)
        for name in list(dict.fromkeys(one.id for one in inner))[:MOST_NAMES] if isinstance(factor, ast.Name) else ():
            splices = [(source.start(one), source.end(one), f"({name} * {text})") for one in inner if one.id == name]
            product = " * ".join(f"({_with(source, other, splices)})" for other in others)
            yield instead(source, node, f"({product})"), f"with the factor `{text}` further inside", node


def masked_before(source: Source, node: ast.AST) -> Edits:
    """Scores masked by −inf before a softmax, in place of a softmax of which a part is set to 0."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return
    name, mask = node.targets[0].id, ""
    value = node.value
    if _is_product(value) and isinstance(value, ast.BinOp):
        sides = [one for one in (value.left, value.right) if getattr(one, "id", "") != name]
        mask = f"({source.text(sides[0])}) != 0" if len(sides) == 1 else ""
    elif isinstance(value, ast.Call) and function_name(value) == "where" and len(value.args) == 3:
        mask = source.text(value.args[0]) if getattr(value.args[1], "id", "") == name else ""
    elif isinstance(value, ast.Call) and function_name(value) in ("tril", "triu") and value.args:
        masked = value.args[0]
        ones = (source.start(masked), source.end(masked), f"{_module(source)}.ones_like({name})")
        mask = f"{_with(source, value, [ones])} != 0" if getattr(masked, "id", "") == name else ""
    function = next((one for one in _around(source, node) if isinstance(one, ast.FunctionDef)), None)
    for made in ast.walk(function) if function and mask else ():
        call = made.value if isinstance(made, ast.Assign) and getattr(made.targets[0], "id", "") == name else None
        if isinstance(call, ast.Call) and "softmax" in function_name(call) and made is not node:
            method = isinstance(call.func, ast.Attribute) and not call.args
            for scores in [call.func.value] if method and isinstance(call.func, ast.Attribute) else call.args[:1]:
                text = f'{_module(source)}.where({mask}, {source.text(scores)}, -float("inf"))'
                splice = (source.start(scores), source.end(scores), text)
                yield instead(source, value, _with(source, call, [splice])), "with the mask before the softmax,", value


def stable(source: Source, node: ast.AST) -> Edits:
    """A tanh or a sigmoid that is computed without exp, which overflows."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
        return
    called = [one for one in ast.walk(node) if isinstance(one, ast.Call) and function_name(one) == "exp"]
    inside = [one for call in called for one in _data(source, call)]
    module = _module(source)
    for name in list(dict.fromkeys(one.id for one in inside))[:MOST_NAMES]:
        for text in (f"{module}.tanh({name})", f"(0.5 + 0.5 * {module}.tanh({name} / 2))"):
            yield instead(source, node, text), "computed without an exp that overflows,", node


def counted(source: Source, node: ast.AST) -> Edits:
    """Counts for all numbers that may occur, and a range whose end is one of the names in it."""
    if not isinstance(node, ast.Call):
        return
    end = source.end(node) - 1
    if function_name(node) == "bincount" and not any(one.arg == "minlength" for one in node.keywords):
        for name in in_scope(source, node):
            for size in (name, f"{name}.shape[0]", f"{name}.shape[-1]"):
                yield Splice(end, end, f", minlength={size}"), "with counts for all that may occur,", node
    if function_name(node) == "range" and node.args:
        stop = node.args[min(len(node.args), 2) - 1]
        if isinstance(stop, ast.BinOp):
            for one in ast.walk(stop):
                if isinstance(one, ast.Name | ast.Call):
                    yield instead(source, stop, source.text(one)), "with another end of the range", node


def _is_product(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)


def _factors(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        yield from _factors(node.left)
        yield from _factors(node.right)
    elif isinstance(node, ast.expr):
        yield node


def _data(source: Source, node: ast.AST) -> Iterator[ast.Name]:
    """The names of data below a node: not of modules, nor of functions that are called."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id not in source.modules:
            around = source.parents[one]
            if not (isinstance(around, ast.Call) and around.func is one):
                yield one


def _with(source: Source, node: ast.expr, splices: list[tuple[int, int, str]]) -> str:
    """The code of an expression with replacements in it."""
    text, at = "", source.start(node)
    for start, end, new in sorted(one for one in splices if source.start(node) <= one[0] < source.end(node)):
        text, at = text + source.slice(at, start) + new, end
    return text + source.slice(at, source.end(node))


def _module(source: Source) -> str:
    return "torch" if "torch" in source.modules else "np"


def _around(source: Source, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes around a node, the innermost first."""
    around = source.parents.get(node)
    while around is not None:
        yield around
        around = source.parents.get(around)
