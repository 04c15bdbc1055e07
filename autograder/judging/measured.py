"""Expectations of what a scenario brings back: a dict of values, and of sentences that say what is wrong.

Under a sentence stands a bool: whether it is so. The learner is told the sentence, not the name of a value.
"""

from __future__ import annotations

from typing import Any

from autograder.judging.expectations import current_record, expect, expect_close


def agree(scenario: str, learner: Any, reference: Any, *arguments: Any, case: str, **tolerance: float) -> None:
    """Expect of a scenario what it gives with the reference; `tolerance` as for `compare`."""
    record = current_record()
    record.asked = case
    expected, got = (getattr(who.scenario, scenario)(*arguments) for who in (reference, learner))
    record.asked = ""
    compare(got, expected, case=case, **tolerance)


def compare(got: Any, expected: Any, *, case: str, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    """Expect the sentences and the values that are expected; values say less where a sentence has told."""
    if not fine(got, expected, case=case):
        return
    got, expected = ({name: of[name] for name in of if type(expected.get(name)) is not bool} for of in (got, expected))
    if expected:
        expect_close(got, expected, case=case, rtol=rtol, atol=atol)


def fine(got: Any, expected: Any, *, case: str) -> bool:
    """Expect of each sentence what is expected of it, as a rule that it is not so; whether all are as expected."""
    sentences = [name for name, value in expected.items() if isinstance(value, bool)]
    for sentence in sentences:
        expect(got[sentence] is expected[sentence], f"{sentence}.", case=case)
    return all(got[sentence] is expected[sentence] for sentence in sentences)
