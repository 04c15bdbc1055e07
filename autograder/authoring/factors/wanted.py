"""Which levels and pairs the checks of an exercise should have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from autograder.authoring.factors.reasons import Level
from autograder.authoring.factors.seen import Seen
from autograder.authoring.factors.space import LAYOUTS, Space
from autograder.judging.checking.kinds import NUMBER

SHAPES = ("0-d", "empty", "one entry", "1 axis", "2 axes", "more axes")
FACTORS: dict[str, dict[str, tuple[str, ...]]] = {
    "float": {
        "shape": SHAPES,
        "values": ("zero", "minus zero", "denormal", "mixed", "ties"),
        "dtype": ("float64", "float32"),
        "layout": LAYOUTS,
    },
    "whole": {"shape": SHAPES, "values": ("equal",), "dtype": ("int64", "int32"), "layout": LAYOUTS},
    NUMBER: {"values": ("zero", "small", "large", "ties")},
}
"""The levels of each factor that an array has unless the author gives a reason."""
IN_PAIRS = {
    "shape": ("0-d", "empty", "one entry", "1 axis", "several axes"),
    "values": ("zero", "denormal", "mixed", "equal", "small", "large"),
    "dtype": ("float64", "float32", "int64", "int32"),
    "layout": LAYOUTS,
}
"""The levels that are paired: two axes are as good as more there, 0 as good as -0."""
FEW = ("0-d", "empty", "one entry")
"""Shapes of arrays that lie in memory in one way only, and have one value or none."""


def levels_wanted(seen: Seen, space: Space) -> list[Level]:
    """The levels of each argument that was seen to be an array, and those of the exercise's objects."""
    factors = [(name, FACTORS[kind]) for name, kind in seen.kinds.items()] + list(space.objects.items())
    return [(name, factor, level) for name, of_it in factors for factor, levels in of_it.items() for level in levels]


def pairs_wanted(levels: set[Level]) -> Iterator[frozenset[Level]]:
    """The pairs of these levels that can occur in one call.

    Of two arguments, only levels of the same factor are paired; their shapes depend on each other.
    """
    of_two_axes = {name for name, _, level in levels if level == "several axes"}
    for one, other in combinations(sorted(level for level in levels if level[2] in IN_PAIRS.get(level[1], ())), 2):
        if one[0] == other[0]:
            if one[1] != other[1] and _together({one[1:], other[1:]}, one[0] in of_two_axes):
                yield frozenset((one, other))
        elif one[1] == other[1] != "shape":
            yield frozenset((one, other))


def pairs_of_objects(space: Space, levels: set[Level]) -> Iterator[frozenset[Level]]:
    """The pairs of these levels of objects that can occur in one call; of two objects, only those of one factor."""
    of_objects = sorted(level for level in levels if level[1] in space.objects.get(level[0], ()))
    for one, other in combinations(of_objects, 2):
        if (one[0] == other[0]) != (one[1] == other[1]):
            yield frozenset((one, other))


def _together(two: set[tuple[str, str]], several_axes: bool) -> bool:
    """Whether an array can have both levels; `several_axes`: whether it ever has more than one axis."""
    of = dict(two)
    shape, values, layout = of.get("shape", ""), of.get("values", ""), of.get("layout", "")
    if (shape in FEW and (layout or values)) or (shape == "1 axis" and layout == "columns"):
        return False
    return several_axes or layout != "repeated" or not values


def in_words(level: Level) -> str:
    """A level in a problem, as a key of `without` names it."""
    name, factor, of_it = level
    return f"{name}: {factor} {of_it}"
