"""Normalizes an answer's syntax tree, removing what is usually changed in a copy: names, comments, layout, order.

Removed: comments, docstrings, annotations, imports, names of locals and helpers, printing, messages of errors.
Normalized: the order of definitions, of keyword arguments, of operands of `+`, `*` and `==`, and of neighbouring
assignments that do not read each other; `a > b` becomes `b < a`, and `y = f(x); return y` becomes `return f(x)`. The
result is compared, never run, so a rule may change values for some types, such as `a + b` for two lists.
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

MOST_CHARACTERS = 40_000
"""Most characters of an answer; the longest reference has a twentieth of that."""
MOST_NODES = 8_000
SHINGLE = 6
"""Length, in nodes of the tree in reading order, of the runs that are compared."""
_MIRRORED: dict[type[ast.cmpop], ast.cmpop] = {ast.Gt: ast.Lt(), ast.GtE: ast.LtE()}
_LOCAL = "·"
"""Replaces each of the answer's own names where only its kind matters."""
Written = tuple[ast.stmt, list[str]]
_FIELDS_LEFT_OUT = frozenset({"ctx", "type_comment", "annotation", "returns", "kind", "type_params", "simple"})


class NotCompared(ValueError):
    """The answer has no tree; the message says why."""


@dataclass(frozen=True)
class Tree:
    """What two answers are compared by."""

    digest: bytes
    """Equal for answers with the same normalized tree."""
    shingles: array[int]
    """Sorted hashes of all distinct runs of `SHINGLE` nodes, with the answer's own names alike."""
    nodes: int


def tree_of(code: str, kept: Iterable[str]) -> Tree:
    """The tree of an answer; `kept`: names that mean the same in every answer, such as those of exercises.

    Raises:
        NotCompared: the code is not Python, or is too large or too deeply nested.
    """
    if len(code) > MOST_CHARACTERS:
        raise NotCompared(f"it has more than {MOST_CHARACTERS:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about invalid escapes, which are the learner's
            module = ast.parse(code)
        size = sum(1 for _ in ast.walk(module))
        if size > MOST_NODES:
            raise NotCompared(f"its tree has more than {MOST_NODES:,} nodes")
        form = _Form(module, frozenset(kept))
        named, nameless = form.written()
    except SyntaxError as error:
        raise NotCompared(f"it is not Python (line {error.lineno})") from None
    except ValueError as error:
        raise error if isinstance(error, NotCompared) else NotCompared("it is not Python") from None
    except (RecursionError, MemoryError):
        raise NotCompared("it is nested too deeply") from None
    digest = hashlib.blake2b("\n".join(named).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return Tree(digest, _shingles(nameless), len(nameless))


def _shingles(nodes: list[str]) -> array[int]:
    """Hash each run of nodes, with the same numbers in every process."""
    runs = {"\n".join(nodes[i : i + SHINGLE]) for i in range(max(1, len(nodes) - SHINGLE + 1))}
    digests = (hashlib.blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).digest() for run in runs)
    return array("Q", sorted(int.from_bytes(digest, "big") for digest in digests))


class _Form:
    """Writes the normalized tree twice: with its own names numbered, and with all of them alike."""

    def __init__(self, module: ast.Module, kept: frozenset[str]) -> None:
        self._module = module
        self._own = _own_names(module) - kept
        self._kept = kept
        self._numbers: dict[str, str] = {}

    def written(self) -> tuple[list[str], list[str]]:
        words = self._body(self._module.body, sort_all=True)
        self._numbers = _numbers(words)  # so that the second pass can order what differs only in names
        words = self._body(self._module.body, sort_all=True)
        numbers = _numbers(words)
        return [numbers.get(word, word) for word in words], [_nameless(word) for word in words]

    def _body(self, statements: list[ast.stmt], *, sort_all: bool = False) -> list[str]:
        """The statements in order, with those sorted whose order has no effect."""
        telling = _inlined([one for one in statements if not _has_no_effect(one)])
        written = [(one, self._statement(one)) for one in telling]
        if sort_all and all(isinstance(one, ast.FunctionDef | ast.ClassDef) for one, _ in written):
            written.sort(key=self._order)
        else:
            written = self._with_independent_sorted(written)
        return [word for _, words in written for word in words]

    def _statement(self, node: ast.stmt) -> list[str]:
        match node:
            case ast.AnnAssign(target=target, value=value):
                return ["Assign", *self._expression(target), *self._expression(value)]
            case ast.Raise(exc=ast.Call(func=error)):
                return ["Raise", *self._expression(error)]
            case ast.Assert(test=test):
                return ["Assert", *self._expression(test)]
            case ast.ClassDef():
                return [
                    "ClassDef",
                    self._name(node.name),
                    *self._list(node.bases),
                    *self._body(node.body, sort_all=True),
                ]
        return self._any(node)

    def _expression(self, node: ast.AST | None) -> list[str]:
        match node:
            case None:
                return ["-"]
            case ast.Name(id=name):
                return [self._name(name)]
            case ast.arg(arg=name):
                return [self._name(name)]
            case ast.Attribute(value=value, attr=attribute):
                return [f".{attribute}", *self._expression(value)]
            case ast.Constant(value=value):
                return [f"={_number(value)!r}"]
            case ast.BinOp(op=ast.Add() | ast.Mult()):
                operands = [self._expression(one) for one in _operands(node, type(node.op))]
                return [f"{type(node.op).__name__}{len(operands)}", *self._sorted(operands)]
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                if mirrored := _MIRRORED.get(type(op)):
                    left, op, right = right, mirrored, left
                sides = [self._expression(left), self._expression(right)]
                sides = [sides[0] + sides[1]] if not isinstance(op, ast.Eq | ast.NotEq) else sides
                return [type(op).__name__, *self._sorted(sides)]
            case ast.Call(func=func, args=args, keywords=keywords):
                named = [[f"{one.arg}=", *self._expression(one.value)] for one in keywords]
                return ["Call", *self._expression(func), *self._list(args), *self._sorted(named)]
        return self._any(node)

    def _any(self, node: ast.AST) -> list[str]:
        """A node: its kind, then its fields."""
        words = [type(node).__name__]
        for field, value in ast.iter_fields(node):
            if field in _FIELDS_LEFT_OUT:
                continue
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                words += ["{", *self._body(value), "}"]
            elif isinstance(value, list):
                words += self._list(value)
            elif isinstance(value, ast.AST):
                words += self._expression(value)
            elif isinstance(value, str):
                words.append(self._name(value))
            elif value is not None:
                words.append(repr(value))
        return words

    def _list(self, nodes: list[ast.AST] | list[ast.expr]) -> list[str]:
        return [word for node in nodes if not isinstance(node, str) for word in self._expression(node)]

    def _with_independent_sorted(self, written: list[Written]) -> list[Written]:
        """Sort neighbouring assignments that do not read each other's names."""
        done: list[Written] = []
        run: list[Written] = []
        given: set[str] = set()
        read: set[str] = set()
        for statement, words in written:
            target, reads = _plain_assignment(statement)
            if not target or target in given | read or reads & given:
                done += sorted(run, key=self._order)
                run, given, read = [], set(), set()
            if target:
                run.append((statement, words))
                given.add(target)
                read |= reads
            else:
                done.append((statement, words))
        return done + sorted(run, key=self._order)

    def _sorted(self, parts: list[list[str]]) -> list[str]:
        return [word for part in sorted(parts, key=self._sortable) for word in part]

    def _order(self, written: Written) -> tuple[list[str], list[str]]:
        return self._sortable(written[1])

    def _sortable(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Sort key: first without names, then by the order in which names appear."""
        return [_nameless(word) for word in words], [self._numbers.get(word, word) for word in words]

    def _name(self, name: str) -> str:
        return f"{_LOCAL}{name}" if name in self._own else name


def _own_names(module: ast.Module) -> set[str]:
    """The names that an answer defines (variables, parameters, helpers), without those that it imports."""
    own: set[str] = set()
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                own.add(name)
            case ast.arg(arg=name):
                own.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                own.add(name)
            case ast.ExceptHandler(name=str(name)):
                own.add(name)
    return own


def _inlined(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Replace `y = f(x)` followed by `return y` with `return f(x)`."""
    match statements:
        case [*before, ast.Assign(targets=[ast.Name(id=given)], value=value), ast.Return(value=ast.Name(id=returned))]:
            if given == returned:
                return [*before, ast.Return(value=value)]
    return statements


def _plain_assignment(statement: ast.stmt) -> tuple[str, set[str]]:
    """The target of a plain assignment and the names that it reads; empty for any other statement."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=value):
            return target, {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    return "", set()


def _operands(node: ast.AST, of: type[ast.operator]) -> list[ast.AST]:
    """The operands of a nested sum or product, without brackets."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, of):
        return [*_operands(node.left, of), *_operands(node.right, of)]
    return [node]


def _numbers(words: list[str]) -> dict[str, str]:
    """Number the answer's own names in order of appearance."""
    own = dict.fromkeys(word for word in words if word.startswith(_LOCAL))
    return {word: f"{_LOCAL}{number}" for number, word in enumerate(own)}


def _nameless(word: str) -> str:
    return _LOCAL if word.startswith(_LOCAL) else word


def _has_no_effect(node: ast.stmt) -> bool:
    """Whether a statement has no effect on the answer's values."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.AnnAssign(value=None):
            return True
        case ast.Expr(value=ast.Constant() | ast.Call(func=ast.Name(id="print"))):
            return True
    return False


def _number(value: object) -> object:
    """1.0 for 1, which mean the same in most answers."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53 else value
