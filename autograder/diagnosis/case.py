"""Renders the smallest failing case as plain text: the call, as code to paste, and the expected and returned values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np

from autograder.diagnosis.code import array_line, array_lines, entry_code, is_expression_of
from autograder.diagnosis.equality import at_most, largest_gap, mismatch, wrong_entries
from autograder.values import dtype_of, key_text, literal, number, shape_of, summarise, told_apart
from autograder.wording import clean, in_a_row

__all__ = ["mismatch", "render_case", "summarise"]

WIDTH = 100
HEIGHT = 12
"""Most lines of a message, and so of a case that fills one."""
MOST_CRAMPED = 3
"""Lines that arguments get however little room there is."""
GRID_ROWS = 6
GRID_COLUMNS = 10
"""An array with more rows, more columns or more axes is shown by its first entries."""
LISTED = 5
"""Entries shown of a large array."""
MOST_STEPS = 40
MARK = "*"
WORDS = re.compile(r"[\w ,.'-]*")
"""A text without an operator or a line break, so neither an expression nor a program."""

Named = tuple[str, Any]
Compared = tuple[str, Any, Any]


def render_case(
    function: str,
    arguments: Sequence[Named],
    comparisons: Sequence[Compared],
    *,
    case: str,
    tensors: bool = False,
    height: int = HEIGHT,
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> str:
    """Render a call of `function`, its arguments, and expected and got of each output, with `*` at wrong entries.

    Args:
        arguments: name and value of each.
        comparisons: name, got and expected of each output. Any object may be "got": it is printed safely.
        case: the kind of input, in words.
        tensors: whether arrays are written as PyTorch tensors.
        height: lines available; the call and one line of an output are always shown.
        rtol, atol: what counts as wrong, as in `mismatch`.

    Returns:
        At most `height` lines (or the few that are always shown) of at most 100 characters each.
    """
    inputs = [part for name, value in arguments for part in _parts(clean(name, 24), value)]
    outputs = [part for name, got, expected in comparisons for part in _pairs(clean(name, 24), got, expected)]
    title = [text] if (text := _title(function, arguments, case)) else []
    room = height - len(title)
    tallest = max(room - min(len(inputs), MOST_CRAMPED) - (len(outputs) > 1), 1)
    blocks = [_output(*output, rtol, atol, tallest) for output in outputs]
    first = len(blocks[0]) + (len(blocks) > 1) if blocks else 0
    names = set() if function else {name for name, _ in inputs}
    lines = title + _arguments(inputs, max(room - first, MOST_CRAMPED), tensors, names)
    lines += _fitted(blocks, height - len(lines))
    return "\n".join(clean(line.rstrip(), WIDTH) for line in lines).strip("\n")


def _title(function: str, arguments: Sequence[Named], case: str) -> str:
    words = clean(in_a_row(case), 60)
    call = f"{clean(function, 40)}({', '.join(clean(name, 24) for name, _ in arguments)})" if function else ""
    title = ", ".join(part for part in (clean(call, WIDTH - len(words) - 3), words) if part)
    return title and f"{title}:"


def readable(value: Any) -> bool:
    """Whether an argument can be shown by its value; of other containers only the kinds of their parts are shown."""
    if isinstance(value, tuple | list | dict):
        return not value or _is_dict_of_parts(value) or _has_arrays(value) or _is_steps(value) or bool(literal(value))
    return True


def is_self_explanatory(value: Any) -> bool:
    """Whether a value makes sense without a name: arrays, a program, an expression, or a container of those.

    A number, a switch or a single word says nothing if its name is unknown.
    """
    if isinstance(value, tuple | list | dict):
        parts = value.values() if isinstance(value, dict) else value
        return (
            _is_dict_of_parts(value)
            or _has_arrays(value)
            or _is_steps(value)
            or (literal(value) is not None and any(map(is_self_explanatory, parts)))
        )
    return bool(_is_array(value) and np.ndim(value)) or (isinstance(value, str) and not WORDS.fullmatch(value))


def _parts(name: str, value: Any) -> Iterator[Named]:
    """Split a container of arrays or programs (also nested tuples and lists) into its parts; yield others whole."""
    if _is_dict_of_parts(value):
        for key, part in value.items():
            yield f"{name}[{key_text(key)}]", part
    elif _has_arrays(value):
        for index, part in enumerate(value):
            yield f"{name}[{index}]", part
    elif isinstance(value, tuple | list) and any(map(_has_arrays, value)):
        for index, part in enumerate(value):
            yield from _parts(f"{name}[{index}]", part)
    else:
        yield name, value


def _is_dict_of_parts(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(part, np.ndarray) or _is_steps(part) for part in value.values())


def _has_arrays(value: Any) -> bool:
    return isinstance(value, tuple | list) and any(isinstance(part, np.ndarray) for part in value)


def _pairs(name: str, got: Any, expected: Any) -> Iterator[Compared]:
    """The pairs of parts, if `got` and `expected` are containers with the same structure; else the whole pair."""
    if isinstance(expected, dict) and isinstance(got, dict) and got.keys() == expected.keys():
        for key in expected:
            yield f"{name}[{key_text(key)}]", got[key], expected[key]
    elif _has_parts(expected) and isinstance(got, tuple | list) and len(got) == len(expected):
        for index, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
            yield f"{name}[{index}]", mine, theirs
    else:
        yield name, got, expected


def _has_parts(expected: Any) -> bool:
    """Whether an output is shown part by part: a list of numbers reads well in a line, one of arrays does not."""
    if isinstance(expected, list):
        return any(isinstance(part, np.ndarray) for part in expected)
    return isinstance(expected, tuple)


def _arguments(inputs: Sequence[Named], room: int, tensors: bool, names: set[str]) -> list[str]:
    """The arguments as code, in at most `room` lines; large arrays in words, expressions unevaluated."""
    width = max((len(name) for name, _ in inputs), default=0)
    wide = WIDTH - width - len("   = ")
    blocks = []
    for name, value in inputs:
        short = value if is_expression_of(names - {name}, value) else _in_a_line(value, wide, tensors)
        tall = [short]
        if isinstance(value, str) and "\n" in value:  # a small program keeps its lines
            tall = [clean(line, WIDTH) for line in value.split("\n")]
        elif _is_steps(value):
            tall = _steps(value, wide - len("[]"))
        elif _is_small(value) and value.ndim:
            tall = array_lines(_code_rows(value), value, tensors=tensors)
            tall = tall if max(map(len, tall)) <= wide else [short]
        blocks.append((name, tall, [short]))
    while sum(len(tall) for _, tall, _ in blocks) > room and any(len(tall) > 1 for _, tall, _ in blocks):
        largest = max(range(len(blocks)), key=lambda index: len(blocks[index][1]))
        name, _, short_lines = blocks[largest]
        blocks[largest] = (name, short_lines, short_lines)
    more = len(blocks) - room
    lines = []
    for name, tall, _ in blocks[: room - (more > 0)]:
        heads = [f"  {name:{width}} = ", *[" " * (width + 5)] * (len(tall) - 1)]
        lines += [head + line for head, line in zip(heads, tall, strict=True)]
    return lines + [f"  … and {more + 1} more"] * (more > 0)


def _code_rows(value: np.ndarray | np.generic) -> list[list[str]]:
    """The entries of a small array as code, row by row."""
    write = _writer([np.asarray(value)])
    return [[entry_code(write(entry), value.dtype.kind) for entry in row] for row in _as_rows(value)]


def _is_steps(value: Any) -> bool:
    """Whether a value is a short program in steps: a list of tuples of texts."""
    return (
        isinstance(value, list)
        and 0 < len(value) <= MOST_STEPS
        and all(isinstance(step, tuple) and all(isinstance(part, str) for part in step) for step in value)
    )


def _steps(steps: list[tuple[str, ...]], width: int) -> list[str]:
    """A list of tuples of texts as code, in lines of `width` characters."""
    lines = [""]
    for step in steps:
        text = literal(step) or summarise(step)
        if lines[-1] and len(lines[-1]) + len(text) + len(", ") > width:
            lines[-1] += ","
            lines.append("")
        lines[-1] += f", {text}" if lines[-1] else text
    return [("[" if not i else " ") + line + "]" * (i == len(lines) - 1) for i, line in enumerate(lines)]


def _fitted(blocks: Sequence[list[str]], room: int) -> list[str]:
    """As many blocks as fit, at least one; if all fit, with an empty line before each block of several lines."""
    spaced = sum(len(block) + (len(block) > 1 or not index) for index, block in enumerate(blocks)) <= room
    lines: list[str] = []
    for index, block in enumerate(blocks):
        more = spaced and (len(block) > 1 or not index)
        last = index == len(blocks) - 1
        if lines and len(lines) + len(block) + (not last) > room:
            return [*lines, f"… and {len(blocks) - index} more"]
        lines += ["", *block] if more else block
    return lines


def _output(name: str, got: Any, expected: Any, rtol: float, atol: float, tallest: int) -> list[str]:
    """Expected and got of an output, in at most `tallest` lines (two at least)."""
    if mismatch(got, expected, name=name, rtol=rtol, atol=atol) is None:
        return [f"{name}: right"]
    if _is_number(got) and _is_number(expected):
        one, other = told_apart(expected, got)
        return (
            _stacked(name, [one], [other]) if one != other else _stacked(name, [summarise(expected)], [summarise(got)])
        )
    if not _is_array(got) or not _is_array(expected):
        lines = _stacked(name, _grid_or_words(expected), _grid_or_words(got))
        return lines if len(lines) <= tallest else _stacked(name, [_in_words(expected)], [_in_words(got)])
    if got.shape != expected.shape or dtype_of(got) != dtype_of(expected):
        heads = (f"expected {_kind(expected)}", f"got {_kind(got)}")
        lines = _beside(name, _grid_or_words(expected), _grid_or_words(got), heads)
        return lines if lines and len(lines) <= tallest else [f"{name}: {', '.join(heads)}"]
    wrong = wrong_entries(got, expected, rtol=rtol, atol=atol)
    if not _is_small(expected):
        return _listed(name, got, expected, wrong, tallest)
    got = np.where(wrong, got, expected)  # what is within the tolerance shows no difference, and no machine's rounding
    pairs = list(zip(got[wrong].tolist(), expected[wrong].tolist(), strict=True))
    write = _writer([got, expected], pairs)
    right = np.zeros_like(wrong)
    theirs, mine = _grids(_cells(expected, write, right), _cells(got, write, wrong), depth=expected.ndim)
    if len(theirs) == 1:
        return _stacked(name, theirs, mine)
    lines = _beside(name, theirs, mine, ("expected", f"got ({MARK} = wrong)"))
    return lines if lines and len(lines) <= tallest else _listed(name, got, expected, wrong, tallest)


def _stacked(name: str, expected: list[str], got: list[str]) -> list[str]:
    """Expected above got, with aligned columns."""
    heads = ["expected  ", *[" " * 10] * (len(expected) - 1), "got       ", *[" " * 10] * (len(got) - 1)]
    starts = [f"{name}: ", *[" " * (len(name) + 2)] * (len(heads) - 1)]
    return ["".join(parts) for parts in zip(starts, heads, [*expected, *got], strict=True)]


def _beside(name: str, expected: list[str], got: list[str], heads: tuple[str, str]) -> list[str]:
    """Expected beside got; empty if that is too wide."""
    left, right = [heads[0], *expected], [heads[1], *got]
    width = max(map(len, left)) + 4
    starts = [f"{name}: ", *[" " * (len(name) + 2)] * (max(len(left), len(right)) - 1)]
    if len(starts[0]) + width + max(map(len, right)) > WIDTH:
        return []
    rows = zip_longest(starts, left, right, fillvalue="")
    return [f"{start}{one:{width}}{other}" for start, one, other in rows]


def _listed(name: str, got: np.ndarray, expected: np.ndarray, wrong: np.ndarray, tallest: int) -> list[str]:
    """The first wrong entries in a table, with the largest difference."""
    count = int(np.count_nonzero(wrong))
    if tallest < len(("title", "heads", "an entry", "…")):
        at = tuple(np.argwhere(wrong)[0].tolist())
        theirs, mine = told_apart(expected[at], got[at])
        return [f"{name}{list(at)}: expected {theirs}, got {mine}{', and so on' * (count > 1)}"]
    listed = min(max(tallest - len(("title", "heads", "…")), 1), LISTED)
    by = at_most(largest_gap(got, expected, wrong))
    shown = np.argwhere(wrong)[:listed]
    theirs, mine = expected[tuple(shown.T)], got[tuple(shown.T)]
    write = _writer([theirs, mine], list(zip(mine.tolist(), theirs.tolist(), strict=True)))
    table = [["at", "expected", "got"]]
    table += [[str(at), write(a), write(b)] for at, a, b in zip(shown.tolist(), theirs, mine, strict=True)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    rows = [f"  {at:{widths[0]}}  {a:>{widths[1]}}  {b:>{widths[2]}}" for at, a, b in table]
    title = f"{name}: {_kind(expected)}, {count:,} of {got.size:,} entries differ{by}"
    return [title, *rows, *(["  …"] * (count > listed))]


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc"


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex) or (_is_array(value) and not value.ndim)


def _is_small(value: Any) -> bool:
    """Whether all of an array is shown: it is one row or a few."""
    if not _is_array(value):
        return False
    shape = _as_rows(value).shape if value.size and value.size <= GRID_ROWS * GRID_COLUMNS else (GRID_ROWS + 1, 1)
    return len(shape) == 2 and shape[0] <= GRID_ROWS and shape[1] <= GRID_COLUMNS


def _as_rows(value: Any) -> np.ndarray:
    """The array as rows, without leading axes of length 1."""
    array = np.atleast_2d(value)
    while array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    return array


def _writer(arrays: list[np.ndarray], pairs: Sequence[tuple[Any, Any]] = ()) -> Callable[[Any], str]:
    """Choose one format for all entries of some arrays, with the fewest digits that tell the `pairs` apart."""
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
    """A number with fixed decimals, so that decimal points line up."""
    return f"{value:.{digits}f}" if np.isfinite(value) and value else number(value)


def _cells(value: Any, write: Callable[[Any], str], wrong: np.ndarray | None = None) -> list[list[str]]:
    """The entries of a small array as text; with `wrong`, preceded by a mark or a space."""
    rows = [[write(entry) for entry in row] for row in _as_rows(value)]
    if wrong is None:
        return rows
    marks = [[MARK if bad else " " for bad in row] for row in _as_rows(wrong)]
    return [[mark + text for mark, text in zip(*pair, strict=True)] for pair in zip(marks, rows, strict=True)]


def _grids(*tables: list[list[str]], depth: int) -> list[list[str]]:
    """The lines of tables of equal width, with columns aligned across tables and `depth` brackets around each."""
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
        return [_in_words(value)]
    (lines,) = _grids(_cells(value, _writer([value])), depth=value.ndim)
    return lines


def _in_a_line(value: Any, width: int, tensors: bool) -> str:
    """A small argument as code, a larger one in words."""
    if not _is_small(value):
        return _in_words(value)
    if isinstance(value, np.generic) and not tensors:
        return f"np.{dtype_of(value)}({_code_rows(value)[0][0]})"
    line = array_line(value, _code_rows(value), tensors=tensors)
    return line if len(line) <= width else _in_words(value)


def in_code(value: Any, width: int) -> str:
    """A number or a small array as code; an array that takes more than `width` characters by dtype and shape."""
    if _is_number(value):
        return number(value)
    line = _in_a_line(value, width, False)
    return line if line.startswith("np.") and len(line) <= width else summarise(value)


def _in_words(value: Any) -> str:
    """An array's kind and first entries; a number or text as code; anything else in words."""
    if not _is_array(value):
        return _program_in_a_line(value) or literal(value) or summarise(value)
    first = " ".join(number(entry) for entry in np.asarray(value).flat[:LISTED])
    return f"{_kind(value)}: {first}{' …' * (value.size > LISTED)}" if value.size else f"{_kind(value)}, empty"


def _program_in_a_line(value: Any) -> str:
    """A few simple statements joined by semicolons; empty if that is impossible, or if the value is not a program."""
    lines = value.split("\n") if isinstance(value, str) else []
    plain = len(lines) > 1 and all(line and line == line.strip() and not line.endswith(":") for line in lines)
    return "; ".join(map(clean, lines)) if plain else ""


def _kind(value: Any) -> str:
    """`float64 (3, 4)`: dtype and shape, never a value."""
    if not _is_array(value) or not value.ndim:
        return summarise(value, show_numbers=False)
    return f"{dtype_of(value)} {shape_of(value)}"
