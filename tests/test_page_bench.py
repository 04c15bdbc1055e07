"""What a page runs of a reader's functions beside a check: the case of a card, and code of the reader's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.page import check as page_check
from autograder.page.bench import look, scratch
from autograder.page.check import check
from autograder.page.traces import place_in

ROOT = Path(__file__).parents[1]
SLUG = "ch06_vjps"
WRONG = "def relu_vjp(g, x):\n    print('seen', x.shape)\n    return (g * (x >= 0)).astype(x.dtype)\n"
RIGHT = WRONG.replace(">=", ">")
RAISES = "def helper(x):\n    return x.nope\ndef relu_vjp(g, x):\n    return helper(x)\n"


def notebook(**answers: str) -> str:
    made = json.loads((ROOT / "exercises" / f"{SLUG}.ipynb").read_text(encoding="utf-8"))
    for cell in made["cells"]:
        cell["source"] = answers.get(cell["metadata"].get("exercise"), cell["source"])
    return json.dumps(made)


@pytest.fixture(autouse=True)
def _leave_no_module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "submission", raising=False)


def looked(answer: str, then: str = "") -> dict[str, Any]:
    """The case of a check of `answer`, run with `then`, or with the same answer."""
    found = check(SLUG, "relu_vjp", notebook(relu_vjp=answer))
    return look(SLUG, "relu_vjp", notebook(relu_vjp=then or answer), found["case"])


def test_a_case_is_run_and_set_beside_what_is_expected(capsys: pytest.CaptureFixture[str]) -> None:
    said = looked(WRONG)
    assert [line.split() for line in said["lines"].splitlines()] == [
        ["dx:", "expected", "[", "0", "-1.0834]"],
        ["got", "[*-0.7444", "-1.0834]"],
    ]
    assert capsys.readouterr().out.endswith("seen (2,)\n")


def test_a_case_that_is_right_now_says_so_with_the_value() -> None:
    assert looked(WRONG, RIGHT)["lines"].splitlines()[0] == "dx: right"


def test_only_the_case_s_own_call_prints(capsys: pytest.CaptureFixture[str]) -> None:
    found = check(SLUG, "relu_vjp", notebook(relu_vjp=WRONG))
    capsys.readouterr()
    look(SLUG, "relu_vjp", notebook(relu_vjp=f"print('cell')\n{WRONG}"), found["case"])
    assert capsys.readouterr().out == "seen (2,)\n"


def test_an_argument_that_changed_is_named() -> None:
    assert "It has changed its argument x." in looked(WRONG, WRONG.replace("print", "x += 1; print"))["lines"]


def test_an_error_is_told_by_the_reader_s_own_lines() -> None:
    said = looked(RAISES)
    assert said["error"].splitlines() == [
        "cell relu_vjp, line 4:",
        "    return helper(x)",
        "cell relu_vjp, line 2:",
        "    return x.nope",
        "AttributeError: 'numpy.ndarray' object has no attribute 'nope'",
    ]
    assert said["line"] == {"part": 1, "line": 2}


def test_a_check_names_the_line_to_mark() -> None:
    assert check(SLUG, "relu_vjp", notebook(relu_vjp=RAISES))["line"] == {"part": 1, "line": 2}
    assert check(SLUG, "relu_vjp", notebook(relu_vjp="def relu_vjp(g, x):\n    return (\n"))["line"]["line"] == 2
    assert place_in("cell tanh_vjp, line 3", "relu_vjp") is None


def test_a_check_that_compares_something_else_gives_no_expected_values() -> None:
    """What a check computes of an answer must not be set beside the answer itself."""
    found = check(SLUG, "relu_vjp", notebook(relu_vjp=WRONG))
    case = json.loads(found["case"])
    from autograder.page.bench import without_untrue

    twice = json.dumps(case | {"got": f"2 * {case['got']}"})
    (asked,) = page_check.last
    assert json.loads(without_untrue(asked.checked.run.module, twice))["expected"] is None
    assert without_untrue(asked.checked.run.module, found["case"]) == found["case"]


def test_scratch_code_calls_the_reader_s_answers(capsys: pytest.CaptureFixture[str]) -> None:
    said = scratch(SLUG, "relu_vjp", notebook(relu_vjp=RIGHT), "print('mine')\nrelu_vjp(np.ones(2), np.array([0., 1]))")
    assert said == {"value": "array([0., 1.])"}
    assert capsys.readouterr().out == "mine\nseen (2,)\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("1 / 0", "this code, line 1:\n    1 / 0\nZeroDivisionError: division by zero"),
        ("x = (", "SyntaxError: '(' was never closed"),
        ("input()", "EOFError: a page cannot ask with input()"),
        ("tanh_vjp(1, 2)", "NotImplementedError: tanh_vjp: your code here"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_scratch_code_that_fails_is_told_shortly(code: str, words: str) -> None:
    assert words in scratch(SLUG, "relu_vjp", notebook(), code)["error"]


def test_a_cell_of_the_exercise_that_does_not_run_is_told_first() -> None:
    said = scratch(SLUG, "relu_vjp", notebook(relu_vjp="def relu_vjp(:"), "relu_vjp(1, 2)")["error"]
    assert said.startswith("cell relu_vjp, line 1: SyntaxError")


def test_a_notebook_that_is_none_is_told() -> None:
    assert set(scratch(SLUG, "relu_vjp", "{", "1")) == {"error"}
    assert set(look(SLUG, "relu_vjp", "{", "{}")) == {"error"}


def test_a_case_that_does_not_end_is_stopped_and_names_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.page.bench.SECONDS", 0.3)
    loops = "def relu_vjp(g, x):\n    n = 0\n    while True:\n        n += 1\n"
    found = looked(WRONG, then=loops)
    assert found["error"].startswith("It did not return within 0.3 seconds, and was stopped at cell relu_vjp, line ")
    assert found["line"]["line"] in (3, 4)
    never = looked(WRONG, then="while True:\n    pass\n")["error"]
    assert never.startswith("cell relu_vjp did not end within 0.3 seconds: it was at cell relu_vjp, line ")
