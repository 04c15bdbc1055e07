"""Wrong by a constant factor or offset, for the whole array or for each row, and where it may come from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations

import numpy as np

from autograder.diagnosis.relations.evidence import RANKS, Problem, first_of, informative, multiple, near, telling
from autograder.values import number

ENOUGH = 6
"""Fewest nonzero entries for which an unnamed factor is reported."""
MOST_INPUTS = 6
SHORTEST = 3
"""Fewest entries for which a constant offset is reported."""
SHORTEST_MULTIPLE = 4
"""Fewest entries along an axis for a factor: three that sum to 0 and are orthogonal to x are always parallel."""


def constants(problem: Problem) -> Iterator[str]:
    """One factor for all entries, lost signs, an input as factor, an offset, an input as term, one constant per row."""
    if problem.same_shape and np.isfinite(problem.got).all():
        yield from first_of(
            _factor(problem),
            _lost_sign(problem),
            _input_factor(problem),
            _other_factor(problem),
            _offset(problem),
            _input_term(problem),
            _along_an_axis(problem),
        )


def _factor(problem: Problem) -> Iterator[str]:
    factor = multiple(problem.got, problem.expected, problem.tolerance)
    if factor is None:
        return
    words = factor_words(factor, problem, problem.expected)
    if words is None and informative(problem.expected) and np.count_nonzero(problem.expected) >= ENOUGH:
        words = f"is {number(factor)} times what is expected, in every entry"
    if words:
        yield sentence(f"{problem.name} {words}")


def sentence(words: str) -> str:
    """`words` with a full stop, unless they end in a question mark."""
    return words if words.endswith("?") else f"{words}."


def factor_words(factor: float, problem: Problem, reference: np.ndarray) -> str | None:
    """How a result that is `factor` times `reference` is described; None if the factor has no name.

    A single number can be 2 times another by chance, so for an uninformative reference only factors that are sizes
    count.
    """
    if not telling(reference):
        return None
    same = partial(math.isclose, rel_tol=3 * problem.tolerance)
    counted = _count_words(abs(factor), sizes(problem), same)
    if not informative(reference):
        return counted if factor > 0 else None
    if same(factor, -1):
        return "has the wrong sign"
    words = counted or _other_words(abs(factor), sizes(problem), same)
    return words and (f"has the wrong sign, and {words}" if factor < 0 else words)


def sizes(problem: Problem) -> dict[int, list[str]]:
    """What each number in the call counts; for example, 3 is the number of rows of X."""
    found: dict[int, list[str]] = {}
    if ranks := problem.integers.get(RANKS):
        found[ranks] = [RANKS]
    for name, array in problem.inputs.items():
        labels = {1: ["entries"], 2: ["rows", "columns"]}.get(array.ndim)
        for axis, length in enumerate(array.shape):
            at = "the last axis" if axis == array.ndim - 1 else f"axis {axis}"
            what = f"the number of {labels[axis]} of {name}" if labels else f"the length of {at} of {name}"
            found.setdefault(length, []).append(what)
        if array.ndim > 1:
            found.setdefault(array.size, []).append(f"the number of entries of {name}")
    for name, value in problem.integers.items():
        if name != RANKS:
            found.setdefault(value, []).append(f"the value of {name}")
    return {size: what for size, what in found.items() if size > 1}


_Same = Callable[[float, float], bool]


def _count_words(factor: float, counts: dict[int, list[str]], same: _Same) -> str | None:
    """Words for a factor n or 1/n, if n is a size in the call."""
    for size in sorted(counts):
        if same(factor, size):
            why = f"is a division by {size} missing (a mean, not a sum)?"
            why = "is a division by 2 missing, or a factor 2 too many?" if size == 2 else why
            return f"is {size} times too large, and {size} is {_counted_things(counts[size])}: {why}"
        if same(factor, 1 / size):
            why = f"is it divided by {size} where it must not be (a sum, not a mean)?"
            why = "is it divided by 2 where it must not be, or is a factor 2 missing?" if size == 2 else why
            return f"is {size} times too small, and {size} is {_counted_things(counts[size])}: {why}"
    return None


def _other_words(factor: float, counts: dict[int, list[str]], same: _Same) -> str | None:
    """Words for a factor 2, √n, n/m or an inverse of these."""
    if same(factor, 2):
        return "is 2 times too large"
    if same(factor, 0.5):
        return "is 2 times too small"
    for size in sorted(counts):
        if same(factor**2, size):
            why = f"is a factor 1/√{size} missing?"
            return f"is √{size} times too large, and {size} is {_counted_things(counts[size])}: {why}"
        if same(factor**2, 1 / size):
            why = f"is it scaled by 1/√{size} once too often?"
            return f"is √{size} times too small, and {size} is {_counted_things(counts[size])}: {why}"
    return _ratio_words(factor, counts, same)


def _ratio_words(factor: float, counts: dict[int, list[str]], same: Callable[[float, float], bool]) -> str | None:
    """Words for a division by one size instead of another, or by n − 1 instead of n in a variance."""
    for right in sorted(counts):
        for used in (right - 1, *sorted(counts)):
            if used > 1 and used != right and same(factor, right / used):
                what = f"{right} is {_counted_things(counts[right])}"
                return (
                    f"is {right}/{used} times what is expected, and {what}: is it divided by {used} instead of {right}?"
                )
        for ratio in ((right - 1) / right, right / (right - 1)):
            if same(factor**2, ratio):
                said = f"{right - 1}/{right}" if ratio < 1 else f"{right}/{right - 1}"
                what = f"{right} is {_counted_things(counts[right])}"
                return f"is √({said}) times what is expected, and {what}: is a variance divided by n − 1, not n?"
    return None


def _counted_things(what: list[str]) -> str:
    """What a number may count, in words: the likeliest count, and the next likeliest that is no axis of `g`."""
    more = [words for words in what[1:] if not words.endswith(" of g")]
    return f"{what[0]} (and {more[0]})" if more else what[0]


def _lost_sign(problem: Problem) -> Iterator[str]:
    expected = problem.expected
    both = np.count_nonzero(expected < 0) >= 1 and np.count_nonzero(expected > 0) >= 1
    if both and problem.matches(np.abs(expected)):
        yield f"{problem.name} has lost its signs: it is the absolute value of what is expected."


def _input_factor(problem: Problem) -> Iterator[str]:
    """got · x = expected, or got = expected · x, for an input x that is not constant."""
    for name, array in _spread_inputs(problem):
        if near(problem.got * array, problem.expected, problem.tolerance):
            if informative(array) and telling(problem.expected):
                why = ": the upstream gradient does not enter" if name == "g" else ""
                yield f"The factor {name} is missing: {problem.name} times {name} is what is expected{why}."
        elif problem.matches(problem.expected * array) and informative(array):
            yield f"{problem.name} is multiplied by {name} once too often: it is what is expected times {name}."


def _other_factor(problem: Problem) -> Iterator[str]:
    """got = c · a where expected = c · b, for two inputs a and b."""
    for (name, array), (other, right) in permutations(_spread_inputs(problem), 2):
        if not near(problem.got * right, problem.expected * array, problem.tolerance):
            continue
        varied = informative(array) and informative(right) and telling(problem.expected)
        if varied and not near(problem.got, array, problem.tolerance):
            yield f"{problem.name} has the factor {name} where {other} belongs."


def _input_term(problem: Problem) -> Iterator[str]:
    """got + x = expected, or got = expected + x, for an input x that is not constant."""
    for name, array in _spread_inputs(problem):
        if near(problem.got, array, problem.tolerance):
            continue
        if near(problem.got + array, problem.expected, problem.tolerance) and informative(array):
            yield f"A term {name} is missing: {problem.name} plus {name} is what is expected."
        elif problem.matches(problem.expected + array) and informative(array):
            yield f"{problem.name} has a term {name} too many: it is what is expected plus {name}."


def _spread_inputs(problem: Problem) -> list[tuple[str, np.ndarray]]:
    """The first inputs that broadcast to the result's shape."""
    return [(name, array) for name, array in problem.inputs.items() if _spreads(array, problem)][:MOST_INPUTS]


def _spreads(array: np.ndarray, problem: Problem) -> bool:
    """Whether `array` can be broadcast to the shape of the learner's result."""
    fits = zip(array.shape[::-1], problem.got.shape[::-1], strict=False)
    return array.ndim <= problem.got.ndim and all(a in (1, b) for a, b in fits)


def _offset(problem: Problem) -> Iterator[str]:
    gap = problem.got - problem.expected
    if gap.size < SHORTEST or not informative(problem.expected) or not _constant(gap, problem):
        return
    offset = float(gap.flat[0])
    direction = "large" if offset > 0 else "small"
    yield f"{problem.name} is {number(abs(offset))} too {direction} in every entry: a constant is added or missing."


def _along_an_axis(problem: Problem) -> Iterator[str]:
    """Right up to one number per row: a term that is constant along an axis (such as a mean), or a factor."""
    for axis in reversed(range(problem.got.ndim)):
        others = problem.got.size // max(problem.got.shape[axis], 1)
        if problem.got.shape[axis] < SHORTEST or others < 2 or not _varies(problem, axis):
            continue
        along = _axis_words(axis, problem.got.ndim)
        if _constant(problem.got - problem.expected, problem, axis):
            yield (
                f"{problem.name} is right up to one number {along}, added to all of its entries: "
                "a term that is the same for all of them, such as a mean to subtract, is missing or wrong."
            )
            return
        if _proportional(problem, axis):
            yield f"{problem.name} is right up to one factor {along}, the same for all of its entries."
            return


def _varies(problem: Problem, axis: int) -> bool:
    """Whether each row along `axis` is wrong and is not constant; otherwise another relation says more."""
    spread = np.ptp(problem.expected, axis=axis)
    each_wrong = problem.wrong is not None and problem.wrong.any(axis=axis).all()
    return bool(each_wrong and np.all(spread > 1e-6 * np.abs(problem.expected).max(axis=axis)))


def _axis_words(axis: int, ndim: int) -> str:
    if ndim == 2:
        return "for each row" if axis == 1 else "for each column"
    return f"for each vector along axis {axis}"


def _constant(gap: np.ndarray, problem: Problem, axis: int | None = None) -> bool:
    """Whether `gap` is constant along `axis` (or everywhere, if None) and not 0."""
    if not np.isfinite(gap).all():
        return False
    spread = np.abs(gap - gap.mean(axis=axis, keepdims=True))
    scale = np.abs(problem.got) + np.abs(problem.expected) + np.abs(gap)
    return bool(np.all(spread <= problem.tolerance * scale.max(axis=axis, keepdims=True))) and bool(
        np.all(np.abs(gap).max() > 1e3 * problem.tolerance * scale.max())
    )


def _proportional(problem: Problem, axis: int) -> bool:
    """Whether each row along `axis` is a multiple of the expected one, which has enough nonzero entries."""
    got, expected = np.moveaxis(problem.got, axis, -1), np.moveaxis(problem.expected, axis, -1)
    peaks = np.abs(expected).argmax(axis=-1, keepdims=True)
    factors = np.take_along_axis(got, peaks, -1) / np.take_along_axis(expected, peaks, -1)
    rich = np.all(np.count_nonzero(expected, axis=-1) >= SHORTEST_MULTIPLE) and np.isfinite(factors).all()
    return bool(rich and np.all(factors != 0)) and near(got, factors * expected, 3 * problem.tolerance)
