"""How an answer is related to the right one: said only where every failing case that can tell has it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from autograder.diagnosis.relations import explain_outputs
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.shown_case import is_numeric, is_wrong
from autograder.judging.records.record import Comparison, paired
from autograder.wording import in_a_row

_NUMBERS = re.compile(r"[√\d./]+")
_RIGHT_AND_WRONG = re.compile(r" (?:is|are) right; .+ (?:is|are) not\.$")
TELLING_ENTRIES = 6
"""A case with fewer entries than that need not show a relation."""
MOST_TRIED = 8
"""Failing cases on which relations are looked for."""
MOST_ENTRIES = 10_000
"""Of all arguments of a call that is made once more, with other numbers: pages fetch what it answers."""


def likeliest_relations(failures: list[Comparison], reference: Reference) -> list[str]:
    """What relates an answer to the right one: only what every failing case has that is large enough to tell.

    Small cases suggest coincidences: twice too large on two rows may be a forgotten mean or a forgotten half. So does
    what holds on one of several.
    """
    largest = sorted((one for one in failures if not one.property_only), key=_entries, reverse=True)[:MOST_TRIED]
    said = [(failure, _relations(failure, reference)) for failure in largest]
    said = [(failure, found) for failure, found in said if found or _entries(failure) >= TELLING_ENTRIES]
    counts = Counter(_kind_of(found[0]) for _, found in said if found)
    if not counts:
        return []
    kind = counts.most_common(1)[0][0]
    failure, chosen = next((failure, found) for failure, found in said if found and _kind_of(found[0]) == kind)
    everywhere = [sentence for sentence in chosen if all(_holds(sentence, failure, *other) for other in said)]
    if failure is failures[0] or not failure.case or not everywhere:
        return everywhere
    # in one line: what is right there may be wrong on the case that is shown below it
    return [f"On {in_a_row(failure.case).removeprefix('on ')}: {' '.join(everywhere)}"]


def _holds(sentence: str, of: Comparison, other: Comparison, found: list[str]) -> bool:
    """Whether another case, of which so much was `found`, has the relation that a sentence says of one."""
    if other.names == of.names and _RIGHT_AND_WRONG.search(sentence):
        return _wrong_outputs(other) == _wrong_outputs(of)
    return other is of or any(_kind_of(one) == _kind_of(sentence) for one in found)


def _kind_of(sentence: str) -> str:
    """What a sentence says without the numbers of its case, and without what may follow from them."""
    return _NUMBERS.sub("#", re.split(r"[:(;,]", sentence)[0])


def _wrong_outputs(comparison: Comparison) -> set[str]:
    triples = paired(comparison.got, comparison.expected, comparison.names)
    return {name for name, got, expected in triples if is_wrong(name, got, expected, comparison)}


def _entries(comparison: Comparison) -> int:
    triples = paired(comparison.expected, comparison.expected, comparison.names)
    return sum(np.size(value) for _, value, _ in triples if is_numeric(value))


def _relations(comparison: Comparison, reference: Reference) -> list[str]:
    if comparison.property_only:
        return []
    triples = paired(comparison.got, comparison.expected, comparison.names)
    if not all(is_numeric(got) and is_numeric(want) for _, got, want in triples):
        return []
    names, got, expected = zip(*triples, strict=True)
    call = comparison.call
    return explain_outputs(
        [np.asarray(value) for value in got],
        [np.asarray(value) for value in expected],
        list(names),
        rtol=comparison.rtol,
        atol=comparison.atol,
        inputs=dict(call.arguments) if call else None,
        with_unit_g=unit_gradients(comparison, reference),
    )


def unit_gradients(comparison: Comparison, reference: Reference) -> Callable[[], list[np.ndarray]] | None:
    """The right answers had the upstream gradient been all ones; None if there is none, or the arguments are large."""
    call = comparison.call
    if call is None or call.scenario or not call.arguments or call.arguments[0][0] != "g":
        return None
    if sum(np.size(value) for _, value in call.arguments) > MOST_ENTRIES:
        return None

    def compute() -> list[np.ndarray]:
        values = [value for _, value in call.arguments]
        answer = getattr(reference, call.function)(np.ones_like(values[0]), *values[1:])
        return [np.asarray(value) for _, _, value in paired(answer, answer, comparison.names)]

    return compute
