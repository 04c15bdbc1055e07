"""Edits that mend habits of writing code: a name rebound, a late binding, a write in place, a state that is not reset.

Each has few edits in a function, and its kind says what is wrong, so these come before the edits of single operands.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.diagnosis.mutation.nodes import function_name
from autograder.diagnosis.mutation.operands import in_scope
from autograder.diagnosis.mutation.operators import SYMBOLS, instead, opposite, token_between
from autograder.diagnosis.mutation.text import Source, Splice

Edits = Iterator[tuple[Splice, str, ast.AST]]
FUNCTIONS = (ast.FunctionDef, ast.Lambda)
LOOPS = (ast.For, ast.While)
MOST_USES = 4
"""Uses of an overwritten name that may need its earlier value."""
RESHAPED = {"reshape", "ravel", "flatten", "view"}
INFINITE = {"where", "masked_fill", "masked_fill_", "full", "full_like", "fill_", "fill"}
"""Functions whose constant may have to be an infinity."""
TAKEN_FOR = {
    "state_dict": ("named_parameters",),
    "modules": ("children",),
    "children": ("modules",),
    "named_modules": ("named_children",),
    "named_children": ("named_modules",),
    "floor": ("round",),
    "trunc": ("round",),
    "round": ("floor", "ceil"),
}
SIZED = {"eye", "zeros", "ones", "arange", "range", "empty", "identity"}
MOST_CONDITIONS = 4
_EARLIER = "_earlier"


def late_bound(source: Source, node: ast.AST) -> Edits:
    """An inner function with the values that a loop's names have when it is made."""
    if not isinstance(node, FUNCTIONS) or node.args.kwarg:
        return
    around, looped = source.parents.get(node), set[str]()
    while around is not None and not isinstance(around, FUNCTIONS):
        if isinstance(around, ast.For):
            looped |= _stored(around.target, *around.body)
        elif isinstance(around, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            looped |= _stored(*(each.target for each in around.generators))
        around = source.parents.get(around)
    own = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
    body = node.body if isinstance(node.body, list) else [node.body]
    inside = [one for part in body for one in ast.walk(part) if isinstance(one, ast.Name)]
    own |= {one.id for one in inside if isinstance(one.ctx, ast.Store)}
    read = dict.fromkeys(one.id for one in inside if one.id in looped and one.id not in own)
    if not read:
        return
    kept = ", ".join(f"{name}={name}" for name in read)
    if isinstance(node, ast.Lambda):
        at = source.start(node) + len("lambda")
        text = (
            f" {kept}"
            if not own
            else f" {source.slice(at, source.start(node.body)).rstrip().rstrip(':').strip()}, {kept}"
        )
        yield Splice(at, source.start(node.body), f"{text}: "), _AT_THAT_TIME, node
    else:
        start, end = source.start(node), source.start(node.body[0])
        at = source.bytes.find(
            b")", max([start, *(source.end(one) for one in ast.walk(node.args) if hasattr(one, "lineno"))]), end
        )
        if at > 0:
            yield Splice(at, at, f", {kept}" if own else kept), _AT_THAT_TIME, node


_AT_THAT_TIME = "with the values that the loop's variables have when this function is made,"


def rebound(source: Source, node: ast.AST) -> Edits:
    """A write into a parameter instead of an assignment that only binds its name to something new."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        name, function = node.targets[0].id, _function_around(source, node)
        if function is not None and name in {one.arg for one in function.args.args}:
            value = source.text(node.value)
            text = f"{name}.copy_({value})" if "torch" in source.modules else f"{name}[...] = {value}"
            yield instead(source, node, text), "written into the caller's object,", node


def of_the_class(source: Source, node: ast.AST) -> Edits:
    """An attribute of one object instead of an attribute that all objects of its class share."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
        function = _function_around(source, node)
        classes = {one.name for one in ast.walk(source.tree) if isinstance(one, ast.ClassDef)}
        if node.value.id in classes and function is not None and function.args.args:
            own, text = function.args.args[0].arg, source.text(node)
            same = [one for one in ast.walk(function) if isinstance(one, ast.Attribute) and source.text(one) == text]
            splices = [(source.start(one), source.end(one), f"{own}.{node.attr}") for one in same]
            yield together(source, splices), "of this object, not of all objects of the class,", node


def in_place(source: Source, node: ast.AST) -> Edits:
    """A PyTorch method without its final underscore; a write into what may be a reshaped copy."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    name, receiver = node.func.attr, node.func.value
    if name.endswith("_") and not name.endswith("__") and name != "requires_grad_":
        end = source.end(node.func)
        if isinstance(source.parents[node], ast.Expr):
            if isinstance(receiver, ast.Name):
                text = (
                    f"{receiver.id} = {source.slice(source.start(node), end - 1)}{source.slice(end, source.end(node))}"
                )
                yield Splice(source.start(node), source.end(node), text), "without writing in place", node
        else:
            yield Splice(end - 1, end, ""), "without writing in place", node
    made = receiver.func if isinstance(receiver, ast.Call) else None
    if name == "copy_" and node.args and isinstance(made, ast.Attribute) and made.attr in RESHAPED:
        whole, value = source.text(made.value), source.text(node.args[0])
        text = f"{whole}.copy_(({value}).reshape({whole}.shape))"
        yield instead(source, node, text), f"without `{made.attr}`, which may copy,", node


def overwritten(source: Source, node: ast.AST) -> Edits:
    """A name's earlier value where it is used after the name was bound to another one."""
    if not isinstance(node, ast.Assign | ast.AugAssign) or not (block := _block_of(source, node)):
        return
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
    if not isinstance(target, ast.Name):
        return
    name, start = target.id, source.start(node)
    function = _function_around(source, node)
    if function is None or not any(bound == name and line < node.lineno for bound, line in source.bound_in(function)):
        return
    text = source.slice(start, source.end(node))
    if isinstance(node, ast.AugAssign):
        text = f"{name} = {name} {SYMBOLS[type(node.op)]} ({source.text(node.value)})"
    later = [one for statement in block[block.index(node) + 1 :] for one in ast.walk(statement)]
    uses = [one for one in later if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)]
    for use in uses[:MOST_USES]:
        between = source.slice(source.end(node), source.start(use))
        kept = f"{_EARLIER} = {name}\n{' ' * node.col_offset}{text}{between}{_EARLIER}"
        yield Splice(start, source.end(use), kept), "with the value from before kept for later,", node


def returned(source: Source, node: ast.AST) -> Edits:
    """An inner function, such as a hook, that returns nothing."""
    if isinstance(node, ast.Return) and node.value is not None:
        function = _function_around(source, node)
        if function is not None and _function_around(source, function) is not None:
            yield instead(source, node, "return None"), "with nothing returned", node


def repeated(source: Source, node: ast.AST) -> Edits:
    """A step repeated while its condition holds, or taken once; a quotient rounded up."""
    if (
        isinstance(node, ast.If)
        and not node.orelse
        and source.slice(source.start(node), source.start(node) + 2) == "if"
    ):
        tested = {one.id for one in ast.walk(node.test) if isinstance(one, ast.Name)}
        bound = _stored(*node.body)
        if tested & bound and isinstance(node.body[-1], ast.Assign | ast.AugAssign):
            start = source.start(node)
            yield Splice(start, start + 2, "while"), "repeated as long as its condition holds,", node
    elif isinstance(node, ast.While) and not node.orelse:
        start = source.start(node)
        yield Splice(start, start + 5, "if"), "once only,", node
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        left, right = source.text(node.left), source.text(node.right)
        yield instead(source, node, f"(-(-({left}) // ({right})))"), "rounded up,", node


def not_reset(source: Source, node: ast.AST) -> Edits:
    """A name set back to the value that it had before a loop, where a block within the loop begins."""
    if not isinstance(node, LOOPS) or not (block := _block_of(source, node)):
        return
    changed = _stored(*node.body)
    starts = dict[str, str]()
    for statement in block[: block.index(node)]:
        for target, value in _assigned(statement):
            if isinstance(target, ast.Name) and target.id in changed and _is_plain(value):
                starts[target.id] = source.text(value)
    inside = [one for part in node.body for one in ast.walk(part) if isinstance(one, (ast.If, *LOOPS))]
    blocks = [node.body, *(each for one in inside for each in (one.body, one.orelse) if each)]
    for name, begun in starts.items():
        for each in blocks:
            first = each[0]
            if source.slice(source.start(first) - first.col_offset, source.start(first)).strip():
                continue  # on the line of its header
            at = source.start(first)
            text = f"{name} = {begun}\n{' ' * first.col_offset}"
            yield Splice(at, at, text), "with a name set back to where it started,", first


def infinite(source: Source, node: ast.AST) -> Edits:
    """An infinity instead of another constant."""
    parent = source.parents.get(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        while isinstance(parent, ast.UnaryOp):
            node, parent = parent, source.parents.get(parent)
        if isinstance(parent, ast.Call) and function_name(parent) in INFINITE:
            for text in ('float("-inf")', 'float("inf")'):
                yield instead(source, node, text), "with another constant", parent


def keys(source: Source, node: ast.AST) -> Edits:
    """A memo whose keys are two arguments of the function instead of one."""
    if not isinstance(node, ast.FunctionDef):
        return
    subscripts = [one for one in ast.walk(node) if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name)]
    for memo in dict.fromkeys(one.value.id for one in subscripts if isinstance(one.value, ast.Name)):
        used = [one.slice for one in subscripts if isinstance(one.value, ast.Name) and one.value.id == memo]
        compared = [one for one in ast.walk(node) if isinstance(one, ast.Compare)]
        asked = [one for one in compared if isinstance(one.ops[0], ast.In | ast.NotIn)]
        used += [one.left for one in asked if getattr(one.comparators[0], "id", "") == memo]
        own = [one.arg for one in node.args.args]
        texts = {source.text(one) for one in used}
        if len(used) < 2 or len(texts) != 1 or not texts & set(own):
            continue
        for other in own:
            if other not in texts:
                splices = [(source.start(one), source.end(one), f"({texts.copy().pop()}, {other})") for one in used]
                yield together(source, splices), "with another key", used[0]


def multiplied(source: Source, node: ast.AST) -> Edits:
    """A product that starts from 1 instead of a sum that starts from 0, and the reverse."""
    if not isinstance(node, LOOPS) or not (block := _block_of(source, node)):
        return
    starts = [pair for statement in block[: block.index(node)] for pair in _assigned(statement)]
    for step in (one for one in node.body if isinstance(one, ast.AugAssign)):
        symbol = SYMBOLS[type(step.op)]
        other, new, old = {"+": ("*=", "1", 0), "*": ("+=", "0", 1)}.get(symbol, ("", "", None))
        for target, value in starts if other else ():
            if source.text(target) == source.text(step.target) and getattr(value, "value", None) == old:
                between = token_between(source, step.target, step.value, f"{symbol}=")
                splices = [(source.start(value), source.end(value), new), (*between, other)]
                kind = f"with another operator than `{symbol}=`, and another value to start from,"
                yield together(source, splices), kind, step


def joined(source: Source, node: ast.AST) -> Edits:
    """A condition to which a comparison is added that the same function makes elsewhere."""
    test = node.test if isinstance(node, ast.If | ast.IfExp | ast.While) else None
    function = _function_around(source, node)
    if test is None or function is None:
        return
    asked = [one for one in ast.walk(function) if isinstance(one, ast.Compare)]
    own = {source.text(one) for one in ast.walk(test) if isinstance(one, ast.Compare)}
    others = [text for text in dict.fromkeys(map(source.text, asked)) if text not in own]
    for other in others[:MOST_CONDITIONS]:
        for word in ("or", "and"):
            yield instead(source, test, f"(({source.text(test)}) {word} ({other}))"), "with one more condition", test


def other_function(source: Source, node: ast.AST) -> Edits:
    """Replace the function of a call by another that people confuse with it."""
    for splice in opposite(source, node):
        if isinstance(node, ast.Call):
            yield splice, f"with another function than `{function_name(node)}`", node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name, end = node.func.attr, source.end(node.func)
        for other in TAKEN_FOR.get(name, ()):
            text = f"{other}()" if name == "state_dict" else other
            whole = source.parents[node]
            items = isinstance(whole, ast.Attribute) and whole.attr == "items"
            if name == "state_dict" and items and isinstance(source.parents[whole], ast.Call):
                yield Splice(end - len(name), source.end(source.parents[whole]), text), _instead_of(name), node
            elif name != "state_dict":
                yield Splice(end - len(name), end, text), _instead_of(name), node


def _instead_of(name: str) -> str:
    return f"with another function than `{name}`"


def products(source: Source, node: ast.AST) -> Edits:
    """The sum of all entries' products instead of a matrix product; two terms with their first factors swapped."""
    if not isinstance(node, ast.BinOp):
        return
    left, right = node.left, node.right
    if isinstance(node.op, ast.MatMult):
        text = f"(({source.text(left)}) * ({source.text(right)})).sum()"
        yield instead(source, node, text), "with another product", node
    terms = [one for one in (left, right) if isinstance(one, ast.BinOp) and isinstance(one.op, ast.Mult)]
    if isinstance(node.op, ast.Add | ast.Sub) and len(terms) == 2:
        one, other = (term.left for term in terms)
        splices = [(source.start(a), source.end(a), f"({source.text(b)})") for a, b in ((one, other), (other, one))]
        yield together(source, splices), "with the factors swapped", node


def sizes(source: Source, node: ast.AST) -> Edits:
    """An array's size instead of a size computed from its entries; 1 instead of a call whose result is added up."""
    if isinstance(node, ast.Call) and function_name(node) in SIZED and node.args:
        (first, *_) = node.args
        if any(isinstance(one, ast.Call) for one in ast.walk(first)):
            for name in in_scope(source, node):
                yield instead(source, first, f"{name}.shape[-1]"), "with another size", node
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.value, ast.Call):
        value = node.value
        yield instead(source, value, "1"), f"with a constant in the place of `{source.text(value)}`", node


def together(source: Source, splices: list[tuple[int, int, str]]) -> Splice:
    """One splice that makes several replacements, which do not overlap."""
    splices = sorted(set(splices))
    text, at = "", splices[0][0]
    for start, end, new in splices:
        text, at = text + source.slice(at, start) + new, end
    return Splice(splices[0][0], at, text)


def _stored(*nodes: ast.AST) -> set[str]:
    """The names that nodes bind."""
    names = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _is_plain(node: ast.expr) -> bool:
    """Whether an expression is a constant, or makes an empty list, dict or set."""
    if isinstance(node, ast.List | ast.Tuple):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Call) and not node.args)


def _assigned(node: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment with their values."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        (target,) = node.targets
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _block_of(source: Source, node: ast.AST) -> list[ast.stmt]:
    """The statements that a statement is one of; empty for other nodes."""
    parent = source.parents.get(node)
    for name in ("body", "orelse", "finalbody"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and node in block:
            return block
    return []


def _function_around(source: Source, node: ast.AST) -> ast.FunctionDef | None:
    around = source.parents.get(node)
    while around is not None and not isinstance(around, ast.FunctionDef):
        around = source.parents.get(around)
    return around
