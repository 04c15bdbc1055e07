"""Running a submission: its cells, one by one, and then calls of what they defined."""

from __future__ import annotations
import __future__

import ast
import itertools
import linecache
import re
import sys
import traceback
import warnings
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

from autograder.worker.imports import CELLS

_AWAITS = 0x80
"""`inspect.CO_COROUTINE`: what code has that awaits at its top. Most submissions do without `inspect`."""
_MAGIC = re.compile(r"^\s*(?:[%!?].*|.*\?|[\w, ]+=\s*[%!].*)\s*$")


@dataclass(frozen=True)
class Failure:
    """An exception of the submission's code, as data."""

    kind: str
    bases: list[str]
    """Names of the builtin classes that it derives from."""
    message: str
    place: str
    """The innermost line of the submission itself, as `cell 3, line 7`; empty if there is none."""
    line: str
    """That line's text."""
    trace: str

    def as_data(self) -> dict[str, Any]:
        return dict(vars(self))


class Program:
    """The module that a submission's cells fill."""

    def __init__(self, name: str) -> None:
        self.module = ModuleType(name)
        self._await = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if name == "__main__" else 0
        """A notebook's cell may `await` outside of functions, as Jupyter runs it; in a file that is not Python."""
        sys.modules[name] = self.module
        warnings.simplefilter("ignore")

    def run_cell(self, source: str, label: str, offset: int) -> Failure | None:
        """Run one cell; `offset` lines precede it in its file. An import that fails does not end the cell."""
        refused: dict[str, Failure] = {}
        try:
            linecache.cache[label] = (len(source), None, ("\n" * offset + source).splitlines(keepends=True), label)
            whole = _whole(source, label, offset)
            if whole is not None:
                exec(whole, self.module.__dict__)
                return None
            tree = _parse(source)
            if offset:
                ast.increment_lineno(tree, offset)
            flags = 0
            for imports, statements in itertools.groupby(tree.body, key=_imports):
                for body in [[one] for one in statements] if imports else [list(statements)]:
                    flags |= _future_flags(body[0])
                    code = compile(ast.Module(body, []), label, "exec", flags=flags | self._await, dont_inherit=True)
                    try:
                        self._run(code)
                    except ImportError as error:
                        if not imports:
                            raise
                        refused |= dict.fromkeys(_bound_by(body[0]), failure(error))
        except BaseException as error:
            lacking = error.name if type(error) is NameError else None
            if type(lacking) is str and lacking in refused:
                return refused[lacking]
            return failure(error, label, offset)
        return next(iter(refused.values()), None)

    def _run(self, code: CodeType) -> None:
        if not code.co_flags & _AWAITS:
            exec(code, self.module.__dict__)
            return
        import asyncio  # slow, and few cells need it

        asyncio.run(eval(code, self.module.__dict__))

    def defined(self, name: str) -> bool:
        """Whether the cells left something callable under `name`; `Tensor.backward` is a method that they define."""
        owner, _, method = name.rpartition(".")
        if owner:
            try:
                return callable(getattr(self.module.__dict__.get(owner), method, None))
            except BaseException:  # of a property or a metaclass of the submission
                return False
        return callable(self.module.__dict__.get(name))

    def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call what the submission calls `name`."""
        return self.module.__dict__[name](*args, **kwargs)


def failure(error: BaseException, label: str = "", offset: int = 0) -> Failure:
    """What can be said of an exception, whatever its class does to hide it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(CELLS)]
    place = _place(frames[-1].filename, frames[-1].lineno) if frames else ""
    line = frames[-1].line or "" if frames else ""
    if isinstance(error, SyntaxError) and label:
        place = _place(label, (error.lineno or 1) + (offset if error.filename == "<unknown>" else 0))
        line = str(error.text or "").strip()
    try:
        message = str(error.msg) if isinstance(error, SyntaxError) else str(error)
    except BaseException:
        message = ""
    bases = [cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins"]
    trace = "".join(traceback.format_list(frames))
    return Failure(type(error).__name__[:80], bases, message[:1000], place, line[:200], trace[-4000:])


def _place(label: str, line: int | None) -> str:
    """A line in a notebook is counted in its cell, one in a file from the file's top."""
    return f"line {line}" if label.startswith("line ") else f"{label}, line {line}"


def _whole(source: str, label: str, offset: int) -> CodeType | None:
    """The code of a cell that imports nothing, and so runs as a whole; None where that is not so, or it has magics."""
    if "import" in source:
        return None
    try:
        return compile("\n" * offset + source, label, "exec", dont_inherit=True)
    except SyntaxError:  # said by whoever takes it apart
        return None


def _parse(source: str) -> ast.Module:
    """The cell's syntax tree; IPython's magics and shell lines are blanked out only where Python cannot read them."""
    try:
        return ast.parse(source)
    except SyntaxError:
        lines = source.splitlines()
        plain = [re.match(r"\s*", line)[0] + "pass" if _MAGIC.match(line) else line for line in lines]  # type: ignore[index]
        if plain == lines:
            raise
        return ast.parse("\n".join(plain))


def _imports(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _bound_by(statement: ast.stmt) -> list[str]:
    """The names that an import defines."""
    assert isinstance(statement, ast.Import | ast.ImportFrom)
    return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]


def _future_flags(statement: ast.stmt) -> int:
    if not isinstance(statement, ast.ImportFrom) or statement.module != "__future__":
        return 0
    features = (getattr(__future__, alias.name, None) for alias in statement.names)
    return sum(feature.compiler_flag for feature in features if feature is not None)
