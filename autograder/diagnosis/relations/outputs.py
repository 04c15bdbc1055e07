"""Relations of several outputs of one call: swapped, wrong in the same way, or only some of them wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.diagnosis.equality import wrong_entries
from autograder.diagnosis.relations.evidence import RANKS, as_floats, telling
from autograder.diagnosis.relations.one import MOST, explain
from autograder.wording import enumeration

_ON_RANK = re.compile(r"(.+) on rank (\d+)$")


@np.errstate(all="ignore")
def explain_outputs(
    got: Sequence[np.ndarray],
    expected: Sequence[np.ndarray],
    names: Sequence[str],
    *,
    rtol: float,
    atol: float,
    inputs: Mapping[str, Any] | None = None,
    with_unit_g: Callable[[], Sequence[np.ndarray]] | None = None,
) -> list[str]:
    """Like `explain`, for all outputs of one call; `with_unit_g` computes all expected values for g = 1."""
    if not len(got) == len(expected) == len(names):
        return []
    right = [_equal(mine, theirs, rtol, atol) for mine, theirs in zip(got, expected, strict=True)]
    wrong = [index for index, is_right in enumerate(right) if not is_right]

    ranks = len(ranks_in(names))
    inputs = {**({RANKS: ranks} if ranks > 1 else {}), **(inputs or {})}

    def explained(index: int, name: str) -> list[str]:
        unit = None if with_unit_g is None else lambda: with_unit_g()[index]
        return explain(got[index], expected[index], name=name, rtol=rtol, atol=atol, inputs=inputs, with_unit_g=unit)

    taken = _expected_of_another(got, expected, wrong, rtol, atol)
    swapped = sorted(taken) == sorted(taken.values())
    sentences = _order(taken, names) if swapped else []
    wrong = [index for index in wrong if not (swapped and index in taken)]
    if len(wrong) > 1:
        each = _each_of([names[index] for index in wrong])
        first = explained(wrong[0], each)
        if first and all(explained(index, each) == first for index in wrong[1:]):
            return [*sentences, *(text[:1].upper() + text[1:] for text in first)][:MOST]
    found = next((found for index in wrong if (found := explained(index, names[index]))), [])
    if not found and not swapped and taken:
        return _order(taken, names)[:MOST]
    if wrong and any(right):
        fine = [name for name, is_right in zip(names, right, strict=True) if is_right]
        bad = [name for name, is_right in zip(names, right, strict=True) if not is_right]
        found = [*found, f"{_are(fine)} right; {_are(bad)} not."]
    return [*sentences, *found][:MOST]


def ranks_in(names: Sequence[str]) -> set[str]:
    """The ranks of the outputs that are named after one, such as "y on rank 0"."""
    return {found[2] for name in names if (found := _ON_RANK.match(name))}


def _each_of(names: Sequence[str]) -> str:
    """Several outputs in words; the same output on all ranks is called so, however many there are."""
    on_ranks = [found for name in names if (found := _ON_RANK.match(name))]
    outputs = {found[1] for found in on_ranks}
    if len(on_ranks) == len(names) and len(outputs) == 1:
        return f"each rank's {outputs.pop()}"
    return f"each of {enumeration(names)}"


def _are(names: Sequence[str]) -> str:
    return f"{enumeration(names)} {'is' if len(names) == 1 else 'are'}"


def _expected_of_another(
    got: Sequence[np.ndarray], expected: Sequence[np.ndarray], wrong: list[int], rtol: float, atol: float
) -> dict[int, int]:
    """Wrong outputs that equal the expected value of another output, with its index; zeros count only beside others.

    Two outputs that are to be negatives of each other are not compared: with both signs turned they look swapped.
    """
    taken = {}
    for index in wrong:
        for other, theirs in enumerate(expected):
            of_floats = expected[index].dtype.kind in "fc"
            turned = of_floats and _equal(-expected[index], theirs, rtol, atol)  # then the sign may as well be wrong
            if other != index and not turned and _equal(got[index], theirs, rtol, atol):
                taken[index] = other
                break
    certain = {index: other for index, other in taken.items() if _is_telling(expected[other])}
    return taken if certain and sorted(taken) == sorted(taken.values()) else certain


def _order(taken: dict[int, int], names: Sequence[str]) -> list[str]:
    if taken and sorted(taken) == sorted(taken.values()):
        what = enumeration([names[index] for index in sorted(taken)])
        return [f"{what} are swapped." if len(taken) == 2 else f"{what} are right, but returned in another order."]
    return [f"What is returned as {names[index]} is what is expected of {names[taken[index]]}." for index in taken]


def _is_telling(array: np.ndarray) -> bool:
    floats = as_floats(array)
    return floats is not None and telling(floats)


def _equal(got: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> bool:
    """Whether an output is right; the dtype of a single number is ignored."""
    if got.shape != expected.shape or got.dtype.kind not in "biufc" or expected.dtype.kind not in "biufc":
        return False
    if got.ndim and got.dtype.newbyteorder("=") != expected.dtype.newbyteorder("="):
        return False
    return not wrong_entries(got, expected, rtol=rtol, atol=atol).any()
