"""Sentences that relate a wrong answer to the right one, if every failing case that is large enough agrees."""

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
"""Fewer entries than this need not show a relation."""
SEVERAL = 3
"""From so many cases of the same outputs on, other outputs need not show their relation."""
MOST_TRIED = 8
"""Most failing cases that are examined."""
MOST_ENTRIES = 10_000
"""Entries of all arguments beyond which a call is not repeated with other numbers: pages would fetch its answers."""


def likeliest_relations(failures: list[Comparison], reference: Reference) -> list[str]:
    """Sentences that relate the answer to the right one; only relations that every large enough failing case has.

    Small cases suggest coincidences: twice too large on two rows could be a forgotten mean or a forgotten half. So does
    a relation that holds in only one of several cases.
    """
    largest = sorted((one for one in failures if not one.property_only), key=_entries, reverse=True)[:MOST_TRIED]
    said = [(failure, _relations(failure, reference)) for failure in largest]
    said = [(failure, found) for failure, found in said if found or _entries(failure) >= TELLING_ENTRIES]
    counts = Counter(_kind_of(found[0]) for _, found in said if found)
    if not counts:
        return []
    kind = counts.most_common(1)[0][0]
    failure, chosen = next((failure, found) for failure, found in said if found and _kind_of(found[0]) == kind)
    # another function, or a summary of many calls, may be wrong in another way
    alike = [other for other in said if other[0].names == failure.names]
    compared = alike if sum(bool(found) for _, found in alike) >= SEVERAL else said
    everywhere = [sentence for sentence in chosen if all(_holds(sentence, failure, *other) for other in compared)]
    # "x is right" is said only if it is so in every failing case, the shown one included
    same_outputs = all(_wrong_outputs(one) == _wrong_outputs(failure) for one in failures if one.names == failure.names)
    everywhere = [sentence for sentence in everywhere if same_outputs or not _RIGHT_AND_WRONG.search(sentence)]
    if failure is failures[0] or not failure.case or not everywhere:
        return everywhere
    return _of_the_shown_case(everywhere, failures[0], reference) or _qualified(everywhere, failure, said)


def _of_the_shown_case(everywhere: list[str], shown: Comparison, reference: Reference) -> list[str]:
    """The sentences with the numbers of the case that is shown; none if one of them does not hold there."""
    there = {_kind_of(sentence): sentence for sentence in reversed(_relations(shown, reference))}
    right_and_wrong = [sentence for sentence in everywhere if _RIGHT_AND_WRONG.search(sentence)]
    there |= {_kind_of(sentence): sentence for sentence in right_and_wrong}
    found = [there.get(_kind_of(sentence), "") for sentence in everywhere]
    return found if all(found) else []


def _qualified(everywhere: list[str], failure: Comparison, said: list[tuple[Comparison, list[str]]]) -> list[str]:
    """The sentences with the case that has them, on one line; of several cases the one with the shortest name.

    The case that is shown below may have other wrong outputs.
    """
    of_case = {
        one.case: [sentence for sentence in found if any(_kind_of(sentence) == _kind_of(other) for other in everywhere)]
        for one, found in said
        if one.case and one.names == failure.names
    }
    of_case = {case: found for case, found in of_case.items() if len(found) == len(everywhere)}
    case = min(of_case, key=len, default=failure.case)
    sentences = of_case.get(case, everywhere)
    return [f"On {in_a_row(case).removeprefix('on ')}: {' '.join(sentences)}"]


def _holds(sentence: str, of: Comparison, other: Comparison, found: list[str]) -> bool:
    """Whether the relation in `sentence`, found in case `of`, also holds in `other`, whose sentences are `found`."""
    if other.names == of.names and _RIGHT_AND_WRONG.search(sentence):
        return _wrong_outputs(other) == _wrong_outputs(of)
    return other is of or any(_kind_of(one) == _kind_of(sentence) for one in found)


def _kind_of(sentence: str) -> str:
    """The sentence without its case's numbers and without its explanation."""
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
    """Computes the right answers for an upstream gradient of ones; None if the call has none, or large arguments."""
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
