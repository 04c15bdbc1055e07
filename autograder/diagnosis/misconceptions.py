"""The register of misconceptions: wrong implementations that learners write, each with its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Misconception:
    """A wrong implementation of an exercise and what to tell the learner who wrote it."""

    exercise: str
    name: str
    says: str
    replaces: str
    """What in the solutions it stands for: `Tensor.__mul__`; mostly the exercise itself."""
    function: Callable[..., Any]


def misconception(exercise: str, *, says: str, replaces: str = "") -> Callable[[_Function], _Function]:
    """Register a function as a misconception of `exercise`; its name is the misconception's.

    `says` names the mistake and the idea of the fix, in a sentence or two addressed to the learner. Where the exercise
    is a class, `replaces` names the method that is wrong: `Tensor.__mul__`.
    """

    def register(function: _Function) -> _Function:
        entry = Misconception(exercise, function.__name__, says, replaces or exercise, function)
        function.misconception = entry  # type: ignore[attr-defined]
        return function

    return register


def misconceptions_in(module: object) -> list[Misconception]:
    """The misconceptions that a module defines, in order."""
    found = (getattr(value, "misconception", None) for value in vars(module).values())
    return [entry for entry in found if isinstance(entry, Misconception)]
