"""Answers recognised by themselves: all zeros, nan, an unchanged input, the answer to another question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.diagnosis.relations.evidence import Problem, as_floats, near, telling, typical
from autograder.diagnosis.relations.places import place
from autograder.wording import enumeration

UnitAnswer = Callable[[], Any]
"""Computes the expected value for an upstream gradient of ones."""

LAST_DIGITS = 14
"""With this many digits right, a float64 is wrong only in its last bits."""


def not_finite(problem: Problem) -> Iterator[str]:
    """nan or inf where a finite number is expected: in how many entries, and for which inputs."""
    if problem.wrong is None:
        return
    broken = ~np.isfinite(problem.got) & np.isfinite(problem.expected)
    count = int(np.count_nonzero(broken))
    if not count:
        return
    kinds = (("nan", np.isnan(problem.got)), ("inf", np.isinf(problem.got)))
    what = enumeration([word for word, found in kinds if (found & broken).any()], "or")
    if count == broken.size:
        everywhere = " in every entry" if count > 1 else ""
        yield f"{problem.name} is {what}{everywhere}: an overflow, 0/0 or log(0) on the way?"
        return
    where = place(broken, problem, extremes=True)
    rest = "; every other entry is right" if np.array_equal(broken, problem.wrong) else ""
    exactly = f", exactly {where}" if where else ""
    yield f"{problem.name} is {what} in {count:,} of {broken.size:,} entries{exactly}{rest}."


def zeros(problem: Problem) -> Iterator[str]:
    """Zero everywhere, where several nonzero entries are expected."""
    if problem.same_shape and problem.got.size > 1 and not problem.got.any() and np.count_nonzero(problem.expected) > 1:
        yield f"{problem.name} is 0 in every entry, and what is expected is not."


def unit_gradient(problem: Problem, with_unit_g: UnitAnswer | None) -> Iterator[str]:
    """The answer for g = 1: the upstream gradient is not used."""
    answer = _unit_answer(problem, with_unit_g)
    if answer is None or not problem.differs(answer):
        return
    proof = telling(answer) or (answer.size > 1 and bool(answer.any()))
    noise = 1e3 * np.finfo(np.float64).eps * typical(problem.expected)
    if near(problem.got, answer, problem.tolerance) and proof and typical(answer) > noise:
        yield f"{problem.name} is the answer for g = 1: the upstream gradient g does not enter."
    elif 0 < typical(problem.got) <= noise and np.all(np.abs(answer) <= noise) and np.all(np.abs(problem.got) <= noise):
        yield f"{problem.name} is 0 up to rounding, as it would be for g = 1: does the upstream gradient g enter?"


def _unit_answer(problem: Problem, with_unit_g: UnitAnswer | None) -> np.ndarray | None:
    if with_unit_g is None:
        return None
    try:
        answer = as_floats(with_unit_g())
    except Exception:  # the reference need not be defined for such a g
        return None
    return answer if answer is not None and answer.shape == problem.expected.shape else None


def an_input(problem: Problem) -> Iterator[str]:
    """One of the arguments, returned unchanged."""
    for name, array in problem.inputs.items():
        if _is_unchanged(problem.got, array) and telling(array) and problem.differs(array):
            yield f"{problem.name} is {name} itself, unchanged."
            return


def _is_unchanged(got: np.ndarray, array: np.ndarray) -> bool:
    """Whether all entries are equal to the last bit of float64 or float32, so that nothing was computed."""
    with np.errstate(over="ignore"):
        return np.array_equal(got, array) or np.array_equal(got, array.astype(np.float32))


def precision(problem: Problem) -> Iterator[str]:
    """Right, but only to a few digits."""
    if problem.wrong is None or not telling(problem.expected):
        return
    gap = np.abs(problem.got - problem.expected)
    scale = np.abs(problem.expected) + 1e-3 * typical(problem.expected)
    worst = float(np.max(gap / scale)) if gap.size else np.inf
    if worst <= 1e-4:
        digits = int(-np.log10(max(worst, 1e-15)))
        right = f"{problem.name} is right to about {digits} digits, and should be to more"
        whole = np.all(problem.got == np.round(problem.got)) and np.any(problem.expected != np.round(problem.expected))
        if whole:
            yield f"{right}: it is whole, and what is expected is not. Does // or int() round it?"
        elif digits >= LAST_DIGITS:
            yield f"{right}: only rounding is left. In which order are the terms added?"
        else:
            yield f"{right}: a different eps, float32 on the way, or an approximation?"
