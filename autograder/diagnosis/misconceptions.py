"""Declares misconceptions: wrong implementations that learners write, each with a name and a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from autograder.diagnosis.edits import Edit

_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Misconception:
    """A wrong implementation of an exercise and what to tell the learner who wrote it.

    It is the reference after some edits, or a function that replaces a part of it.
    """

    exercise: str
    name: str
    says: str
    edits: tuple[Edit, ...] = ()
    replaces: str = ""
    """The part of the solutions that the function replaces, such as `Tensor.__mul__`; usually the exercise itself."""
    function: Callable[..., Any] | None = None


def mistake(exercise: str, swaps: Mapping[str, str], *, says: str, where: str = "") -> Misconception:
    """A misconception of `exercise` as edits of the reference; it is named after the variable that it is assigned to.

        add_not_summed = mistake("add_vjp", {"return sum_to(g, a), sum_to(g, b)": "return g, g"}, says="…")

    `swaps` maps lines to their replacements in the function or class `where`, by default the exercise. All lines are
    found in the original reference, so two swaps can exchange two lines. `says` names the mistake and the idea of the
    fix, in a sentence or two addressed to the learner.
    """
    edits = tuple(Edit(where or exercise, before, after) for before, after in swaps.items())
    return Misconception(exercise, "", says, edits)


def misconception(exercise: str, *, says: str, replaces: str = "") -> Callable[[_Function], _Function]:
    """Register a function as a misconception of `exercise`, with the function's name.

    Use it for mistakes that are not edits of the reference. If the exercise is a class, `replaces` names the method
    that is wrong: `Tensor.__mul__`.
    """

    def register(function: _Function) -> _Function:
        entry = Misconception(exercise, function.__name__, says, (), replaces or exercise, function)
        function.misconception = entry  # type: ignore[attr-defined]
        return function

    return register


def misconceptions_in(module: object) -> list[Misconception]:
    """The misconceptions that a module defines, in order of definition."""
    found = []
    for name, value in vars(module).items():
        entry = value if isinstance(value, Misconception) else getattr(value, "misconception", None)
        if isinstance(entry, Misconception):
            found.append(entry if entry.name else replace(entry, name=name))
    return found
