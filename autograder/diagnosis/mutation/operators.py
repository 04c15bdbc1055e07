"""The mutation operators: the small slips that turn one expression or statement into another.

Each operator takes the source and one node and yields edits. They cover the slips of this course: a sign, a lost
operand or term, an axis, `keepdims`, a transpose, a wrong order, a missing copy, a condition without effect.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from autograder.diagnosis.mutation.nodes import function_name, is_base, is_number, nodes_in
from autograder.diagnosis.mutation.text import Source, Splice

Operator = Callable[[Source, ast.AST], Iterator[Splice]]

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
INSTEAD = {
    "+": ("-", "*"),
    "-": ("+",),
    "*": ("/", "+"),
    "/": ("*",),
    "%": ("//",),
    "**": ("*",),
    "@": ("*",),
    "//": ("/", "*"),
    "&": ("|",),
    "|": ("&",),
    "^": ("**", "&"),
    "<<": (">>",),
    ">>": ("<<",),
    "<": ("<=", ">"),
    "<=": ("<", ">="),
    ">": (">=", "<"),
    ">=": (">", "<="),
    "==": ("!=",),
    "!=": ("==",),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
}
ORDERED = ("-", "/", "//", "%", "**", "@")
"""Operators whose operands may not be swapped."""
OPPOSITES = {
    "min": "max",
    "minimum": "maximum",
    "argmin": "argmax",
    "amin": "amax",
    "floor": "ceil",
    "tril": "triu",
    "zeros": "ones",
    "zeros_like": "ones_like",
    "any": "all",
    "sum": "mean",
    "first": "last",
}
OPPOSITES |= {there: here for here, there in OPPOSITES.items()}
AXES = {0: ("1", "-1", "None"), 1: ("0", "-1", "None"), -1: ("0", "-2", "None")}
NOT_UNWRAPPED = {"range", "len", "isinstance", "issubclass", "zip", "enumerate", "super", "getattr", "hasattr", "type"}
"""Functions that cannot be replaced by their first argument without an immediate error."""
SYMMETRIC = {"swapaxes", "minimum", "maximum", "logaddexp", "hypot", "allclose", "array_equal", "min", "max"}
"""Functions whose arguments may be swapped."""
OPERATIONS = (ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda)


def binary(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Another operator, one operand alone, operands swapped."""
    if not isinstance(node, ast.BinOp):
        return
    symbol = SYMBOLS[type(node.op)]
    start, end = token_between(source, node.left, node.right, symbol)
    for other in INSTEAD[symbol]:
        yield Splice(start, end, other)
    left = source.slice(source.start(node), start).rstrip()
    right = source.slice(end, source.end(node)).lstrip()
    if not isinstance(node.left, ast.Constant) or not isinstance(node.right, ast.Constant):
        yield instead(source, node, left)
        yield instead(source, node, right)
    if symbol in ORDERED:
        left, right = (
            f"({t})" if isinstance(n, OPERATIONS) and not t.startswith("(") else t
            for t, n in ((left, node.left), (right, node.right))
        )
        yield instead(source, node, f"{right} {symbol} {left}")


def augmented(source: Source, node: ast.AST) -> Iterator[Splice]:
    """`x += y` as `x -= y` or as `x = y`, or removed."""
    if isinstance(node, ast.AugAssign):
        symbol = SYMBOLS[type(node.op)]
        start, end = token_between(source, node.target, node.value, symbol + "=")
        for other in INSTEAD[symbol]:
            yield Splice(start, end, other + "=")
        yield Splice(start, end, "=")
        yield instead(source, node, "pass")


def comparison(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Another relation."""
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, operation, right in zip(operands, node.ops, node.comparators, strict=False):
            symbol = SYMBOLS[type(operation)]
            start, end = token_between(source, left, right, symbol)
            for other in INSTEAD[symbol]:
                yield Splice(start, end, other)


def boolean(source: Source, node: ast.AST) -> Iterator[Splice]:
    """`and` for `or`, one operand alone; `not`, `~` or `-` removed."""
    if isinstance(node, ast.BoolOp):
        symbol, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in pairwise(node.values):
            yield Splice(*token_between(source, left, right, symbol), other)
        for value in node.values:
            yield instead(source, node, source.text(value), value)
    elif isinstance(node, ast.UnaryOp) and not is_number(node):
        yield instead(source, node, source.text(node.operand), node.operand)


def sign(source: Source, node: ast.AST) -> Iterator[Splice]:
    """A minus before a value that is returned, assigned or put into a dict."""
    values: list[ast.expr | None] = []
    if isinstance(node, ast.Return | ast.Assign | ast.AugAssign):
        values = list(node.value.elts) if isinstance(node.value, ast.Tuple) else [node.value]
    elif isinstance(node, ast.Dict):
        values = list(node.values)
    elif isinstance(node, ast.Lambda):
        values = [node.body]
    for value in values:
        if isinstance(value, ast.Call) and function_name(value) in ("zeros", "zeros_like"):
            continue  # -0.0 is equal to 0.0
        if isinstance(value, ast.BinOp | ast.Name | ast.Call | ast.Attribute | ast.Subscript):
            text = source.text(value)
            yield instead(source, value, f"-({text})" if isinstance(value, ast.BinOp) else f"-{text}")


def number(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Plus one, minus one, doubled, 0, negated; True for False."""
    if not is_number(node) or (is_number(source.parents[node]) and isinstance(node, ast.Constant)):
        return
    value = ast.literal_eval(node)
    if isinstance(value, bool):
        yield instead(source, node, str(not value))
        return
    keyword = source.parents[node]
    if isinstance(keyword, ast.keyword) and keyword.arg in ("axis", "dim") and value in AXES:
        others: list[str] = list(AXES[value])
    else:
        others = [repr(other) for other in (value + 1, value - 1, value * 2, value * 0) if other != value]
        others += [repr(-value)] if value < 0 else []
    for text in dict.fromkeys(others):
        yield instead(source, node, f"({text})" if text.startswith("-") and is_base(source, node) else text)


def axes(source: Source, node: ast.AST) -> Iterator[Splice]:
    """All axes, or one fewer, where several are named."""
    if isinstance(node, ast.keyword) and node.arg in ("axis", "dim") and not isinstance(node.value, ast.Constant):
        yield instead(source, node.value, "None")
        if isinstance(node.value, ast.Tuple):
            for left_out in node.value.elts:
                kept = [source.text(axis) for axis in node.value.elts if axis is not left_out]
                yield instead(source, node.value, f"({', '.join(kept)},)")


def transpose(source: Source, node: ast.AST) -> Iterator[Splice]:
    """A transpose removed, added, or reversing all axes."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield instead(source, node, source.text(node.value), node.value)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        for operand in (node.left, node.right):
            if isinstance(operand, ast.Name | ast.Subscript | ast.Attribute | ast.Call):
                yield instead(source, operand, f"{source.text(operand)}.T")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "swapaxes":
        yield instead(source, node, f"{source.text(node.func.value)}.T")


def call(source: Source, node: ast.AST) -> Iterator[Splice]:
    """The call replaced by its receiver or first argument; two arguments swapped; a keyword argument removed."""
    if not isinstance(node, ast.Call):
        return
    if not isinstance(source.parents[node], ast.Expr):
        unwrapped = _unwrapped(source, node)
        if unwrapped is not None:
            yield instead(source, node, source.text(unwrapped), unwrapped)
    if function_name(node) not in SYMMETRIC:
        yield from _swaps(source, node.args)
    before = [node.func, *node.args]
    for keyword in node.keywords:
        if keyword.arg not in ("strict", "keepdims", None):
            start = source.end(before[-1]) if len(before) > 1 else source.start(keyword)
            yield Splice(start, source.end(keyword), "")
        before.append(keyword)  # type: ignore[arg-type]
    if isinstance(node.func, ast.Name) and node.func.id == "range" and len(node.args) == 1:
        yield instead(source, node, f"range({source.text(node.args[0])} - 1)")
        yield instead(source, node, f"range(1, {source.text(node.args[0])})")


def opposite(source: Source, node: ast.AST) -> Iterator[Splice]:
    """`min` for `max`, `zeros` for `ones`, `mean` for `sum`."""
    if isinstance(node, ast.Call):
        name = function_name(node)
        if name in OPPOSITES and not (isinstance(node.func, ast.Name) and OPPOSITES[name] == "mean"):
            yield Splice(source.end(node.func) - len(name), source.end(node.func), OPPOSITES[name])


def einsum(source: Source, node: ast.AST) -> Iterator[Splice]:
    """The result's axes in another order, or one operand's reversed."""
    if not isinstance(node, ast.Call) or function_name(node) != "einsum":
        return
    spec = node.args[0]
    if isinstance(spec, ast.Constant) and isinstance(spec.value, str) and "->" in spec.value:
        inputs, _, output = spec.value.partition("->")
        for i in range(len(output) - 1):
            swapped = output[:i] + output[i + 1] + output[i] + output[i + 2 :]
            yield instead(source, spec, repr(f"{inputs}->{swapped}").replace("'", '"'))
        operands = inputs.split(",")
        for i, operand in enumerate(operands):
            turned = ",".join([*operands[:i], operand[::-1], *operands[i + 1 :]])
            yield instead(source, spec, repr(f"{turned}->{output}").replace("'", '"'))


def order(source: Source, node: ast.AST) -> Iterator[Splice]:
    """Two neighbours in a tuple, list or index, or two values of a dict, swapped."""
    if isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load):
        parent = source.parents[node]
        of_axes = isinstance(parent, ast.keyword) and parent.arg in ("axis", "dim")
        if not of_axes and not isinstance(parent, ast.Compare):  # `x in (a, b)` equals `x in (b, a)`
            yield from _swaps(source, node.elts)
    elif isinstance(node, ast.Dict):
        yield from _swaps(source, node.values)


def condition(source: Source, node: ast.AST) -> Iterator[Splice]:
    """A condition that is always true or always false."""
    tests: list[ast.expr] = []
    if isinstance(node, ast.If | ast.IfExp):
        tests = [node.test]
    elif isinstance(node, ast.comprehension):
        tests = node.ifs
    for test in tests:
        yield instead(source, test, "True")
        yield instead(source, test, "False")
    if isinstance(node, ast.While):  # an endless loop times out, which says nothing
        yield instead(source, node.test, "False")


def part(source: Source, node: ast.AST) -> Iterator[Splice]:
    """A slice without its start, stop or step."""
    if isinstance(node, ast.Slice):
        bounds = [source.text(bound) if bound else "" for bound in (node.lower, node.upper, node.step)]
        for i, bound in enumerate(bounds):
            if bound:
                kept = [*bounds[:i], "", *bounds[i + 1 :]]
                yield instead(source, node, ":".join(kept if kept[2] else kept[:2]))


def statement(source: Source, node: ast.AST) -> Iterator[Splice]:
    """A statement removed; `break` for `continue`; an exception of another kind."""
    calls = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    assigns = isinstance(node, ast.Assign) and _can_be_left_out(source, node)
    if calls or assigns or isinstance(node, ast.Break | ast.Continue | ast.Delete | ast.Raise):
        yield instead(source, node, "pass")
    if isinstance(node, ast.Break | ast.Continue):
        yield instead(source, node, "continue" if isinstance(node, ast.Break) else "break")
    elif isinstance(node, ast.With) and not any(item.optional_vars for item in node.items):
        yield Splice(source.start(node), source.end(node.items[-1].context_expr), "if True")
    elif isinstance(node, ast.Raise):
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if isinstance(kind, ast.Name):
            yield instead(source, kind, "ArithmeticError")


OPERATORS: tuple[Operator, ...] = (
    *(binary, augmented, comparison, boolean, sign, number, axes, transpose, call, opposite, einsum, order),
    *(condition, part, statement),
)


def mutations(source: Source, node: ast.AST) -> Iterator[Splice]:
    """All mutations of `node` and its descendants, without those that checks could not notice."""
    for inner in nodes_in(node):
        for operator in OPERATORS:
            yield from operator(source, inner)


def instead(source: Source, node: ast.AST, text: str, new: ast.AST | None = None) -> Splice:
    """Replace `node` by `text`, in parentheses if `new`, the node of that text, needs them there."""
    start, end = source.start(node), source.end(node)
    enclosed = source.slice(start - 1, start) == "(" and source.slice(end, end + 1) == ")"
    parent = source.parents[node]
    tight = isinstance(parent, (*OPERATIONS, ast.Attribute, ast.Subscript, ast.Call))
    if isinstance(new, OPERATIONS) and tight and not enclosed:
        text = f"({text})"
    return Splice(start, end, text)


def token_between(source: Source, left: ast.AST, right: ast.AST, symbol: str) -> tuple[int, int]:
    """The range of the operator between two operands; comments between them may not contain it."""
    start, end = source.end(left), source.start(right)
    found = re.search(re.escape(symbol).replace(r"\ ", r"\s+"), source.slice(start, end))
    assert found is not None
    return start + found.start(), start + found.end()


def _swaps(source: Source, nodes: list[ast.expr]) -> Iterator[Splice]:
    """Swap each pair of neighbours."""
    for left, right in pairwise(nodes):
        if not any(isinstance(node, ast.Starred) for node in (left, right)):
            between = source.slice(source.end(left), source.start(right))
            swapped = source.text(right) + between + source.text(left)
            yield Splice(source.start(left), source.end(right), swapped)


def _unwrapped(source: Source, node: ast.Call) -> ast.expr | None:
    """The receiver or argument that remains of a call without its function; None if that fails immediately."""
    first = node.args[0] if node.args and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp) else None
    if isinstance(node.func, ast.Name):
        return None if node.func.id in NOT_UNWRAPPED else first
    if not isinstance(node.func, ast.Attribute):
        return None
    root: ast.expr = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in source.modules:
        return first
    return None if isinstance(node.func.value, ast.Name) and node.func.value.id == "self" else node.func.value


def _can_be_left_out(source: Source, node: ast.Assign) -> bool:
    """Whether all names are still defined without the assignment."""
    (target, *others) = node.targets
    if others or isinstance(target, ast.Attribute | ast.Subscript):
        return True
    names = [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]
    function = source.parents[node]
    while not isinstance(function, ast.FunctionDef | ast.Lambda | ast.Module):
        function = source.parents[function]
    if not isinstance(function, ast.FunctionDef):
        return False
    known = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    known |= {
        n.id
        for n in ast.walk(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and source.start(n) < source.start(node)
    }
    return known.issuperset(names)
