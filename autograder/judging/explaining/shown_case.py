"""Renders the failing case that a learner is shown: the call, the expected values and the returned ones."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from autograder.diagnosis.case import is_self_explanatory, readable, render_case
from autograder.diagnosis.code import case_code, exactly, exactly_if_small
from autograder.diagnosis.equality import mismatch
from autograder.judging.checking.reference import Reference
from autograder.judging.records.record import Call, Comparison, Record, paired
from autograder.wording import in_a_row

LEAST_ROOM = 5
"""Fewest lines for a case, however long the rest of the message is."""


def smallest_case(first: Comparison, record: Record, reference: Reference, room: int) -> list[str]:
    """The failing call with expected and got side by side, without outputs whose sentence already gives both."""
    if first.property_only:
        return [f"This was on: {in_a_row(first.case)}."] if first.case else []
    triples = paired(first.got, first.expected, first.names)
    wrong = [(name, got, expected) for name, got, expected in triples if is_wrong(name, got, expected, first)]
    untold = [one for one in wrong if not _sentence_gives_both(*one[1:])]
    return call_shown(first.call, untold, record, reference, room, case=first.case, within=first)


def _sentence_gives_both(got: Any, expected: Any) -> bool:
    """Whether the sentence about an output already gives both values, as it does for two numbers or two texts."""
    texts = all(isinstance(one, list) and all(isinstance(part, str) for part in one) for one in (got, expected))
    return texts or all(isinstance(one, str) or (is_numeric(one) and not np.ndim(one)) for one in (got, expected))


def call_shown(
    call: Call | None,
    outputs: list[tuple[str, Any, Any]],
    record: Record,
    reference: Reference,
    room: int,
    *,
    case: str,
    within: Comparison | None = None,
) -> list[str]:
    """Render a call and its outputs; empty if there is nothing to show.

    Of a scenario's arguments, only data of the case is shown: a number, name or switch that is not an argument of the
    exercise belongs to the check.

    Args:
        outputs: name, got and expected of each output to show.
        room: how many lines there are.
        within: the comparison whose tolerances decide what is wrong.
    """
    function, arguments = (call.function, call.arguments) if call else ("", ())
    if call and call.scenario:
        known = frozenset(dict(arguments)) if call.chosen else _parameters(record, reference)
        function, arguments = "", tuple(one for one in arguments if _is_shown(*one, known))
    if case and not (function or arguments or outputs):
        return [f"This was on: {in_a_row(case)}."]  # nothing follows below
    tolerances = {} if within is None else {"rtol": within.rtol, "atol": within.atol}
    text = render_case(
        function,
        arguments,
        outputs,
        case=case,
        tensors=bool(call and call.tensors),
        height=max(room, LEAST_ROOM),
        **tolerances,
    )
    return [text] if text else []


def _is_shown(name: str, value: Any, parameters: frozenset[str]) -> bool:
    return is_self_explanatory(value) or (name in parameters and readable(value))


def is_wrong(name: str, got: Any, expected: Any, comparison: Comparison) -> bool:
    return mismatch(got, expected, name=name, rtol=comparison.rtol, atol=comparison.atol) is not None


def is_numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | bool | int | float)


def _parameters(record: Record, reference: Reference) -> frozenset[str]:
    """The parameter names of a record's exercise."""
    signature = reference.signatures.get(record.exercise)
    return frozenset(signature.parameters if signature else ())


def code_of(call: Call | None) -> str:
    """A program that makes this call; empty for a scenario, which a learner cannot call."""
    if call is None or call.scenario:
        return ""
    return case_code(call.function, call.arguments, positional=call.positional, tensors=call.tensors)


def case_of(call: Call | None, comparison: Comparison | None) -> str:
    """The call that `code_of` writes down, in parts, and what was compared of it, as JSON; empty if `code_of` is.

    A page calls the learner's function with it again. Its keys: `function`, `arguments` (pairs of a name and code),
    `positional`, `got` and `expected` (code, or null if there is none), `names` of the outputs, `rtol`, `atol`.
    """
    if call is None or not code_of(call) or call.tensors:
        return ""
    compared = comparison if comparison is not None and not comparison.property_only else None
    parts = {
        "function": call.function,
        "arguments": [[name, exactly(value)] for name, value in call.arguments],
        "positional": call.positional,
        "got": exactly_if_small(compared.got) if compared else None,
        "expected": exactly_if_small(compared.expected) if compared else None,
        "names": list(compared.names) if compared else [],
        "rtol": float(compared.rtol) if compared else 0.0,
        "atol": float(compared.atol) if compared else 0.0,
    }
    return json.dumps(parts)
