"""Finds answers to an exercise that are alike, weighted by how unusual their common parts are.

There are few ways to write `relu_vjp`, so similarity alone means little; what counts is similarity in what few others
wrote. Each piece of a tree that two answers share weighs 1 if nobody else in the class has it and 0 if everybody has;
code that the course hands out weighs nothing. The model solution counts as one more answer of the class.
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
"""Least share of common pieces (of all pieces of both) at which two answers are near-equal."""
UNUSUAL = 10.0
"""Least total weight of shared pieces that is worth a look; one change of a tree alters six pieces."""
LONG = 80
"""Minimum number of pieces of an answer that equals the model solution by more than chance."""
MOST_HAVING = 20
"""A piece that more answers have is not used to find pairs, since it makes no pair unusual."""
MOST_PAIRS = 500
"""Most near-equal pairs that are kept for one exercise."""


@dataclass(frozen=True)
class Finding:
    """Answers that are alike: those in `first` equal each other or, if there is a `second`, resemble those in it."""

    lesson: str
    exercise: str
    first: tuple[Answer, ...]
    second: tuple[Answer, ...]
    """The same as `first` if the answers are equal."""
    equal: bool
    likeness: float
    """Share of common pieces; 1 if the answers are equal."""
    unusual: float
    """Total weight of the shared pieces, each between 0 and 1."""
    having: int
    """Hand-ins of the class that have that answer, or one of the two."""
    of: int
    """Hand-ins that have an answer to the exercise."""

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, each once."""
        return self.first if self.equal else (*self.first, *self.second)

    @property
    def students(self) -> list[str]:
        return list(dict.fromkeys(one.student for one in self.answers if one.student is not None))

    @property
    def is_of_the_reference(self) -> bool:
        """Whether the model solution is among them."""
        return any(one.student is None for one in self.answers)

    @property
    def verbatim(self) -> int:
        """The most hand-ins with identical text, including names and comments; 0 if no two have that."""
        whose: dict[str, set[str | None]] = defaultdict(set)
        for one in self.answers:
            whose[_text(one.code)].add(one.whose)
        most = max(map(len, whose.values()))
        return most if most > 1 else 0


@dataclass
class ExerciseFindings:
    """The findings of one exercise."""

    lesson: str
    exercise: str
    answers: int = 0
    """Hand-ins with an answer, without the model solution."""
    different: int = 0
    most_common: int = 0
    """Hand-ins with the most frequent answer."""
    as_the_reference: int = 0
    findings: list[Finding] = field(default_factory=list)
    """Findings that are worth a look, the most unusual first."""
    not_compared: list[str] = field(default_factory=list)


@dataclass
class _Variant:
    """Equal answers."""

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
    near = sorted(_near_pairs(variants, weigh), key=lambda one: -one[0])[:MOST_PAIRS]
    for unusual, likeness, first, second in [*_equal_groups(variants, weigh), *near]:
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
    """Group equal answers, in order of first appearance."""
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
    """Weighs pieces by how unusual they are in a class."""

    def __init__(self, variants: list[_Variant], handed_out: frozenset[int]) -> None:
        self.handed_out = handed_out
        self.having: Counter[int] = Counter()
        """By piece: the number of hand-ins that have it."""
        for variant in variants:
            for piece in variant.tree.shingles:
                self.having[piece] += len(variant.whose)
        self._others = max(len({who for variant in variants for who in variant.whose}) - 2, 1)
        self._weights: dict[int, float] = {}

    def of(self, pieces: Iterable[int]) -> float:
        """Total weight of pieces that two hand-ins share."""
        return round(sum(self._weight(self.having[piece]) for piece in pieces if piece not in self.handed_out), 2)

    def _weight(self, having: int) -> float:
        """Weight of a piece: 1 if only two hand-ins have it, 0 if all have."""
        if having not in self._weights:
            others = min(max(having - 2, 0), self._others)
            self._weights[having] = 1 - math.log(others + 1) / math.log(self._others + 1)
        return self._weights[having]


def _equal_groups(variants: list[_Variant], weigh: _Weights) -> Iterator[tuple[float, float, _Variant, _Variant]]:
    """Equal answers of several hand-ins that are unusual, or that are long and equal the model solution."""
    for one in variants:
        if len(one.whose) > 1:
            unusual = weigh.of(one.tree.shingles)
            long = None in one.whose and len(set(one.tree.shingles) - weigh.handed_out) >= LONG
            if unusual >= UNUSUAL or long:
                yield unusual, 1.0, one, one


def _near_pairs(variants: list[_Variant], weigh: _Weights) -> Iterator[tuple[float, float, _Variant, _Variant]]:
    """Pairs of different answers that share many pieces, unusual ones among them."""
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
    """A source without whitespace at the ends of its lines."""
    return "\n".join(line.rstrip() for line in lines_of(code.strip()))
