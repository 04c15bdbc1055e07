"""What a call of a program's function gives, and what it did beside that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from autograder.worker import wire
from autograder.worker.calls import Guard
from autograder.worker.execution import failure
from autograder.worker.messages import Answer
from autograder.worker.modes import left_as_found


class Functions(Protocol):
    """What is called: the program that a submission's cells have filled, or functions of ours."""

    @property
    def module(self) -> Any:
        """What scenarios see as the submission."""

    def defined(self, name: str) -> bool:
        """Whether there is a function of that name."""

    def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What it returns. Raises whatever it raises."""


class Dispatcher:
    """Calls functions of a program, and scenarios on it, and keeps the objects that others know by their handles.

    Args:
        forbidden: is filled, while a call runs, with what was imported and must not be.
    """

    def __init__(self, forbidden: list[str]) -> None:
        self.forbidden = forbidden
        self.program: Functions | None = None
        self.scenarios: dict[str, Any] = {}
        self.guard = Guard(self.scenarios)
        self.replaced: Callable[[], list[str]] = list
        """Names what a submission has replaced of what measures it."""
        self.objects: dict[int, Any] = {}

    def call(
        self,
        name: str,
        args: list[Any],
        kwargs: dict[str, Any],
        scenario: str = "",
        before: list[Any] | None = None,
    ) -> Answer:
        """The answer to a call of `name`, or of a scenario that needs `name` to be there.

        `before` is what the arguments hold, where that is known. The answer says what is not as it should be, too:
        `failure`, the arguments that were `changed`, what was `forbidden` to import or `called` all the same, and what
        was `replaced` of what measures beside the submission.
        """
        if self.program is None or not self.program.defined(name):  # None: not one cell could be run
            return {"missing": True}
        self.forbidden.clear()
        self.guard.called.clear()
        arguments = (*args, *kwargs.values())
        if before is None:
            before = [snapshot(value, self.refer) for value in arguments]
        answer: Answer = {}
        try:
            with self.guard.call(), left_as_found():
                if scenario:
                    answer["value"] = self.scenarios[scenario](self.program.module, *args)
                else:
                    answer["value"] = _plain(self.program.call(name, args, kwargs))
        except BaseException as error:
            answer["failure"] = failure(error).as_data()
        changed = [i for i, value in enumerate(arguments) if snapshot(value, self.refer) != before[i]]
        if changed:
            answer["changed"] = changed
        if self.forbidden:
            answer["forbidden"] = list(self.forbidden)
        if self.guard.called:
            answer["called"] = list(self.guard.called)
        guarded = bool(self.guard.forbidden)
        replaced = (self.replaced() if scenario or guarded else []) + (self.guard.undone() if guarded else [])
        if replaced:
            answer["replaced"] = replaced
        return answer

    def refer(self, value: Any) -> wire.Reference:
        """An object that is no data stays here; the judge gets a handle."""
        self.objects[id(value)] = value
        return "handle", [id(value), type(value).__name__[:80]]

    def revive(self, tag: str, arguments: list[Any]) -> Any:
        if tag == "handle":
            return self.objects[arguments[0]]
        if tag == "function":
            return self.function(arguments[0])
        raise wire.WireError(f"unexpected {tag!r}")

    def function(self, number: int) -> Callable[..., Any]:
        """The caller's function of this number."""
        raise NotImplementedError


def _plain(value: Any) -> Any:
    """A result whose tuples, or a list whose items, are of classes like `namedtuple`'s, as the tuples that they are.

    What lies deeper, a cache say, stays what it is for the submission's own functions.
    """
    if issubclass(type(value), list):
        return [_as_tuple(item) for item in list.__iter__(value)]
    return _as_tuple(value)


def _as_tuple(value: Any) -> Any:
    if type(value) is not tuple and issubclass(type(value), tuple):
        return tuple(tuple.__iter__(value))
    return value


def snapshot(value: Any, refer: Callable[[Any], wire.Reference]) -> Any:
    """What a value holds, to see whether a call changed it."""
    if type(value) in (int, float, bool, str):
        return None
    try:
        if type(value) is np.ndarray and value.dtype.kind in "biufc":
            return value.dtype, value.shape, value.tobytes()
        return wire.encode(value, refer)
    except BaseException:  # the call put something hostile into it, or something too large
        return b""
