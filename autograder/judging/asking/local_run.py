"""Trusted functions in place of a submission's, called in this process."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autograder.judging.asking.plain_copy import NotPlain, plain_copy
from autograder.judging.asking.prefetched import Prefetched, called
from autograder.judging.asking.source_text import SourceText
from autograder.judging.asking.transport import revive
from autograder.judging.records.errors import Crashed, LearnerError
from autograder.judging.records.keys import key_of
from autograder.submission import Submission
from autograder.wording import clean
from autograder.worker import wire
from autograder.worker.calls import Guard
from autograder.worker.dispatcher import Dispatcher
from autograder.worker.execution import failure, unreadable
from autograder.worker.messages import Answer, Call

Edited = str | tuple[int, ast.stmt]
"""An edited source: its text, or the number of the one changed statement outside of functions, with that statement."""


class LocalRun:
    """Runs our own functions under the same rules as a submission's; values pass the wire format, or are as after it.

    Args:
        functions: by name of the exercise.
        module: passed to scenarios as the submission.
        scenarios: by name.
    """

    def __init__(
        self, functions: dict[str, Callable[..., Any]], module: Any = None, scenarios: dict[str, Any] | None = None
    ) -> None:
        self.source = SourceText(Submission.empty(), [])
        self.prefetched: Prefetched | None = None
        self.module = module
        self._dispatcher = _LocalDispatcher()
        self._dispatcher.program = _Functions(functions, module)
        self._dispatcher.scenarios = scenarios or {}
        self._ended: dict[str, LearnerError] = {}
        self.scenarios = scenarios or {}
        self.guard: Guard | None = None
        """Refuses what an exercise forbids, if set: our own functions may call it."""
        self.edited: Edited | None = None
        """The source, if it is the solutions' after some edits."""

    def guard_with(self, guard: Guard) -> None:
        """Refuse what exercises forbid. The guard has been told what to watch."""
        self.guard = self._dispatcher.guard = guard

    def ask(self, request: Call, seconds: float) -> Answer:
        """The answer to a call; there is no time limit.

        Raises `Crashed` if a value cannot cross the wire format, and from then on at once for the same function.
        """
        name = called(request)
        if name in self._ended:
            raise self._ended[name]
        try:
            with self._refusing(request["forbidden"]):
                return self._dispatcher.asked(request)
        except wire.WireError as unreadable:
            why = f"{name} sent something that cannot be read: {clean(str(unreadable), 100)}."
            self._ended[name] = Crashed(why)
            raise self._ended[name] from None

    @contextmanager
    def _refusing(self, names: list[str]) -> Iterator[None]:
        """Inside, the guard refuses these names; afterwards none, because the process has other code, too."""
        if self.guard is None:
            yield
            return
        self.guard.forbidden = frozenset(names)
        try:
            yield
        finally:
            self.guard.forbidden = frozenset()

    def forget(self) -> None:
        """Do nothing: there is only one process, and our functions keep no state."""


class _Functions:
    """A program whose functions are given rather than defined by cells."""

    def __init__(self, functions: dict[str, Callable[..., Any]], module: Any) -> None:
        self.module = module
        self._functions = functions

    def defined(self, name: str) -> bool:
        return name in self._functions

    def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self._functions[name](*args, **kwargs)


class _LocalDispatcher(Dispatcher):
    """Caller and dispatcher in one process; values still pass through the wire format."""

    def __init__(self) -> None:
        super().__init__(forbidden=[])
        self._passed: list[Callable[..., Any]] = []

    def asked(self, request: Call) -> Answer:
        """The answer to one call. Raises `WireError` if the request or the answer cannot be encoded."""
        self._passed.clear()
        layout = request.get("layout", "")
        try:
            args, kwargs = plain_copy([request["args"], request["kwargs"]])
        except NotPlain:
            args, kwargs = wire.decode(wire.encode([request["args"], request["kwargs"]], self._pass), self.revive)
        if request["do"] == "scenario":
            answer = self.call(called(request), args, kwargs, scenario=request["name"], layout=layout)
        else:
            answer = self.call(request["name"], args, kwargs, layout=layout)
        try:
            copied: Answer = plain_copy(answer)
            return copied
        except NotPlain:
            pass
        try:
            frame = wire.encode(answer, self.refer, wire.ANSWER)
        except wire.WireError as error:
            told = unreadable(failure(error))
            frame = wire.encode({"value": None, "failure": told.as_data(), "changed": [], "forbidden": []})
        decoded: Answer = wire.decode(frame, revive)
        return decoded

    def snapshot(self, value: Any) -> Any:
        """As in `Dispatcher`, without a frame of lists and dicts, which takes longer than many calls."""
        try:
            return None if type(value) in (int, float, bool, str) else key_of(value)
        except (wire.WireError, RecursionError):  # such as a dict that holds itself
            return super().snapshot(value)

    def function(self, number: int) -> Callable[..., Any]:
        return self._passed[number]

    def _pass(self, value: Any) -> wire.Reference:
        if isinstance(value, wire.Handle):
            return "handle", [value.id]
        self._passed.append(value)
        return "function", [len(self._passed) - 1]
