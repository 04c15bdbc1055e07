"""What one check saw: its calls, its comparisons and how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from autograder.judging.records.errors import LearnerError

OF_ANOTHER_TYPE = 0.1
"""Most that a wrong dtype costs if the values are right, as a share of the exercise."""
CHANGED = 0.5
"""Most that a changed argument costs if the values are right, as a share of the exercise."""


@dataclass(frozen=True)
class Call:
    """One call of a learner's function, or of a scenario, with the arguments as the judge knows them."""

    function: str
    arguments: tuple[tuple[str, Any], ...]
    """Names and values, in order."""
    scenario: bool = False
    positional: int = 0
    """How many of the arguments are positional."""
    tensors: bool = False
    """Whether some arguments are PyTorch tensors; here they are arrays."""
    chosen: bool = False
    """Whether the check chose these arguments, in place of a scenario's own, to show the case completely."""


@dataclass(frozen=True)
class Comparison:
    """One expectation and its outcome."""

    got: Any
    expected: Any
    names: tuple[str, ...]
    """Names of the outputs: `("dA", "dB")`; the function's name if there is one output."""
    case: str
    call: Call | None
    rtol: float
    atol: float
    problems: tuple[str, ...] = ()
    """One sentence for each wrong output; empty if all are right."""
    property_only: bool = False
    """Whether `got` is a truth value that the check computed, or the kind of an exception, not a returned value."""
    of_values: bool = False
    """Whether such a property is one of what was returned, as its shapes are, and not of how it came about."""
    cost: float = 1.0
    """Share of the exercise that the problem may cost; less than 1 if the values are right."""
    place: tuple[str, int] = ("", 0)
    """File and line of the check that expects the property: the same property elsewhere is another comparison."""


@dataclass
class Record:
    """Everything that one check saw, in order."""

    visible: bool = True
    """Whether feedback may show what the submission said: numbers, shapes, names, exceptions."""
    exercise: str = ""
    check: str = ""
    """The check's name, in words."""
    measured: bool = False
    """Whether it rests on what our code measured beside the submission, or checks the exercise's technique."""
    calls: list[Call] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    ended_by: LearnerError | None = None
    replaced: bool = False
    """Whether the submission had replaced what measures."""
    raised: str = ""
    """The exception that the check itself raised: it could not use the answer, or the check is wrong."""
    asked: str = ""
    """The case of the scenario that is running, or that ended the check."""
    seconds: float = 0.0
    """Wall time that the judge spent on the check, waiting included."""
    enough: Callable[[Record], bool] | None = None
    """Called after each comparison; if it returns true, the check ends there."""
    cut: bool = False
    """Whether the check ended early, so that the record is incomplete."""

    def note(self, comparison: Comparison) -> None:
        """Add a comparison. Raises `Enough` if the check may end here."""
        self.comparisons.append(comparison)
        if self.enough and self.enough(self):
            raise Enough

    @property
    def failures(self) -> list[Comparison]:
        return [comparison for comparison in self.comparisons if comparison.problems]

    @property
    def passed(self) -> bool:
        return bool(self.comparisons) and not self.failures and self.ended_by is None

    @property
    def cost(self) -> float:
        """Share of the exercise that a failing check may cost; less than 1 if all values are right."""
        return 1.0 if self.ended_by is not None else max((failure.cost for failure in self.failures), default=1.0)


class Enough(BaseException):
    """Ends a check early. A `BaseException`, so that checks do not catch it."""


_records: list[Record] = []


@contextmanager
def recording(
    visible: bool = True,
    exercise: str = "",
    measured: bool = False,
    enough: Callable[[Record], bool] | None = None,
    check: str = "",
) -> Iterator[Record]:
    """Record what the expectations inside see, in `check` of `exercise`, until it is `enough`."""
    record = Record(visible, exercise, check, measured, enough=enough)
    _records.append(record)
    began = time.perf_counter()
    try:
        yield record
    except Enough:
        record.cut = True
    finally:
        record.seconds = time.perf_counter() - began
        record.enough = None
        _records.remove(record)


def current_record() -> Record:
    """The record of the running check. Raises `RuntimeError` outside of a check."""
    if not _records:
        raise RuntimeError("expectations work only inside a check")
    return _records[-1]


def paired(got: Any, expected: Any, names: tuple[str, ...]) -> list[tuple[str, Any, Any]]:
    """(name, got, expected) for each output; a single triple if the structures differ."""
    if isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
        return [(str(key), got[key], expected[key]) for key in expected]
    several = isinstance(expected, tuple | list) and isinstance(got, tuple | list)
    if several and len(got) == len(expected) == len(names):
        return list(zip(names, got, expected, strict=True))
    return [(names[0] if len(names) == 1 else "the result", got, expected)]
