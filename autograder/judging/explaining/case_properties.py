"""The properties of a call's arguments, and the words of its case's names, that may set it apart from other calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from autograder.judging.checking.kinds import IN_WORDS
from autograder.judging.records.record import Call
from autograder.wording import clean

MOST_ENTRIES = 10_000
"""Of larger arrays only shape and dtype count."""
LONGEST = 50
"""Characters of a case's words, or of an option."""
LAYOUTS = {IN_WORDS[one] for one in ("columns", "sliced", "repeated")}
_NUMBER = re.compile(r"\b\d[\d,]* [a-z]|\d$|\b(?:float|int)\d")
"""A count, a number at the end, or a dtype."""


class Property(NamedTuple):
    """A property of a case's arguments, or words of its name."""

    tier: int
    """Those of a lower tier are named first."""
    one: str
    """In words, of one argument: "is float32"; of a whole call: "batch_size does not divide the number of rows"."""
    several: str = ""
    """In words, of several arguments; empty for a property of the call, or an option."""

    @property
    def trivial(self) -> bool:
        """Whether an answer that is wrong elsewhere is right there by itself."""
        return self.one in ("has no entries", "is empty", "is all 0") or self.one.startswith("has an entry of")


Named = tuple[Property, str]
"""A property with the argument that has it, or "" for one of the call."""

OPTION, VALUES, SHAPE, DTYPE, WORDS, LATER = range(6)
TWICE = Property(VALUES, "has equal entries", "have equal entries")


def properties_of(call: Call, names: Iterable[str], known: frozenset[str], *, first: bool) -> Iterator[Named]:
    """The properties of a call.

    Args:
        names: what the check calls its case.
        known: the names of the exercise's arguments. Other arguments of scenarios are the check's own.
        first: whether it is the first call of its check.
    """
    arguments = [(name, value) for name, value in call.arguments if name in known or not call.scenario]
    for name, value in arguments:
        for had in _of_value(name, value):
            yield had, name
    for one in _of_call(arguments):
        yield one, ""
    for words in {words for name in names for words in words_of(name)}:
        yield Property(WORDS, words), ""
    if not first:
        yield Property(LATER, ""), ""


def _of_value(name: str, value: Any) -> Iterator[Property]:
    """The properties of an argument."""
    if value is None or isinstance(value, bool | int | str):
        if not isinstance(value, str) or len(value) < LONGEST:
            yield Property(OPTION, f"{name} is {clean(repr(value))}")
        if type(value) is int and value < 0:
            yield Property(OPTION, f"{name} is negative")
        return
    if isinstance(value, float) and not value:
        yield Property(OPTION, f"{name} is 0")
    arrays = arrays_in(value)
    if isinstance(value, tuple | list | dict):
        if not value or (len(value) == 1 and arrays):
            yield (
                Property(SHAPE, "is empty", "are empty")
                if not value
                else Property(SHAPE, "has one part", "have one part each")
            )
        if isinstance(value, dict):
            yield from (Property(OPTION, f"{name} has {clean(repr(key))}") for key in value if isinstance(key, str))
    if not arrays:
        return
    yield from (one for one in _of_arrays(arrays) if not isinstance(value, tuple | list | dict) or one.tier != SHAPE)


def arrays_in(value: Any) -> list[np.ndarray]:
    return [np.asarray(one) for one in flat(value) if isinstance(one, np.ndarray | np.generic)]


def _of_arrays(arrays: list[np.ndarray]) -> Iterator[Property]:
    """The properties of one array, or of several in one argument; those of values if any of them has them."""
    if any(one.dtype == np.float32 for one in arrays):
        yield Property(DTYPE, "is float32", "are float32")
    if any(one.dtype == np.int32 for one in arrays):
        yield Property(DTYPE, "is int32", "are int32")
    shapes = {one.shape for one in arrays}
    if len(shapes) == 1:
        yield from _of_shape(arrays[0].shape)
    small = [one for one in arrays if one.size <= MOST_ENTRIES and one.dtype.kind in "iuf"]
    if any(_has_ties(one) for one in small):
        yield TWICE
    floats = [one for one in small if one.dtype.kind == "f" and one.size]
    if any((one == 0).any() for one in floats):
        yield Property(VALUES, "has a 0", "have a 0 each")
    if floats and not any(one.any() for one in floats):
        yield Property(VALUES, "is all 0", "are all 0")
    if any((one < 0).any() for one in floats):
        yield Property(VALUES, "has negative entries", "have negative entries")
    elif floats:
        yield Property(VALUES, "has no negative entries", "have no negative entries")
    if any(not np.isfinite(one).all() for one in floats):
        yield Property(VALUES, "has an entry that is nan or infinite", "have entries that are nan or infinite")


def _has_ties(array: np.ndarray) -> bool:
    entries = array[array != 0] if array.dtype.kind == "f" else array
    return bool(np.unique(entries).size < entries.size)


def _of_shape(shape: tuple[int, ...]) -> Iterator[Property]:
    axes = len(shape)
    if 0 in shape:
        yield Property(SHAPE, "has no entries", "have no entries")
    elif axes and set(shape) == {1}:
        yield Property(SHAPE, "has one entry", "have one entry each")
    if axes < 2:
        words = ("is 0-d", "are 0-d") if not axes else ("has one axis", "have one axis")
        yield Property(SHAPE, *words)
    elif axes == 2:
        yield Property(SHAPE, "has two axes", "have two axes")
        if shape[0] == 1:
            yield Property(SHAPE, "has one row", "have one row")
        if shape[1] == 1:
            yield Property(SHAPE, "has one column", "have one column")
        if shape[0] == shape[1] > 1:
            yield Property(SHAPE, "is square", "are square")
    else:
        yield Property(SHAPE, "has more than two axes", "have more than two axes")


def _of_call(arguments: list[tuple[str, Any]]) -> Iterator[Property]:
    """The properties that several arguments have together."""
    arrays = {name: value for name, value in arguments if isinstance(value, np.ndarray) and value.ndim}
    whole = {name: value for name, value in arguments if type(value) is int and value > 1}
    for name, value in whole.items():
        rows = [len(array) for array in arrays.values()]
        if rows and any(length % value for length in rows if length):
            yield Property(OPTION, f"{name} does not divide the number of rows")
    for name, array in arrays.items():
        if array.dtype.kind in "iu" and array.size:
            for other, table in arrays.items():
                for axis in {0, table.ndim - 1} if table.dtype.kind == "f" else ():
                    if array.min() >= 0 and array.max() < table.shape[axis] - 1 and table.shape[axis] != len(array):
                        what = "row" if axis == 0 else "column"
                        yield Property(VALUES, f"the last {what} of {other} does not occur in {name}")
    for name, array in arrays.items():
        for other, table in arrays.items():
            if name < other and array.dtype.kind == table.dtype.kind == "f" and array.ndim != table.ndim:
                yield Property(SHAPE, f"{name} and {other} have different numbers of axes")


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        for item in value:
            yield from flat(item)
    else:
        yield value


def words_of(name: str) -> set[str]:
    """The parts of a case's name: "causal, two rows; x float32 and column by column" has four.

    Behind a semicolon are the levels of an argument. Of "a chain of 12 operations", "a chain" is a part and the whole
    is not: its number was drawn, and sets cases apart by chance. Dtypes are properties of their own.
    """
    case, *arguments = name.partition(": ")[0].split("; ")
    found = set()
    for piece in _split(case):
        whole = piece.removeprefix("and ")
        head, _, count = whole.partition(" of ")
        found |= {whole, head if " " in head and count[:1].isdigit() else whole}
    for part in arguments:
        argument, _, levels = part.partition(" ")
        for level in (one for piece in _split(levels) for one in piece.split(" and ")):
            found.add(f"{argument} {level}")
            found |= {f"{argument} not row by row in memory"} if level in LAYOUTS else set()
    return {one for one in found if 1 < len(one) <= LONGEST and "=" not in one and not _NUMBER.search(one)}


def _split(text: str) -> list[str]:
    """A text at its commas, apart from those in brackets."""
    return [part.strip() for part in re.split(r", (?![^(\[{]*[)\]}])", text) if part.strip()]
