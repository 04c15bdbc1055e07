"""Compares results, and says in one sentence where they differ. This decides points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from autograder.values import dtype_of, key_text, literal, number, shape_of, summarise, told_apart
from autograder.wording import agreeing, enumeration

_Number = bool | int | float | complex
ROUNDING = 1e-6
"""Relative error below which a difference of floats is not rounded up: 0.1 in float32 is slightly more than 0.1."""


def mismatch(
    got: Any,
    expected: Any,
    *,
    name: str,
    rtol: float,
    atol: float,
    names: Sequence[str] = (),
    inputs: Mapping[str, Any] | None = None,
) -> str | None:
    """The first difference between `got` and `expected` in one sentence, in the order kind, shape, dtype, values.

    `name` is the result's name in the sentence, and `names` are those of a tuple's parts. With `inputs`, the arguments
    of the call by name, the shape or dtype of a gradient "dA" is explained by its input "A".

    What is equal:
    - arrays: exactly the same shape and dtype (byte order apart), and entries within `atol + rtol * |expected|`;
      integers and bools exactly; an infinity only itself, nan only where nan is expected;
    - a 0-d array, a NumPy scalar and a Python number stand for each other; Python numbers have no dtype, so a
      float stands for a float of any precision and an int for any number; a float is no integer, a bool only a bool;
    - a tuple and a list with equal parts; dicts with the same keys and equal values; equal text; None;
    - anything else (an object of the submission) is equal only to itself.

    Returns:
        None when they are equal.
    """
    compare = _Comparison(rtol, atol, dict(inputs or {}))
    return compare.any(got, expected, name or "the result", tuple(names))


def wrong_entries(got: np.ndarray, expected: np.ndarray, *, rtol: float, atol: float) -> np.ndarray:
    """A bool array of the entries that `mismatch` calls wrong. Both arrays have the same shape and numeric dtypes."""
    if got.dtype.kind in "biu" and expected.dtype.kind in "biu":
        return np.asarray(got != expected)
    wide = np.result_type(got.dtype, expected.dtype, np.float64)
    got, expected = got.astype(wide, copy=False), expected.astype(wide, copy=False)
    with np.errstate(all="ignore"):
        within = np.abs(got - expected) <= atol + rtol * np.abs(expected)
        right = within & np.isfinite(got) & np.isfinite(expected)  # otherwise rtol * inf would accept anything
        if not right.all():
            right |= (got == expected) | (np.isnan(got) & np.isnan(expected))
    return np.asarray(~right)


def largest_gap(got: np.ndarray, expected: np.ndarray, wrong: np.ndarray) -> float:
    """The largest |got - expected| among the entries where `wrong` (at least one); inf if it is nan."""
    wide = np.result_type(got.dtype, expected.dtype, np.float64)
    with np.errstate(all="ignore"):
        gaps = np.abs(got[wrong].astype(wide) - expected[wrong].astype(wide))
        return float(np.max(np.where(np.isnan(gaps), np.inf, gaps)))


def at_most(gap: float) -> str:
    """`, by at most 1.1` for a gap of 1.043: two digits, rounded up unless the excess is only rounding error.

    Empty if the gap is not finite.
    """
    if not np.isfinite(gap):
        return ""
    text = number(gap, 2)
    if float(text) < gap * (1 - ROUNDING):
        down = Decimal(f"{gap:.1e}")
        text = number(float(down + Decimal(1).scaleb(down.adjusted() - 1)), 2)
    return f", by at most {text}"


class _Comparison:
    def __init__(self, rtol: float, atol: float, inputs: dict[str, Any]) -> None:
        self.rtol = rtol
        self.atol = atol
        self.inputs = inputs

    def any(self, got: Any, expected: Any, name: str, names: tuple[str, ...] = ()) -> str | None:
        if isinstance(expected, np.ndarray) and expected.ndim and expected.dtype.kind in "biufc":
            return self.array(got, expected, name)
        if isinstance(expected, np.ndarray | np.generic) and expected.dtype.kind in "biufc":
            return self.number(got, expected, name)
        if isinstance(expected, bool | int | float | complex):
            return self.number(got, expected, name)
        if isinstance(expected, tuple | list):
            return self.sequence(got, expected, name, names)
        if isinstance(expected, dict):
            return self.mapping(got, expected, name)
        if isinstance(expected, str):
            return self.text(got, expected, name)
        return None if got is expected else self.kind(got, expected, name)

    def kind(self, got: Any, expected: Any, name: str) -> str:
        if isinstance(got, tuple | list) and isinstance(expected, tuple | list):
            texts = literal(expected) if expected and all(isinstance(part, str) for part in expected) else None
            if texts is not None:  # their kind alone says nothing
                return f"{_is(name)} {(got and literal(got)) or _of_parts(got)}; {texts} expected"
            if not got or literal(got) is None:
                return f"{_is(name)} {_of_parts(got)}; {_of_parts(expected)} expected"
        return f"{_is(name)} {summarise(got)}; expected {self.words(expected)}"

    def words(self, expected: Any) -> str:
        """The expected kind without its value, because the sentence is about the kind."""
        return "None" if expected is None else summarise(expected, show_numbers=False)

    def array(self, got: Any, expected: np.ndarray, name: str) -> str | None:
        if not isinstance(got, np.ndarray):
            return self.kind(got, expected, name)
        got = np.asarray(got)
        if got.shape != expected.shape:
            return self.shape(got, expected, name)
        if got.dtype == expected.dtype:
            if got.tobytes() == expected.tobytes():  # the usual case, and much faster than a comparison by entry
                return None
        elif _native(got) != _native(expected):
            return self.dtype(got, expected, name)
        return self.entries(got, expected, name)

    def shape(self, got: np.ndarray, expected: np.ndarray, name: str) -> str:
        source, array = self.source(name)
        if array is not None and array.shape == expected.shape:
            return (
                f"{_has(name)} shape {shape_of(got)}, but {source} has shape {shape_of(expected)}, "
                "and a gradient has the shape of its input"
            )
        wanted = shape_of(expected) if expected.ndim else "a single number"
        return f"{_has(name)} shape {shape_of(got)}; {wanted} expected"

    def dtype(self, got: np.ndarray | np.generic, expected: np.ndarray | np.generic, name: str) -> str:
        source, array = self.source(name)
        if array is not None and _native(array) == _native(expected):
            return (
                f"{_is(name)} {dtype_of(got)}, but {source} is {dtype_of(expected)}, "
                "and a gradient has the dtype of its input"
            )
        return f"{_is(name)} {dtype_of(got)}; {dtype_of(expected)} expected"

    def source(self, name: str) -> tuple[str, np.ndarray | None]:
        """The name and value of the input whose gradient is called `name`: A for dA."""
        source = name[1:] if name.startswith("d") else ""
        array = self.inputs.get(source)
        return source, array if isinstance(array, np.ndarray) else None

    def entries(self, got: np.ndarray, expected: np.ndarray, name: str) -> str | None:
        wrong = wrong_entries(got, expected, rtol=self.rtol, atol=self.atol)
        count = int(np.count_nonzero(wrong))
        if not count:
            return None
        broken = wrong & ~np.isfinite(got) & np.isfinite(expected)
        if broken.any():
            what = enumeration([word for word, found in (("nan", np.isnan(got)), ("inf", np.isinf(got)))
                                if (found & broken).any()], "or")  # fmt: skip
            return f"{_is(name)} {what} in {_share(int(np.count_nonzero(broken)), got.size)}"
        by = "" if got.dtype.kind == "b" else at_most(largest_gap(got, expected, wrong))
        return f"{name} {agreeing(name, 'differs', 'differ')} in {_share(count, got.size)}{by}"

    def number(self, got: Any, expected: _Number | np.ndarray | np.generic, name: str) -> str | None:
        if isinstance(got, np.ndarray) and got.ndim:
            return self.shape(np.asarray(got), np.asarray(expected), name)
        typed = isinstance(got, np.ndarray | np.generic)
        if not typed and not isinstance(got, bool | int | float | complex):
            return self.kind(got, expected, name)
        if typed and isinstance(expected, np.ndarray | np.generic):
            if _native(got) != _native(expected):
                return self.dtype(got, expected, name)
        elif not _stands_for(_number_kind(got), _number_kind(expected)):
            return self.kind(got, expected, name)
        if self.same_number(got, expected):
            return None
        if (
            typed
            and isinstance(expected, float)
            and not isinstance(expected, np.generic)
            and self.rounded(got, expected)
        ):
            digits = np.finfo(got.dtype).precision
            return f"{name} is a {dtype_of(got)} number, right to about {digits} digits alone; a Python float expected"
        one, other = told_apart(got, expected)
        return f"{_is(name)} {one}; {other} expected"

    def rounded(self, got: np.ndarray | np.generic, expected: float) -> bool:
        """Whether a number differs from the right one only by the precision of its dtype."""
        if got.dtype.kind != "f" or got.dtype.itemsize >= 8:
            return False
        within = max(self.rtol, 8 * float(np.finfo(got.dtype).eps))
        return not wrong_entries(np.asarray(got), np.asarray(expected), rtol=within, atol=self.atol).any()

    def same_number(self, got: Any, expected: Any) -> bool:
        if _number_kind(expected) in "bi":
            return bool(_plain(got) == _plain(expected))
        try:
            got = np.asarray(got if isinstance(got, np.ndarray | np.generic) else _widened(got))
        except OverflowError:  # an int larger than any float
            return False
        return not wrong_entries(got, np.asarray(expected), rtol=self.rtol, atol=self.atol).any()

    def sequence(self, got: Any, expected: Sequence[Any], name: str, names: tuple[str, ...]) -> str | None:
        if not isinstance(got, tuple | list) or len(got) != len(expected):
            return self.kind(got, expected, name)
        if len(names) != len(expected):
            names = tuple(f"{name}[{index}]" for index in range(len(expected)))
        for part, wanted, part_name in zip(got, expected, names, strict=True):
            message = self.any(part, wanted, part_name)
            if message:
                return message
        return None

    def mapping(self, got: Any, expected: dict[Any, Any], name: str) -> str | None:
        if not isinstance(got, dict):
            return self.kind(got, expected, name)
        typed = {(type(key), key) for key in got}  # a dict treats 1, 1.0 and True as one key
        missing = [key for key in expected if (type(key), key) not in typed]
        if missing:
            return f"{_has(name)} no key {key_text(missing[0])}"
        if len(got) != len(expected):
            extra = next(key for key in got if key not in expected)
            return f"{_has(name)} a key {key_text(extra)} that is not expected"
        for key, wanted in expected.items():
            message = self.any(got[key], wanted, f"{name}[{key_text(key)}]")
            if message:
                return message
        return None

    def text(self, got: Any, expected: str, name: str) -> str | None:
        if not isinstance(got, str):
            return self.kind(got, expected, name)
        if got == expected:
            return None
        return f"{_is(name)} {summarise(got)}; expected {summarise(expected)}"


def _of_parts(value: Sequence[Any]) -> str:
    kind = "tuple" if isinstance(value, tuple) else "list"
    return f"a {kind} of {len(value)}" if value else f"an empty {kind}"


def _is(name: str) -> str:
    return f"{name} {agreeing(name, 'is', 'are')}"


def _has(name: str) -> str:
    return f"{name} {agreeing(name, 'has', 'have')}"


def _native(value: Any) -> np.dtype:
    return value.dtype.newbyteorder("=")


def _number_kind(value: Any) -> str:
    """`b`, `i`, `f` or `c`; `O` for anything that is not a number."""
    kind = np.asarray(value).dtype.kind if isinstance(value, np.ndarray | np.generic) else _python_kind(value)
    return "i" if kind == "u" else kind if kind in "bifc" else "O"


def _python_kind(value: _Number) -> str:
    return next(kind for kind, of in (("b", bool), ("i", int), ("f", float), ("c", complex)) if isinstance(value, of))


def _stands_for(got: str, expected: str) -> bool:
    return got == expected or (got, expected) in {("i", "f"), ("i", "c"), ("f", "c")}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.ndarray | np.generic) else value


def _widened(value: _Number) -> float | complex:
    return value if isinstance(value, complex) else float(value)


def _share(count: int, size: int) -> str:
    if count == size:
        return {1: "every entry", 2: "both entries"}.get(size, f"all {size:,} entries")
    return f"{count:,} of {size:,} entries"
