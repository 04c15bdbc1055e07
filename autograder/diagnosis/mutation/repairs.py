"""Single edits of a learner's own code, each of which may be the one that repairs it.

The mutation operators turn right code into wrong code, and most of them do the reverse as well. Added are edits that
only wrong code needs: a missing term, factor, transpose, copy, `keepdims` or `+=`, or a statement in another place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from autograder.diagnosis.mutation import formulas, habits
from autograder.diagnosis.mutation import operators as of
from autograder.diagnosis.mutation.habits import together
from autograder.diagnosis.mutation.nodes import function_name, is_number, nodes_in
from autograder.diagnosis.mutation.operands import in_scope, more, names, strings
from autograder.diagnosis.mutation.text import Source, Splice

REDUCTIONS = {
    "sum",
    "mean",
    "max",
    "min",
    "amax",
    "amin",
    "prod",
    "any",
    "all",
    "logsumexp",
    "argmax",
    "argmin",
    "norm",
}
VALUES = (ast.BinOp, ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.UnaryOp, ast.IfExp)
MADE = {"zeros", "ones", "empty", "full", "eye", "array", "asarray"}
"""Functions that make an array, of float64 unless told otherwise."""
COPYING = {"copy", "clone", "deepcopy", "array", "tensor"}
"""Functions and methods that copy what they are given."""
REMOVABLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Break, ast.Continue, ast.Delete, ast.Raise)
FIXED = (ast.Return, ast.FunctionDef, ast.ClassDef)
SHORTEST = 3
"""The same code of fewer characters is no sign that the same is meant."""
FARTHEST = 6
"""Statements are moved over at most so many others."""
BLOCKS = (ast.For, ast.While, ast.If, ast.With)
Edits = Iterator[tuple[Splice, str, ast.AST]]
"""Edits, each with its kind in words such as "with another axis", and the node that it changes."""
Operator = Callable[[Source, ast.AST], Edits]


@dataclass(frozen=True)
class Repair:
    """One edit of a source."""

    splice: Splice
    kind: str
    """The kind of edit, in words such as "with another axis"."""
    place: ast.AST
    """The node that it changes."""
    rank: int
    """The number of its operator: likelier edits come first."""


def repairs(
    source: Source, regions: list[ast.stmt], among: Callable[[ast.AST], bool] = lambda _: True
) -> Iterator[Repair]:
    """The edits of some statements of a source, those of likelier operators first; no two give the same text.

    Args:
        among: whether a node is looked at, with what is below it.
    """
    nodes = [node for region in regions for node in nodes_in(region, among)]
    seen: set[Splice] = set()
    for rank, operator in enumerate(OPERATORS):
        found = list[Repair]()
        for node in nodes:
            for splice, kind, place in operator(source, node):
                if splice not in seen and source.slice(splice.start, splice.end) != splice.text:
                    seen.add(splice)
                    while not hasattr(place, "lineno"):  # a comprehension, or a function's parameters
                        place = source.parents[place]
                    found.append(Repair(splice, kind, place, rank))
        yield from found
        yield from everywhere(source, found) if rank < LIKELY else ()


def everywhere(source: Source, found: list[Repair]) -> Iterator[Repair]:
    """Edits that make the same change at each place in a statement where the code is the same."""
    alike: dict[tuple[ast.stmt, str, str, str], list[Repair]] = {}
    for one in found:
        before, around = source.slice(one.splice.start, one.splice.end), source.text(one.place)
        key = (source.statement(one.splice.start), around, before, one.splice.text)
        alike.setdefault(key, []).append(one)
    for (_, around, *_), repairs_there in alike.items():
        splices = [(one.splice.start, one.splice.end, one.splice.text) for one in repairs_there]
        apart = all(one[1] <= other[0] for one, other in pairwise(sorted(splices)))
        if len(splices) > 1 and len(around) >= SHORTEST and apart:
            first = repairs_there[0]
            yield replace(first, splice=together(source, splices), kind=f"{first.kind.rstrip(',')}, each time,")


def numbers(source: Source, node: ast.AST) -> Edits:
    """Another axis, or another constant."""
    if not is_number(node):
        return
    keyword = source.parents[node]
    axis = isinstance(keyword, ast.keyword) and keyword.arg in ("axis", "dim")
    kind, place = ("with another axis", source.parents[keyword]) if axis else ("with another constant", node)
    erases = isinstance(keyword, ast.BinOp) and isinstance(keyword.op, ast.Mult | ast.Pow)
    for splice in of.number(source, node):
        if not (erases and splice.text == "0"):
            yield splice, kind, place
    value = ast.literal_eval(node)
    if not axis and not is_number(keyword) and not isinstance(value, bool) and value:
        for text in (repr(value / 2), repr(1 / value), repr(-value) if value > 0 else "", "None"):
            if text:
                yield of.instead(source, node, f"({text})"), kind, place


def operations(source: Source, node: ast.AST) -> Edits:
    """Another operator, an operand left out, operands swapped, or other brackets."""
    for splice in of.binary(source, node):
        whole = splice.start == source.start(node) and splice.end == source.end(node)
        swapped = whole and len(splice.text) >= len(source.text(node)) - 2
        yield (
            splice,
            "with the operands swapped" if swapped else "without one operand" if whole else ("with another operator"),
            node,
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        left, right, symbol = node.left, node.right, of.SYMBOLS[type(node.op)]
        if isinstance(left, ast.BinOp):  # (a o b) s c as a o (b s c)
            a, b, inner = source.text(left.left), source.text(left.right), of.SYMBOLS[type(left.op)]
            yield of.instead(source, node, f"(({a}) {inner} (({b}) {symbol} {source.text(right)}))"), _BRACKETS, node
        if isinstance(right, ast.BinOp):
            b, c, inner = source.text(right.left), source.text(right.right), of.SYMBOLS[type(right.op)]
            yield of.instead(source, node, f"((({source.text(left)}) {symbol} ({b})) {inner} ({c}))"), _BRACKETS, node


_BRACKETS = "with other brackets"


def comparisons(source: Source, node: ast.AST) -> Edits:
    """Another relation."""
    for splice in of.comparison(source, node):
        yield splice, "with another comparison", node


def assigned(source: Source, node: ast.AST) -> Edits:
    """`+=` for `=`, and the reverse; repeated indices counted each time."""
    if isinstance(node, ast.AugAssign):
        symbol = of.SYMBOLS[type(node.op)] + "="
        start, end = of.token_between(source, node.target, node.value, symbol)
        for other in ("=", "+=", "-=", "*="):
            if other != symbol:
                yield Splice(start, end, other), f"with another operator than `{symbol}`", node
        target, value = source.text(node.target), source.text(node.value)
        yield of.instead(source, node, f"{target} = {target} {symbol[:-1]} ({value})"), "without writing in place", node
        if isinstance(node.target, ast.Subscript) and isinstance(node.op, ast.Add):
            array, index = source.text(node.target.value), source.text(node.target.slice)
            added = f"np.add.at({array}, ({index}), {value})"
            yield of.instead(source, node, added), "with every repeated index counted", node
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and not isinstance(node.targets[0], ast.Tuple):
        start, end = of.token_between(source, node.targets[0], node.value, "=")
        yield Splice(start, end, "+="), "with `+=`", node


def signs(source: Source, node: ast.AST) -> Edits:
    """A sign turned round."""
    for splice in of.sign(source, node):
        yield splice, _SIGN, node
    operands: list[ast.expr] = []
    if isinstance(node, ast.Call):
        operands = node.args
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
        operands = [node.left]
    for operand in operands:
        if isinstance(operand, VALUES):
            yield of.instead(source, operand, f"-({source.text(operand)})"), _SIGN, operand


_SIGN = "with the sign turned round"


def conditions(source: Source, node: ast.AST) -> Edits:
    """Another condition: a part left out, turned round, always or never true."""
    for operator in (of.boolean, of.condition):
        for splice in operator(source, node):
            minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
            yield splice, "without the minus sign" if minus else "with another condition", node
    test = node.test if isinstance(node, ast.If | ast.IfExp | ast.While) else None
    if test is not None:
        yield of.instead(source, test, f"not ({source.text(test)})"), "with another condition", test


def transposes(source: Source, node: ast.AST) -> Edits:
    """A transpose more or less."""
    for splice in of.transpose(source, node):
        less = isinstance(node, ast.Attribute)
        yield splice, "without the transpose" if less else "with another transpose", node
    for one in _values(node):
        if isinstance(one, VALUES):
            yield of.instead(source, one, f"({source.text(one)}).T"), "transposed,", one


def reductions(source: Source, node: ast.AST) -> Edits:
    """Another axis, or `keepdims`."""
    for splice in of.axes(source, node):
        yield splice, "with another axis", node
    if not isinstance(node, ast.Call) or function_name(node) not in REDUCTIONS:
        return
    given = {keyword.arg for keyword in node.keywords}
    end = source.end(node) - 1
    comma = ", " if node.args or node.keywords else ""
    if given & {"axis", "dim"}:
        keep = "keepdims" if "axis" in given else "keepdim"
        if keep not in given:
            yield Splice(end, end, f"{comma}{keep}=True"), f"with `{keep}`", node
    elif isinstance(node.func, ast.Attribute):
        texts = ("axis=0", "axis=-1", "axis=-1, keepdims=True", "axis=0, keepdims=True")
        for text in ("-1", "-1, keepdim=True", "0") if "torch" in source.modules else texts:
            yield Splice(end, end, f"{comma}{text}"), "with an axis", node
            if "torch" in source.modules and function_name(node) in ("max", "min"):
                yield Splice(end, end + 1, f"{comma}{text}).values"), "with an axis", node
        for name in ("axis", "dim"):
            if any(name in source.parameters.get(one, ()) for one in ast.walk(node)):
                for text in (f"{name}={name}", f"{name}={name}, keep{name if name == 'dim' else 'dims'}=True"):
                    yield Splice(end, end, f"{comma}{text}"), "with an axis", node


def functions(source: Source, node: ast.AST) -> Edits:
    """A call left out, its arguments swapped, or another function."""
    if not isinstance(node, ast.Call):
        return
    for splice in of.call(source, node):
        whole = splice.start == source.start(node) and splice.end == source.end(node)
        kind = "without this call" if whole else "with two arguments swapped" if splice.text else "without one argument"
        yield splice, kind, node
    if isinstance(node.func, ast.Name) and node.func.id == "sum":
        yield of.instead(source, node.func, '__import__("math").prod'), "with another function than `sum`", node
    for splice in of.einsum(source, node):
        yield splice, "with other axes", node
    if function_name(node) == "enumerate" and len(node.args) == 1:
        yield Splice(source.end(node) - 1, source.end(node) - 1, ", 1"), "counted from 1,", node
    if function_name(node) == "one_hot" and len(node.args) == 1 and not node.keywords:
        for name in in_scope(source, node):
            end = source.end(node) - 1
            yield Splice(end, end, f", {name}.shape[-1]"), "with one more argument", node
    if function_name(node) in MADE and len(node.args) in (1, 2) and not node.keywords:
        for name in in_scope(source, node):
            end = source.end(node) - 1
            yield Splice(end, end, f", dtype={name}.dtype"), "with another dtype", node


def orders(source: Source, node: ast.AST) -> Edits:
    """Entries in another order, or a loop."""
    for splice in of.order(source, node):
        yield splice, "with two entries swapped", node
    if isinstance(node, ast.For | ast.comprehension):
        text = source.text(node.iter)
        yield of.instead(source, node.iter, f"reversed(list({text}))"), "in another order", node.iter
        if isinstance(node.iter, ast.Call) and function_name(node.iter) == "reversed":
            yield of.instead(source, node.iter, source.text(node.iter.args[0])), "in another order", node.iter


def copies(source: Source, node: ast.AST) -> Edits:
    """A copy more, or a value cut from the graph."""
    torch = "torch" in source.modules
    operands = [node.left, node.right] if isinstance(node, ast.BinOp) and torch else []
    arguments = node.args if isinstance(node, ast.Call) else []
    for value in (*_values(node), *arguments, *operands):
        if isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.BinOp):
            text = f"({source.text(value)})" if isinstance(value, ast.BinOp) else source.text(value)
            copied = isinstance(value, ast.Call) and function_name(value) in COPYING
            if value not in operands and not (copied and torch):
                kind = "with a copy in C order" if copied else "with a copy"  # `.copy()` of it may lie otherwise
                yield of.instead(source, value, f"{text}.{'clone' if torch else 'copy'}()"), kind, value
            if torch:
                yield of.instead(source, value, f"{text}.detach()"), "with `detach`", value


def slices(source: Source, node: ast.AST) -> Edits:
    """Another slice."""
    for splice in of.part(source, node):
        yield splice, "with another slice", node


def removed(source: Source, node: ast.AST) -> Edits:
    """A statement left out."""
    if isinstance(node, REMOVABLE):
        yield of.instead(source, node, "pass"), "without it", node
    elif isinstance(node, ast.If) and not node.orelse:
        yield Splice(source.start(node.test), source.end(node.test), "False"), "without it", node


def moved(source: Source, node: ast.AST) -> Edits:
    """A statement earlier or later in its block, or out of a loop or a branch, or into one."""
    for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
        if not isinstance(block, list) or not block or not isinstance(block[0], ast.stmt):
            continue
        for i, j in combinations(range(len(block)), 2):
            if j - i <= FARTHEST and not any(isinstance(one, FIXED) for one in block[i : j + 1]):
                between = f"\n{' ' * block[i].col_offset}"
                start, end = source.start(block[i]), source.end(block[j])
                text = source.text(block[j]) + between + source.slice(start, source.end(block[j - 1]))
                yield Splice(start, end, text), "earlier in its block,", block[j]
                if j - i > 1:
                    text = source.slice(source.start(block[i + 1]), end) + between + source.text(block[i])
                    yield Splice(start, end, text), "later in its block,", block[i]
        for one, other in pairwise(block):
            if isinstance(one, BLOCKS) and "\n" not in source.text(other):
                last = one.body[-1]
                text = f"\n{' ' * last.col_offset}{source.text(other)}"
                yield Splice(source.end(last), source.end(other), text), "inside the block above,", other
        if isinstance(node, BLOCKS) and len(block) > 1 and "\n" not in source.text(block[-1]):
            last = block[-1]
            start = source.start(last) - last.col_offset
            text = f"{' ' * node.col_offset}{source.text(last)}"
            yield Splice(start, source.end(last), text), "outside of the block,", last


def _values(node: ast.AST) -> list[ast.expr]:
    """The values that a statement returns or assigns."""
    value = node.value if isinstance(node, ast.Return | ast.Assign) else None
    return list(value.elts) if isinstance(value, ast.Tuple) else [] if value is None else [value]


OPERATORS: tuple[Operator, ...] = (
    *(habits.late_bound, habits.rebound, habits.of_the_class, habits.in_place, habits.returned, habits.repeated),
    *(habits.other_function, habits.infinite, habits.keys, habits.multiplied, habits.products, habits.sizes),
    *(formulas.masked_before, formulas.stable, formulas.counted),
    *(
        signs,
        removed,
        operations,
        comparisons,
        assigned,
        conditions,
        reductions,
        transposes,
        functions,
        orders,
        numbers,
    ),
    *(formulas.earlier_factor, habits.not_reset, habits.overwritten),
    *(copies, slices, moved, strings, habits.joined, names, more),
)
LIKELY = OPERATORS.index(strings)
"""Operators from this rank on have many edits, which are tried only if none of the others repairs the code."""
