"""Which answers to an exercise are alike, and how unusual is what they share.

Two who write `relu_vjp` write the same, as there are few ways to. So it is not likeness that ranks, but likeness in
what few others wrote: each piece of a tree that two answers share weighs 1 if nobody else in the class has it and 0 if
all have, and what the course hands out weighs nothing. The model solution counts as one more answer of the class.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from autograder.similarity.class_answers import Answer, ExerciseAnswers
from autograder.similarity.trees import NotCompared, Tree, tree_of
from autograder.worker.lines import lines_of

NEAR = 0.6
"""The share of their pieces that two answers have in common which are shown as near-equal."""
UNUSUAL = 10.0
"""What unusual pieces of two answers weigh together that are worth a look: one change of a tree makes six."""
LONG = 80
"""Pieces of an answer that nobody writes as the model solution has it by chance, however many of the class do."""
MOST_HAVING = 20
"""Answers that a piece may be in by which pairs are looked for: what more have makes no pair unusual."""
MOST_PAIRS = 500
"""Near-equal pairs of one exercise that are kept."""


@dataclass(frozen=True)
class Finding:
    """Answers that are alike: all equal, or those of `first` near those of `second`."""

    lesson: str
    exercise: str
    first: tuple[Answer, ...]
    second: tuple[Answer, ...]
    """Equal answers are in `first` alone, but for one to show beside it."""
    equal: bool
    likeness: float
    """The share of pieces in common; 1 where they are equal."""
    unusual: float
    """What the shared pieces weigh, each between 0 and 1."""
    having: int
    """How many hand-ins of the class have that answer, or one of the two."""
    of: int
    """How many hand-ins have an answer to the exercise."""

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All of them, each once."""
        return self.first if self.equal else (*self.first, *self.second)

    @property
    def students(self) -> list[str]:
        return list(dict.fromkeys(one.student for one in self.answers if one.student is not None))

    @property
    def is_of_the_reference(self) -> bool:
        """Whether the model solution is one of them."""
        return any(one.student is None for one in self.answers)

    @property
    def verbatim(self) -> int:
        """How many hand-ins have the very same text, names and comments too; 0 if no two have."""
        whose: dict[str, set[str | None]] = defaultdict(set)
        for one in self.answers:
            whose[_text(one.code)].add(one.whose)
        most = max(map(len, whose.values()))
        return most if most > 1 else 0


@dataclass
class ExerciseFindings:
    """What there is to say of one exercise."""

    lesson: str
    exercise: str
    answers: int = 0
    """Hand-ins that have one, without the model solution."""
    different: int = 0
    most_common: int = 0
    """Hand-ins that have the answer which most have."""
    as_the_reference: int = 0
    findings: list[Finding] = field(default_factory=list)
    """What is unusual enough to be worth a look, the most unusual first."""
    not_compared: list[str] = field(default_factory=list)


@dataclass
class _Variant:
    """Answers that are equal."""

    tree: Tree
    answers: list[Answer] = field(default_factory=list)

    @property
    def whose(self) -> dict[str | None, Answer]:
        """One answer of each hand-in."""
        return {one.whose: one for one in reversed(self.answers)}


def compare(exercise: ExerciseAnswers, kept: Iterable[str]) -> ExerciseFindings:
    """Compare the answers to one exercise; `kept`: names that mean the same in all of them."""
    found = ExerciseFindings(exercise.lesson, exercise.exercise)
    names = frozenset(kept)
    variants = _variants(exercise.answers, names, found.not_compared)
    theirs = [[who for who in one.whose if who is not None] for one in variants]
    found.answers = len({who for whose in theirs for who in whose})
    found.different = sum(1 for whose in theirs if whose)
    found.most_common = max(map(len, theirs), default=0)
    found.as_the_reference = next(
        (len(one) for one, variant in zip(theirs, variants, strict=True) if None in variant.whose), 0
    )
    weigh = _Weights(variants, _pieces(exercise.handed_out, names))
    near = sorted(_near(variants, weigh), key=lambda one: -one[0])[:MOST_PAIRS]
    for unusual, likeness, first, second in [*_equal(variants, weigh), *near]:
        equal = first is second
        pair = (first, first) if equal else (first, second)
        having = {who for one in pair for who in one.whose} - {None}
        found.findings.append(
            Finding(
                exercise.lesson,
                exercise.exercise,
                first=tuple(pair[0].answers),
                second=tuple(pair[1].answers),
                equal=equal,
                likeness=likeness,
                unusual=unusual,
                having=len(having),
                of=found.answers,
            )
        )
    found.findings.sort(key=lambda one: (-one.unusual, not one.equal, one.students))
    return found


def _variants(answers: list[Answer], kept: frozenset[str], not_compared: list[str]) -> list[_Variant]:
    """Equal answers together, in the order in which they come."""
    variants: dict[bytes, _Variant] = {}
    trees: dict[str, Tree | str] = {}
    for answer in answers:
        if answer.code not in trees:
            try:
                trees[answer.code] = tree_of(answer.code, kept)
            except NotCompared as why:
                trees[answer.code] = str(why)
        tree = trees[answer.code]
        if isinstance(tree, str):
            not_compared.append(f"{answer.called}: {tree}")
        else:
            variants.setdefault(tree.digest, _Variant(tree)).answers.append(answer)
    return list(variants.values())


def _pieces(code: str, kept: frozenset[str]) -> frozenset[int]:
    try:
        return frozenset(tree_of(code, kept).shingles) if code else frozenset()
    except NotCompared:
        return frozenset()


class _Weights:
    """How unusual pieces are in a class."""

    def __init__(self, variants: list[_Variant], handed_out: frozenset[int]) -> None:
        self.handed_out = handed_out
        self.having: Counter[int] = Counter()
        """Hand-ins by the piece that they have."""
        for variant in variants:
            for piece in variant.tree.shingles:
                self.having[piece] += len(variant.whose)
        self._others = max(len({who for variant in variants for who in variant.whose}) - 2, 1)
        self._weights: dict[int, float] = {}

    def of(self, pieces: Iterable[int]) -> float:
        """What pieces weigh that two hand-ins share."""
        return round(sum(self._weight(self.having[piece]) for piece in pieces if piece not in self.handed_out), 2)

    def _weight(self, having: int) -> float:
        """1 if none but two have it, 0 if all have."""
        if having not in self._weights:
            others = min(max(having - 2, 0), self._others)
            self._weights[having] = 1 - math.log(others + 1) / math.log(self._others + 1)
        return self._weights[having]


def _equal(variants: list[_Variant], weigh: _Weights) -> Iterator[tuple[float, float, _Variant, _Variant]]:
    """Answers of several hand-ins that are equal and unusual, or long and the model solution's."""
    for one in variants:
        if len(one.whose) > 1:
            unusual = weigh.of(one.tree.shingles)
            long = None in one.whose and len(set(one.tree.shingles) - weigh.handed_out) >= LONG
            if unusual >= UNUSUAL or long:
                yield unusual, 1.0, one, one


def _near(variants: list[_Variant], weigh: _Weights) -> Iterator[tuple[float, float, _Variant, _Variant]]:
    """Pairs of answers that are unlike in a little, and alike in what is unusual."""
    having: dict[int, list[int]] = defaultdict(list)
    for number, variant in enumerate(variants):
        for piece in variant.tree.shingles:
            if piece not in weigh.handed_out and weigh.having[piece] <= MOST_HAVING:
                having[piece].append(number)
    shared: Counter[tuple[int, int]] = Counter()
    for numbers in having.values():
        shared.update(combinations(numbers, 2))
    for (i, j), rare in shared.items():
        first, second = variants[i], variants[j]
        if rare < UNUSUAL / 2 or len({*first.whose, *second.whose}) < 2:
            continue
        mine, other = (set(one.tree.shingles) - weigh.handed_out for one in (first, second))
        both = mine & other
        likeness = len(both) / len(mine | other)
        if likeness >= NEAR and (unusual := weigh.of(both)) >= UNUSUAL:
            yield unusual, round(likeness, 2), first, second


def _text(code: str) -> str:
    """A source without what is at the ends of its lines."""
    return "\n".join(line.rstrip() for line in lines_of(code.strip()))
