"""Draws arguments of every kind: a check that uses these covers all pairs of levels of its exercise's factors.

An author lists the factors of an exercise in the lesson's `factors.toml`; `backprop build` writes into `covering.toml`
rows in which each two levels of two factors occur together, where they can. Visible and hidden inputs have the same
rows, with other numbers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from autograder.judging.checking.expectations import expect_close

CASE, SAME = "case", "same object"
"""Factors of a call: which shapes and options it has; whether two of its arguments are one object."""
TWICE = "twice"
PLAIN, VARIOUS, ROWS, DOUBLE = "plain", "various", "rows", "float64"
"""The levels of an array's values, layout and dtype that no label mentions."""
LIKE = "like "
"""Begins the kind of an array that has another one's dtype."""
NO_ARRAYS = ["none"]
"""The shape of a list without arrays."""
LARGEST, SMALLEST = 20.0, 1e-5
"""The absolute values between which the entries of `mixed` arrays lie."""
IN_WORDS = {
    "columns": "column by column",
    "sliced": "backwards with gaps in memory",
    "repeated": "expanded, so that its entries repeat",
    "zeros": "with 0 and -0",
    "tiny": "with denormal numbers",
    "mixed": "with small entries beside large ones",
    "equal": "with equal entries",
}
"""How a label names a level."""
RTOL = {"float64": 1e-9, "float32": 1e-4}


def mentioned(levels: Mapping[str, str]) -> list[str]:
    """The levels that a label mentions, apart from the case."""
    usual = ("", PLAIN, VARIOUS, ROWS, DOUBLE, "int64", "two")
    return [level for factor, level in levels.items() if factor != CASE and level not in usual]


class NoRows(RuntimeError):
    """The exercise has no rows in its lesson's `covering.toml`, or the file is missing."""


@dataclass(frozen=True)
class Cover:
    """The factors of an exercise with their levels, and rows that cover all pairs."""

    arrays: dict[str, str]
    """By name: "float" (float64 or float32), "float64", "whole" (int64 or int32), or "like x", with the dtype of x."""
    cases: dict[str, dict[str, Any]]
    """By its name in feedback: each array's shape, or the shapes of a list of arrays, and options of the call."""
    rows: list[dict[str, str]]
    same: tuple[str, ...] = ()
    """Two arrays that may be one object."""


@dataclass
class Kind:
    """One row: the levels of all factors, and arguments drawn for them."""

    cover: Cover
    levels: Mapping[str, str]
    rng: np.random.Generator
    drawn: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        twice = self.cover.same if self.levels.get(SAME) == TWICE else ()
        for name, kind in self.cover.arrays.items():
            one = self.drawn.get(twice[0]) if name in twice[1:] else None
            self.drawn[name] = self._array(name, kind) if one is None else one

    @property
    def options(self) -> dict[str, Any]:
        """The case's other arguments."""
        case = self.cover.cases[self.levels[CASE]]
        return {name: value for name, value in case.items() if name not in self.cover.arrays and name != "below"}

    @property
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

    @property
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
        if shape and isinstance(shape[0], list):
            return [self._one(name, kind, tuple(one)) for one in shape]
        return [] if shape == NO_ARRAYS else self._one(name, kind, tuple(shape))

    def _one(self, name: str, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        values, below = self.levels.get(f"{name} values", PLAIN), self.cover.cases[self.levels[CASE]].get("below", 3)
        several = next((i for i, length in enumerate(shape) if length > 1), None)
        drawn = list(shape)
        if self.levels.get(f"{name} layout") == "repeated" and several is not None:
            drawn[several] = 1
        if kind == "whole":
            array = self.rng.integers(below, size=drawn)
            if values == "equal" and array.size:
                array[...] = array.flat[0]
        else:
            array = _floats(self.rng, tuple(drawn), values)
        of = kind.removeprefix(LIKE) if kind.startswith(LIKE) else name
        array = array.astype(self.levels.get(f"{of} dtype", array.dtype.name))
        if values == "tiny":
            array = _with_tiny(array)
        return np.broadcast_to(array, shape).copy()


def _floats(rng: np.random.Generator, shape: tuple[int, ...], values: str) -> np.ndarray:
    """Random numbers of both signs, from 0.3 to 2.3, with entries of the kind `values`."""
    array = np.asarray(rng.uniform(0.3, 2.3, size=shape) * rng.choice([-1.0, 1.0], size=shape))
    flat = array.reshape(-1)
    places = rng.permutation(array.size)
    if values == "zeros":
        for place, zero in zip(places, (0.0, -0.0), strict=False):
            flat[place] = zero
        if array.size > 3:
            flat[places[2]] = flat[places[3]]
    elif values == "mixed" and array.size:
        sizes = 10 ** rng.uniform(np.log10(SMALLEST), np.log10(LARGEST), size=array.size)
        sizes[places[:2]] = [LARGEST, SMALLEST][: array.size]
        flat *= sizes / np.abs(flat)
    elif values == "tiny" and array.ndim > 1 and array.shape[0] > 1:
        array[-1] = array[0]
    return array


def _with_tiny(array: np.ndarray) -> np.ndarray:
    """`array` with denormal numbers at every second place of the last axis, so that equal rows stay equal."""
    smallest = np.finfo(array.dtype).smallest_subnormal
    if array.ndim:
        array[..., ::2] = np.sign(array[..., ::2]) * smallest
        return array
    return np.asarray(np.sign(array) * smallest)


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
    covers = covers_in(path, path.stat().st_mtime_ns) if path.is_file() else {}
    if exercise not in covers:
        raise NoRows(f"{exercise} has no rows in {path.name}: list it in factors.toml and run `backprop build`")
    cover = covers[exercise]
    return [Kind(cover, row, rng) for row in cover.rows]


@cache
def covers_in(path: Path, written: int) -> dict[str, Cover]:
    """What a lesson's `covering.toml` says, by exercise; `written` is the file's time, so that a new one is read."""
    content: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {exercise: _cover(of_it) for exercise, of_it in content.items()}


def _cover(content: dict[str, Any]) -> Cover:
    levels: dict[str, list[str]] = content["levels"]
    rows = [
        {factor: of_it[int(number)] for (factor, of_it), number in zip(levels.items(), row.split(), strict=True)}
        for row in content["rows"]
    ]
    return Cover(content["arrays"], content["cases"], rows, tuple(content.get("same", ())))
