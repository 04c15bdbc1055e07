"""Values as the code that makes them: short for messages, and with every digit to rerun a case."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from autograder.values import dtype_of

MOST_ENTRIES = 400
"""A case with more entries is not written out: that would be no use to a reader."""
_UNNAMED = {
    "np.array": ("float64", "int64", np.dtype(int).name, "bool", "complex128"),
    "torch.tensor": ("float32", "int64", "bool"),
}
"""The dtypes that an array gets by default, so that code need not name them; a browser's integers have 32 bits."""
_LIBRARIES = {"np", "torch"}


def entry_code(text: str, kind: str) -> str:
    """The code of an entry that a message prints as `text`: `1.0` in an array of floats, `float("nan")`."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    if kind in "fc" and digits in ("nan", "inf"):
        return f'{sign}float("{digits}")'
    return f"{text}.0" if kind == "f" and digits.isdigit() else text


def array_lines(rows: Sequence[Sequence[str]], array: np.ndarray, *, tensors: bool) -> list[str]:
    """The code of a small array, one line per row, with the columns aligned.

    Args:
        rows: the entries as code; leading axes of length 1 are removed, which leaves at most two axes.
        tensors: whether it is a PyTorch tensor.
    """
    maker, ending = _maker(tensors), _ending(array, tensors)
    if array.ndim == 0:
        return [f"{maker}({rows[0][0]}{ending}"]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    written = [", ".join(map(str.rjust, row, widths)) for row in rows]
    depth, start = array.ndim, f"{maker}("
    lines = []
    for index, row in enumerate(written):
        opened = "[" * depth if not index else " " * (depth - 1) + "["
        lines.append((start if not index else " " * len(start)) + opened + row + "],")
    lines[-1] = lines[-1].removesuffix(",") + "]" * (depth - 1) + ending
    return lines


def array_line(array: np.ndarray, rows: Sequence[Sequence[str]], *, tensors: bool) -> str:
    """The code of a small array in one line; the arguments are those of `array_lines`."""
    lines = array_lines([[entry.strip() for entry in row] for row in rows], array, tensors=tensors)
    return " ".join(" ".join(line.split()) for line in lines)


def is_expression_of(names: Set[str], value: Any) -> bool:
    """Whether a value is text that computes with some of these names, and with no names but these, `np` and `torch`."""
    try:
        tree = ast.parse(value, mode="eval") if isinstance(value, str) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    nodes = [] if tree is None else list(ast.walk(tree.body))
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    used = {node.id for node in nodes if isinstance(node, ast.Name)} - bound
    return len(nodes) > len((ast.Name, ast.Load)) and bool(used & names) and used <= names | _LIBRARIES


def case_code(function: str, arguments: Sequence[tuple[str, Any]], *, positional: int, tensors: bool = False) -> str:
    """A program that makes a call with exactly these arguments; empty if one of them cannot be written as code.

    Args:
        positional: how many arguments are positional.
        tensors: whether arrays are PyTorch tensors.
    """
    size = sum(_size(value) for _, value in arguments)
    written = [(name, exactly(value, tensors=tensors)) for name, value in arguments]
    if not function.isidentifier() or size > MOST_ENTRIES:
        return ""
    if not all(code is not None and name.isidentifier() for name, code in written):
        return ""
    passed = [name if i < positional else f"{name}={name}" for i, (name, _) in enumerate(written)]
    body = [f"{name} = {code}" for name, code in written]
    needs = [
        line for line, word in (("import numpy as np", "np."), ("import torch", "torch.")) if word in "".join(body)
    ]
    return "\n".join([*needs, *body, f"{function}({', '.join(passed)})"])


def exactly(value: Any, *, tensors: bool = False) -> str | None:
    """The code of data, with every digit; None for other objects."""
    if isinstance(value, np.ndarray | np.generic):
        return _array_exactly(np.asarray(value), value, tensors)
    if value is None or isinstance(value, bool | int | str):
        return repr(value)
    if isinstance(value, float | complex):
        return entry_code(repr(value), "f") if isinstance(value, float) else _complex_code(value)
    if isinstance(value, tuple | list):
        parts = [exactly(part, tensors=tensors) for part in value]
        if None in parts:
            return None
        inside = ", ".join(part for part in parts if part) + "," * (isinstance(value, tuple) and len(value) == 1)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, dict):
        pairs = [(exactly(key), exactly(part, tensors=tensors)) for key, part in value.items()]
        return None if any(None in pair for pair in pairs) else f"{{{', '.join(f'{k}: {v}' for k, v in pairs)}}}"
    return None


def exactly_if_small(value: Any) -> str | None:
    """`exactly`, and None for data of more than `MOST_ENTRIES` entries."""
    return exactly(value) if _size(value) <= MOST_ENTRIES else None


def _array_exactly(array: np.ndarray, value: Any, tensors: bool) -> str | None:
    kind = array.dtype.kind
    if kind not in "biufc":
        return None
    if isinstance(value, np.generic) and not tensors:
        return f"np.{dtype_of(array)}({_complex_code(value) if kind == 'c' else entry_code(str(value), kind)})"
    if not array.size:
        of = "torch.zeros" if tensors else "np.zeros"
        return f"{of}({tuple(array.shape)}, dtype={'torch' if tensors else 'np'}.{dtype_of(array)})"

    def written(part: np.ndarray) -> str:
        if part.ndim:
            return f"[{', '.join(written(np.asarray(one)) for one in part)}]"
        return _complex_code(part[()]) if kind == "c" else entry_code(str(part[()]), kind)

    return f"{_maker(tensors)}({written(array)}{_ending(array, tensors)}"


def _complex_code(value: Any) -> str:
    """Code from the two parts: a complex literal adds them, which loses the sign of a 0 and cannot express nan."""
    return f"complex({entry_code(str(value.real), 'f')}, {entry_code(str(value.imag), 'f')})"


def _maker(tensors: bool) -> str:
    return "torch.tensor" if tensors else "np.array"


def _ending(array: np.ndarray, tensors: bool) -> str:
    """The end of the call that makes an array, with its dtype if that is not the default."""
    said = dtype_of(array) in _UNNAMED[_maker(tensors)]
    return ")" if said else f", dtype={'torch' if tensors else 'np'}.{dtype_of(array)})"


def _size(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return int(value.size)
    if isinstance(value, tuple | list):
        return sum(map(_size, value))
    return sum(map(_size, value.values())) if isinstance(value, dict) else 1
