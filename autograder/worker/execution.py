"""Runs a submission's cells one by one, and then calls the functions that they defined."""

from __future__ import annotations
import __future__

import ast
import itertools
import linecache
import re
import sys
import traceback
import warnings
from dataclasses import dataclass, replace
from types import CodeType, ModuleType
from typing import Any

from autograder.worker.calls import ForbiddenCall
from autograder.worker.imports import CELLS
from autograder.worker.lines import lines_of
from autograder.worker.stand_ins import in_a_notebook

_AWAITS = 0x80
"""`inspect.CO_COROUTINE`, set for code with a top-level `await`; copied, because importing `inspect` is slow."""
_NAMES = re.compile(r"[\w, ]+")
_RUNS_ITS_LINE = re.compile(r"^(\s*)%(?:time|prun|debug)\s+(?:-\S+\s+)*(?=[^\s-])")
"""Magics that run the rest of their line in the notebook's namespace, such as `%time grads = backward(c)`."""
MOST_MAGICS = 100
"""At most this many lines of a cell are tried one by one; then every line that looks like a magic is blanked."""
REFUSED = ForbiddenCall.__name__
"""`Failure.kind` of a call that is refused while cells run."""
MOST_FAILURES = 100
"""After this many failed statements, the rest of a cell is not run."""
WENT_ON = "what is defined below it was defined all the same"
WENT_ON_AFTER_ALL = "what else is defined below it was defined all the same"
"""Suffixes of a failure's message if later definitions were still run: the failing statement was not, or was, itself a
definition."""


@dataclass(frozen=True)
class Failure:
    """An exception raised by the submission's code, as data."""

    kind: str
    bases: list[str]
    """Names of the exception's builtin base classes."""
    message: str
    place: str
    """The innermost line of the submission's own code, such as `cell 3, line 7`; empty if there is none."""
    line: str
    """That line's text."""
    trace: str

    def as_data(self) -> dict[str, Any]:
        return dict(vars(self))


class Program:
    """The module that a submission's cells fill."""

    def __init__(self, name: str) -> None:
        self.module = ModuleType(name)
        self.awaits = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if name == "__main__" else 0
        """Compiler flag for top-level `await`: Jupyter allows it in a notebook's cells, Python does not in a file."""
        sys.modules[name] = self.module
        self.module.__dict__.update(in_a_notebook())
        warnings.simplefilter("ignore")
        self.refused: Failure | None = None
        """The first call that was refused while cells ran."""
        self.lost: dict[str, Failure] = {}
        """Names that are undefined because the statement binding them made a refused call, with its failure."""

    def run_cell(self, source: str, label: str, offset: int) -> Failure | None:
        """Run one cell; `offset` lines precede it in its file.

        A failed import or a refused call ends only its own statement. After any other failure, only the imports and
        definitions below it are run, and the failure's message says so.
        """
        linecache.cache[label] = (len(source), None, lines_of("\n" * offset + source, keepends=True), label)
        try:
            whole = _whole(source, label, offset)
            if whole is None:
                tree = parsed(source)
                if offset:
                    ast.increment_lineno(tree, offset)
        except BaseException as error:
            return failure(error, label, offset)
        cell = _CellRun(self, label, offset)
        if whole is None:
            cell.run(tree.body)
        else:
            try:
                exec(whole, self.module.__dict__)
            except BaseException as error:
                tree = ast.parse("\n" * offset + source)
                cell.ended(error, tree.body)
        return cell.told()

    def execute(self, code: CodeType) -> None:
        """Run code in the module's namespace."""
        if not code.co_flags & _AWAITS:
            exec(code, self.module.__dict__)
            return
        import asyncio  # slow, and few cells need it

        asyncio.run(eval(code, self.module.__dict__))

    def defined(self, name: str) -> bool:
        """Whether `name` is callable after the cells have run; `Tensor.backward` is a method of their class."""
        owner, _, method = name.rpartition(".")
        if owner:
            try:
                return callable(getattr(self.module.__dict__.get(owner), method, None))
            except BaseException:  # raised by a property or metaclass of the submission
                return False
        return callable(self.module.__dict__.get(name))

    def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call the submission's function `name`."""
        return self.module.__dict__[name](*args, **kwargs)


class _CellRun:
    """Runs one cell, statement by statement, and records failures."""

    def __init__(self, program: Program, label: str, offset: int) -> None:
        self._program = program
        self._label = label
        self._offset = offset
        self._flags = 0
        self._refused: dict[str, Failure] = {}
        """Names that failed imports did not bind, with the import's failure."""
        self._first: Failure | None = None
        """The failure to report: the first failure that is not a refused call, or else the first refused call."""
        self._over: list[BaseException] = []
        """Exceptions already handled; a later exception may have one of them as its context."""
        self._failures = 0
        self._goes_on = False
        """Whether statements below a failure were run."""
        self._lost_definition = False

    def run(self, statements: list[ast.stmt]) -> None:
        """Run consecutive statements: imports one by one, all others in groups."""
        place = 0
        for imports, group in itertools.groupby(statements, key=_imports):
            for body in [[one] for one in group] if imports else [list(group)]:
                try:
                    self._execute(body)
                except ImportError as error:
                    if not imports:
                        return self.ended(error, statements[place:])
                    self._refused |= dict.fromkeys(_bound_by(body[0]), failure(error))
                except BaseException as error:
                    return self.ended(error, statements[place:])
                place += len(body)
        return None

    def ended(self, error: BaseException, statements: list[ast.stmt]) -> None:
        """Record that one of `statements` raised `error`, and run the imports and definitions below it."""
        told = self._failure(error)
        refused = told.kind == REFUSED
        if self._first is None or (self._first.kind == REFUSED and not refused):
            self._first = told
        self._failures += 1
        failed = _failed(error, statements, self._label)
        if failed is None or self._failures > MOST_FAILURES:
            return
        self._lost_definition |= _defines(statements[failed])
        if refused:
            self._program.lost |= dict.fromkeys(_names_in(statements[failed]), told)
        below = statements[failed + 1 :] if refused else _definitions(statements[failed + 1 :])
        self._goes_on |= bool(below) or refused
        self.run(below)

    def told(self) -> Failure | None:
        """The failure to report for the cell; None if nothing went wrong."""
        if self._first is None:
            return next(iter(self._refused.values()), None)
        if self._goes_on:
            note = WENT_ON_AFTER_ALL if self._lost_definition else WENT_ON
            return replace(self._first, message="; ".join(filter(None, [self._first.message, note])))
        return self._first

    def _execute(self, body: list[ast.stmt]) -> None:
        self._flags |= _future_flags(body[0])
        flags = self._flags | self._program.awaits
        self._program.execute(compile(ast.Module(body, []), self._label, "exec", flags=flags, dont_inherit=True))

    def _failure(self, error: BaseException) -> Failure:
        lacking = error.name if type(error) is NameError else None
        known = self._program.lost | self._refused
        if type(lacking) is str and lacking in known:
            return known[lacking]
        told = failure(error, self._label, self._offset)
        before = self._program.refused
        refusal = _refusal(error, self._over)
        self._over.append(error)
        if refusal is not None:
            told = replace(told, kind=REFUSED, bases=[], message=str(refusal))
            self._program.refused = before or told
        elif before is not None:
            said = f"before it, a call was refused ({before.place}: {before.message})"
            told = replace(told, message="; ".join(filter(None, [told.message, said])))
        return told


def _refusal(error: BaseException | None, over: list[BaseException]) -> ForbiddenCall | None:
    """The refused call among an exception and its causes and contexts; None if there is none before one in `over`."""
    for _ in range(MOST_FAILURES):
        if error is None or any(error is one for one in over):
            return None
        if isinstance(error, ForbiddenCall):
            return error
        error = error.__cause__ or error.__context__
    return None


def failure(error: BaseException, label: str = "", offset: int = 0) -> Failure:
    """Describe an exception, even if methods of its class raise."""
    frames = _own_frames(error)
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


def _own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of cells. A recursion that a watch ends at the start of a function ended at the call of it."""
    walked = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not any(code.co_filename.startswith(CELLS) for code in walked):  # ours: to read their lines takes long
        return []
    frames = traceback.extract_tb(error.__traceback__, limit=len(walked))  # or a cell may set `sys.tracebacklimit`
    found = [pair for pair in zip(walked, frames, strict=True) if pair[1].filename.startswith(CELLS)]
    at_start = len(found) > 1 and found[-1][0].co_firstlineno == found[-1][1].lineno
    return [one for _, one in (found[:-1] if at_start and isinstance(error, RecursionError) else found)]


def unreadable(problem: Failure) -> Failure:
    """The failure of a call whose value cannot be sent, given why."""
    return Failure("UnreadableResult", [], problem.message or problem.kind, "", "", "")


def _place(label: str, line: int | None) -> str:
    """Name a line, counted within its cell in a notebook, or from the top of a file."""
    return f"line {line}" if label.startswith("line ") else f"{label}, line {line}"


def _whole(source: str, label: str, offset: int) -> CodeType | None:
    """Compile a cell in one piece; None if it contains imports or magics and must be run by statement."""
    if "import" in source:
        return None
    try:
        return compile("\n" * offset + source, label, "exec", dont_inherit=True)
    except SyntaxError:  # `parsed` reports it
        return None


def parsed(source: str) -> ast.Module:
    """The cell's syntax tree, with IPython's magics and shell lines blanked out where Python cannot parse them.

    Only the line at which Python stops is blanked, because other lines may only look like a magic: `% b` in brackets
    can continue an expression, and a line of a docstring can end in `?`. If this does not help, every line that looks
    like a magic is blanked; if that fails too, the first error is raised.

    Raises:
        SyntaxError: the source is not Python, with magics or without.
    """
    try:
        return ast.parse(source)
    except SyntaxError as error:
        stopped = error
    true: SyntaxError | None = None
    lines = lines_of(source)
    for _ in range(MOST_MAGICS):
        place = (stopped.lineno or 0) - 1
        if not 0 <= place < len(lines) or not _is_magic(lines[place]):
            true = stopped
            break
        _blank(lines, place)
        try:
            return ast.parse("\n".join(lines))
        except SyntaxError as error:
            stopped = error
    found = [place for place, line in enumerate(lines) if _is_magic(line)]
    for place in found:
        _blank(lines, place)
    if not found:
        raise stopped
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError as error:
        raise true or error from None


def _is_magic(line: str) -> bool:
    """Whether a line looks like `%magic`, `!command`, `?name`, `name?` or `names = %magic`."""
    line = line.strip()
    if line.startswith(("%", "!", "?")) or line.endswith("?"):
        return True
    names, _, value = line.partition("=")
    return value.lstrip().startswith(("%", "!")) and _NAMES.fullmatch(names) is not None


def _blank(lines: list[str], place: int) -> None:
    """Replace a magic and its backslash continuations by `pass`, or `%time` and its like by the code that they run."""
    line = lines[place]
    indent = line[: len(line) - len(line.lstrip())]
    while lines[place].endswith("\\") and place + 1 < len(lines):
        lines[place] = f"{indent}pass"
        place += 1
    runs = _RUNS_ITS_LINE.match(line)
    lines[place] = line[: len(runs[1])] + line[runs.end() :] if runs and line == lines[place] else f"{indent}pass"


def _failed(error: BaseException, statements: list[ast.stmt], label: str) -> int | None:
    """Index of the statement that raised, found by the module-level line in the traceback; None if there is none."""
    at, line = error.__traceback__, None
    while at is not None:
        code = at.tb_frame.f_code
        if code.co_filename == label and code.co_name == "<module>":
            line = at.tb_lineno
        at = at.tb_next
    if line is None:
        return None
    before = [i for i, one in enumerate(statements) if _first_line(one) <= line]
    return before[-1] if before else None


def _first_line(statement: ast.stmt) -> int:
    return min(one.lineno for one in [statement, *getattr(statement, "decorator_list", [])])


def _defines(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _definitions(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The imports and definitions in `statements`, with the assignments that they use or that bind functions."""
    kept: list[ast.stmt] = []
    needed: set[str] = set()
    for one in reversed(statements):
        if _imports(one) or (isinstance(one, ast.Try) and all(map(_imports, one.body))):
            keep = True
        elif isinstance(one, ast.Assign | ast.AnnAssign):
            names = {name.id for name in ast.walk(one) if isinstance(name, ast.Name) and not _loads(name)}
            keep = bool(names & needed) or _gives_a_function(one)
        else:
            keep = _defines(one)
        if keep:
            kept.append(one)
            needed |= {name.id for name in ast.walk(one) if isinstance(name, ast.Name) and _loads(name)}
    return kept[::-1]


def _gives_a_function(statement: ast.Assign | ast.AnnAssign) -> bool:
    """Whether an assignment resembles `relu_vjp = lambda ...`, `Tensor.sum, Tensor.T = total, T` or `N = 10`."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if any(isinstance(one, ast.Attribute) for target in targets for one in getattr(target, "elts", [target])):
        return True
    values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    return all(isinstance(value, ast.Lambda | ast.Name | ast.Attribute | ast.Constant) for value in values)


def _loads(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _imports(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _names_in(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, including names of and in functions defined inside it."""
    found = {name.id for name in ast.walk(statement) if isinstance(name, ast.Name) and not _loads(name)}
    for one in ast.walk(statement):
        if isinstance(one, ast.stmt) and _defines(one):
            found.add(one.name)  # type: ignore[attr-defined]
        elif isinstance(one, ast.stmt) and _imports(one):
            found.update(_bound_by(one))
    return found


def _bound_by(statement: ast.stmt) -> list[str]:
    """The names that an import binds."""
    assert isinstance(statement, ast.Import | ast.ImportFrom)
    return [alias.asname or alias.name.partition(".")[0] for alias in statement.names]


def _future_flags(statement: ast.stmt) -> int:
    if not isinstance(statement, ast.ImportFrom) or statement.module != "__future__":
        return 0
    features = (getattr(__future__, alias.name, None) for alias in statement.names)
    return sum(feature.compiler_flag for feature in features if feature is not None)
