"""Variants: slips that are described to a learner, from the mutations of a reference and some further ones.

The words say what was replaced by what, never on which line, because a learner's code has other lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.diagnosis.mutation import operators as of
from autograder.diagnosis.mutation.nodes import function_name, nodes_in
from autograder.diagnosis.mutation.text import Source, Splice

Edits = Iterator[tuple[Splice, str]]
OPERAND = {"+": "term", "-": "term", "*": "factor", "/": "divisor", "//": "divisor", "@": "factor", "**": "exponent"}
"""The name of each operator's right operand."""
NOT_NAMED = {
    *("int", "float", "list", "tuple", "dict", "set", "range", "len", "reversed", "sorted", "zip", "enumerate"),
    "finalize",
}
"""Functions whose absence says nothing about the subject: builtins, and `finalize`, which is called at exit."""


@dataclass(frozen=True)
class Variant:
    """One small change of a reference, and its description."""

    splice: Splice
    words: str


def variants(source: Source, regions: Sequence[ast.AST], *, exercise: str) -> list[Variant]:
    """The variants of some parts of a source; no two are the same program.

    Args:
        exercise: the exercise that the parts belong to; if it is a class, a variant names the method.
    """
    found: dict[str, Variant] = {}
    for region in regions:
        for node in nodes_in(region):
            for splice, words in _variants_of_node(source, node):
                tree = source.tree_after(splice)
                if tree is not None and tree not in found:
                    found[tree] = Variant(splice, words + _in_method(source, splice, exercise))
    unchanged = {ast.dump(ast.parse(source.text(node))) for node in source.tree.body}
    return [variant for tree, variant in found.items() if tree not in unchanged]


def _in_method(source: Source, splice: Splice, exercise: str) -> str:
    """Words that name the method, if the exercise is a class: the contract gives the method's name."""
    owner, _, method = source.function(splice.start).partition(".")
    named = method.partition(".")[0]
    return f" in {named}" if named and owner == exercise.partition(".")[0] and owner[:1].isupper() else ""


def _variants_of_node(source: Source, node: ast.AST) -> Edits:
    for finder in FINDERS:
        yield from finder(source, node)


def operands(source: Source, node: ast.AST) -> Edits:
    """Another operator; an operand lost, squared or doubled; operands swapped; brackets removed."""
    if not isinstance(node, ast.BinOp):
        return
    symbol = of.SYMBOLS[type(node.op)]
    others = {"+": "-", "-": "+", "*": "/", "/": "*", "**": "*", "@": "*", "//": "/"}
    start, end = of.token_between(source, node.left, node.right, symbol)
    if symbol in others:
        yield Splice(start, end, others[symbol]), f"`{others[symbol]}` in the place of `{symbol}`"
    if symbol == "/":
        yield Splice(start, end, "//"), "`//` in the place of `/`, which drops the fraction"
    left, right = source.slice(source.start(node), start).rstrip(), source.slice(end, source.end(node)).lstrip()
    if symbol in OPERAND:
        last, first = OPERAND[symbol], {"-": "term", "/": "numerator", "**": "base"}.get(symbol, OPERAND[symbol])
        yield of.instead(source, node, left), f"{_phrase(source, last, node.right)} left out"
        if symbol not in ("/", "//", "**"):
            yield of.instead(source, node, right), f"{_phrase(source, first, node.left)} left out"
    if symbol in of.ORDERED and symbol != "@" and not (symbol == "**" and _is_integer(node.left)):
        a, b = (f"({t})" if isinstance(n, of.OPERATIONS) else t for t, n in ((left, node.left), (right, node.right)))
        yield of.instead(source, node, f"({b} {symbol} {a})"), f"the operands of `{symbol}` in each other's place"
    if symbol == "*":
        for operand in (node.left, node.right):
            if not isinstance(operand, ast.Constant):
                text = source.text(operand)
                yield (
                    of.instead(source, operand, f"(({text}) * ({text}))"),
                    f"{_phrase(source, 'factor', operand)} squared",
                )
    if symbol == "/":
        text = source.text(node.right)
        yield (
            of.instead(source, node.right, f"(({text}) * ({text}))"),
            f"{_phrase(source, 'divisor', node.right)} squared",
        )
        yield (
            of.instead(source, node.right, f"(({text}) ** 0.5)"),
            f"the root of {_phrase(source, 'divisor', node.right)}",
        )
    if symbol in "+-":
        for operand in (node.left, node.right):
            text = source.text(operand)
            yield (
                of.instead(source, operand, f"(2 * ({text}))"),
                f"{_phrase(source, 'term', operand)} counted twice",
            )
    yield from _brackets(source, node)


def _brackets(source: Source, node: ast.BinOp) -> Edits:
    """Without the brackets around an operand, so that precedence changes."""
    for operand in (node.left, node.right):
        start, end = source.start(operand), source.end(operand)
        if (
            isinstance(operand, ast.BinOp)
            and source.slice(start - 1, start) == "("
            and source.slice(end, end + 1) == ")"
        ):
            yield (
                Splice(start - 1, end + 1, source.text(operand)),
                "brackets left out, so that another operation is first",
            )


def _phrase(source: Source, kind: str, operand: ast.expr) -> str:
    """`a factor`, or `the factor gamma` if the operand is an argument, whose name the contract gives."""
    name = operand.id if isinstance(operand, ast.Name) else ""
    if name and name in source.parameters.get(operand, ()):
        return f"the {kind} {name}"
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def assigned(source: Source, node: ast.AST) -> Edits:
    """`+=` that assigns, subtracts, or is removed."""
    if isinstance(node, ast.AugAssign):
        symbol = of.SYMBOLS[type(node.op)] + "="
        start, end = of.token_between(source, node.target, node.value, symbol)
        yield Splice(start, end, "="), f"`=` in the place of `{symbol}`, so that the last write wins"
        if symbol in ("+=", "-="):
            other = "-=" if symbol == "+=" else "+="
            yield Splice(start, end, other), f"`{other}` in the place of `{symbol}`"
        yield of.instead(source, node, "pass"), f"a `{symbol}` left out"


def compared(source: Source, node: ast.AST) -> Edits:
    """Another relation, or a condition without one of its parts."""
    if isinstance(node, ast.Compare):
        together = [node.left, *node.comparators]
        for left, operation, right in zip(together, node.ops, node.comparators, strict=False):
            symbol = of.SYMBOLS[type(operation)]
            start, end = of.token_between(source, left, right, symbol)
            for other in of.INSTEAD[symbol]:
                yield Splice(start, end, other), f"`{other}` in the place of `{symbol}`"
    for splice in of.boolean(source, node):
        if isinstance(node, ast.BoolOp):
            whole = (splice.start, splice.end) == (source.start(node), source.end(node))
            here, there = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield splice, "one of several conditions left out" if not whole else f"`{there}` in the place of `{here}`"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield splice, "a minus sign left out"
        else:
            yield splice, "a `not` left out"


def signs(source: Source, node: ast.AST) -> Edits:
    """A minus before a result."""
    for splice in of.sign(source, node):
        yield splice, "the sign turned round"


def numbers(source: Source, node: ast.AST) -> Edits:
    """Another number; an axis; a keyword's truth value."""
    for splice in of.number(source, node):
        parent = source.parents[node]
        text = splice.text.strip("()")
        if isinstance(parent, ast.keyword):
            called = source.parents[parent]
            of_what = function_name(called) if isinstance(called, ast.Call) else ""
            if parent.arg in ("axis", "dim"):
                along = "over all entries at once" if text == "None" else f"along axis {text}"
                yield splice, f"`{of_what}` {along}"
            elif text in ("True", "False"):
                yield splice, f"{parent.arg}={text}" + (f" in `{of_what}`" if of_what else "")
            continue
        if text in ("True", "False"):
            yield splice, f"`{text}` in the place of `{text == 'False'}`"
            continue
        before, after = ast.literal_eval(node), ast.literal_eval(text)
        changes = {before + 1: "one too large", before - 1: "one too small", before * 2: "twice as large"}
        how = "0" if after == 0 else changes.get(after, "of the other sign")
        indexed = isinstance(parent, ast.Subscript) or isinstance(source.parents[parent], ast.Subscript)
        yield splice, f"an index {how}" if indexed else f"a constant {how}"


def axes(source: Source, node: ast.AST) -> Edits:
    """A reduction over all axes, or over one fewer."""
    for splice in of.axes(source, node):
        called = source.parents[node]
        name = function_name(called) if isinstance(called, ast.Call) else "a sum"
        yield splice, f"`{name}` over all entries at once" if splice.text == "None" else f"`{name}` over one axis fewer"


def transposed(source: Source, node: ast.AST) -> Edits:
    """A transpose too many or too few."""
    for splice in of.transpose(source, node):
        extra = isinstance(node, ast.BinOp)
        every = isinstance(node, ast.Call)
        yield splice, "a transpose too many" if extra else "all axes turned" if every else "a transpose left out"


def calls(source: Source, node: ast.AST) -> Edits:
    """A function left out or applied twice; two arguments swapped; a missing keyword."""
    if not isinstance(node, ast.Call):
        return
    name = function_name(node)
    whole = (source.start(node), source.end(node))
    for splice in of.call(source, node):
        if (splice.start, splice.end) == whole:
            if name == "range":
                early = splice.text.startswith("range(") and splice.text.endswith("- 1)")
                yield splice, "a loop that ends one step early" if early else "a loop that begins one step late"
            elif name not in NOT_NAMED:
                yield splice, f"`{name}` left out"
        elif splice.text:
            if name not in NOT_NAMED:
                yield splice, f"two arguments of `{name}` in each other's place"
        else:
            lost = next((k.arg for k in node.keywords if source.end(k) == splice.end), "")
            yield splice, f"`{name}` without {lost}="
    if (
        len(node.args) == 1
        and not node.keywords
        and name not in NOT_NAMED
        and isinstance(node.func, ast.Name | ast.Attribute)
        and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp)
    ):
        twice = f"{source.text(node.func)}({source.text(node)})"
        yield of.instead(source, node, twice), f"`{name}` applied twice"


def opposites(source: Source, node: ast.AST) -> Edits:
    """`min` for `max`, `mean` for `sum`."""
    for splice in of.opposite(source, node):
        assert isinstance(node, ast.Call)
        yield splice, f"`{splice.text}` in the place of `{function_name(node)}`"


def products(source: Source, node: ast.AST) -> Edits:
    """The axes of an einsum in another order."""
    for splice in of.einsum(source, node):
        yield splice, "the axes of `einsum` in another order"


def orders(source: Source, node: ast.AST) -> Edits:
    """Two results or two entries swapped."""
    for splice in of.order(source, node):
        returned = isinstance(source.parents[node], ast.Return)
        yield splice, f"two {'results' if returned else 'entries'} in each other's place"


def conditions(source: Source, node: ast.AST) -> Edits:
    """A condition without effect; a slice without a bound."""
    for splice in of.condition(source, node):
        if not isinstance(node, ast.While):
            yield splice, f"a condition that {'always' if splice.text == 'True' else 'never'} holds"
    for splice in of.part(source, node):
        yield splice, "a slice without one of its bounds"


def statements(source: Source, node: ast.AST) -> Edits:
    """A statement left out; a loop that ends early."""
    for splice in of.statement(source, node):
        if splice.text == "if True":
            assert isinstance(node, ast.With)
            guard = node.items[0].context_expr
            name = function_name(guard) if isinstance(guard, ast.Call) else ""
            yield splice, f"`with {name}` left out" if name else "a `with` left out"
        elif splice.text in ("break", "continue"):
            here = "continue" if splice.text == "break" else "break"
            yield splice, f"`{splice.text}` in the place of `{here}`"
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield splice, f"a call of `{function_name(node.value)}` left out"
        elif isinstance(node, ast.Raise) and splice.text == "pass":
            yield splice, "an error that is not raised"
        elif isinstance(node, ast.Assign):
            yield splice, "an assignment left out"
    if isinstance(node, ast.For | ast.While) and node.body:
        last = node.body[-1]
        after = _next_statement(source, node)
        indent = " " * last.col_offset
        if isinstance(after, ast.Return):
            returned = source.text(after)
            text = f"{source.text(last)}\n{indent}{returned}"
            yield (
                Splice(source.start(last), source.end(last), text),
                "`return` inside the loop: it ends after one round",
            )
        else:
            text = f"{source.text(last)}\n{indent}break"
            yield Splice(source.start(last), source.end(last), text), "a loop that ends after one round"


def _next_statement(source: Source, node: ast.AST) -> ast.stmt | None:
    parent = source.parents[node]
    for _, block in ast.iter_fields(parent):
        if isinstance(block, list) and node in block:
            at = block.index(node)
            return block[at + 1] if at + 1 < len(block) else None
    return None


def names(source: Source, node: ast.AST) -> Edits:
    """An argument in place of another, or one of several values that were unpacked together."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return
    known = source.parameters.get(node, ())
    together = source.unpacked.get(node, ())
    for other in dict.fromkeys([*(known if node.id in known else ()), *together]):
        if other not in (node.id, "self", "ctx"):
            yield of.instead(source, node, other), f"`{other}` in the place of `{node.id}`"


def again(source: Source, node: ast.AST) -> Edits:
    """A function applied to its own result, such as the sigmoid of a sigmoid."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        loaded = [n for n in ast.walk(node.value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        for name in dict.fromkeys(n.id for n in loaded if n.id not in source.modules):
            uses = [n for n in loaded if n.id == name]
            if len(uses) == 1 and isinstance(node.value, ast.BinOp | ast.Call):
                whole, start = source.text(node.value), source.start(node.value)
                head = source.slice(start, source.start(uses[0]))
                tail = source.slice(source.end(uses[0]), source.end(node.value))
                yield Splice(start, source.end(node.value), f"{head}({whole}){tail}"), "a function applied twice"


def bounds(source: Source, node: ast.AST) -> Edits:
    """A slice that ends one entry early."""
    if (
        isinstance(node, ast.Slice)
        and node.upper is not None
        and not isinstance(node.upper, ast.Constant | ast.UnaryOp)
    ):
        text = source.text(node.upper)
        yield of.instead(source, node.upper, f"({text}) - 1"), "a slice that ends one entry early"


FINDERS = (
    *(operands, assigned, compared, signs, numbers, axes, transposed, calls, opposites, products, orders),
    *(conditions, statements, names, again, bounds),
)


def _is_integer(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
