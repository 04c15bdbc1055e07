"""What the checks see of a known mistake, and whether they saw the same of an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.diagnosis.equality import mismatch
from autograder.diagnosis.sketches import Sketch
from autograder.judging.records.errors import Raised, TimedOut
from autograder.judging.records.record import Comparison, Record, paired
from autograder.values import summarise

DATA = (np.ndarray, np.generic, bool, int, float, complex, str, bytes, type(None))
"""What has a value to compare, or is made of such."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_PLAIN_WORD = re.compile(r"(?<!\S)[a-z]+(?=[,.:;]?(?:\s|$))")
"""A word of a message that is no name of the learner's, most likely: all lower case, and nothing but letters."""


class Evidence(Sequence[Record]):
    """What the checks see of a known mistake: one record a check, made when it is first looked at.

    Most mistakes differ from the learner's in the first failing check, so the others need not be run, and early in it,
    so it need not be run to its end.

    Args:
        observe: runs the check of a number until what it saw is enough.
        rejected_by: the numbers of the visible checks that the mistake fails, where that is known beforehand.
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
        """Of checks that ended early, what was seen till then."""

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, i: Any) -> Any:
        if self._records[i] is None:
            self._records[i] = self._observe(i, None)
        return self._records[i]

    def accepted_by(self, checks: int) -> list[int]:
        """The first checks, visible ones, that are known to accept the mistake; none where that is not known."""
        return [] if self._rejected_by is None else [i for i in range(checks) if i not in self._rejected_by]

    def presume(self, i: int, record: Record) -> None:
        """Let check `i`, which is known to accept the mistake, have seen this of it, and not be run."""
        assert self._rejected_by is not None
        assert i not in self._rejected_by
        self._records[i] = record

    def may_be_in(self, records: Sequence[Record]) -> bool:
        """Whether the answer of these records fails all visible checks that the mistake is known to fail."""
        return self._rejected_by is None or all(
            not record.passed for i, record in enumerate(records) if record.visible and i in self._rejected_by
        )

    def may_be_all_of(self, records: Sequence[Record]) -> bool:
        """Whether the mistake is known to fail all visible checks that this answer fails, but for its dtype maybe."""
        return self._rejected_by is None or all(
            i in self._rejected_by
            for i, record in enumerate(records)
            if record.visible and not record.passed and record.cost == 1.0
        )

    def is_known_to_pass(self, mine: Record, i: int) -> bool:
        """Whether check `i`, of which `mine` is the answer's record, is known to be passed by the mistake."""
        return self._rejected_by is not None and mine.visible and i not in self._rejected_by

    def same_as(self, mine: Record, i: int) -> bool:
        """Whether check `i` saw of the learner's answer, in `mine`, what it sees of the mistake.

        It ends where it sees something else, once: run again for another answer, it goes on to its end.
        """
        if self._records[i] is None and i not in self._begun:
            record = self._observe(i, lambda theirs: not _last_is_same(mine, theirs))
            if record.cut:
                self._begun[i] = record
            else:
                self._records[i] = record
        if self._records[i] is None and not _begins_like(mine, self._begun[i]):
            return False
        return _same_record(mine, self[i])

    def agrees_until(self, mine: Record, i: int, last: int) -> bool:
        """Whether the mistake gives the same in check `i` up to comparison `last`, and something wrong."""
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


def _last_is_same(mine: Record, begun: Record) -> bool:
    number = len(begun.comparisons)
    return number <= len(mine.comparisons) and same_comparison(mine.comparisons[number - 1], begun.comparisons[-1])


def _begins_like(mine: Record, begun: Record) -> bool:
    """Whether all comparisons of a check that ended early are the first ones of another record."""
    fewer = len(begun.comparisons) <= len(mine.comparisons)
    return fewer and all(map(same_comparison, mine.comparisons, begun.comparisons))


def _same_record(a: Record, b: Record) -> bool:
    """Whether a check saw two implementations return the same values, call by call."""
    if ending(a) != ending(b) or len(a.comparisons) != len(b.comparisons):
        return False
    if isinstance(a.ended_by, Raised) and isinstance(b.ended_by, Raised) and not _same_words(a.ended_by, b.ended_by):
        return False
    return all(map(same_comparison, a.comparisons, b.comparisons))


def says_why(record: Record) -> bool:
    """Whether a check ended with an exception that says more than its kind, by which a known mistake can be told."""
    return isinstance(record.ended_by, Raised) and bool(_words(record.ended_by))


def _words(raised: Raised) -> list[str]:
    """Without the plural's s, which a number decides: after 0 calls, after 1 call."""
    return [word.removesuffix("s") for word in _PLAIN_WORD.findall(_QUOTED.sub("", raised.failure.message))]


def _same_words(a: Raised, b: Raised) -> bool:
    """Whether two exceptions of one kind say the same but for names and numbers: PyTorch has one kind for all it finds.

    One that says nothing is told apart by its kind alone, and so is a recursion without end: what it was at when the
    stack was full depends on how much of that was in use before.
    """
    if a.failure.kind == "RecursionError":
        return True
    mine, theirs = _words(a), _words(b)
    return not mine or not theirs or mine == theirs


def ending(record: Record) -> str:
    """How a check ended: a misconception that stands for an endless loop raises `TimeoutError`."""
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
    """Whether two values are the same; of objects that are no data, all there is to compare is the kind."""
    if isinstance(mine, tuple | list) and isinstance(its, tuple | list):
        pairs = zip(mine, its, strict=False)  # a tuple and a list: the checks take one for the other, too
        return len(mine) == len(its) and all(_alike(*pair, comparison) for pair in pairs)
    if isinstance(mine, dict) and isinstance(its, dict):
        return mine.keys() == its.keys() and all(_alike(mine[key], its[key], comparison) for key in mine)
    if not isinstance(mine, DATA) and not isinstance(its, DATA):
        return summarise(mine) == summarise(its)
    same = mismatch(mine, _in_dtype_of(mine, its), name="", rtol=comparison.rtol, atol=comparison.atol)
    return same is None


def _in_dtype_of(mine: Any, its: Any) -> Any:
    """A mistake is the same mistake whether or not the dtype is also wrong."""
    if isinstance(mine, np.ndarray) and isinstance(its, np.ndarray) and {mine.dtype.kind, its.dtype.kind} <= set("fi"):
        with np.errstate(all="ignore"):
            return its.astype(mine.dtype)
    return its
