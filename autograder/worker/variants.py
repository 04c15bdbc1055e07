"""Runs variants of a submission, one after the other in one process, each in a new module.

Only the changed statements are compiled again. A timer ends a variant that runs too long; one that escapes the timer or
kills the process costs the submission nothing but the search for a repair. A page has no timer and no second process:
there `time_limit` ends a variant, and the page ends its Python if a variant escapes that.
"""

from __future__ import annotations
import __future__

import ast
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import CodeType, FrameType
from typing import Any

from autograder.worker.execution import Program
from autograder.worker.interrupts import limited as limited_by_timer
from autograder.worker.seeds import seed_again

_ONLY_SHOWN = ("print", "display", "show")
"""Functions whose calls at the top level define nothing."""


class Variants:
    """A submission's statements, compiled once.

    Args:
        statements: as in `messages.TakeStatements`.
        within: limits the seconds of the code inside it, and raises `TooLong`; by default a timer of the processor's
            time, for which `handle_timer` must have been called.
    """

    def __init__(
        self,
        module: str,
        statements: Sequence[tuple[str, int, str]],
        within: Callable[[float], AbstractContextManager[None]] = limited_by_timer,
    ) -> None:
        self._module = module
        self._within = within
        self._statements = statements
        self._labels = frozenset(label for label, _, _ in statements)
        self._flags: list[int] = []
        self._codes: list[CodeType | None] = []
        flags = 0
        for number, (_, _, source) in enumerate(statements):
            flags |= _future_flags(source)
            self._flags.append(flags)
            self._codes.append(self._compiled(number, source))
        self._seconds = 0.0
        self._traced = False
        self.lines: list[tuple[str, int]] = []
        """The lines that the last traced call ran, in order, each once."""
        self.entered = 0
        """How many Python functions the last traced variant has entered so far, those of libraries included."""

    def run(self, changed: Sequence[tuple[int, str]], seconds: float, traced: bool) -> Program:
        """The program of a variant, as in `messages.RunVariant`. A statement that raises defines nothing.

        Raises:
            SyntaxError: a changed statement is not Python.
            TooLong: the statements take too long.
        """
        codes = dict(enumerate(self._codes))
        for number, source in changed:
            codes[number] = self._compiled(number, source)
            if codes[number] is None:
                raise SyntaxError(f"statement {number}")
        self._seconds, self._traced = seconds, traced
        seed_again()
        program = Program(self._module)
        if traced:
            self.entered = 0
        with self._within(seconds), self._tracing(self._counted):
            for code in codes.values():
                if code is not None:
                    try:
                        program.execute(code)
                    except Exception:
                        continue
        return program

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Limit the time of one call, and note its lines if they are traced. Raises `TooLong`."""
        if self._traced:
            self.lines.clear()
        seen = dict[tuple[str, int], None]()

        def tracer(frame: FrameType, event: str, argument: Any) -> Any:
            self._counted(frame, event, argument)
            if frame.f_code.co_filename not in self._labels:
                return None
            if event == "line":
                seen[frame.f_code.co_filename, frame.f_lineno] = None
            return tracer

        try:
            with self._within(self._seconds), self._tracing(tracer):
                yield
        finally:
            if self._traced:
                self.lines = list(seen)

    @contextmanager
    def _tracing(self, tracer: Callable[[FrameType, str, Any], Any]) -> Iterator[None]:
        """Trace the code inside, in all its threads, if this variant is traced."""
        if not self._traced:
            yield
            return
        try:
            threading.settrace(tracer)
            sys.settrace(tracer)
            yield
        finally:
            sys.settrace(None)
            threading.settrace(None)

    def _counted(self, frame: FrameType, event: str, argument: Any) -> None:
        """Count a function that is entered, and trace no further into it."""
        self.entered += event == "call"

    @staticmethod
    def still_runs() -> bool:
        """Whether a variant runs on in another thread, which no timer can end."""
        return threading.active_count() > 1

    def _compiled(self, number: int, source: str) -> CodeType | None:
        """The code of a statement; None if it is not Python, or only shows something."""
        label, before, _ = self._statements[number]
        try:
            tree = ast.parse("\n" * before + source)
            if not tree.body or _only_shows(tree.body[0]):
                return None
            return compile(tree, label, "exec", flags=self._flags[number], dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _only_shows(statement: ast.stmt) -> bool:
    """Whether a statement is an assertion, a text, a name or a call that prints: nothing that later code needs."""
    if isinstance(statement, ast.Assert):
        return True
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    if not isinstance(value, ast.Call):
        return not isinstance(value, ast.Await | ast.NamedExpr)
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    return name in _ONLY_SHOWN


def _future_flags(source: str) -> int:
    if "__future__" not in source:
        return 0
    features = (getattr(__future__, word.strip("(),"), None) for word in source.split())
    return sum(feature.compiler_flag for feature in features if isinstance(feature, __future__._Feature))
