"""The tool that combines two mistakes counts a message as false if it names a third one."""

from __future__ import annotations

import pytest

from autograder.authoring.two_mistakes import BY_NUMBERS, FALSE, TRUE, Drawn, main, verdict
from autograder.diagnosis import Misconception
from autograder.judging.explaining.diagnosis import Diagnosis

ONE, OTHER, THIRD = (Misconception("softmax_vjp", name, f"This is {name}.") for name in ("one", "other", "third"))
NOT_ALL = "This explains the case below exactly, but not every other case that fails."


@pytest.mark.parametrize(
    ("message", "named", "wanted"),
    [
        (f"First, it seems: This is one.\n{NOT_ALL}", (), TRUE),
        (f"First, it seems: This is third.\n{NOT_ALL}", (), FALSE),
        ("This is third.", ("third",), TRUE),  # no visible check tells it from what was made
        ("dx is 1; 2 expected.", (), BY_NUMBERS),
    ],
)
def test_a_name_is_true_if_that_mistake_was_made(message: str, named: tuple[str, ...], wanted: str) -> None:
    pair = Drawn("", (ONE, OTHER))
    assert verdict(pair, Diagnosis(message, named), [ONE, OTHER, THIRD]) == wanted


@pytest.mark.slow
def test_pairs_are_drawn_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ch06_vjps/softmax_vjp", "--draws", "6"]) == 0
    two_known, with_a_slip = capsys.readouterr().out.splitlines()[-2:]
    assert two_known.startswith("ch06_vjps, two known: 1 true, 0 false, 0 by numbers only")  # the others are no Python
    assert "ch06_vjps, known and slip:" in with_a_slip
