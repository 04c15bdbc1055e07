"""Maps the syntax tree of a Python source to its bytes."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, order=True)
class Splice:
    """Replaces bytes `start` to `end` of a source by `text`: makes a mutant; an `Edit`, in lines, is for readers."""

    start: int
    end: int
    text: str

    def applied(self, source: bytes) -> str:
        """The source after the replacement."""
        return (source[: self.start] + self.text.encode() + source[self.end :]).decode()


class Source:
    """The text of a module, with its syntax tree."""

    def __init__(self, text: str) -> None:
        self.bytes = text.encode()
        self.tree = ast.parse(text)
        self._bound: dict[ast.AST, list[tuple[str, int]]] = {}
        self._attributes: dict[ast.AST, list[str]] = {}
        self._offsets = [0]
        for line in self.bytes.splitlines(keepends=True):
            self._offsets.append(self._offsets[-1] + len(line))
        self._comments = [
            (self._offsets[token.start[0] - 1] + len(token.line[: token.start[1]].encode()), token.string)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        ]

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """Each node's parent."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def modules(self) -> set[str]:
        """The names under which the source imports modules, such as `np`."""
        imports = [node for node in ast.walk(self.tree) if isinstance(node, ast.Import)]
        return {(alias.asname or alias.name).split(".")[0] for node in imports for alias in node.names}

    @cached_property
    def parameters(self) -> dict[ast.AST, tuple[str, ...]]:
        """For each name, the parameters of the outermost function or method around it: the ones that callers know."""
        found: dict[ast.AST, tuple[str, ...]] = {}
        for function in (one for top in self.tree.body for one in _outermost_functions(top)):
            names = tuple(argument.arg for argument in (*function.args.args, *function.args.kwonlyargs))
            found.update({node: names for node in ast.walk(function) if isinstance(node, ast.Name)})
        return found

    @cached_property
    def unpacked(self) -> dict[ast.AST, tuple[str, ...]]:
        """For each name, those unpacked together with it in the same function, as in `height, width = x.shape`."""
        found: dict[ast.AST, tuple[str, ...]] = {}
        for function in (one for top in self.tree.body for one in _outermost_functions(top)):
            nodes = list(ast.walk(function))
            targets = [node for node in nodes if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Store)]
            for target in targets:
                names = tuple(one.id for one in target.elts if isinstance(one, ast.Name))
                for node in nodes:
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
                        found[node] = tuple(dict.fromkeys([*found.get(node, ()), *names]))
        return found

    def bound_in(self, function: ast.AST) -> list[tuple[str, int]]:
        """The names that a function binds, each with its line."""
        if function not in self._bound:
            stored = (n for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
            self._bound[function] = [(name.id, name.lineno) for name in stored]
        return self._bound[function]

    def attributes_in(self, function: ast.AST) -> list[str]:
        """The attributes that a function reads of its own names, such as `self.value`, each once."""
        if function not in self._attributes:
            read = (n for n in ast.walk(function) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
            of_names = (n for n in read if isinstance(n.value, ast.Name) and n.value.id not in self.modules)
            values = (n for n in of_names if not _is_called(self.parents[n], n))
            self._attributes[function] = list(dict.fromkeys(self.text(n) for n in values))
        return self._attributes[function]

    def start(self, node: ast.AST) -> int:
        return self._offsets[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self._offsets[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        return self.slice(self.start(node), self.end(node))

    def slice(self, start: int, end: int) -> str:
        return self.bytes[start:end].decode()

    def line(self, offset: int) -> int:
        """The line number, from 1, of the byte at `offset`."""
        return self.bytes.count(b"\n", 0, offset) + 1

    def lines_of(self, splice: Splice) -> tuple[str, str]:
        """The lines that a splice touches, before and after it, each joined to one line without comments."""
        first = self._offsets[self.line(splice.start) - 1]
        last = self._offsets[self.line(max(splice.end - 1, splice.start))]
        head, tail = self._code(first, splice.start), self._code(splice.end, last)
        before = head + self._code(splice.start, splice.end) + tail
        return " ".join(before.split()), " ".join((head + splice.text + tail).split())

    def _code(self, start: int, end: int) -> str:
        """The text between two offsets, without comments."""
        kept, at = b"", start
        for comment, text in self._comments:
            if start <= comment < end:
                kept += self.bytes[at:comment]
                at = comment + len(text.encode())
        return (kept + self.bytes[at:end]).decode()

    def statement(self, offset: int) -> ast.stmt:
        """The top-level statement that contains the byte at `offset`."""
        return next(node for node in self.tree.body if self.start(node) <= offset < self.end(node))

    def function(self, offset: int) -> str:
        """The dotted name of the function or class that contains the byte at `offset`; empty if none does."""
        around = [node for node in self._definitions if self.start(node) <= offset < self.end(node)]
        return ".".join(node.name for node in around)

    @cached_property
    def _definitions(self) -> list[ast.FunctionDef | ast.ClassDef]:
        """All functions and classes, in source order."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        return sorted(found, key=self.start)

    def tree_after(self, splice: Splice) -> str | None:
        """A dump of the changed top-level statement's tree; None if it has a syntax error."""
        node = self.statement(splice.start)
        start, end = self.start(node), self.end(node)
        try:
            return ast.dump(ast.parse(self.slice(start, splice.start) + splice.text + self.slice(splice.end, end)))
        except SyntaxError:
            return None


def _is_called(parent: ast.AST, node: ast.AST) -> bool:
    return isinstance(parent, ast.Call) and parent.func is node


def _outermost_functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    if isinstance(node, ast.FunctionDef):
        yield node
    elif isinstance(node, ast.ClassDef):
        for child in node.body:
            yield from _outermost_functions(child)
