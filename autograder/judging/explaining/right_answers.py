"""What a right answer gives where the learner's raised an exception: the case alone does not say it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from autograder.diagnosis.case import WIDTH, in_code
from autograder.judging.checking.reference import Reference
from autograder.judging.explaining.shown_case import is_numeric
from autograder.judging.records.keys import key_of
from autograder.judging.records.record import Call

MOST_OUTPUTS = 3
"""More values than these do not read well in a line."""


def right_answer(call: Call, reference: Reference) -> list[str]:
    """A line with what a right answer gives for this call; none if it has too much for a line, or cannot be asked.

    Calls with functions, with tensors or with arguments that only stand for those of a scenario are not asked; nor are
    calls with anything but arrays, numbers and lists of these: a cache may have been made by the learner's own code.
    """
    values = [value for _, value in call.arguments]
    if call.tensors or call.chosen or not all(map(_is_plain, values)):
        return []
    given = values if call.scenario else values[: call.positional]
    named = {} if call.scenario else dict(call.arguments[call.positional :])
    with suppress(Exception):  # a reference need not take what only a wrong answer is given
        key_of([given, named])
        asked = getattr(reference.scenario if call.scenario else reference, call.function)
        said = _in_words(asked(*given, **named))
        line = f"Expected there: {said}"
        return [line] if said and len(line) <= WIDTH else []
    return []


def _is_plain(value: Any) -> bool:
    return is_numeric(value) or (isinstance(value, list) and all(map(is_numeric, value)))


def _in_words(value: Any) -> str:
    """The value as code, or arrays by shape; empty for what else a scenario may give, such as sentences and notes."""
    if isinstance(value, dict):
        parts = {str(name): part for name, part in value.items() if is_numeric(part) and not isinstance(part, bool)}
        texts = [f"{name} {in_code(part, WIDTH // 2)}" for name, part in parts.items()]
        return ", ".join(texts) if 0 < len(texts) <= MOST_OUTPUTS else ""
    if isinstance(value, tuple):
        whole = 0 < len(value) <= MOST_OUTPUTS and all(map(is_numeric, value))
        return f"({', '.join(in_code(part, WIDTH // 2) for part in value)})" if whole else ""
    return in_code(value, WIDTH - 20) if is_numeric(value) else ""
