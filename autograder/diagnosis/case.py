"""The smallest failing case as plain text: the call, and what it should and did return, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from autograder.diagnosis.equality import largest_gap, mismatch, wrong_entries
from autograder.values import dtype_of, key_text, literal, number, shape_of, summarise, told_apart
from autograder.wording import clean

__all__ = ["mismatch", "render_case", "summarise"]

WIDTH = 100
HEIGHT = 25
ARGUMENT_LINES = 11
GRID_ROWS = 6
GRID_COLUMNS = 10
"""An array with more of either, or with more axes, is shown by its first entries."""
LISTED = 5
"""Entries of a large array."""
MOST_STEPS = 40
MARK = "*"

Named = tuple[str, Any]
Compared = tuple[str, Any, Any]


def render_case(
    function: str,
    arguments: Sequence[Named],
    comparisons: Sequence[Compared],
    *,
    case: str,
    show_numbers: bool,
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> str:
    """A call of `function`, its arguments, and expected and got of each output, wrong entries marked with `*`.

    Args:
        arguments: name and value of each.
        comparisons: name, got and expected of each output. What was got may be anything: it is printed safely.
        case: what kind of input it is, in words.
        show_numbers: False for a hidden case: shapes and dtypes only, never a value.
        rtol, atol: what counts as wrong, as in `mismatch`.

    Returns:
        At most 25 lines of at most 100 characters.
    """
    inputs = [part for name, value in arguments for part in _parts(clean(name, 24), value, show_numbers)]
    outputs = [part for name, got, expected in comparisons for part in _pairs(clean(name, 24), got, expected)]
    title = _title(function, arguments, case, show_numbers)
    lines = [title] * bool(title) + _arguments(inputs, show_numbers)
    blocks = [_output(*output, show_numbers, rtol, atol) for output in outputs]
    lines += _fitted(blocks, HEIGHT - len(lines) - 1)
    return "\n".join(clean(line.rstrip(), WIDTH) for line in lines).strip("\n")


def _title(function: str, arguments: Sequence[Named], case: str, show_numbers: bool) -> str:
    words = clean(case, 60)
    if not show_numbers:
        words = f"{words} (a hidden case, without its numbers)" if words else "a hidden case, without its numbers"
    call = f"{clean(function, 40)}({', '.join(clean(name, 24) for name, _ in arguments)})" if function else ""
    title = ", ".join(part for part in (clean(call, WIDTH - len(words) - 3), words) if part)
    return title and f"{title}:"


def tells(value: Any) -> bool:
    """Whether an argument is shown as what it is; of others only the kind is told, and that of their parts."""
    if isinstance(value, tuple | list | dict):
        return not value or _is_dict_of_parts(value) or _has_arrays(value) or _is_steps(value) or bool(literal(value))
    return True


def _parts(name: str, value: Any, show_numbers: bool) -> Iterator[Named]:
    """A dict of arrays or of programs in steps, tuples and lists of arrays, or of such tuples: each by itself.

    Where arrays of one list are told apart by their dtype alone, it stands by their names.
    """
    if _is_dict_of_parts(value):
        for key, part in value.items():
            yield f"{name}[{key_text(key)}]", part
    elif _has_arrays(value):
        dtypes = {dtype_of(part) for part in value if isinstance(part, np.ndarray)}
        for index, part in enumerate(value):
            typed = show_numbers and len(dtypes) > 1 and _is_small(part)
            yield f"{name}[{index}] ({dtype_of(part)})" if typed else f"{name}[{index}]", part
    elif isinstance(value, tuple | list) and any(map(_has_arrays, value)):
        for index, part in enumerate(value):
            yield from _parts(f"{name}[{index}]", part, show_numbers)
    else:
        yield name, value


def _is_dict_of_parts(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(part, np.ndarray) or _is_steps(part) for part in value.values())


def _has_arrays(value: Any) -> bool:
    return isinstance(value, tuple | list) and any(isinstance(part, np.ndarray) for part in value)


def _pairs(name: str, got: Any, expected: Any) -> Iterator[Compared]:
    """The parts of a dict, a tuple or a list of arrays that has the parts expected; else the whole."""
    if isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
        for key in expected:
            yield f"{name}[{key_text(key)}]", got[key], expected[key]
    elif _has_parts(expected) and isinstance(got, tuple | list) and len(got) == len(expected):
        for index, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
            yield f"{name}[{index}]", mine, theirs
    else:
        yield name, got, expected


def _has_parts(expected: Any) -> bool:
    """Whether it is shown part by part: a list of numbers reads well in a line, one of arrays does not."""
    if isinstance(expected, list):
        return any(isinstance(part, np.ndarray) for part in expected)
    return isinstance(expected, tuple)


def _arguments(inputs: Sequence[Named], show_numbers: bool) -> list[str]:
    width = max((len(name) for name, _ in inputs), default=0)
    blocks = []
    for name, value in inputs:
        short = [_kind(value) if not show_numbers else _in_a_line(value)]
        grid = _grid_or_words(value) if show_numbers else short
        if show_numbers and isinstance(value, str) and "\n" in value:  # a small program, which reads as one
            grid = [clean(line, WIDTH) for line in value.split("\n")]
        if show_numbers and _is_steps(value):
            grid = _steps(value, WIDTH - width - len("   = []"))
        blocks.append((name, grid, short))
    while sum(len(grid) for _, grid, _ in blocks) > ARGUMENT_LINES and any(len(grid) > 1 for _, grid, _ in blocks):
        largest = max(range(len(blocks)), key=lambda index: len(blocks[index][1]))
        name, _, short = blocks[largest]
        blocks[largest] = (name, short, short)
    more = len(blocks) - ARGUMENT_LINES
    lines = []
    for name, grid, _ in blocks[: ARGUMENT_LINES - (more > 0)]:
        heads = [f"  {name:{width}} = ", *[" " * (width + 5)] * (len(grid) - 1)]
        lines += [head + line for head, line in zip(heads, grid, strict=True)]
    return lines + [f"  … and {more + 1} more"] * (more > 0)


def _is_steps(value: Any) -> bool:
    """Whether a value is a small program in steps: a list of tuples of texts."""
    return (
        isinstance(value, list)
        and 0 < len(value) <= MOST_STEPS
        and all(isinstance(step, tuple) and all(isinstance(part, str) for part in step) for step in value)
    )


def _steps(steps: list[tuple[str, ...]], width: int) -> list[str]:
    """A list of tuples of texts as a program would write it, in lines of `width` characters."""
    lines = [""]
    for step in steps:
        text = literal(step) or summarise(step)
        if lines[-1] and len(lines[-1]) + len(text) + len(", ") > width:
            lines[-1] += ","
            lines.append("")
        lines[-1] += f", {text}" if lines[-1] else text
    return [("[" if not i else " ") + line + "]" * (i == len(lines) - 1) for i, line in enumerate(lines)]


def _fitted(blocks: Sequence[list[str]], room: int) -> list[str]:
    """As many blocks as there is room for, at least one; an empty line before each that has several lines."""
    lines: list[str] = []
    for index, block in enumerate(blocks):
        spaced = ["", *block] if len(block) > 1 or not index else block
        if lines and len(lines) + len(spaced) > room:
            return [*lines, f"… and {len(blocks) - index} more"]
        lines += spaced
    return lines


def _output(name: str, got: Any, expected: Any, show_numbers: bool, rtol: float, atol: float) -> list[str]:
    if mismatch(got, expected, name=name, rtol=rtol, atol=atol) is None:
        return [f"{name}: right"]
    if not show_numbers:
        wanted, kind = _kind(expected), _kind(got)
        return [
            f"{name}: {wanted}, wrong value{'s' * _is_array(got)}"
            if kind == wanted
            else f"{name}: {wanted} expected; got {kind}"
        ]
    if _is_number(got) and _is_number(expected):
        one, other = told_apart(expected, got)
        return (
            _stacked(name, [one], [other]) if one != other else _stacked(name, [summarise(expected)], [summarise(got)])
        )
    if not _is_array(got) or not _is_array(expected):
        return _stacked(name, _grid_or_words(expected), _grid_or_words(got))
    if got.shape != expected.shape or dtype_of(got) != dtype_of(expected):
        heads = (f"expected {_kind(expected)}", f"got {_kind(got)}")
        return _beside(name, _grid_or_words(expected), _grid_or_words(got), heads) or [f"{name}: {', '.join(heads)}"]
    wrong = wrong_entries(got, expected, rtol=rtol, atol=atol)
    if not _is_small(expected):
        return _listed(name, got, expected, wrong)
    pairs = list(zip(got[wrong].tolist(), expected[wrong].tolist(), strict=True))
    write = _writer([got, expected], pairs)
    right = np.zeros_like(wrong)
    theirs, mine = _grids(_cells(expected, write, right), _cells(got, write, wrong), depth=expected.ndim)
    if len(theirs) == 1:
        return _stacked(name, theirs, mine)
    return _beside(name, theirs, mine, ("expected", f"got ({MARK} = wrong)")) or _listed(name, got, expected, wrong)


def _stacked(name: str, expected: list[str], got: list[str]) -> list[str]:
    """One under the other: a single row, whose columns line up."""
    heads = ["expected  ", *[" " * 10] * (len(expected) - 1), "got       ", *[" " * 10] * (len(got) - 1)]
    starts = [f"{name}: ", *[" " * (len(name) + 2)] * (len(heads) - 1)]
    return ["".join(parts) for parts in zip(starts, heads, [*expected, *got], strict=True)]


def _beside(name: str, expected: list[str], got: list[str], heads: tuple[str, str]) -> list[str]:
    """Side by side; nothing where that is too wide."""
    left, right = [heads[0], *expected], [heads[1], *got]
    width = max(map(len, left)) + 4
    starts = [f"{name}: ", *[" " * (len(name) + 2)] * (max(len(left), len(right)) - 1)]
    if len(starts[0]) + width + max(map(len, right)) > WIDTH:
        return []
    rows = zip_longest(starts, left, right, fillvalue="")
    return [f"{start}{one:{width}}{other}" for start, one, other in rows]


def _listed(name: str, got: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> list[str]:
    """The first entries that differ, and the largest difference."""
    count = int(np.count_nonzero(wrong))
    largest = largest_gap(got, expected, wrong)
    by = f", by at most {number(largest, 2)}" if np.isfinite(largest) else ""
    shown = np.argwhere(wrong)[:LISTED]
    theirs, mine = expected[tuple(shown.T)], got[tuple(shown.T)]
    write = _writer([theirs, mine], list(zip(mine.tolist(), theirs.tolist(), strict=True)))
    table = [["at", "expected", "got"]]
    table += [[str(at), write(a), write(b)] for at, a, b in zip(shown.tolist(), theirs, mine, strict=True)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rows = [f"  {at:{widths[0]}}  {a:>{widths[1]}}  {b:>{widths[2]}}" for at, a, b in table]
    title = f"{name}: {_kind(expected)}, {count:,} of {got.size:,} entries differ{by}"
    return [title, *rows, *(["  …"] * (count > LISTED))]


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc"


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex) or (_is_array(value) and not value.ndim)


def _is_small(value: Any) -> bool:
    """Whether all of an array is shown: a row, or a few of them."""
    if not _is_array(value):
        return False
    shape = _as_rows(value).shape if value.size and value.size <= GRID_ROWS * GRID_COLUMNS else (GRID_ROWS + 1, 1)
    return len(shape) == 2 and shape[0] <= GRID_ROWS and shape[1] <= GRID_COLUMNS


def _as_rows(value: Any) -> np.ndarray:
    """The array without leading axes of length 1, as rows."""
    array = np.atleast_2d(value)
    while array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    return array


def _writer(arrays: list[np.ndarray], pairs: Sequence[tuple[Any, Any]] = ()) -> Callable[[Any], str]:
    """How the entries of some arrays are written: one way for all, in as few digits as tell the `pairs` apart."""
    sizes = np.concatenate([np.abs(array[np.isfinite(array) & (array != 0)]).ravel() for array in arrays])
    floating = all(array.dtype.kind == "f" for array in arrays)
    fixed = floating and sizes.size and sizes.min() >= 1e-3 and sizes.max() < 1e4
    for digits in range(4, 18):
        write = partial(_fixed if fixed else number, digits=digits)
        if all(write(a) != write(b) for a, b in pairs):
            break
    if fixed and all(write(entry).endswith("0") for entry in sizes.tolist()):
        shortest = max(len(number(entry, 17).partition(".")[2]) for entry in sizes.tolist())
        write = partial(_fixed, digits=min(digits, shortest))
    return write


def _fixed(value: Any, digits: int) -> str:
    """With as many decimals for every entry, so that the points line up."""
    return f"{value:.{digits}f}" if np.isfinite(value) and value else number(value)


def _cells(value: Any, write: Callable[[Any], str], wrong: np.ndarray | None = None) -> list[list[str]]:
    """The entries of a small array as text; with `wrong`, marked or with room for a mark."""
    rows = [[write(entry) for entry in row] for row in _as_rows(value)]
    if wrong is None:
        return rows
    marks = [[MARK if bad else " " for bad in row] for row in _as_rows(wrong)]
    return [[mark + text for mark, text in zip(*pair, strict=True)] for pair in zip(marks, rows, strict=True)]


def _grids(*tables: list[list[str]], depth: int) -> list[list[str]]:
    """The lines of some tables of one width: columns aligned over all of them, `depth` brackets around each."""
    widths = [max(map(len, column)) for column in zip(*(row for table in tables for row in table), strict=True)]
    return [_grid([" ".join(map(str.rjust, row, widths)) for row in table], depth) for table in tables]


def _grid(rows: list[str], depth: int) -> list[str]:
    if depth == 0:
        return [rows[0].strip()]
    lines = [("[" * depth if not index else " " * (depth - 1) + "[") + row + "]" for index, row in enumerate(rows)]
    lines[-1] += "]" * (depth - 1)
    return lines


def _grid_or_words(value: Any) -> list[str]:
    if not _is_small(value):
        return [_in_a_line(value)]
    (lines,) = _grids(_cells(value, _writer([value])), depth=value.ndim)
    return lines


def _in_a_line(value: Any) -> str:
    """An array's kind and first entries; a number or text as a program would write it; anything else in words."""
    if not _is_array(value):
        return literal(value) or summarise(value)
    first = " ".join(number(entry) for entry in np.asarray(value).flat[:LISTED])
    return f"{_kind(value)}: {first}{' …' * (value.size > LISTED)}" if value.size else f"{_kind(value)}, empty"


def _kind(value: Any) -> str:
    """`float64 (3, 4)`; never a value."""
    if not _is_array(value) or not value.ndim:
        return summarise(value, show_numbers=False)
    return f"{dtype_of(value)} {shape_of(value)}"
