"""Measures which levels of which factors the arguments of a check's calls have."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from autograder.authoring.factors.reasons import Level
from autograder.judging.asking.local_run import LocalRun
from autograder.judging.checking.expectations import as_arrays
from autograder.judging.checking.kinds import NUMBER, PLAIN
from autograder.judging.checking.kinds import SAME as ONE_OBJECT
from autograder.judging.checking.reference import Reference
from autograder.worker.layout import ROWS, SAME
from autograder.worker.messages import Answer, Call

MOST_ENTRIES = 10_000
"""Larger arrays are not looked at: they are there for their size."""
WIDE = 1e6
"""Entries this far apart are small ones beside large ones."""
SMALL, LARGE = 1e-4, 1e3
"""Floats are small or large from here on."""
STATES = "states"
"""The argument of a scenario that says in which states it builds its objects."""


@dataclass
class Seen:
    """The levels, and the pairs of levels in one call, that calls of an exercise had."""

    levels: set[Level] = field(default_factory=set)
    pairs: set[frozenset[Level]] = field(default_factory=set)
    kinds: dict[str, str] = field(default_factory=dict)
    """By argument: "float" or "whole", of the arrays that were seen there; "number" for a Python float."""

    def note(self, arguments: Iterable[tuple[str, Any, str]]) -> None:
        """Note a call: for each argument its name, its value, and how it lies in memory."""
        found: list[set[Level]] = []
        for name, value, layout in arguments:
            for array in _arrays(value):
                self.kinds.setdefault(name, "whole" if array.dtype.kind in "iu" else "float")
                found.append({(name, factor, level) for factor, level in levels_of(array, layout)})
        self._note(found)

    def note_numbers(self, numbers: Mapping[str, float]) -> None:
        """Note the Python floats of a call, by argument."""
        self.kinds |= dict.fromkeys(numbers, NUMBER)
        values = list(numbers.values())
        self._note(
            [
                {(name, "values", level) for level in _of_number(value, values.count(value) > 1)}
                for name, value in numbers.items()
            ]
        )

    def note_states(self, states: Mapping[str, str]) -> None:
        """Note the states of a call's objects, by argument and factor."""
        found = {(*key.partition(" ")[::2], level) for key, level in states.items() if level not in (PLAIN, ROWS)}
        self.levels |= found
        self.pairs |= {frozenset(two) for two in combinations(found, 2)}

    def _note(self, found: list[set[Level]]) -> None:
        for of_it in found:
            self.levels |= of_it
            self.pairs |= {frozenset(two) for two in combinations(of_it, 2)}
        for one, other in combinations(found, 2):
            pairs = ((a, b) for a in one for b in other if a[0] != b[0] and a[1] == b[1] != "shape")
            self.pairs |= {frozenset(pair) for pair in pairs}


class Watched(LocalRun):
    """The reference in place of a submission; notes the arguments of all calls to one exercise.

    Args:
        arrays: the kinds of the exercise's arguments. Of a class, only these arguments of scenarios count; all if
            there are none.
    """

    def __init__(self, reference: Reference, exercise: str, arrays: Mapping[str, str]) -> None:
        super().__init__(reference.implementations, reference.module, reference.scenarios)
        self.seen = Seen()
        self._reference = reference
        self._exercise = exercise
        self._kinds = arrays

    def ask(self, request: Call, seconds: float) -> Answer:
        if request["do"] == "scenario":
            names = list(inspect.signature(self._reference.scenarios[request["name"]]).parameters)[1:]
        else:
            signature = self._reference.signatures.get(request["name"])
            names = list(signature.parameters) if signature else []
        if request["do"] == "scenario" or request["name"] == self._exercise:
            values = [*request["args"], *request["kwargs"].values()]
            names = [*names[: len(request["args"])], *request["kwargs"]]
            layouts = _layouts(request, len(values))
            arguments = dict(zip(names, zip(values, layouts, strict=False), strict=False))
            states, _ = arguments.pop(STATES, ({}, ROWS))
            self.seen.note_states(
                {key: level for key, level in states.items() if key != ONE_OBJECT and not key.endswith(" layout")}
            )
            self.seen.note_numbers({name: arguments[name][0] for name in arguments if self._kinds.get(name) == NUMBER})
            self.seen.note(
                (name, value, states.get(f"{name} layout", layout))
                for name, (value, layout) in arguments.items()
                if self._counts(name)
            )
        return super().ask(request, seconds)

    def _counts(self, name: str) -> bool:
        """Whether an argument is one of the exercise's, not a scenario's own; of a class, all may be."""
        implementation = self._reference.implementations.get(self._exercise)
        if inspect.isfunction(implementation):
            return name in self._kinds or name in self._reference.signatures[self._exercise].parameters
        return not self._kinds or name in self._kinds


def _layouts(request: Call, count: int) -> list[str]:
    """The layout of each argument of a call."""
    layout = request.get("layout", "")
    if "," not in layout:
        return [layout or ROWS] * count
    found: list[str] = []
    for one in layout.split(","):
        found.append(found[int(one.removeprefix(SAME))] if one.startswith(SAME) else one)
    return found


def levels_of(array: np.ndarray, layout: str = ROWS) -> Iterator[tuple[str, str]]:
    """The levels of an array, each with its factor."""
    axes = ["0-d", "1 axis", "2 axes"]
    yield "shape", axes[array.ndim] if array.ndim < 3 else "more axes"
    if not array.size:
        yield "shape", "empty"
    if array.size == 1:
        yield "shape", "one entry"
    long_axes = sum(length > 1 for length in array.shape)
    if array.size > 1 and array.ndim > 1:
        yield "shape", "several axes"
    yield "dtype", array.dtype.name
    yield "layout", layout if long_axes > (layout == "columns") else ROWS
    if array.dtype.kind in "iu":
        if np.unique(array).size < array.size:
            yield "values", "equal"
    else:
        yield from (("values", level) for level in _values(array))


def _of_number(value: float, equal: bool) -> Iterator[str]:
    """The levels of a Python float; `equal`: whether another argument has the same value."""
    if equal:
        yield "ties"
    if not value:
        yield "zero"
    elif abs(value) <= SMALL:
        yield "small"
    elif abs(value) >= LARGE:
        yield "large"


def _values(array: np.ndarray) -> Iterator[str]:
    """The levels of the values of an array of floats."""
    flat = array[np.isfinite(array)].astype(np.float64)
    sizes = np.abs(flat[flat != 0])
    if (flat == 0).any():
        yield "zero"
        if np.signbit(flat[flat == 0]).any():
            yield "minus zero"
    smallest = np.finfo(array.dtype).tiny
    if (sizes < smallest).any():
        yield "denormal"
    normal = sizes[sizes >= smallest]
    if normal.size and normal.max() / normal.min() >= WIDE:
        yield "mixed"
    if np.unique(sizes).size < sizes.size:
        yield "ties"


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """The arrays of numbers in an argument, tensors among them."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _arrays(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _arrays(item)
    else:
        array = as_arrays(value)
        if isinstance(array, np.ndarray) and array.dtype.kind in "iuf" and array.size <= MOST_ENTRIES:
            yield array
