"""Calls that would do an exercise's work for the learner: they raise when the submission makes them."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

from autograder.worker.imports import CELLS


class ForbiddenCall(RuntimeError):
    """The submission called what its exercise does not allow."""


class Guard:
    """Watches functions, and the making of objects of classes, that some exercise forbids.

    What PyTorch calls itself, or a scenario, is no call of the submission: whoever of the two, scenario or cell,
    stands nearer to the call has made it.
    """

    def __init__(self, scenarios: dict[str, Any]) -> None:
        self.forbidden: frozenset[str] = frozenset()
        """What the exercise that is called now forbids."""
        self.called: list[str] = []
        """What was called and refused, in order."""
        self._scenarios = scenarios

    def watch(self, names: Iterable[str]) -> None:
        """Put a watch on each, by its full name: `torch.utils.checkpoint.checkpoint`. What is not there is left out."""
        for name in names:
            try:
                owner, attribute, target = resolve(name)
            except (ImportError, AttributeError):  # another version of the package
                continue
            if isinstance(target, type):
                owner, attribute, target = target, "__init__", target.__init__  # type: ignore[misc]
            setattr(owner, attribute, self._watched(name, target))

    def _watched(self, name: str, target: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(target)
        def call(*args: Any, **kwargs: Any) -> Any:
            if name in self.forbidden and self._asked_by_submission():
                self.called.append(name)
                raise ForbiddenCall(f"{name} does the work of this exercise")
            return target(*args, **kwargs)

        return call

    def _asked_by_submission(self) -> bool:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_globals is self._scenarios:
                return False
            if frame.f_code.co_filename.startswith(CELLS):
                return True
            frame = frame.f_back  # type: ignore[assignment]
        return True  # a thread of its own


def resolve(name: str) -> tuple[Any, str, Any]:
    """The module or class that holds what a full name says, its attribute there, and its value.

    Raises:
        ImportError, AttributeError: there is no such thing.
    """
    parts = name.split(".")
    owner = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:-1], start=2):
        try:
            owner = getattr(owner, part)
        except AttributeError:
            owner = importlib.import_module(".".join(parts[:i]))
    return owner, parts[-1], getattr(owner, parts[-1])
