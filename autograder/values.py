"""Describes values in words that are short, uniform, and safe to print for untrusted values."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from autograder.wording import clean, quoted

MAX_PARTS = 6
"""How many parts of a tuple or keys of a dict are listed."""
MAX_LITERAL = 80
"""The limit on a tuple of tuples, in characters."""
MAX_NESTING = 1
_ATOMS = (type(None), bool, int, float, complex, str)
MAX_DIGITS = 40
"""The limit on one integer, in digits."""
WHOLE = 2.0**53
"""From here on all floats are integers, so that being one means nothing."""
EASILY_READ = 1e7
"""Integers below this are written without an exponent."""
_LARGE = re.compile(r"-?[\d.]+e\d+")


def number(value: Any, digits: int = 4) -> str:
    """A Python number or NumPy scalar with `digits` significant digits: `0.3333`, `1.2e-5`, `nan`, `True`, `12`."""
    value = value.item() if isinstance(value, np.generic | np.ndarray) else value
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return str(value) if value.bit_length() < 3 * MAX_DIGITS else f"{'-' * (value < 0)}2^{value.bit_length() - 1}…"
    if isinstance(value, complex | np.complexfloating):
        imaginary = number(value.imag, digits)
        return f"{number(value.real, digits)}{'' if imaginary[0] == '-' else '+'}{imaginary}j"
    text = f"{value:.{digits}g}" if value else "0"  # not "-0"
    if value and isinstance(value, float) and value.is_integer() and abs(value) < WHOLE:  # do not round integers
        text = text if float(text) == value and abs(value) >= EASILY_READ else str(int(value))
    return re.sub(r"e([+-])0*(\d)", lambda m: "e" + m[1].replace("+", "") + m[2], text)


def told_apart(one: Any, other: Any, digits: int = 4) -> tuple[str, str]:
    """Both numbers with the least number of digits, at least `digits`, that shows that they differ.

    If one is an integer, written with all its digits, the other gets as many.
    """
    for enough in range(digits, 18):
        texts = number(one, enough), number(other, enough)
        if texts[0] != texts[1]:
            break
    whole = next((text.lstrip("-") for text in texts if text.lstrip("-").isdecimal()), "")
    large = [(text, value) for text, value in zip(texts, (one, other), strict=True) if _LARGE.fullmatch(text)]
    if whole and any(float(text) != value for text, value in large):  # 1e9 has lost nothing
        return number(one, max(len(whole) + 1, enough)), number(other, max(len(whole) + 1, enough))
    return texts


def shape_of(array: np.ndarray) -> str:
    """The shape of an array as text: `(3, 4)`."""
    return clean(str(tuple(array.shape)))


def dtype_of(value: np.ndarray | np.generic) -> str:
    """The name of a dtype, ignoring byte order: `float64`."""
    return clean(value.dtype.newbyteorder("=").name)


def summarise(value: Any, *, show_numbers: bool = True) -> str:
    """A description of `value` for the middle of a sentence.

    Examples: "a float64 array of shape (3, 4)", "the number 3.2", "None", "a tuple of 2: the integer 1, None". Without
    `show_numbers` it has only the kind of the value: "a number", "an integer", "some text".
    """
    return clean(_summary(value, show_numbers, MAX_NESTING), 240)


def _summary(value: Any, show: bool, depth: int) -> str:
    if isinstance(value, np.ndarray | np.generic):
        dtype = dtype_of(value)
        if value.ndim:
            return f"{_article(dtype)} {dtype} array of shape {shape_of(np.asarray(value))}"
        if value.dtype.kind not in "biufc":
            return f"a value of dtype {dtype}"
        return f"the {dtype} number {number(value)}" if show else f"{_article(dtype)} {dtype} number"
    if value is None:
        return "None"
    if isinstance(value, bool):
        return str(value) if show else "a bool"
    if isinstance(value, int):
        return f"the integer {number(value)}" if show else "an integer"
    if isinstance(value, float):
        return f"the number {literal(value)}" if show else "a number"
    if isinstance(value, complex):
        return f"the complex number {number(value)}" if show else "a complex number"
    if isinstance(value, str):
        return f"the text {quoted(value)}" if show else "some text"
    if isinstance(value, tuple | list):
        return _sequence_summary(value, show, depth)
    if isinstance(value, dict):
        return _dict_summary(value, show)
    if callable(value):
        return "a function"
    type_name = getattr(value, "type_name", None)  # of an object that stayed in the submission's process
    return f"an object of type {clean(type_name if isinstance(type_name, str) else type(value).__name__)}"


def literal(value: Any) -> str | None:
    """A number, text, None, short tuple of these, or short tuple of such tuples as a Python literal; else None."""
    if _is_nested(value):
        few = len(value) <= MAX_LITERAL // len("(0,), ")
        text = _in_brackets(value, [None if _is_nested(part) else literal(part) for part in value]) if few else None
        return text if text and len(text) <= MAX_LITERAL else None
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float | complex) and not isinstance(value, np.generic):
        text = number(value)  # the float 96.0 would look like an integer
        return text + ".0" * (isinstance(value, float) and text.lstrip("-").isdigit())
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple | list) and len(value) <= MAX_PARTS:
        return _in_brackets(value, [literal(part) if isinstance(part, _ATOMS) else None for part in value])
    return None


def _is_nested(value: Any) -> bool:
    return isinstance(value, tuple | list) and any(isinstance(part, tuple | list) for part in value)


def _in_brackets(value: tuple[Any, ...] | list[Any], parts: list[str | None]) -> str | None:
    """The text of a tuple or list from the texts of its parts; None if one of them is None."""
    written = [part for part in parts if part is not None]
    if len(written) < len(value):
        return None
    inside = ", ".join(written) + "," * (isinstance(value, tuple) and len(value) == 1)
    return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"


def _sequence_summary(value: tuple[Any, ...] | list[Any], show: bool, depth: int) -> str:
    kind = "tuple" if isinstance(value, tuple) else "list"
    if not value:
        return f"an empty {kind}"
    if not depth:
        return f"a {kind} of {len(value)}"
    if show and _is_nested(value) and (text := literal(value)):
        return text
    parts = [_summary(part, show, depth - 1) for part in value[:MAX_PARTS]]
    alike = {(isinstance(part, tuple), len(part)) if isinstance(part, tuple | list) else None for part in value}
    of_arrays = all(isinstance(part, np.ndarray) for part in value) and len(set(map(_kind_and_shape, value))) == 1
    if len(value) > 1 and (of_arrays or (len(alike) == 1 and None not in alike)):
        return f"a {kind} of {len(value)}, each {parts[0]}"
    more = ", …" if len(value) > MAX_PARTS else ""
    return f"a {kind} of {len(value)}: {', '.join(parts)}{more}"


def _kind_and_shape(array: np.ndarray) -> tuple[str, tuple[int, ...]]:
    return dtype_of(array), array.shape


def _dict_summary(value: dict[Any, Any], show: bool) -> str:
    if not value:
        return "an empty dict"
    if not show:
        return f"a dict of {len(value)}"
    keys = [key_text(key) for _, key in zip(range(MAX_PARTS), value, strict=False)]
    more = ", …" if len(value) > MAX_PARTS else ""
    return f"a dict with the key{'s' * (len(value) > 1)} {', '.join(keys)}{more}"


def key_text(key: Any) -> str:
    """A dict's key as a Python literal, made safe as by `clean`."""
    if isinstance(key, str):
        return quoted(key, 30)
    return number(key) if isinstance(key, bool | int | float) else clean(_summary(key, True, 1))


def _article(word: str) -> str:
    return "an" if word[:1] in "aio" else "a"
