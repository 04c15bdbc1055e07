"""What is said of the failing visible cases beside the passing ones: what all of one kind have, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from autograder.judging.explaining.case_properties import words_of
from autograder.judging.explaining.contrasts import contrast
from autograder.judging.records.errors import TimedOut
from autograder.judging.records.record import Call, Comparison, Record


def record(*cases: tuple[dict[str, Any], str, bool], function: str = "f", scenario: bool = False) -> Record:
    """A visible check of `f` that makes these calls: arguments, the case's name, and whether the answer is right."""
    made = Record(exercise="f")
    for arguments, name, right in cases:
        call = Call(function, tuple(arguments.items()), scenario=scenario)
        made.calls.append(call)
        problems = () if right else ("wrong",)
        made.comparisons.append(Comparison(1.0, 1.0, ("f",), name, call, 0.0, 0.0, problems))
    return made


def of_x(*arrays: np.ndarray, fails: tuple[int, ...]) -> str:
    cases = [({"x": array}, "an array", i not in fails) for i, array in enumerate(arrays)]
    return contrast([record(case) for case in cases], ["x"])


ROW, MATRIX, TIES = np.array([[1.0, 2.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 5.0], [6.0, 7.0]])


def test_what_the_failing_cases_have() -> None:
    assert of_x(ROW, MATRIX, MATRIX, TIES, TIES, fails=(3, 4)) == (
        "Wrong in both visible cases where x has equal entries; right in the 3 others."
    )
    singles = [array.astype(np.float32) for array in (ROW, MATRIX, MATRIX)]
    assert of_x(ROW, MATRIX, *singles, fails=(2, 3, 4)) == (
        "Wrong in all 3 visible cases where x is float32; right in the 2 others."
    )
    tables = [MATRIX, MATRIX + 1, 1e3 * MATRIX, 2e3 * MATRIX]
    assert "x has an entry of size 4000 or more (elsewhere at most 5)" in of_x(*tables, fails=(2, 3))


def test_what_the_passing_cases_have() -> None:
    """Where almost all fail, those that do not are telling, unless any answer is right there."""
    wide = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 6.0]])
    assert of_x(ROW, ROW + 1, MATRIX, MATRIX + 1, wide, fails=(2, 3, 4)) == (
        "Right in both visible cases where x has one row; wrong in the 3 others."
    )
    assert of_x(0 * ROW, 0 * MATRIX, ROW, MATRIX, MATRIX, fails=(2, 3, 4)) == ""


def test_nothing_is_said_of_what_does_not_separate() -> None:
    assert of_x(ROW, MATRIX, MATRIX, TIES, TIES, fails=(4,)) == "", "a case with ties is right"
    assert of_x(ROW, MATRIX, TIES, fails=(0, 1, 2)) == "", "none is right"
    assert of_x(ROW, MATRIX, MATRIX, TIES, fails=(3,)) != "", "the only case with ties: nothing else is special of it"
    once = -1e6 * np.array([[1.0, 1.0, np.inf]])
    assert of_x(ROW, MATRIX, MATRIX, once, fails=(3,)) == "", "one case that is special in several ways"


def test_options_and_words_of_the_cases() -> None:
    cases: list[tuple[dict[str, Any], str, bool]] = [
        ({"causal": i % 2 == 0, "n": i}, f"{i} rows", i % 2 == 1) for i in range(6)
    ]
    assert contrast([record(*cases)], []) == "Wrong in all 3 visible cases where causal is True; right in the 3 others."
    named = ["a tie, one row", "a tie, two rows", "one row", "two rows", "a chain of 3", "a chain of 4", *"xyz"]
    cases = [({"x": 1.0}, name, not name.startswith("a tie")) for name in named]
    assert contrast([record(*cases)], []) == "Wrong in both visible cases of “a tie”; right in the 7 others."
    cases = [({"x": 1.0}, name, not name.startswith("a ")) for name in named]
    assert contrast([record(*cases)], []) == "", "two names that have nothing in common are a coincidence"


def test_numbers_that_were_drawn_are_not_named() -> None:
    """ "4096 keys" set two cases apart, and the mistake was about few queries."""
    named = ["1 query, 4096 keys", "2 queries, 4096 keys", *(f"{n} queries, {n} keys" for n in range(3, 9))]
    assert contrast([record(*[({"x": 1.0}, name, "4096" not in name) for name in named])], []) == ""


def test_cases_whose_answers_are_compared_otherwise_do_not_count() -> None:
    """A case whose memory is not measured is right in all that is measured, whatever its memory."""
    cases = [({"blocks": i % 2 == 0}, f"case {i}", i % 2 == 1) for i in range(6)]
    memory = record(*cases)
    assert "blocks" in contrast([memory], ["blocks"])
    memory.comparisons = [replace(one, names=("bytes",)) if one.problems else one for one in memory.comparisons]
    assert contrast([memory], ["blocks"]) == ""


def test_nothing_is_said_where_a_check_ended_early() -> None:
    ended = record(*[({"x": array}, "", array is not TIES) for array in (ROW, MATRIX, MATRIX, TIES, TIES)])
    assert contrast([ended], ["x"]) != ""
    ended.ended_by = TimedOut("too long")
    assert contrast([ended], ["x"]) == ""


def test_a_scenario_s_own_arguments_are_not_named() -> None:
    cases = [({"strided": i < 2}, f"number {i}", i >= 2) for i in range(5)]
    assert "strided" not in contrast([record(*cases, scenario=True)], ["x"])
    assert "strided" in contrast([record(*cases, scenario=True)], ["strided"])


def test_other_functions_and_hidden_checks_do_not_count() -> None:
    cases = [({"x": array}, "", array is not TIES) for array in (ROW, MATRIX, TIES, TIES)]
    assert contrast([record(*cases)], ["x"]) != ""
    hidden = record(*cases)
    hidden.visible = False
    assert contrast([hidden], ["x"]) == ""
    assert contrast([record(*cases, function="helper")], ["x"]) == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("causal, two rows", {"causal", "two rows"}),
        ("fn(x, x, 3), a vector", {"fn(x, x, 3)", "a vector"}),
        ("a 0-d array, 4096 keys", {"a 0-d array"}),
        ("a diamond: b from a, c from b", {"a diamond"}),
        ("x; x float32 and column by column", {"x column by column", "x not row by row in memory"}),
        ("a row; q_net frozen, in eval mode", {"a row", "q_net frozen", "q_net in eval mode"}),
    ],
)  # fmt: skip
def test_words_of_a_case(name: str, words: set[str]) -> None:
    assert words_of(name) == words
