"""Expectations about the dict that a scenario returns: values, and sentences that describe faults.

The value of a sentence is a bool, true if the fault is there. Learners are shown the sentence, not the names of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from autograder.judging.checking.expectations import expect, expect_close
from autograder.judging.records.record import Call, current_record

_Answer = TypeVar("_Answer")


def shown_as(call: Callable[[], _Answer], values: Mapping[str, Any], *, tensors: bool = False) -> _Answer:
    """Return `call()`, which runs a scenario; feedback shows `values` in place of the scenario's arguments.

    Together the values are a case that a reader can paste. A text that is an expression of the others is shown as code.
    """
    calls = current_record().calls
    before = len(calls)
    try:
        return call()
    finally:
        if len(calls) > before:
            calls[-1] = Call(calls[-1].function, tuple(values.items()), scenario=True, tensors=tensors, chosen=True)


@contextmanager
def on_case(case: str) -> Iterator[None]:
    """Name the case in feedback if a call inside ends the check."""
    record = current_record()
    record.asked = case
    yield
    record.asked = ""  # not in a `finally`: it keeps the case where a call ended the check


def agree(
    scenario: str,
    learner: Any,
    reference: Any,
    *arguments: Any,
    case: str,
    tensors: Mapping[str, Any] | None = None,
    **tolerance: float,
) -> None:
    """Expect a scenario to give the same on the learner's functions as on the reference; `compare` takes `tolerance`.

    Args:
        tensors: shown in feedback, as PyTorch tensors, in place of the arguments.
    """

    def ask() -> Any:
        return getattr(learner.scenario, scenario)(*arguments)

    with on_case(case):
        expected = getattr(reference.scenario, scenario)(*arguments)
        got = ask() if tensors is None else shown_as(ask, tensors, tensors=True)
    compare(got, expected, case=case, **tolerance)


def compare(got: Any, expected: Any, *, case: str, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    """Expect the same sentences and, if all of them agree, the same values."""
    if not fine(got, expected, case=case):
        return
    got, expected = ({name: of[name] for name in of if type(expected.get(name)) is not bool} for of in (got, expected))
    if expected:
        expect_close(got, expected, case=case, rtol=rtol, atol=atol)


def fine(got: Any, expected: Any, *, case: str) -> bool:
    """Expect each sentence's truth value to be the expected one, usually False; return whether all are."""
    sentences = [name for name, value in expected.items() if isinstance(value, bool)]
    for sentence in sentences:
        expect(got[sentence] is expected[sentence], f"{sentence}.", case=case)
    return all(got[sentence] is expected[sentence] for sentence in sentences)
