"""Says where an answer is wrong: in which entries, rows or columns, and what the inputs are there."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from autograder.diagnosis.relations.constants import SHORTEST, factor_words, sentence
from autograder.diagnosis.relations.evidence import Problem, first_of, informative, multiple, near, telling
from autograder.values import number
from autograder.wording import agreeing, enumeration

ENOUGH = 100
"""A set of entries is explained by an input's sign only if this many sets of its size exist; else it may be chance."""
SOME = 15
"""The same for explanations that are unlikely by themselves, such as the entry that an index names in each row."""
FEW = 3
_ROW, _COLUMN = ("row", "rows"), ("column", "columns")


def places(problem: Problem) -> Iterator[str]:
    """Right in some entries and wrong in others: which, and how."""
    wrong = problem.wrong
    if wrong is None or wrong.all() or not wrong.any() or not np.isfinite(problem.expected).all():
        return
    name, count = problem.name, int(np.count_nonzero(wrong))
    share = f"({count:,} of {wrong.size:,} entries)"
    there = _describe_wrong(problem, wrong)
    where = next(_by_index(wrong, problem), None) or (None if _right_zeros(problem, wrong) else place(wrong, problem))
    if where:
        yield sentence(
            f"{name} {agreeing(name, 'is', 'are')} wrong exactly {where} {share}{there and '; there ' + there}"
        )
    elif _right_zeros(problem, wrong):
        yield f"{name} {agreeing(name, 'has its', 'have their')} zeros in the right places; every other entry is wrong."
    elif telling(problem.expected[~wrong]) and (where := next(_by_slices(~wrong), None)):
        yield sentence(f"{name} {agreeing(name, 'is', 'are')} right only {where}{there and '; elsewhere ' + there}")
    elif there and 1 < count < wrong.size - 1:
        yield sentence(
            f"{name} {agreeing(name, 'is', 'are')} wrong in {count:,} of {wrong.size:,} entries; there {there}"
        )


def _right_zeros(problem: Problem, wrong: np.ndarray) -> bool:
    """Whether exactly the entries where 0 is expected are right, at least two of them, and no other is 0."""
    right = np.count_nonzero(~wrong) > 1 and not np.any(problem.expected[~wrong])
    return bool(right and np.all(problem.got[wrong] != 0) and np.all(problem.expected[wrong] != 0))


def place(mask: np.ndarray, problem: Problem, *, extremes: bool = False) -> str | None:
    """Words for exactly the entries of `mask`, starting with "where" or "in"; None if nothing simple fits.

    `extremes`: also try "where |x| is 709 or more", for entries that an overflow spoils.
    """
    finders = [_by_sign(mask, problem), _by_maximum(mask, problem), _by_index(mask, problem)]
    if extremes:
        finders.append(_by_extremes(mask, problem))
    return next(first_of(*finders, _by_slices(mask), _by_diagonal(mask), _by_entries(mask)), None)


def _by_sign(mask: np.ndarray, problem: Problem) -> Iterator[str]:
    """Where an input is 0, negative or positive, among all entries or among those that are expected to be nonzero."""
    nonzero = problem.expected != 0
    for name, array in problem.inputs.items():
        if array.shape != mask.shape:
            continue
        conditions = {
            "0": array == 0,
            "not 0": array != 0,
            "negative": array < 0,
            "positive": array > 0,
            "0 or negative": array <= 0,
            "0 or positive": array >= 0,
        }
        for words, chosen in conditions.items():
            special = words in ("0", "not 0")
            if np.array_equal(mask, chosen) and (special or _sets_of_that_size(mask) >= ENOUGH):
                yield f"where {name} is {words}"
            elif np.array_equal(mask, chosen & nonzero) and not special and _sets_of_that_size(mask[nonzero]) >= ENOUGH:
                yield f"where {name} is {words} and something other than 0 is expected"


def _by_maximum(mask: np.ndarray, problem: Problem) -> Iterator[str]:
    """At the largest entry along an axis, or where that is tied."""
    for name, array in problem.inputs.items():
        if array.shape != mask.shape or not array.size or array.ndim == 0 or np.isnan(array).any():
            continue
        for axis in reversed(range(array.ndim)):
            if array.shape[axis] < 2:
                continue
            largest = array == array.max(axis=axis, keepdims=True)
            tied = largest.sum(axis=axis, keepdims=True) > 1
            if tied.any() and np.array_equal(mask, largest & tied):
                yield f"where the maximum of {name} along axis {axis} is tied"
            elif _sets_of_that_size(mask) >= ENOUGH and np.array_equal(mask, largest):
                yield f"where {name} has its maximum along axis {axis}"


def _by_index(mask: np.ndarray, problem: Problem) -> Iterator[str]:
    """At rows that an integer input names never, once or repeatedly, or at the entry that it names in each row."""
    for name, array in problem.inputs.items():
        index = problem.arguments.get(name)
        if not isinstance(index, np.ndarray) or index.dtype.kind not in "iu" or not array.size or mask.ndim < 2:
            continue
        if index.shape == mask.shape[:-1] and _within(array, mask.shape[-1]) and _sets_of_that_size(mask) >= SOME:
            named = np.arange(mask.shape[-1]) == index[..., None]
            if np.array_equal(mask, named):
                yield f"at the entry that {name} names in each row"
            elif np.array_equal(mask, ~named):
                yield f"at the entries that {name} does not name"
        if _within(array, len(mask)):
            yield from _by_rows(mask, name, np.bincount(index.ravel().astype(np.int64), minlength=len(mask)))


def _by_rows(mask: np.ndarray, name: str, times: np.ndarray) -> Iterator[str]:
    """Rows by how often each is named; with few rows, most matches would be chance."""
    rows = _whole_slices(mask, 0)
    chosen = rows.reshape(-1, *[1] * (mask.ndim - 1))
    if not np.array_equal(mask, mask & chosen):
        return
    if np.array_equal(rows, times > 1):
        yield f"in the rows that {name} names more than once"
    elif _sets_of_that_size(rows) < SOME:
        return
    elif np.array_equal(rows, times == 1):
        yield f"in the rows that {name} names once"
    elif np.array_equal(rows, times > 0):
        yield f"in the rows that {name} names"
    elif np.array_equal(rows, times == 0):
        yield f"in the rows that {name} does not name"


def _within(array: np.ndarray, size: int) -> bool:
    return bool(np.all((array >= 0) & (array < size)))


def _by_extremes(mask: np.ndarray, problem: Problem) -> Iterator[str]:
    for name, array in problem.inputs.items():
        if array.shape != mask.shape or not np.isfinite(array).all():
            continue
        for words, values in ((name, array), (f"−{name}", -array), (f"|{name}|", np.abs(array))):
            least, most = float(values[mask].min()), float(values[~mask].max(initial=-np.inf))
            if least > most and least >= 10:
                yield f"where {words} is {number(least)} or more"
                return


def _by_slices(mask: np.ndarray) -> Iterator[str]:
    """In whole rows, columns or planes; along several axes only if they form the border."""
    if mask.ndim < 2 or min(mask.shape) < 2:
        return
    whole = [_whole_slices(mask, axis) for axis in range(mask.ndim)]
    axes = [axis for axis, chosen in enumerate(whole) if chosen.any()]
    if len(axes) > 1 and any(whole[axis].size < 3 or whole[axis][1:-1].any() for axis in axes):
        return
    union = np.zeros_like(mask)
    for axis in axes:
        union |= whole[axis].reshape([-1 if other == axis else 1 for other in range(mask.ndim)])
    words = [_slice_words(whole[axis], axis, mask.ndim) for axis in axes]
    if np.array_equal(union, mask) and all(words):
        yield f"in {enumeration(words)}"


def _whole_slices(mask: np.ndarray, axis: int) -> np.ndarray:
    """For each index along `axis`, whether its whole slice is in `mask`."""
    return np.asarray(mask.all(axis=tuple(other for other in range(mask.ndim) if other != axis)))


def _slice_words(chosen: np.ndarray, axis: int, ndim: int) -> str:
    """The slices of `chosen` in words; empty if there are too many to list."""
    indices, length = np.flatnonzero(chosen).tolist(), chosen.size
    one, many = {(2, 0): _ROW, (2, 1): _COLUMN, (4, 2): _ROW, (4, 3): _COLUMN}.get(
        (ndim, axis), (f"slice along axis {axis}", f"slices along axis {axis}")
    )
    first, last = indices[0], indices[-1]
    whole_run = last - first + 1 == len(indices)
    if indices == [0] or indices == [length - 1]:
        return f"the {'last' if first else 'first'} {one}"
    if indices == [0, length - 1]:
        return f"the first and the last {one}"
    if whole_run and len(indices) == length - 1:
        return f"every {one} but the {'first' if first else 'last'}"
    if whole_run and len(indices) > 2:
        return f"{many} {first} to {last} of {length} (counted from 0)"
    if len(indices) > 2 * FEW:
        return ""
    return f"{one if len(indices) == 1 else many} {enumeration(indices)} of {length} (counted from 0)"


def _by_diagonal(mask: np.ndarray) -> Iterator[str]:
    if mask.ndim < 2 or min(mask.shape[-2:]) < 3:
        return
    rows, columns = np.arange(mask.shape[-2])[:, None], np.arange(mask.shape[-1])
    for words, chosen in (
        ("on the diagonal", rows == columns),
        ("off the diagonal", rows != columns),
        ("above the diagonal", rows < columns),
        ("below the diagonal", rows > columns),
        ("on and above the diagonal", rows <= columns),
        ("on and below the diagonal", rows >= columns),
    ):
        if np.array_equal(mask, np.broadcast_to(chosen, mask.shape)):
            yield words


def _by_entries(mask: np.ndarray) -> Iterator[str]:
    indices = np.argwhere(mask)
    if not 1 <= len(indices) <= FEW or mask.size < 3 * len(indices):
        return
    if mask.ndim == 1:
        entries = indices[:, 0].tolist()
        ends = {
            (0,): "in the first entry",
            (mask.size - 1,): "in the last entry",
            (0, mask.size - 1): "in the first and the last entry",
        }
        words = f"in entr{'y' if len(entries) == 1 else 'ies'} {enumeration(entries)} of {mask.size} (counted from 0)"
        yield ends.get(tuple(entries), words)
    elif mask.ndim:
        yield f"at {enumeration([str(index).replace(' ', '') for index in indices.tolist()])}"


def _describe_wrong(problem: Problem, wrong: np.ndarray) -> str:
    """What the wrong entries are, as words after "there"; empty if nothing simple fits."""
    got, expected = problem.got[wrong], problem.expected[wrong]
    if not got.any():
        return "it is 0"
    if not np.isfinite(got).all():
        return ""
    copied = _equal_input(problem, wrong, got)
    if not expected.any():
        return f"0 is expected{copied and ', and ' + copied}"
    if copied:
        return copied
    factor = multiple(got, expected, problem.tolerance)
    words = factor_words(factor, problem, expected) if factor is not None else None
    if words:
        return f"it {words}"
    gap = got - expected
    if gap.size >= SHORTEST and informative(expected) and near(gap, np.full_like(gap, gap[0]), 1e3 * problem.tolerance):
        return f"it is too {'large' if gap[0] > 0 else 'small'} by the same amount, {number(abs(gap[0]))}"
    return ""


def _equal_input(problem: Problem, wrong: np.ndarray, got: np.ndarray) -> str:
    """Words for the input that the wrong entries equal, unless the whole answer equals it."""
    for name, array in problem.inputs.items():
        if array.shape != wrong.shape or not telling(got) or near(problem.got, array, problem.tolerance):
            continue
        if near(got, array[wrong], problem.tolerance):
            return f"it is {name}"
        factor = multiple(got, array[wrong], problem.tolerance)
        if factor is not None and informative(got):
            return f"it is {number(factor)} times {name}"
    return ""


def _sets_of_that_size(mask: np.ndarray) -> float:
    """The number of sets with as many entries as `mask`; a random one equals it with probability 1 over that."""
    count = int(np.count_nonzero(mask))
    return math.comb(mask.size, count) if min(count, mask.size - count) < 10 else math.inf
