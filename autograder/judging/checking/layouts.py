"""Asks a function again with the same arguments, laid out in memory in another way: its answer must be the same.

A contract's arrays may be transposes, slices and views. Code that is right only for contiguous ones writes into the
copy that `reshape` or `ravel` makes of the others, or fails. Every check that calls a function with arrays asks this
way too, so no lesson needs a check of its own for layouts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from autograder.diagnosis.equality import mismatch
from autograder.judging.checking.expectations import as_arrays
from autograder.judging.records.record import Call, Record

MOST_ENTRIES = 2_000
"""Larger arguments are not asked about again: they would cost as much as the check itself."""
CLOSE = 1e-2
"""Differences up to this share of the largest value are rounding: sums run in another order."""
IN_WORDS = {
    "columns": "column by column, as in a transpose",
    "strided": "with gaps between them, as in `x[..., 0]`",
    "reversed": "backwards, as in `x[::-1]`",
    "sliced": "backwards and with gaps between them, as in `x[::-2]`",
}


def layouts_for(record: Record) -> list[str]:
    """The layouts that a check asks each function about, one call each; hidden inputs have others."""
    return ["columns"] if record.visible else ["strided", "reversed"]


def matters_for(values: Any, layout: str) -> bool:
    """Whether arguments have an array that the layout changes, and nothing that is not data or large."""
    arrays, size = False, 0
    for leaf in _leaves(values):
        if _is_array(leaf):
            shape = tuple(leaf.shape)
            size += int(np.prod(shape))
            arrays = arrays or sum(length > 1 for length in shape) > (layout == "columns")
        elif not (leaf is None or type(leaf) in (bool, int, float, str)):
            return False
    return arrays and size <= MOST_ENTRIES


def differs(again: Any, before: Any) -> bool:
    """Whether two answers to the same question are not the same numbers, up to rounding."""
    again, before = as_arrays(again), as_arrays(before)
    numbers = [np.abs(np.asarray(leaf, dtype=np.float64)) for leaf in _leaves(before) if _is_real(leaf)]
    largest = max((float(one[np.isfinite(one)].max(initial=0.0)) for one in numbers), default=0.0)
    return mismatch(again, before, name="", rtol=0.0, atol=CLOSE * largest) is not None


def is_data(value: Any) -> bool:
    """Whether an answer consists of numbers, arrays, text and containers of them, so that it can be compared."""
    return all(
        leaf is None
        or type(leaf) in (bool, int, float, complex, str)
        or isinstance(leaf, np.generic)
        or _is_array(leaf)
        for leaf in _leaves(value)
    )


def told(call: Call, layout: str, error: str) -> str:
    """What is wrong, in a sentence about the arguments with arrays; `error` is the exception, if there was one."""
    which = [name for name, value in call.arguments if any(map(_has_entries, _leaves(value)))]
    how = IN_WORDS["columns" if call.tensors and layout == "reversed" else layout]
    when = f"when the entries of {which[0] if len(which) == 1 else 'its arrays'} lie in memory {how}"
    if error:
        return f"{call.function} fails only {when}; row by row, it answers for the same numbers. {error}"
    lost = (
        "`reshape` may copy such a tensor, and what is written into the copy is lost"
        if call.tensors
        else "`reshape` and `ravel` copy such an array, and what is written into the copy is lost"
    )
    return f"{call.function} gives another answer for the same numbers {when}: {lost}."


def _leaves(value: Any) -> Iterator[Any]:
    if type(value) in (tuple, list):
        for item in value:
            yield from _leaves(item)
    elif type(value) is dict:
        for item in value.values():
            yield from _leaves(item)
    else:
        yield value


def _has_entries(value: Any) -> bool:
    return _is_array(value) and np.prod(tuple(value.shape)) > 1


def _is_array(value: Any) -> bool:
    if type(value) is np.ndarray:
        return value.dtype.kind in "biufc"
    torch = sys.modules.get("torch")
    return torch is not None and type(value) is torch.Tensor


def _is_real(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | int | float) and np.asarray(value).dtype.kind in "fiu"
