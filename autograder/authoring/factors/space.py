"""Reads a lesson's `factors.toml`: which factors the arguments of each exercise have, and what no check varies.

    [max_vjp]
    arrays = { g = "float", x = "float" }
    cases."the last axis" = { g = [3], x = [3, 4], axis = 1 }
    without."x: shape 0-d" = "there is no maximum along no axis"

A case gives each array's shape, or the shapes of a list of arrays (`["none"]` for an empty list), and the call's other
arguments; `below` bounds whole numbers. `same = ["g", "x"]` says that two arguments may be one object. With
`values = { x = ["neighbours"] }` two further rows have an x of different numbers that are equal but for the last
digits; with `"offset"`, one of large numbers with small differences. A key of `without` names arguments, a factor and,
unless it means all, levels of it; two such parts joined by `&` name pairs. The table `every` has reasons for all
exercises of the lesson.

Scenarios build what is no array: `objects = { q_net = "module" }` says of which kind it is, and a kind has factors of
its own. Modules have those of `objects.py`, all others those that the lesson lists:

    [kinds.graph]
    names = ["without names", "all of one name"]

The check hands the levels of a row on in a scenario's argument `states`. `"call: case a single node & nodes: names"`
names a case in which the object cannot have a level.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import prod
from pathlib import Path
from typing import Any

from autograder.authoring.factors.objects import OBJECTS
from autograder.authoring.factors.reasons import Level, Reasons
from autograder.authoring.tree import AuthoringError
from autograder.judging.checking.kinds import (
    CASE,
    LIKE,
    MIXED,
    NEIGHBOURS,
    NO_ARRAYS,
    NUMBER,
    OFFSET,
    PLAIN,
    ROWS,
    SAME,
    TWICE,
    mentioned,
)

EVERY, KINDS = "every", "kinds"
VALUES = (PLAIN, "zeros", "tiny")
"""Of arrays with one entry: larger ones have entries of each kind, beside each other."""
OF_NUMBERS = (PLAIN, "zeros", "small", "large")
MEASURED = {"zeros": "zero", "tiny": "denormal"}
"""The names of values where they are measured, and in reasons."""
DTYPES = {"float": ("float64", "float32"), "float64": ("float64",), "whole": ("int64", "int32"), NUMBER: ()}
LAYOUTS = ("columns", "sliced", "repeated")
"""Those that the rows combine; arguments that lie row by row are those of the other checks."""
VERSION = 2
"""Raise it when the same factors give other rows."""
USUAL = (PLAIN,), (ROWS,), ("float64",), ("int64",)
"""The levels of a factor that is not one, because there is nothing to choose."""
KEYS = {"arrays", "cases", "same", "objects", "values", "without"}
CALL = "call"
"""The name that a case has in reasons, where an argument has its own."""

Allowed = Callable[[Mapping[str, str]], bool]


@dataclass(frozen=True)
class Space:
    """The factors of one exercise."""

    exercise: str
    arrays: dict[str, str] = field(default_factory=dict)
    cases: dict[str, dict[str, Any]] = field(default_factory=dict)
    same: tuple[str, ...] = ()
    objects: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    """By argument: its factors, with the levels beside the usual one."""
    without: dict[str, str] = field(default_factory=dict)
    """The reasons why no check has certain levels or pairs."""
    own: tuple[str, ...] = ()
    """Those of them that are not the whole lesson's."""
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By array: the values that its entries have in some rows, beside those of all arrays."""

    @property
    def drawn(self) -> bool:
        """Whether the exercise has rows."""
        return bool(self.arrays or self.objects)

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each factor, by its name, without those that have a reason or that no shape allows."""
        found: dict[str, tuple[str, ...]] = {CASE: tuple(self.cases)}
        reasons = Reasons(self.without)
        for name, kind in self.arrays.items():
            shapes = [shape for case in self.cases.values() for shape in _shapes(case, name)]
            values: tuple[str, ...] = OF_NUMBERS if kind == NUMBER else ()
            if kind not in ("whole", NUMBER) and all(prod(shape) == 1 for shape in shapes):
                values = VALUES
            elif name in self.values:
                values = (MIXED, *self.values[name])
            dtypes = DTYPES.get(kind, ())
            for factor, levels in (
                ("values", values),
                ("layout", tuple(one for one in (ROWS, *LAYOUTS) if any(_lies(shape, one) for shape in shapes))),
                ("dtype", dtypes),
            ):
                drawn = tuple(one for one in levels if not reasons.of_level((name, factor, MEASURED.get(one, one))))
                found |= {f"{name} {factor}": drawn} if drawn and drawn not in USUAL else {}
        for name, factors in self.objects.items():
            for factor, levels in factors.items():
                drawn = tuple(one for one in levels if not reasons.of_level((name, factor, one)))
                found |= {f"{name} {factor}": (PLAIN, *drawn)} if drawn else {}
        return found | ({SAME: ("two", TWICE)} if self.same else {})

    @property
    def further(self) -> Iterator[dict[str, str]]:
        """Rows behind those that cover all pairs: one for each of the author's values and each dtype."""
        levels = self.levels
        rooms = {case for case in self.cases for name in self.values if prod(_shapes(self.cases[case], name)[0]) > 1}
        case = next((case for case in self.cases if case in rooms), "")
        for value in dict.fromkeys(chain(*self.values.values())):
            usual = {name: of_it[0] for name, of_it in levels.items()} | {CASE: case}
            usual |= {
                layout: next(one for one in levels[layout] if self._rule(name, layout, _lies)({**usual, layout: one}))
                for name in self.arrays
                if (layout := f"{name} layout") in levels
            }
            usual |= {f"{name} values": value for name, of_it in self.values.items() if value in of_it}
            yield usual
            yield usual | {name: "float32" for name, of_it in levels.items() if "float32" in of_it}

    @property
    def constraints(self) -> list[tuple[tuple[str, ...], Allowed]]:
        """Which levels occur together: names of factors, and a function that tells for their levels."""
        levels = self.levels
        found: list[tuple[tuple[str, ...], Allowed]] = []
        for name in self.arrays:
            layout = f"{name} layout"
            found += [((CASE, layout), self._rule(name, layout, _lies))] if layout in levels else []
        if self.same:
            first, second = self.same
            found.append(((CASE, SAME), self._one_shape(first, second)))
            for factor in ("values", "layout", "dtype", *self.objects.get(first, ())):
                pair = f"{first} {factor}", f"{second} {factor}"
                if levels.keys() >= set(pair):
                    found.append(((SAME, *pair), _alike(pair)))
        return [*found, *self._of_objects()]

    def _of_objects(self) -> Iterator[tuple[tuple[str, ...], Allowed]]:
        """Which states of objects occur together, and in which cases: those pairs that have no reason."""
        for pair, unlike in self._apart.items():
            yield pair, _not(pair, unlike)

    @property
    def _apart(self) -> dict[tuple[str, str], set[tuple[str, str]]]:
        """By two factors, of which one at least is an object's: the pairs of levels that have a reason."""
        factors = {f"{name} {factor}": (name, factor) for name, of_it in self.objects.items() for factor in of_it}
        factors = {name: of_it for name, of_it in factors.items() if name in self.levels}
        found: dict[tuple[str, str], set[tuple[str, str]]] = {}
        reasons, levels = Reasons(self.without), self.levels
        for one, other in combinations([CASE, *factors], 2):
            of_one, of_other = factors.get(one, (CALL, CASE)), factors[other]
            pairs = [(a, b) for a in levels[one] for b in levels[other]]
            unlike = {(a, b) for a, b in pairs if reasons.of_pair(frozenset(((*of_one, a), (*of_other, b))))}
            found |= {(one, other): unlike} if unlike else {}
        return found

    @property
    def of_cases(self) -> Iterator[frozenset[Level]]:
        """Each case together with each level of an object."""
        for case in self.cases:
            for name, factors in self.objects.items():
                for factor, levels in factors.items():
                    yield from (frozenset(((CALL, CASE, case), (name, factor, level))) for level in levels)

    def _rule(self, name: str, factor: str, fits: Callable[[tuple[int, ...], str], bool]) -> Allowed:
        """Whether one of the argument's arrays can have a level."""
        return lambda row: any(fits(shape, row[factor]) for shape in _shapes(self.cases[row[CASE]], name))

    def _one_shape(self, first: str, second: str) -> Allowed:
        def allowed(row: Mapping[str, str]) -> bool:
            case = self.cases[row[CASE]]
            return row[SAME] != TWICE or case.get(first, ()) == case.get(second, ())

        return allowed

    def strangeness(self, row: Mapping[str, str]) -> tuple[int, int]:
        """What makes a row hard to read: how many levels feedback must mention, and how many entries it has."""
        shapes = [shape for name in self.arrays for shape in _shapes(self.cases[row[CASE]], name)]
        return len(mentioned(row)), sum(map(prod, shapes))

    @property
    def digest(self) -> str:
        """A hash of what the rows are made of."""
        made_of: list[Any] = [VERSION, self.arrays, self.cases, self.same, self.levels]
        made_of += [[*pair, sorted(unlike)] for pair, unlike in self._apart.items()]
        return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:12]


def _shapes(case: Mapping[str, Any], name: str) -> list[tuple[int, ...]]:
    """The shape of an argument, or those of the arrays in a list; an empty list counts as an empty array."""
    shape = case.get(name, [])
    if shape == NO_ARRAYS:
        return [(0,)]
    return [tuple(one) for one in shape] if shape and isinstance(shape[0], list) else [tuple(shape)]


def _alike(pair: tuple[str, str]) -> Allowed:
    return lambda row: row[SAME] != TWICE or row[pair[0]] == row[pair[1]]


def _not(pair: tuple[str, str], unlike: set[tuple[str, str]]) -> Allowed:
    return lambda row: (row[pair[0]], row[pair[1]]) not in unlike


def _lies(shape: tuple[int, ...], layout: str) -> bool:
    """Whether an array of this shape can have the layout; arrays of one entry or none have only one."""
    if prod(shape) < 2:
        return layout == ROWS
    return layout != ROWS and (layout != "columns" or sum(length > 1 for length in shape) > 1)


def spaces_in(path: Path) -> dict[str, Space]:
    """What a lesson's `factors.toml` says, by exercise; empty if there is none. `AuthoringError` if it is wrong."""
    if not path.is_file():
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        every = content.pop(EVERY, {}).get("without", {})
        kinds = {**OBJECTS, **content.pop(KINDS, {})}
        return {exercise: _space(exercise, of_it, every, kinds) for exercise, of_it in content.items()}
    except (tomllib.TOMLDecodeError, AttributeError, TypeError, KeyError, ValueError) as error:
        raise AuthoringError(f"{path.name}: it cannot be read ({error})") from None


def _space(exercise: str, content: dict[str, Any], every: dict[str, str], kinds: Mapping[str, Any]) -> Space:
    for key in content.keys() - KEYS:
        raise ValueError(f"{exercise} has no {key!r}: there are {', '.join(sorted(KEYS))}")
    arrays, cases = content.get("arrays", {}), content.get("cases", {})
    for name, kind in arrays.items():
        if kind not in DTYPES and kind.removeprefix(LIKE) not in arrays:
            raise ValueError(f"{exercise}: {name} is {kind!r}, which is none of {', '.join(DTYPES)}")
    objects = content.get("objects", {})
    for name, kind in objects.items():
        if kind not in kinds:
            raise ValueError(f"{exercise}: {name} is {kind!r}, which is none of {', '.join(kinds)}")
    values = {name: tuple(of_it) for name, of_it in content.get("values", {}).items()}
    if unknown := (values.keys() - arrays.keys()) | ({*chain(*values.values())} - {NEIGHBOURS, OFFSET}):
        raise ValueError(f"{exercise}: values has {', '.join(sorted(unknown))}")
    own = content.get("without", {})
    return Space(
        exercise,
        arrays,
        cases,
        tuple(content.get("same", ())),
        {name: {factor: tuple(levels) for factor, levels in kinds[kind].items()} for name, kind in objects.items()},
        {**every, **own},
        tuple(own),
        values,
    )


def pairs_of(levels: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Each two levels of two factors."""
    names = list(levels)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            for one in levels[first]:
                for other in levels[second]:
                    yield (first, one), (second, other)
