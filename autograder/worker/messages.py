"""What the judge asks of a worker about one submission, and what it is told. `wire` says how they travel."""

from __future__ import annotations

from typing import Any, Literal, TypedDict


class LoadScenarios(TypedDict):
    """Have the judge's own code beside the submission, before its first cell."""

    do: Literal["scenarios"]
    source: str


class Watch(TypedDict):
    """Put a watch on functions that some exercise forbids, and refuse them to cells."""

    do: Literal["watch"]
    forbidden_in: dict[str, list[str]]
    """Their full names, and the exercises that forbid each."""


class RunCell(TypedDict):
    """Run one cell; `offset` lines precede it in its file."""

    do: Literal["cell"]
    module: str
    source: str
    label: str
    offset: int


class _Call(TypedDict):
    name: str
    args: list[Any]
    kwargs: dict[str, Any]
    forbidden: list[str]


class CallFunction(_Call):
    """Call a function of the submission, which may not call what is `forbidden` meanwhile."""

    do: Literal["call"]


class CallScenario(_Call):
    """The same of a scenario, which exercises what it `needs`, a function of the submission."""

    do: Literal["scenario"]
    needs: str


class MakePrefetched(TypedDict):
    """Make all calls that the checks of an exercise are known to make, and answer each."""

    do: Literal["prefetched"]
    exercise: str


Call = CallFunction | CallScenario


class MakeCalls(TypedDict):
    """Make these calls, check by check, and answer each."""

    do: Literal["calls"]
    checks: list[list[Call]]


Request = LoadScenarios | Watch | RunCell | Call | MakePrefetched | MakeCalls


class Answer(TypedDict, total=False):
    """What a worker says. The judge takes none of it for true, nor for of its kind, before it has looked."""

    value: Any
    """What was returned."""
    missing: Any
    """True where there is no such function."""
    failure: Any
    """What was raised, as `execution.Failure.as_data`; None if nothing was."""
    changed: Any
    """The numbers of the arguments that the call changed."""
    forbidden: Any
    """The packages that were imported and must not be."""
    called: Any
    """The functions that were called, and are forbidden."""
    stale: Any
    """True where the call was not made: an earlier one has kept what this one must not have. A new process can."""
    replaced: Any
    """What the submission has replaced of what measures it."""
