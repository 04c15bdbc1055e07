"""Converts what checks saw of an answer to plain data that can tell whether another answer gave the same."""

from __future__ import annotations

from typing import Any

from autograder.diagnosis.sketches import Sketch, sketch_of
from autograder.judging.records import errors
from autograder.judging.records.errors import LearnerError, Raised
from autograder.judging.records.record import Comparison, Record
from autograder.worker.execution import Failure

KINDS: dict[str, type[LearnerError]] = {
    kind.__name__: kind
    for kind in (errors.Missing, errors.Undefined, errors.Forbidden, errors.TimedOut, errors.Crashed)
}


def record_as_data(record: Record) -> list[Any]:
    """A record without calls, expected values and times, which are only for its own learner."""
    return [_ending(record.ended_by), record.raised, [_comparison(one) for one in record.comparisons]]


def record_of(data: list[Any], **which: Any) -> Record:
    """Restore a record; `which` gives the fields that say which check it is of."""
    ended, raised, comparisons = data
    return Record(
        **which,
        ended_by=_ended_by(ended),
        raised=raised,
        comparisons=[_read_comparison(one) for one in comparisons],
    )


def _comparison(one: Comparison) -> list[Any]:
    if one.property_only:
        return [one.case, bool(one.problems), one.cost, one.got, *one.place]
    sketch = sketch_of([one.got], [(one.rtol, one.atol)])
    return [one.case, bool(one.problems), one.cost, [sketch.structure, *sketch.products]]


def _read_comparison(data: list[Any]) -> Comparison:
    case, wrong, cost, got, *place = data
    problems = ("wrong",) if wrong else ()
    if place:
        file, line = place
        return Comparison(
            got, True, (), case, None, 0.0, 0.0, problems, property_only=True, cost=cost, place=(file, line)
        )
    structure, *products = got
    return Comparison(Sketch(structure, tuple(products)), None, (), case, None, 0.0, 0.0, problems, cost=cost)


def _ending(error: LearnerError | None) -> list[Any] | None:
    if error is None:
        return None
    failure = error.failure if isinstance(error, Raised) else None
    return [type(error).__name__, failure and [failure.kind, list(failure.bases), failure.message]]


def _ended_by(data: list[Any] | None) -> LearnerError | None:
    if data is None:
        return None
    name, failure = data
    if name == Raised.__name__:
        kind, bases, message = failure
        return Raised("", Failure(kind, bases, message, "", "", ""))
    return KINDS.get(name, LearnerError)("")
