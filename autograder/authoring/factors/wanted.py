"""Which levels and pairs the checks of an exercise should have, and the reasons why they do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import combinations

from autograder.authoring.factors.seen import Level, Seen
from autograder.authoring.factors.space import LAYOUTS

SHAPES = ("0-d", "empty", "one entry", "1 axis", "2 axes", "more axes")
FACTORS: dict[str, dict[str, tuple[str, ...]]] = {
    "float": {
        "shape": SHAPES,
        "values": ("zero", "minus zero", "denormal", "mixed", "ties"),
        "dtype": ("float64", "float32"),
        "layout": LAYOUTS,
    },
    "whole": {"shape": SHAPES, "values": ("equal",), "dtype": ("int64", "int32"), "layout": LAYOUTS},
}
"""The levels of each factor that an array has unless the author gives a reason."""
IN_PAIRS = {
    "shape": ("0-d", "empty", "one entry", "1 axis", "several axes"),
    "values": ("zero", "denormal", "mixed", "equal"),
    "dtype": ("float64", "float32", "int64", "int32"),
    "layout": LAYOUTS,
}
"""The levels that are paired: two axes are as good as more there, 0 as good as -0."""
FEW = ("0-d", "empty", "one entry")
"""Shapes of arrays that lie in memory in one way only, and do not have several values."""


def levels_wanted(seen: Seen) -> list[Level]:
    """The levels of each argument that was seen to be an array."""
    return [
        (name, factor, level)
        for name, kind in seen.kinds.items()
        for factor, levels in FACTORS[kind].items()
        for level in levels
    ]


def pairs_wanted(levels: set[Level]) -> Iterator[frozenset[Level]]:
    """The pairs of these levels that can occur in one call.

    Of two arguments, only levels of the same factor are paired; their shapes depend on each other.
    """
    of_two_axes = {name for name, _, level in levels if level == "several axes"}
    for one, other in combinations(sorted(level for level in levels if level[2] in IN_PAIRS[level[1]]), 2):
        if one[0] == other[0]:
            if one[1] != other[1] and _together({one[1:], other[1:]}, one[0] in of_two_axes):
                yield frozenset((one, other))
        elif one[1] == other[1] != "shape":
            yield frozenset((one, other))


def _together(two: set[tuple[str, str]], several_axes: bool) -> bool:
    """Whether an array can have both levels; `several_axes`: whether it ever has more than one axis."""
    of = dict(two)
    shape, values, layout = of.get("shape", ""), of.get("values", ""), of.get("layout", "")
    if shape in FEW and (layout or values in ("ties", "mixed", "minus zero", "equal") or (values and shape == "empty")):
        return False  # a single zero is either 0 or -0
    if shape == "1 axis" and layout == "columns":
        return False
    return several_axes or layout != "repeated" or values != "mixed"


class Reasons:
    """The reasons in a lesson's `factors.toml` for levels and pairs that no check has; notes which ones are used."""

    def __init__(self, without: Mapping[str, str]) -> None:
        self._parts = {key: _parts_of(key) for key in without}
        self.used: set[str] = set()

    def of_level(self, level: Level) -> bool:
        """Whether there is a reason for a level."""
        return self._note(key for key, parts in self._parts.items() if len(parts) == 1 and parts[0].fits(level))

    def of_pair(self, pair: frozenset[Level]) -> bool:
        """Whether there is a reason for a pair of levels."""
        one, other = pair
        return self._note(
            key
            for key, parts in self._parts.items()
            if len(parts) == 2
            and ((parts[0].fits(one) and parts[1].fits(other)) or (parts[0].fits(other) and parts[1].fits(one)))
        )

    def _note(self, keys: Iterator[str]) -> bool:
        found = list(keys)
        self.used.update(found)
        return bool(found)


class _Part:
    """One part of a reason's key: `x, g: layout columns, strided`."""

    def __init__(self, arguments: str, levels: str) -> None:
        self._arguments = [one.strip() for one in arguments.split(",")]
        self._factor, _, listed = levels.strip().partition(" ")
        self._levels = [one.strip() for one in listed.split(",") if one.strip()]

    def fits(self, level: Level) -> bool:
        name, factor, of_it = level
        named = any(fnmatchcase(name, one) for one in self._arguments)
        return named and factor == self._factor and (not self._levels or of_it in self._levels)


def _parts_of(key: str) -> list[_Part]:
    """The parts of a key; those without arguments have the first one's. Raises `ValueError` if it has no arguments."""
    arguments, colon, rest = key.partition(":")
    if not colon:
        raise ValueError(f"“{key}” names no argument: write “x: layout columns”")
    first, *others = rest.split("&")
    parts = [_Part(arguments, first)]
    for other in others:
        names, colon, levels = other.partition(":")
        parts.append(_Part(names, levels) if colon else _Part(arguments, other))
    return parts


def in_words(level: Level) -> str:
    """A level in a problem, as a key of `without` names it."""
    name, factor, of_it = level
    return f"{name}: {factor} {of_it}"
