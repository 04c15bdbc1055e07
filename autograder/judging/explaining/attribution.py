"""Finds the known mistakes that explain what the checks saw of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from autograder.diagnosis import Misconception
from autograder.judging.explaining.evidence import Evidence, ending
from autograder.judging.explaining.work import calls_of
from autograder.judging.records.errors import Missing
from autograder.judging.records.record import Record

TELLING = ("RecursionError", "TimeoutError")
"""Exceptions that can identify a mistake even if the check compared nothing."""
PASSING_IS_WORTH = 0.25
"""Estimate of how many mistakes a passing check rules out, relative to a failing one; sorts the checks."""


class Explaining(NamedTuple):
    """Known mistakes that explain what the checks saw."""

    known: Sequence[Misconception] = ()
    """Those that give the answer, or all that some checks saw of it."""
    record: Record | None = None
    """The record that shows them, of the first failing check that they fail too: others may fail only for a dtype."""
    second: Sequence[Misconception] = ()
    """Those that give what the first ones leave."""
    left: Sequence[int] = ()
    """Numbers of the failing visible checks whose first wrong value the first ones get right, without `second`."""
    whole: bool = True
    """Whether they give all that the visible checks saw."""

    @property
    def all(self) -> list[Misconception]:
        return [*self.known, *self.second]


def explaining(records: list[Record], misconceptions: dict[Misconception, Evidence], thorough: bool) -> Explaining:
    """The known mistakes that give every value that the learner's functions returned.

    `records` may be those of the first checks alone, the visible ones. These decide as a rule, and do not depend on the
    salt. Mistakes are run on hidden inputs if no visible check fails, if several mistakes give all visible values, or
    if a hidden check ended otherwise than its visible twin. Where hidden checks alone fail, and for properties that
    either hold or do not, no mistake is named: many lack the same property.

    Two mistakes in one function match no known mistake. Then the result is the mistakes that give every value of one
    failing check and contradict no other, for the first such check where they all have the same message; and those
    that give every value of the checks which these pass.
    """
    visible = [record for record in records if record.visible]
    enough = _hidden_like_visible(records) and not all(record.passed for record in visible)
    deciding = visible if enough else records
    possible = {known: theirs for known, theirs in misconceptions.items() if theirs.may_be_in(records)}
    failing = _failing(deciding)
    if not any(record.visible and not record.passed for record in records) and not any(
        _is_distinctive(records[i]) for i in failing
    ):
        return Explaining(whole=False)
    # if checks are slow, compare the other failing ones last: most mistakes are ruled out before
    last = [] if thorough else failing[1:]
    found = _giving_all(deciding, possible, failing, last)
    if deciding is visible and len({known.says for known in found}) > 1:
        found = _giving_all(records, {known: possible[known] for known in found}, failing, [])
    if found:  # if the dtype is wrong as well, some checks fail for that alone
        telling = [i for i in failing if not possible[found[0]][i].passed]
        return Explaining(found, records[telling[0]])
    return _partial(deciding, possible, failing, last)


def _partial(
    records: list[Record], possible: dict[Misconception, Evidence], failing: list[int], last: list[int]
) -> Explaining:
    """The mistakes that give all values of one failing check and contradict no other record, and what these leave."""
    values_wrong = [j for j in failing if has_wrong_values(records[j])]
    for i in failing[:1] if last else failing:
        if not _can_identify(records[i]) or _fails_one_property(records[i]):
            continue
        # a failing property may follow from wrong values, so a mistake has to explain those as well
        properties_alone = records[i].ended_by is None and not has_wrong_values(records[i])
        to_explain = values_wrong if properties_alone else []
        order = _cheapest_first(records, [i], last)
        alike = [
            known
            for known, theirs in possible.items()
            if not theirs.is_known_to_pass(records[i], i)
            and all(
                j not in to_explain
                if theirs.is_known_to_pass(records[j], j)
                else (j != i or (theirs.same_as(records[i], i) and not theirs[i].passed))
                and theirs.is_compatible_with(records[j], j)
                and not (j in to_explain and theirs[j].passed)
                for j in order
            )
        ]
        if len({known.says for known in alike}) == 1:
            second = _giving(_left_by(alike, records, possible), alike, records, possible)
            left = () if second else _left_by(alike, records, possible, in_part=not last)
            return Explaining(alike, records[i], second, left, bool(second))
    return Explaining(whole=False)


def giving_all(records: list[Record], misconceptions: dict[Misconception, Evidence]) -> list[Misconception]:
    """The known mistakes each of which gives every value that the learner's functions returned."""
    possible = {known: theirs for known, theirs in misconceptions.items() if theirs.may_be_in(records)}
    return _giving_all(records, possible, _failing(records), [])


def _giving_all(
    records: list[Record], possible: dict[Misconception, Evidence], failing: list[int], last: list[int]
) -> list[Misconception]:
    order = _cheapest_first(records, failing, last)
    return [
        known
        for known, theirs in possible.items()
        if theirs.may_be_all_of(records)
        and all(
            (records[i].passed and theirs.is_known_to_pass(records[i], i)) or theirs.same_as(records[i], i)
            for i in order
        )
        and any(not theirs[i].passed for i in failing)
    ]


def _left_by(
    first: Sequence[Misconception],
    records: list[Record],
    possible: dict[Misconception, Evidence],
    in_part: bool = False,
) -> list[int]:
    """Numbers of the visible failing checks that known mistakes are known to pass: something else is wrong there.

    With `in_part`, also of those that they fail, but only after what fails first in the answer. A check that ran out of
    time then says nothing new: others may have ended in the same way.
    """
    failing = [i for i in _failing(records) if records[i].visible and records[i].cost == 1.0]
    if in_part:
        failing = [i for i in failing if ending(records[i]) != "TimeoutError"]
    return [
        i
        for i in failing
        if all(
            possible[known].is_known_to_pass(records[i], i)
            or (in_part and possible[known].gives_right_what_fails_first(records[i], i))
            for known in first
        )
    ]


def _giving(
    left: list[int], first: Sequence[Misconception], records: list[Record], possible: dict[Misconception, Evidence]
) -> list[Misconception]:
    """The known mistakes that give what the `first` ones leave, if all of them have one message and can be told."""
    if not any(_can_identify(records[i]) and not _fails_one_property(records[i]) for i in left):
        return []
    alike = [
        known
        for known, theirs in possible.items()
        if known not in first
        and not any(theirs.is_known_to_pass(records[i], i) for i in left)
        and all(theirs.same_as(records[i], i) for i in left)
        and all(
            theirs.is_known_to_pass(record, i) or theirs.is_compatible_with(record, i)
            for i, record in enumerate(records)
            if record.visible
        )
    ]
    return alike if len({known.says for known in alike}) == 1 else []


def _failing(records: list[Record]) -> list[int]:
    return sorted((i for i, r in enumerate(records) if not r.passed), key=lambda i: order_of_showing(records[i]))


def _hidden_like_visible(records: list[Record]) -> bool:
    """Whether each check ended on hidden inputs as it did on visible ones, if it has any."""
    ended = {record.check: (record.passed, ending(record)) for record in records if record.visible}
    return all(
        record.check and ended.get(record.check) == (record.passed, ending(record))
        for record in records
        if not record.visible
    )


def _cheapest_first(records: list[Record], telling: list[int], last: list[int]) -> list[int]:
    """Numbers of all checks, ordered to rule out the most mistakes in the least time; those in `last` come last.

    `telling`: checks that rule out the most. Every check has to match, so the order affects only which checks run.
    """
    takes = {i: calls_of(record) / (1 if i in telling else PASSING_IS_WORTH) for i, record in enumerate(records)}
    # checks of the technique last: they are slow, and most mistakes differ in the values of another one already
    return sorted(takes, key=lambda i: (i in last, records[i].measured, takes[i], i))


def _can_identify(record: Record) -> bool:
    """Whether a check's record can identify a mistake; an exception alone has too many possible causes."""
    if record.ended_by is None or ending(record) in TELLING:
        return True
    return has_wrong_values(record)


def _fails_one_property(record: Record) -> bool:
    """Whether a check's only failure is one property, which many mistakes lack."""
    return len(record.failures) == 1 < len(record.comparisons) and record.failures[0].property_only


def _is_distinctive(record: Record) -> bool:
    """Whether a failing check saw wrong values, or says in which way a property fails, or how the answer ended."""
    ways = (failure.got for failure in record.failures if failure.property_only)
    return (
        has_wrong_values(record)
        or record.ended_by is not None
        or any(not isinstance(way, bool) and way for way in ways)
    )


def has_wrong_values(record: Record) -> bool:
    return any(not failure.property_only for failure in record.failures)


def order_of_showing(record: Record) -> tuple[bool, bool]:
    """Sort key: wrong answers before unwritten ones, visible checks before hidden ones."""
    return isinstance(record.ended_by, Missing) and not record.failures, not record.visible
