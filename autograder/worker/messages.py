"""The judge's requests to a worker about one submission, and the answers. `wire` encodes them."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class LoadScenarios(TypedDict):
    """Load the judge's scenarios in the submission's process, before the first cell."""

    do: Literal["scenarios"]
    source: str


class Watch(TypedDict):
    """Watch the functions that exercises forbid, and refuse them while cells run."""

    do: Literal["watch"]
    forbidden_in: dict[str, list[str]]
    """Full name of each function, with the exercises that forbid it."""


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
    layout: NotRequired[str]
    """How the arguments' arrays lie in memory, as for `layout.arranged`; row by row without it."""


class CallFunction(_Call):
    """Call a function of the submission; `forbidden` lists the functions that it may not call."""

    do: Literal["call"]


class CallScenario(_Call):
    """Call a scenario; `needs` names the function of the submission that must exist."""

    do: Literal["scenario"]
    needs: str


class MakePrefetched(TypedDict):
    """Make all calls that were prefetched for an exercise, and answer each."""

    do: Literal["prefetched"]
    exercise: str


Call = CallFunction | CallScenario


class MakeCalls(TypedDict):
    """Make these calls, check by check, and answer each."""

    do: Literal["calls"]
    checks: list[list[Call]]


class TakeStatements(TypedDict):
    """Take the top-level statements of a submission, in order, in place of its cells; none of them runs yet."""

    do: Literal["statements"]
    module: str
    statements: list[tuple[str, int, str]]
    """The label of each statement's cell, the number of lines before the statement, and its source."""


class RunVariant(TypedDict):
    """Run the statements in a new module, some of them changed; later calls are made of that module."""

    do: Literal["variant"]
    changed: list[tuple[int, str]]
    """Numbers of the changed statements, with their new sources."""
    seconds: float
    """Processor seconds for the statements together, and again for each call."""
    traced: bool
    """Whether to note the lines that each call runs."""


class ScreenVariants(TypedDict):
    """Run several variants one after the other, and make the same call of each; there is one answer for each."""

    do: Literal["screen"]
    variants: list[list[tuple[int, str]]]
    """The changes of each, as in `RunVariant`."""
    call: Call
    seconds: float


class TellLines(TypedDict):
    """Tell which lines of the submission the last call ran, as pairs of a cell's label and a line."""

    do: Literal["lines"]


class TellEntered(TypedDict):
    """Tell how many Python functions the last traced variant has entered so far."""

    do: Literal["entered"]


Request = (
    LoadScenarios
    | Watch
    | RunCell
    | Call
    | MakePrefetched
    | MakeCalls
    | TakeStatements
    | RunVariant
    | ScreenVariants
    | TellLines
    | TellEntered
)


class Answer(TypedDict, total=False):
    """A worker's answer. The judge verifies each type and value before using it."""

    value: Any
    """The return value."""
    missing: Any
    """True if the function does not exist."""
    failure: Any
    """The exception, as `execution.Failure.as_data`; None if there was none."""
    changed: Any
    """Indices of the arguments that the call changed."""
    forbidden: Any
    """Refused imports."""
    called: Any
    """Forbidden functions that were called."""
    stale: Any
    """True if the call was not made, because an earlier one left an object forbidden here: a new process is needed."""
    replaced: Any
    """Names of the measuring code that the submission replaced."""
