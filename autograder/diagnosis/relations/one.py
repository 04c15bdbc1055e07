"""Finds the relations that hold for one wrong output, the most telling first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from autograder.diagnosis.equality import wrong_entries
from autograder.diagnosis.relations.arrangements import arrangements, elsewhere, reductions
from autograder.diagnosis.relations.constants import constants
from autograder.diagnosis.relations.evidence import Problem, as_floats, near, relative_tolerance
from autograder.diagnosis.relations.identities import UnitAnswer, an_input, not_finite, precision, unit_gradient, zeros
from autograder.diagnosis.relations.places import places
from autograder.values import dtype_of

MOST = 2
"""Most sentences; learners do not read more."""


@np.errstate(all="ignore")
def explain(
    got: np.ndarray,
    expected: np.ndarray,
    *,
    name: str,
    rtol: float,
    atol: float,
    inputs: Mapping[str, Any] | None = None,
    with_unit_g: UnitAnswer | None = None,
) -> list[str]:
    """Say how `got`, one output called `name`, relates to `expected`: at most two sentences, the most telling first.

    Args:
        inputs: the arguments of the call by name, arrays and others; `g` is the upstream gradient.
        with_unit_g: computes the expected value for a `g` of ones; it may raise.

    Returns:
        An empty list if the two are equal or no relation is certain. Arrays that are complex or have more than
        `MAX_ENTRIES` entries are not searched.
    """
    sentences = _sentences(got, expected, name, rtol, atol, inputs or {}, with_unit_g)
    return [sentence for sentence, _ in zip(sentences, range(MOST), strict=False)]


def _sentences(
    got: np.ndarray,
    expected: np.ndarray,
    name: str,
    rtol: float,
    atol: float,
    inputs: Mapping[str, Any],
    with_unit_g: UnitAnswer | None,
) -> Iterator[str]:
    mine, theirs = as_floats(_real(got)), as_floats(expected)
    if mine is None or theirs is None or not theirs.size:
        return
    same_dtype = got.ndim == 0 or got.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")
    coarsest = min((got.dtype, expected.dtype), key=lambda dtype: dtype.itemsize if dtype.kind == "f" else 8)
    tolerance = relative_tolerance(coarsest, rtol)
    wrong = wrong_entries(mine, theirs, rtol=rtol, atol=atol) if mine.shape == theirs.shape else None
    if not same_dtype and near(mine, theirs, tolerance):
        if wrong is not None and wrong.any():
            yield f"{name} has the digits of its dtype, {dtype_of(got)}; {dtype_of(expected)} is asked, which has more."
        else:
            yield f"The values of {name} are right; only the dtype is {dtype_of(got)}, not {dtype_of(expected)}."
        return
    if wrong is not None and not wrong.any():
        return
    yield from _relations(Problem(name, mine, theirs, wrong, tolerance, inputs), with_unit_g)


def _relations(problem: Problem, with_unit_g: UnitAnswer | None) -> Iterator[str]:
    """First what the answer is, then how it relates to the right one; where it is wrong only if nothing explains it."""
    for whole in (not_finite(problem), zeros(problem), precision(problem)):
        found = list(whole)
        if found:
            yield from found
            return
    unit = list(unit_gradient(problem, with_unit_g))
    yield from unit
    yield from an_input(problem)
    if unit:
        return
    explained = [*constants(problem), *reductions(problem), *arrangements(problem)]
    yield from explained
    if not explained:
        yield from places(problem)
        yield from elsewhere(problem)


def _real(array: np.ndarray) -> np.ndarray:
    """The real part of a complex array without imaginary part; other arrays unchanged."""
    return array.real if array.dtype.kind == "c" and not array.imag.any() else array
