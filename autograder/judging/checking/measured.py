"""Expectations of what a scenario brings back: a dict of values, and of sentences that say what is wrong.

Under a sentence stands a bool: whether it is so. The learner is told the sentence, not the name of a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from autograder.judging.checking.expectations import expect, expect_close
from autograder.judging.records.record import Call, current_record

_Answer = TypeVar("_Answer")


def shown_as(call: Callable[[], _Answer], values: Mapping[str, Any], *, tensors: bool = False) -> _Answer:
    """What the call of a scenario returns; feedback shows these values in place of its arguments.

    Together they are a case that a reader can paste. A text that is an expression of the others is written as one.
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
    """Let feedback name the case where the calls inside do not come back."""
    record = current_record()
    record.asked = case
    yield
    record.asked = ""  # and stays where a call ended the check


def agree(
    scenario: str,
    learner: Any,
    reference: Any,
    *arguments: Any,
    case: str,
    tensors: Mapping[str, Any] | None = None,
    **tolerance: float,
) -> None:
    """Expect of a scenario what it gives with the reference; `tolerance` as for `compare`.

    Args:
        tensors: what feedback shows in place of the arguments, as PyTorch tensors.
    """

    def ask() -> Any:
        return getattr(learner.scenario, scenario)(*arguments)

    with on_case(case):
        expected = getattr(reference.scenario, scenario)(*arguments)
        got = ask() if tensors is None else shown_as(ask, tensors, tensors=True)
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
