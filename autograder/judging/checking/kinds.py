"""Draws arguments of every kind: a check that uses these covers all pairs of levels of its exercise's factors.

An author lists the factors of an exercise in the lesson's `factors.toml`; `backprop build` writes into `covering.toml`
rows in which each two levels of two factors occur together, where they can. Visible and hidden inputs have the same
rows, with other numbers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from autograder.judging.checking.expectations import expect_close

CASE, SAME = "case", "same object"
"""Factors of a call: which shapes and options it has; whether two of its arguments are one object."""
TWICE = "twice"
PLAIN, MIXED, ROWS, DOUBLE = "plain", "mixed", "rows", "float64"
"""The levels of an array's values, layout and dtype that no label mentions."""
NEIGHBOURS, OFFSET = "neighbours", "offset"
"""Values that an author asks for: different ones, equal but for the last digits; large ones of small differences."""
LIKE = "like "
"""Begins the kind of an array that has another one's dtype."""
NO_ARRAYS = ["none"]
"""The shape of a list without arrays."""
LARGEST, SMALLEST = 20.0, 1e-5
"""The absolute values between which the entries of `mixed` arrays lie."""
LARGEST_BESIDE_OFFSET = 2.0
"""The largest absolute value in the other arrays beside one of `OFFSET`: larger ones would multiply the digits that its
mean has lost to rounding, and reject a right answer that rounds otherwise."""
NUMBER = "number"
"""The kind of an argument that is a Python float."""
HUGE = 1e6
"""About the absolute value of a float that is `large`."""
IN_WORDS = {
    "columns": "column by column",
    "sliced": "backwards with gaps in memory",
    "repeated": "expanded, so that its entries repeat",
    "zeros": "0",
    "tiny": "a denormal number",
    "small": "a small number",
    "large": "a large number",
    NEIGHBOURS: "of neighbouring floats",
    OFFSET: "of large numbers with small differences",
}
"""How a label names a level."""
RTOL = {"float64": 1e-9, "float32": 1e-4}


def mentioned(levels: Mapping[str, str]) -> list[str]:
    """The levels that a label mentions, apart from the case."""
    usual = ("", PLAIN, MIXED, ROWS, DOUBLE, "int64", "two")
    return [level for factor, level in levels.items() if factor != CASE and level not in usual]


class NoRows(RuntimeError):
    """The exercise has no rows in its lesson's `covering.toml`, or the file is missing."""


@dataclass(frozen=True)
class Cover:
    """The factors of an exercise with their levels, and rows that cover all pairs."""

    arrays: dict[str, str]
    """By name: "float" (float64 or float32), "float64", "whole" (int64 or int32), or "like x", with the dtype of x; or
    "number", a Python float."""
    cases: dict[str, dict[str, Any]]
    """By its name in feedback: each array's shape, or the shapes of a list of arrays, and options of the call."""
    rows: list[dict[str, str]]
    same: tuple[str, ...] = ()
    """Two arrays that may be one object."""
    objects: tuple[str, ...] = ()
    """The arguments, such as modules and graphs, that scenarios build in the states that the rows say."""


@dataclass
class Kind:
    """One row: the levels of all factors, and arguments drawn for them."""

    cover: Cover
    levels: Mapping[str, str]
    rng: np.random.Generator
    number: int = 0
    drawn: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        twice = self.cover.same if self.levels.get(SAME) == TWICE else ()
        for name, kind in self.cover.arrays.items():
            one = self.drawn.get(twice[0]) if name in twice[1:] else None
            self.drawn[name] = self._array(name, kind) if one is None else one

    @cached_property
    def options(self) -> dict[str, Any]:
        """The case's other arguments."""
        case = self.cover.cases[self.levels[CASE]]
        return {name: value for name, value in case.items() if name not in self.cover.arrays and name != "below"}

    @cached_property
    def states(self) -> dict[str, str]:
        """The states of the call's objects, and how its arrays lie in memory, for a scenario's argument `states`.

        The keys are an argument and a factor, as in `"module mode"`; a usual state is `"plain"`, a usual layout
        `"rows"`. `"same object"` is `"twice"` where the arguments that may be one object are.
        """
        found = {one: self.levels[one] for name in self.cover.objects for one in self._states_of(name)}
        found |= {SAME: self.levels[SAME]} if self.cover.same else {}
        return found | {f"{name} layout": self.levels.get(f"{name} layout", ROWS) for name in self.cover.arrays}

    def _states_of(self, name: str) -> list[str]:
        """The factors of an object, which may be drawn as arrays, too."""
        of_arrays = {f"{name} {factor}" for factor in ("values", "dtype", "layout") if name in self.cover.arrays}
        return [one for one in self.levels if one.startswith(f"{name} ") and one not in of_arrays]

    @cached_property
    def layout(self) -> str:
        """The arguments' layouts, for `learner.in_layout`: arrays first, in their order, then options."""
        return self.layout_of(*self.cover.arrays, *self.options)

    def layout_of(self, *arguments: str) -> str:
        """The layouts of these arguments; names of no array stand for arguments that are left as they are."""
        tokens = [self.levels.get(f"{name} layout", ROWS) for name in arguments]
        if self.levels.get(SAME) == TWICE:
            first, second = self.cover.same
            tokens[arguments.index(second)] = f"={arguments.index(first)}"
        return ",".join(tokens) if len(tokens) > 1 else tokens[0]

    @cached_property
    def label(self) -> str:
        """The row in words, for feedback."""
        words = [self.levels[CASE]]
        for name in self.cover.arrays:
            if self.levels.get(SAME) == TWICE and name in self.cover.same[1:]:
                words.append(f"{name} the same object as {self.cover.same[0]}")
                continue
            levels = {factor: self.levels.get(f"{name} {factor}", "") for factor in ("values", "dtype", "layout")}
            said = [IN_WORDS.get(one, one) for one in mentioned(levels)]
            words += [f"{name} {' and '.join(said)}"] if said else []
        for name in self.cover.objects:
            said = mentioned({one: level for one, level in self.levels.items() if one in self._states_of(name)})
            words += [f"{name} {', '.join(said)}"] if said else []
        return "; ".join(words)

    def tolerance(self, expected: Any, arguments: Any = (), *, by_entry: bool = False) -> dict[str, float]:
        """The tolerances `rtol` and `atol`, those of the least precise array.

        Args:
            arguments: what the answer is computed from; its largest entries, and those of `expected`, give the scale.
            by_entry: whether each entry is computed alone, so that small ones beside large ones are right, too.
        """
        dtypes = [level for factor, level in self.levels.items() if factor.endswith(" dtype")]
        rtol = max(RTOL.get(one, 0.0) for one in (*dtypes, DOUBLE))
        if by_entry:
            smallest = max(float(np.finfo(one).smallest_subnormal) for one in (*dtypes, DOUBLE) if one in RTOL)
            return {"rtol": rtol, "atol": 2 * smallest}
        return {"rtol": rtol, "atol": rtol / 10 * max(1.0, _largest(expected), _largest(arguments))}

    def _array(self, name: str, kind: str) -> Any:
        shape = self.cover.cases[self.levels[CASE]].get(name, [])
        if kind == NUMBER:
            return self._number(self.levels.get(f"{name} values", PLAIN))
        if shape and isinstance(shape[0], list):
            return [self._one(name, kind, tuple(one)) for one in shape]
        return [] if shape == NO_ARRAYS else self._one(name, kind, tuple(shape))

    def _number(self, values: str) -> float:
        number = float(_floats(self.rng, ()))
        return {"zeros": 0.0, "small": SMALLEST * number, "large": HUGE * number}.get(values, number)

    def _one(self, name: str, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        dtype = self.levels.get(f"{kind.removeprefix(LIKE) if kind.startswith(LIKE) else name} dtype", DOUBLE)
        several = next((i for i, length in enumerate(shape) if length > 1), None)
        drawn = list(shape)
        if self.levels.get(f"{name} layout") == "repeated" and several is not None:
            drawn[several] = 1
        if kind == "whole":
            below = self.cover.cases[self.levels[CASE]].get("below", 3)
            array = self.rng.integers(below, size=drawn)
            array = array.astype(self.levels.get(f"{name} dtype", array.dtype.name))
            if several is not None:
                array.flat[0] = array.flat[-1] = below - 1  # a narrower integer would not hold the largest
        else:
            array = _floats(self.rng, tuple(drawn)).astype(dtype)
            largest = LARGEST_BESIDE_OFFSET if OFFSET in self.levels.values() else LARGEST
            values = self.levels.get(f"{name} values", MIXED if array.size > 1 else PLAIN)
            array = _special(self.rng, array, values, self.number, largest)
        array = np.broadcast_to(array, shape).copy()
        array.flags.writeable = False  # all submissions are asked about the same arrays
        return array


def _floats(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Random numbers of both signs, from 0.3 to 2.3."""
    return np.asarray(rng.uniform(0.3, 2.3, size=shape) * rng.choice([-1.0, 1.0], size=shape))


def _special(
    rng: np.random.Generator, array: np.ndarray, values: str, first: int, largest: float = LARGEST
) -> np.ndarray:
    """`array` with entries of 0, -0, a denormal number, a small one, the largest one and a tie.

    If there is no room for all, those from number `first` on; a single number is one of them, or what it was.
    """
    smallest = np.finfo(array.dtype).smallest_subnormal
    if values in (NEIGHBOURS, OFFSET):
        return _close(rng, array, values) if array.size > 1 else array
    if values != MIXED:
        return np.full_like(
            array, {"zeros": 0.0, "tiny": smallest, PLAIN: array.flat[0] if array.size else 0.0}[values]
        )
    flat = array.reshape(-1)
    places = rng.permutation(array.size)
    entries = np.roll([0.0, smallest, largest, SMALLEST, -0.0], -first)
    flat[places[: len(entries)]] = entries[: array.size]
    if array.size > len(entries) + 1:
        flat[places[-1]] = flat[places[-2]]
    return array


def _close(rng: np.random.Generator, array: np.ndarray, values: str) -> np.ndarray:
    """Floats that follow each other, in random order; or `array` so far from 0 that squares lose its differences."""
    if values == OFFSET:
        offset = 4 / np.sqrt(np.finfo(array.dtype).eps)
        return (array + offset).astype(array.dtype)
    first = array.flat[0]
    steps = rng.permutation(array.size).reshape(array.shape)
    return (first + steps * np.spacing(first)).astype(array.dtype)


def check_kinds(
    learner: Any,
    reference: Any,
    kinds: list[Kind],
    name: str,
    *,
    names: tuple[str, ...] | None = None,
    by_entry: bool = False,
) -> None:
    """Expect the reference's answers to calls of every kind.

    Args:
        kinds: from the fixture of that name.
        name: of the exercise.
        names: of the outputs, as for `expect_close`.
        by_entry: as for `Kind.tolerance`. Otherwise entries are compared on the scale of the largest, as sums round.
    """
    for kind in kinds:
        arguments = [*kind.drawn.values(), *kind.options.values()]
        expected = getattr(reference, name)(*arguments)
        got = getattr(learner.in_layout(kind.layout), name)(*arguments)
        tolerance = kind.tolerance(expected, arguments, by_entry=by_entry)
        expect_close(got, expected, names=names, case=kind.label, **tolerance)


def _largest(value: Any) -> float:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return max(map(_largest, value), default=0.0)
    array = np.abs(np.asarray(value))
    return float(array[np.isfinite(array)].max(initial=0.0))


def kinds_in(path: Path, exercise: str, rng: np.random.Generator) -> list[Kind]:
    """The rows of an exercise in its lesson's `covering.toml`, with drawn arguments. Raises `NoRows`."""
    covers = covers_in(path)
    if exercise not in covers:
        raise NoRows(f"{exercise} has no rows in {path.name}: list it in factors.toml and run `backprop build`")
    cover = covers[exercise]
    return [Kind(cover, row, rng, number) for number, row in enumerate(cover.rows)]


def covers_in(path: Path) -> dict[str, Cover]:
    """What a lesson's `covering.toml` says, by exercise; empty if there is none."""
    return _covers_in(path, path.stat().st_mtime_ns) if path.is_file() else {}


@cache
def _covers_in(path: Path, written: int) -> dict[str, Cover]:
    """As above; `written` is the file's time, so that a new one is read."""
    content: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {exercise: _cover(of_it) for exercise, of_it in content.items()}


def _cover(content: dict[str, Any]) -> Cover:
    levels: dict[str, list[str]] = content["levels"]
    rows = [
        {factor: of_it[int(number)] for (factor, of_it), number in zip(levels.items(), row.split(), strict=True)}
        for row in content["rows"]
    ]
    arrays, objects = content.get("arrays", {}), tuple(content.get("objects", ()))
    return Cover(arrays, content["cases"], rows, tuple(content.get("same", ())), objects)
