"""The right numbers in the wrong arrangement: transposed, reshaped, reversed, or summed over the wrong axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

import numpy as np

from autograder.diagnosis.relations.constants import factor_words
from autograder.diagnosis.relations.evidence import (
    Problem,
    adds_up,
    axis_subsets,
    first_of,
    informative,
    multiple,
    near,
    telling,
)
from autograder.values import shape_of
from autograder.wording import enumeration

MAX_AXES = 5
MAX_SHIFT = 16


def reductions(problem: Problem) -> Iterator[str]:
    """Not summed over an axis, summed over one too many, or summed over the wrong one."""
    if problem.same_shape:
        yield from first_of(_summed_and_spread(problem), _wrong_axis(problem))
    else:
        yield from first_of(_not_summed(problem), _summed_too_far(problem), _wrong_axis(problem))


def arrangements(problem: Problem) -> Iterator[str]:
    """The expected entries in another order or another shape."""
    if problem.same_shape:
        yield from first_of(_transposed(problem), _reshaped(problem), _reversed(problem), _shifted(problem))
    else:
        yield from first_of(_axes_of_one(problem), _transposed(problem), _reshaped(problem))


def _axes_of_one(problem: Problem) -> Iterator[str]:
    """The same entries in the same order; the shapes differ only in axes of length 1."""
    got, expected = problem.got, problem.expected
    if got.size != expected.size or not near(got.ravel(), expected.ravel(), problem.tolerance) or not telling(expected):
        return
    if got.squeeze().shape == expected.squeeze().shape and got.ndim != expected.ndim:
        if got.ndim > expected.ndim:
            advice = "drop the axis of length 1"
        elif expected.ndim > 1:
            advice = "keep the axis of length 1 (keepdims=True)"
        else:  # for a sum over rows, keepdims=True would give (1, 1)
            advice = "keep the axis of length 1, which squeeze() and a sum over all axes take away"
        shapes = f"the shape is {shape_of(got)}, not {shape_of(expected)}"
        yield f"The values of {problem.name} are right; only {shapes}: {advice}."


def _transposed(problem: Problem) -> Iterator[str]:
    ndim = problem.expected.ndim
    if problem.got.ndim != ndim or not 2 <= ndim <= MAX_AXES or not informative(problem.expected):
        return
    swap = (*range(ndim - 2), ndim - 1, ndim - 2)
    for axes in (swap, *permutations(range(ndim))):
        candidate = problem.expected.transpose(axes)
        if axes == tuple(range(ndim)) or candidate.shape != problem.got.shape or not problem.differs(candidate):
            continue
        words = _equality_words(candidate, problem)
        if words is not None:
            what = "transposed" if ndim == 2 else "transposed in its last two axes" if axes == swap else (
                f"transposed: its axes come in the order {axes}"
            )  # fmt: skip
            yield f"{problem.name} is {what}{words}."
            return


def _equality_words(candidate: np.ndarray, problem: Problem) -> str | None:
    """The words to add if `got` equals `candidate`: none, or a named factor; None if they are not proportional."""
    if near(problem.got, candidate, problem.tolerance):
        return ""
    factor = multiple(problem.got, candidate, problem.tolerance)
    words = factor_words(factor, problem, candidate) if factor is not None else None
    return f", and then it {words}" if words else None


def _reshaped(problem: Problem) -> Iterator[str]:
    """The expected entries in order but in another shape, or the transpose's entries in order."""
    got, expected = problem.got, problem.expected
    if got.size != expected.size or not informative(expected) or expected.ndim > MAX_AXES:
        return
    if got.shape != expected.shape and near(got.ravel(), expected.ravel(), problem.tolerance):
        yield (
            f"The values of {problem.name} are right and in order; "
            f"only the shape is {shape_of(got)}, not {shape_of(expected)}."
        )
    elif expected.ndim > 1 and near(got.ravel(), expected.T.ravel(), problem.tolerance):
        yield f"{problem.name} has the right values in the wrong order: a reshape stands where a transpose belongs."


def _reversed(problem: Problem) -> Iterator[str]:
    for axes in axis_subsets(problem.expected.shape):
        if problem.matches(np.flip(problem.expected, axes)):
            yield f"{problem.name} is reversed along {_axes(axes)}."


def _shifted(problem: Problem) -> Iterator[str]:
    for axis, length in enumerate(problem.expected.shape):
        for shift in range(1, min(length, MAX_SHIFT)):
            for step in (shift, -shift):
                if problem.matches(np.roll(problem.expected, step, axis)):
                    by = f"{shift} place{'s' * (shift > 1)} {'on' if step > 0 else 'back'}"
                    yield f"{problem.name} is shifted along axis {axis}: every entry stands {by}."


def elsewhere(problem: Problem) -> Iterator[str]:
    """The expected numbers in some other order."""
    if not problem.same_shape:
        return
    got, expected = np.sort(problem.got, axis=None), np.sort(problem.expected, axis=None)
    if expected.size > 2 and informative(expected) and near(got, expected, problem.tolerance):
        yield f"{problem.name} has all the right numbers, in the wrong places."


_REDUCE: dict[str, Callable[..., np.ndarray]] = {"sum": np.sum, "mean": np.mean}
_DONE = {"sum": "summed", "mean": "averaged"}


def _not_summed(problem: Problem) -> Iterator[str]:
    got, expected = problem.got, problem.expected
    if got.size <= expected.size or not expected.size or not telling(expected):
        return
    for axes in axis_subsets(got.shape):
        for word, reduce in _REDUCE.items():
            reduced = reduce(got, axis=axes)
            if reduced.squeeze().shape != expected.squeeze().shape:
                break
            if near(reduced.ravel(), expected.ravel(), problem.tolerance) and adds_up(got, axes):
                yield (
                    f"{problem.name} is not {_DONE[word]} over {_axes(axes)}: its shape is {shape_of(got)}, "
                    f"and the {word} over {_axes(axes)} is what is expected{_broadcast_of(problem, word)}."
                )
                return


def _broadcast_of(problem: Problem, word: str) -> str:
    """Why it must be summed: the input was broadcast along the axis."""
    own = problem.inputs.get(problem.name[1:])
    if word != "sum" or own is None or own.shape != problem.expected.shape or not problem.name.startswith("d"):
        return ""
    return f" ({problem.name[1:]}, of shape {shape_of(own)}, was broadcast along it)"


def _summed_too_far(problem: Problem) -> Iterator[str]:
    got, expected = problem.got, problem.expected
    if got.size >= expected.size or not informative(expected) or not telling(got):
        return
    for axes in axis_subsets(expected.shape):
        for word, reduce in _REDUCE.items():
            reduced = reduce(expected, axis=axes)
            if reduced.squeeze().shape != got.squeeze().shape:
                break
            if near(reduced.ravel(), got.ravel(), problem.tolerance) and adds_up(expected, axes):
                if word == "mean" and near(expected, _broadcast_mean(expected, axes), problem.tolerance):
                    yield (
                        f"{problem.name} is right along the other axes, but not spread over {_axes(axes)}: "
                        f"its shape is {shape_of(got)}, not {shape_of(expected)} (broadcast it)."
                    )
                    return
                yield (
                    f"{problem.name} is {_DONE[word]} over {_axes(axes)}, and must not be: "
                    f"its shape is {shape_of(got)}, not {shape_of(expected)}."
                )
                return


def _summed_and_spread(problem: Problem) -> Iterator[str]:
    """Constant along an axis, with the sum or mean of the expected entries as its value."""
    if not informative(problem.expected) or not telling(problem.got):
        return
    for axes in axis_subsets(problem.expected.shape):
        if not near(problem.got, _broadcast_mean(problem.got, axes), problem.tolerance):
            continue
        for word, reduce in _REDUCE.items():
            candidate = np.broadcast_to(reduce(problem.expected, axis=axes, keepdims=True), problem.expected.shape)
            if near(problem.got, candidate, problem.tolerance) and adds_up(problem.expected, axes):
                yield (
                    f"{problem.name} is {_DONE[word]} over {_axes(axes)}, and must not be: "
                    f"all along it, every entry is the {word} of what is expected there."
                )
                return


def _broadcast_mean(array: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The mean of `array` over `axes`, broadcast back: equal to `array` if that is constant along them."""
    return np.broadcast_to(array.mean(axis=axes, keepdims=True), array.shape)


def _wrong_axis(problem: Problem) -> Iterator[str]:
    """An input summed over the wrong axis."""
    for name, array in problem.inputs.items():
        sums = {axes: array.sum(axis=axes) for axes in axis_subsets(array.shape)}
        used = [axes for axes, total in sums.items() if near(problem.got, total, problem.tolerance)]
        right = [axes for axes, total in sums.items() if near(problem.expected, total, problem.tolerance)]
        if used and right and telling(problem.got) and informative(array):
            yield f"{problem.name} is {name} summed over {_axes(used[0])}; it must be summed over {_axes(right[0])}."
            return


def _axes(axes: tuple[int, ...]) -> str:
    return f"ax{'i' if len(axes) == 1 else 'e'}s {enumeration(axes)}"
