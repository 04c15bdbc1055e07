"""The search for slips and pairs of known mistakes, in what the answer book has of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.answerbook.book import AnswerBook
from autograder.diagnosis import Misconception
from autograder.diagnosis.sketches import Sketch, sketch_of
from autograder.judging.explaining.evidence import Evidence, ending
from autograder.judging.explaining.searching import Candidate, Search
from autograder.judging.explaining.work import SearchEnded, Work
from autograder.judging.records.record import Comparison, Record

Seen = list[Any] | None
"""What one check saw, as a few numbers; None if it passes."""


def _nothing_to_run(i: int, enough: object) -> Record:
    raise LookupError("what is written is all there is")


def seen_in_short(record: Record) -> Seen:
    """Condense a check's record: how it ended, the values of its properties, and a sketch of all other values."""
    if record.passed:
        return None
    sketch = sketch_of(*_values(record))
    return [ending(record), _properties(record), sketch.structure, *sketch.products]


def _values(record: Record) -> tuple[list[Any], list[tuple[float, float]]]:
    compared = [one for one in record.comparisons if not one.property_only]
    return [one.got for one in compared], [(one.rtol, one.atol) for one in compared]


def _properties(record: Record) -> list[list[Any]]:
    """Index, line and value of each property that a check asked for."""

    def said(one: Comparison) -> Any:
        return one.got if isinstance(one.got, bool | str) else str(one.got)

    return [[i, one.place[1], said(one)] for i, one in enumerate(record.comparisons) if one.property_only]


def gives(mine: Record, written: Seen) -> bool:
    """Whether a check's record of an answer matches the one in the book."""
    if written is None or mine.passed:
        return written is None and mine.passed
    ended, properties, structure, *products = written
    if ended != ending(mine) or properties != _properties(mine):
        return False
    return Sketch(structure, tuple(products)).fits(*_values(mine))


@dataclass(frozen=True)
class CandidateFromBook(Candidate):
    """A changed reference whose visible records are in the book."""

    seen: tuple[Seen, ...] = ()

    def explains(self, order: list[tuple[int, Record]], work: Work) -> bool:
        return all(gives(mine, self.seen[i]) for i, mine in order)


class SearchInBook(Search):
    """The changed references of one exercise that are in the answer book.

    Args:
        known: the exercise's known mistakes.
    """

    def __init__(self, book: AnswerBook, exercise: str, known: Sequence[Misconception]) -> None:
        self._written_variants = book.variants.get(exercise)
        self._written_pairs = book.pairs.get(exercise)
        self._by_name = {one.name: one for one in known}
        self._nothing = Evidence(0, _nothing_to_run)

    def variants(self) -> Sequence[Candidate]:
        if self._written_variants is None:
            raise SearchEnded
        return [CandidateFromBook(words, self._nothing, seen=tuple(seen)) for words, *seen in self._written_variants]

    def pairs(self) -> Sequence[Candidate]:
        if self._written_pairs is None:
            raise SearchEnded
        return [
            CandidateFromBook("", self._nothing, (self._by_name[first], self._by_name[second]), seen=tuple(seen))
            for first, second, *seen in self._written_pairs
        ]
