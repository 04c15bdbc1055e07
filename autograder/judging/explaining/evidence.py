"""Compares what the checks see of a known mistake with what they saw of an answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.diagnosis.equality import mismatch
from autograder.diagnosis.sketches import Sketch
from autograder.judging.records.errors import Raised, TimedOut
from autograder.judging.records.record import Comparison, Record, paired
from autograder.values import summarise

DATA = (np.ndarray, np.generic, bool, int, float, complex, str, bytes, type(None))
"""Types that are compared by value; of other objects only the kind is compared."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PLAIN_WORD = re.compile(r"(?<!\S)[a-z]+(?=[,.:;]?(?:\s|$))")
"""A word of an error message that is probably not an identifier: only lower-case letters."""


class Evidence(Sequence[Record]):
    """What the checks see of a known mistake: one record per check, made when first needed.

    Most mistakes differ from the answer early in the first failing check, so that check is cut short there and the
    others do not run at all.

    Args:
        observe: runs check number `i`, until a predicate on its record is true if one is given.
        rejected_by: numbers of the visible checks that the mistake fails; None if unknown.
    """

    def __init__(
        self,
        checks: int,
        observe: Callable[[int, Callable[[Record], bool] | None], Record],
        rejected_by: frozenset[int] | None = None,
    ) -> None:
        self._observe = observe
        self._rejected_by = rejected_by
        self._records: list[Record | None] = [None] * checks
        self._begun: dict[int, Record] = {}
        """The partial records of checks that were cut short."""
        self._compared: dict[int, tuple[Record, bool]] = {}
        """By check: the answer's record that was compared last, and whether the mistake's is the same."""
        self._compatible: dict[int, tuple[Record, bool]] = {}
        """Likewise, and whether the mistake may be one of several in the answer."""

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, i: Any) -> Any:
        if self._records[i] is None:
            self._records[i] = self._observe(i, None)
        return self._records[i]

    def accepted_by(self, checks: int) -> list[int]:
        """Numbers below `checks`, all of visible checks, that are known to accept the mistake; empty if unknown."""
        return [] if self._rejected_by is None else [i for i in range(checks) if i not in self._rejected_by]

    def presume(self, i: int, record: Record) -> None:
        """Take `record` as what check `i`, which is known to accept the mistake, sees of it, instead of running it."""
        assert self._rejected_by is not None
        assert i not in self._rejected_by
        self._records[i] = record

    def may_be_in(self, records: Sequence[Record]) -> bool:
        """Whether the answer fails every visible check that the mistake is known to fail."""
        return self._rejected_by is None or all(
            not record.passed for i, record in enumerate(records) if record.visible and i in self._rejected_by
        )

    def may_be_all_of(self, records: Sequence[Record]) -> bool:
        """Whether the mistake is known to fail every visible check that costs this answer more than a deduction."""
        return self._rejected_by is None or all(
            i in self._rejected_by
            for i, record in enumerate(records)
            if record.visible and not record.passed and record.cost == 1.0
        )

    def is_known_to_pass(self, mine: Record, i: int) -> bool:
        """Whether the mistake is known to pass check `i`, where `mine` is the answer's record of it."""
        return self._rejected_by is not None and mine.visible and i not in self._rejected_by

    def same_as(self, mine: Record, i: int) -> bool:
        """Whether check `i` sees the same of the mistake as it saw of the answer, in `mine`.

        The first such run is cut short at the first difference. If another answer begins alike, the check runs to its
        end.
        """
        last, same = self._compared.get(i, (None, False))
        if last is not mine:
            same = self._is_same(mine, i)
            self._compared[i] = mine, same
        return same

    def _is_same(self, mine: Record, i: int) -> bool:
        if self._records[i] is None and i not in self._begun:
            record = self._observe(i, lambda theirs: not _last_matches(mine, theirs))
            if record.cut:
                self._begun[i] = record
            else:
                self._records[i] = record
        if self._records[i] is None and not _has_prefix(mine, self._begun[i]):
            return False
        return _same_record(mine, self[i])

    def is_compatible_with(self, mine: Record, i: int) -> bool:
        """Whether the mistake may be one of several in an answer: nothing that check `i` saw contradicts it."""
        last, may_be = self._compatible.get(i, (None, False))
        if last is not mine:
            may_be = _is_compatible(mine, self[i])
            self._compatible[i] = mine, may_be
        return may_be

    def gives_right_what_fails_first(self, mine: Record, i: int) -> bool:
        """Whether the mistake's values are right in the comparison that fails first in check `i` of the answer."""
        first = next((key for key, my in by_case(mine).items() if my.problems), None)
        their = by_case(self[i]).get(first) if first is not None else None
        return their is not None and not their.problems

    def agrees_until(self, mine: Record, i: int, last: int) -> bool:
        """Whether the mistake gives the answer's values in check `i` up to comparison `last`, some of them wrong."""
        if self._records[i] is None and not self._reaches(i, last):
            self.same_as(mine, i)
        begun = self._records[i] or self._begun[i]
        if not all(map(same_comparison, mine.comparisons[: last + 1], begun.comparisons)):
            return False
        theirs = begun if len(begun.comparisons) > last else self[i]
        first = theirs.comparisons[: last + 1]
        some_wrong = len(first) > last and any(one.problems for one in first)
        return some_wrong and all(map(same_comparison, mine.comparisons, first))

    def _reaches(self, i: int, last: int) -> bool:
        return i in self._begun and len(self._begun[i].comparisons) > last


def _last_matches(mine: Record, begun: Record) -> bool:
    number = len(begun.comparisons)
    return number <= len(mine.comparisons) and same_comparison(mine.comparisons[number - 1], begun.comparisons[-1])


def _has_prefix(mine: Record, begun: Record) -> bool:
    """Whether the comparisons of a check that was cut short are a prefix of another record's."""
    fewer = len(begun.comparisons) <= len(mine.comparisons)
    return fewer and all(map(same_comparison, mine.comparisons, begun.comparisons))


def _is_compatible(mine: Record, theirs: Record) -> bool:
    """Whether a known mistake may be one of several in an answer: nothing that the check saw contradicts it.

    Where the mistake gives right values, another one may give wrong values; what was not reached contradicts nothing.
    """
    if theirs.ended_by is not None and mine.ended_by is None:
        return False
    counterparts = by_case(theirs)
    return all(
        (bool(my.problems) and not their.problems) or same_comparison(my, their)
        for key, my in by_case(mine).items()
        if (their := counterparts.get(key)) is not None
    )


def by_case(record: Record) -> dict[tuple[str, bool, int], Comparison]:
    """Comparisons by case, kind and index: a failing property may end its case early and shift the next ones."""
    counts: Counter[tuple[str, bool]] = Counter()
    found = {}
    for comparison in record.comparisons:
        key = comparison.case, comparison.property_only
        found[*key, counts[key]] = comparison
        counts[key] += 1
    return found


def _same_record(a: Record, b: Record) -> bool:
    """Whether a check ended the same way and compared the same values for two implementations."""
    if ending(a) != ending(b) or len(a.comparisons) != len(b.comparisons):
        return False
    if isinstance(a.ended_by, Raised) and isinstance(b.ended_by, Raised) and not _same_words(a.ended_by, b.ended_by):
        return False
    return all(map(same_comparison, a.comparisons, b.comparisons))


def says_why(record: Record) -> bool:
    """Whether a check ended with an exception whose message, and not only its kind, can identify a mistake."""
    return isinstance(record.ended_by, Raised) and bool(_words(record.ended_by))


def _words(raised: Raised) -> list[str]:
    """The plain words of a message, without a plural s, so that "after 0 calls" matches "after 1 call"."""
    return [word.removesuffix("s") for word in _PLAIN_WORD.findall(_QUOTED.sub("", raised.failure.message))]


def _same_words(a: Raised, b: Raised) -> bool:
    """Whether two exceptions of one kind have the same message, ignoring names and numbers.

    Messages matter because PyTorch raises RuntimeError for almost everything. An empty message matches any, and so does
    a RecursionError, whose message depends on where the stack overflowed.
    """
    if a.failure.kind == "RecursionError":
        return True
    mine, theirs = _words(a), _words(b)
    return not mine or not theirs or mine == theirs


def ending(record: Record) -> str:
    """How a check ended; a known mistake that stands for an endless loop raises `TimeoutError`."""
    if isinstance(record.ended_by, Raised):
        return record.ended_by.failure.kind
    return "TimeoutError" if isinstance(record.ended_by, TimedOut) else type(record.ended_by).__name__


def same_comparison(a: Comparison, b: Comparison) -> bool:
    if a.property_only or b.property_only:
        return (a.property_only, a.got, a.place) == (b.property_only, b.got, b.place)
    if isinstance(b.got, Sketch):
        return b.got.fits([a.got], [(a.rtol, a.atol)])
    triples, others = paired(a.got, a.expected, a.names), paired(b.got, b.expected, b.names)
    return len(triples) == len(others) and all(
        _alike(mine, its, a) for (_, mine, _), (_, its, _) in zip(triples, others, strict=True)
    )


def _alike(mine: Any, its: Any, comparison: Comparison) -> bool:
    """Whether two values are the same; objects that are not data are compared by their kind only."""
    if isinstance(mine, tuple | list) and isinstance(its, tuple | list):
        pairs = zip(mine, its, strict=False)  # a tuple and a list match, as they do in the checks
        return len(mine) == len(its) and all(_alike(*pair, comparison) for pair in pairs)
    if isinstance(mine, dict) and isinstance(its, dict):
        return mine.keys() == its.keys() and all(_alike(mine[key], its[key], comparison) for key in mine)
    if not isinstance(mine, DATA) and not isinstance(its, DATA):
        return summarise(mine) == summarise(its)
    same = mismatch(mine, _in_dtype_of(mine, its), name="", rtol=comparison.rtol, atol=comparison.atol)
    return same is None


def _in_dtype_of(mine: Any, its: Any) -> Any:
    """`its` converted to the dtype of `mine`, since a wrong dtype does not make it another mistake."""
    if isinstance(mine, np.ndarray) and isinstance(its, np.ndarray) and {mine.dtype.kind, its.dtype.kind} <= set("fi"):
        with np.errstate(all="ignore"):
            return its.astype(mine.dtype)
    return its
