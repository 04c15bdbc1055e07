"""Calls a submission's functions, and records the result and side effects of each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from autograder.worker import wire
from autograder.worker.calls import Guard
from autograder.worker.execution import failure
from autograder.worker.layout import arranged
from autograder.worker.messages import Answer
from autograder.worker.modes import left_as_found


class Functions(Protocol):
    """Functions to call by name: those that a submission's cells defined, or our own."""

    @property
    def module(self) -> Any:
        """The module that scenarios get as the submission."""

    def defined(self, name: str) -> bool:
        """Whether there is a function called `name`."""

    def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call the function and return its result; its exceptions pass through."""


class Watch(NamedTuple):
    """Finds measuring code that a submission replaces. `tampering` makes it of closures, which cells cannot name."""

    begin: Callable[[], None]
    """Call it before the submission's code runs."""
    replaced: Callable[[], list[str]]
    """The sorted names of callables that differ from the record, or were changed and changed back since `begin`."""


class Dispatcher:
    """Calls a program's functions and scenarios, and keeps the objects that the judge knows by their handles.

    Args:
        forbidden: the finder appends the names of refused imports to this list while a call runs.
    """

    def __init__(self, forbidden: list[str]) -> None:
        self.forbidden = forbidden
        self.program: Functions | None = None
        self.scenarios: dict[str, Any] = {}
        self.guard = Guard(self.scenarios)
        self.watch = Watch(begin=lambda: None, replaced=list)
        """Finds measuring code that the submission replaces."""
        self.objects: dict[int, Any] = {}

    def call(
        self,
        name: str,
        args: list[Any],
        kwargs: dict[str, Any],
        scenario: str = "",
        before: list[Any] | None = None,
        layout: str = "",
    ) -> Answer:
        """Call `name`, or a scenario that needs `name`, and return the answer.

        Args:
            before: snapshots of the arguments, if already taken.
            layout: how the arguments' arrays are to lie in memory, as in `CallFunction`.

        Returns:
            The value, or a `failure`; and, if any, the numbers of the arguments that were `changed`, the `forbidden`
            imports, the forbidden functions `called`, and the measuring code that the submission `replaced`.
        """
        if self.program is None or not self.program.defined(name):  # None: no cell could be run
            return {"missing": True}
        self.forbidden.clear()
        self.guard.called.clear()
        if layout:
            args, kwargs = arranged(args, kwargs, layout)
        arguments = (*args, *kwargs.values())
        if before is None:
            before = [self.snapshot(value) for value in arguments]
        answer: Answer = {}
        guarded = bool(self.guard.forbidden)
        watched = bool(scenario) or guarded
        if watched:
            self.watch.begin()
        try:
            with self.guard.call(), left_as_found():
                if scenario:
                    answer["value"] = self.scenarios[scenario](self.program.module, *args)
                else:
                    answer["value"] = _plain(self.program.call(name, args, kwargs))
        except BaseException as error:
            answer["failure"] = failure(error).as_data()
        changed = [i for i, value in enumerate(arguments) if self.snapshot(value) != before[i]]
        if changed:
            answer["changed"] = changed
        if self.forbidden:
            answer["forbidden"] = list(self.forbidden)
        if self.guard.called:
            answer["called"] = list(self.guard.called)
        replaced = (self.watch.replaced() if watched else []) + (self.guard.undone() if guarded else [])
        if replaced:
            answer["replaced"] = replaced
        return answer

    def snapshot(self, value: Any) -> Any:
        """A copy of an argument's contents, to compare after a call."""
        return snapshot(value, self.refer)

    def refer(self, value: Any) -> wire.Reference:
        """Keep an object that is not data in this process, and return a handle for the judge."""
        self.objects[id(value)] = value
        return "handle", [id(value), type(value).__name__[:80]]

    def revive(self, tag: str, arguments: list[Any]) -> Any:
        if tag == "handle":
            return self.objects[arguments[0]]
        if tag == "function":
            return self.function(arguments[0])
        raise wire.WireError(f"unexpected {tag!r}")

    def function(self, number: int) -> Callable[..., Any]:
        """The judge's function with this number, which the submission may call back."""
        raise NotImplementedError


def _plain(value: Any) -> Any:
    """Convert a result, or the items of a list, from subclasses of tuple (`namedtuple`) to plain tuples.

    Deeper values, such as those in a cache, keep their class: the submission's own functions get them back.
    """
    if issubclass(type(value), list):
        return [_as_tuple(item) for item in list.__iter__(value)]
    return _as_tuple(value)


def _as_tuple(value: Any) -> Any:
    if type(value) is not tuple and issubclass(type(value), tuple):
        return tuple(tuple.__iter__(value))
    return value


def snapshot(value: Any, refer: Callable[[Any], wire.Reference]) -> Any:
    """A copy of a value's contents, to compare after a call; None for immutable scalars."""
    if type(value) in (int, float, bool, str):
        return None
    try:
        if type(value) is np.ndarray and value.dtype.kind in "biufc":
            return value.dtype, value.shape, value.tobytes()
        return wire.encode(value, refer)
    except BaseException:  # the call put a hostile or too large object into it
        return b""
