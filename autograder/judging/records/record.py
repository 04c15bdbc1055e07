"""What one check saw: calls, comparisons, how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from autograder.judging.records.errors import LearnerError

OF_ANOTHER_TYPE = 0.1
"""What share of an exercise right values of another dtype cost at most."""
CHANGED = 0.5
"""What share of an exercise right values cost at most where the arguments are not what they were."""


@dataclass(frozen=True)
class Call:
    """One call of a learner's function, or of a scenario, with the arguments as the judge knows them."""

    function: str
    arguments: tuple[tuple[str, Any], ...]
    """Names and values, in order."""
    scenario: bool = False
    positional: int = 0
    """How many of the arguments are passed without their names."""
    tensors: bool = False
    """Whether there are PyTorch tensors among them; here they are arrays."""
    chosen: bool = False
    """Whether the check has said what is shown in place of a scenario's arguments: all of it is data of the case."""


@dataclass(frozen=True)
class Comparison:
    """One expectation and what came of it."""

    got: Any
    expected: Any
    names: tuple[str, ...]
    """Names of the outputs: `("dA", "dB")`; the function's name where there is one output."""
    case: str
    call: Call | None
    rtol: float
    atol: float
    problems: tuple[str, ...] = ()
    """What is wrong, one sentence for each output that is; empty if all is well."""
    property_only: bool = False
    """Whether `got` is a truth value that the check computed, or the kind of an error: not what was returned."""
    cost: float = 1.0
    """What share of its exercise the problem may cost; less than 1 where the values are right all the same."""
    place: tuple[str, int] = ("", 0)
    """The line of the check that asks for a property: what is asked there is another thing elsewhere."""


@dataclass
class Record:
    """Everything that one check saw, in order."""

    visible: bool = True
    """Whether feedback may show what the submission said: numbers, shapes, names, exceptions."""
    exercise: str = ""
    check: str = ""
    """The check's name, in words."""
    measured: bool = False
    """Whether it rests on what our code measured beside the submission, or looks for an exercise's technique."""
    calls: list[Call] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    ended_by: LearnerError | None = None
    raised: str = ""
    """The exception that the check itself raised: it could not work with an answer, or is wrong."""
    asked: str = ""
    """The case of a scenario that runs now, or that ended the check."""
    seconds: float = 0.0
    """What the check took, to the judge, waiting included."""
    enough: Callable[[Record], bool] | None = None
    """Asked after each comparison: whether the check may end there."""
    cut: bool = False
    """Whether it did: what this record holds is the beginning of what there is to see."""

    def note(self, comparison: Comparison) -> None:
        """Keep what one expectation saw. `Enough` where nobody wants to know the rest."""
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
        """What share of its exercise a failing check may cost; less than 1 where all values are right."""
        return 1.0 if self.ended_by is not None else max((failure.cost for failure in self.failures), default=1.0)


class Enough(BaseException):
    """Ends a check of which enough was seen. None of the errors that a check may expect."""


_records: list[Record] = []


@contextmanager
def recording(
    visible: bool = True,
    exercise: str = "",
    measured: bool = False,
    enough: Callable[[Record], bool] | None = None,
    check: str = "",
) -> Iterator[Record]:
    """Collect what the expectations inside see, in a `check` of `exercise`, until it is `enough`."""
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
    """The record of the check that runs now. `RuntimeError` outside of one."""
    if not _records:
        raise RuntimeError("expectations work only inside a check")
    return _records[-1]


def paired(got: Any, expected: Any, names: tuple[str, ...]) -> list[tuple[str, Any, Any]]:
    """Name, got and expected of each output; the whole as one where the structures differ."""
    if isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
        return [(str(key), got[key], expected[key]) for key in expected]
    several = isinstance(expected, tuple | list) and isinstance(got, tuple | list)
    if several and len(got) == len(expected) == len(names):
        return list(zip(names, got, expected, strict=True))
    return [(names[0] if len(names) == 1 else "the result", got, expected)]
