"""Python in a page's worker: the earlier statements that a cell needs, its results, and the card of a check."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from autograder.authoring.stubs import solved_notebook
from autograder.judging.records.errors import CheckError, Missing
from autograder.judging.records.record import Comparison, Record
from autograder.judging.records.results import ExerciseResult, SubmissionResult
from autograder.judging.scoring import next_part
from autograder.notebook import card
from autograder.page import check as page_check
from autograder.page.check import check
from autograder.page.live import State, answers_of, plan
from autograder.page.needs import free, needed, statements
from autograder.page.relabelled import in_a_page
from autograder.submission import parse_submission
from course.syllabus import find_lesson

ROOT = Path(__file__).parents[1]
SLUG = "ch01_computation_graph"


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> State:
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    return State()


def lines(cells: list[str], at: int, *foreign: str) -> list[str]:
    return [one.source.strip() for one in needed(cells, at, foreign)]


def test_only_what_gives_its_names_runs_before() -> None:
    cells = ["import torch\nimport math\nx = 2\ny = torch.ones(x)", "def f(a):\n    return math.sqrt(a)", "f(x)"]
    assert lines(cells, 2) == ["import math", "x = 2", "def f(a):\n    return math.sqrt(a)"]


def test_a_function_may_call_what_is_defined_below_it() -> None:
    assert lines(["def f():\n    return g()", "def g():\n    return 1", "f()"], 2) == [
        "def f():\n    return g()",
        "def g():\n    return 1",
    ]


def test_what_changes_a_value_is_needed_and_what_draws_it_is_not() -> None:
    cells = [
        "a = [1]\nb = [2]",
        "a.append(3)\nglue('n', a)\nb[0] = 5",
        "import torch\nfig = torch.figure()\nfig.plot(a)",
        "a",
    ]
    assert lines(cells, 3, "torch") == ["a = [1]", "a.append(3)"]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("for i in rows:\n    print(i)", {"rows"}),
        ("x = x + 1", {"x"}),
        ("[y for y in ys if y > z]", {"ys", "z"}),
        ("n += 1", {"n"}),
        ("def f(a, *, b=c):\n    d = a\n    return d + e", {"c", "e"}),
        ("with open(p) as file:\n    file.read()", {"p"}),
    ],
)
def test_names_that_a_cell_takes_from_above(source: str, names: set[str]) -> None:
    assert free(source) == names


def test_a_cell_runs_again_what_another_has_changed(state: State, capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["print('above')\na = [0]", "a.append(1)\nprint(a)", "a"]
    assert state.run(cells, 1, {})["ran"] == 1
    assert state.run(cells, 1, {})["ran"] == 1  # the first one's list has been changed by now
    assert capsys.readouterr().out == "[0, 1]\n" * 2
    assert state.run(cells, 2, {})["value"] == "[0, 1]"


def test_what_is_unchanged_runs_once(state: State) -> None:
    cells = ["a = 1", "a + 1", "a + 2"]
    assert [state.run(cells, 1, {})["ran"], state.run(cells, 2, {})["ran"]] == [1, 0]
    assert state.run(["a = 5", *cells[1:]], 2, {}) == {"value": "7", "ran": 1}


def test_an_error_is_python_s_own_from_the_reader_s_line_on(state: State) -> None:
    told = state.run(["def f(x):\n    return 1 / x", "\nf(0)"], 1, {})["error"]
    assert told.startswith('Traceback (most recent call last):\n  File "this cell", line 2, in <module>\n    f(0)\n')
    assert '  File "cell 1 above", line 2, in f\n' in told
    assert told.endswith("ZeroDivisionError: division by zero")
    assert "live.py" not in told


def test_a_long_recursion_points_at_the_reader_s_line_and_is_short(state: State) -> None:
    told = state.run(["def f(x):\n    return f(x)", "f(0)"], 1, {})["error"].splitlines()
    assert told[1:3] == ['  File "this cell", line 1, in <module>', "    f(0)"]
    assert any("Previous line repeated" in line for line in told)
    assert told[-1].startswith("RecursionError: ")
    by_turns = "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)"
    told = state.run([by_turns, "f(0)"], 1, {})["error"].splitlines()
    assert told[1] == '  File "this cell", line 1, in <module>'
    assert told[-1].startswith("RecursionError: ")
    assert len(told) < 70
    assert any("more lines]" in line for line in told)


def test_a_cell_that_asks_is_told_that_nobody_can_answer(state: State) -> None:
    told = state.run(["x = 1\nname = input('Name? ')"], 0, {})["error"].splitlines()
    assert told[1].startswith('  File "this cell", line 2')
    assert told[-1] == "EOFError: a page cannot ask with input(); write the value into the code"
    assert not any("live.py" in line for line in told)


def test_a_syntax_error_is_told_and_one_above_is_left_out(state: State) -> None:
    assert "SyntaxError" in state.run(["f(", "1 + 1"], 0, {})["error"]
    assert state.run(["f(", "1 + 1"], 1, {})["value"] == "2"


def test_what_a_page_lacks_is_said() -> None:
    assert plan(["import torch", "torch.ones(2)"], 1).elsewhere == "PyTorch"
    assert plan(["from course.figures import style", "style()"], 1).elsewhere == "Matplotlib"
    assert plan(["import numpy as np", "np.ones(2)"], 1).numpy
    assert not plan(["import numpy as np", "1 + 1"], 1).numpy


def test_looking_at_a_cell_says_nothing() -> None:
    cells = ["a = 'x\\,'", "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lines(cells, 1) == [cells[0]]
        assert not plan(["import course.data as \\\n d; b = 'y\\,'"], 0).elsewhere


def test_what_draws_itself_is_a_picture(state: State) -> None:
    cells = [
        "class Drawn:\n    _repr_svg_ = lambda self: '<svg/>'\n    __repr__ = lambda self: 'words'",
        "Drawn()",
        "Drawn",
    ]
    assert state.run(cells, 1, {}) == {"value": "words", "picture": "<svg/>", "ran": 1}
    assert "picture" not in state.run(cells, 2, {})
    assert not plan(["from course.tape import picture"], 0).elsewhere


def test_exercises_are_the_reader_s_own_or_the_course_s(state: State) -> None:
    notebook = json.loads((ROOT / "exercises" / f"{SLUG}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("exercise") == "forward":
            cell["source"] = "def forward(a, b, c):\n    return 'mine'"
    solved = (ROOT / "solutions" / f"{SLUG}.py").read_text(encoding="utf-8")
    cells = [
        f"from {SLUG} import forward, neuron_gradients",
        "forward(1, 2, 3)",
        "sorted(neuron_gradients(1., 1., 1., 1.))",
    ]
    assert plan(cells, 1, [SLUG]).answers == {SLUG: ["forward"]}
    module = answers_of(SLUG, json.dumps(notebook), ["forward"], solved)
    assert state.run(cells, 1, {SLUG: module})["value"] == "'mine'"
    assert state.run(cells, 2, {SLUG: module})["value"] == "['b', 'w', 'x', 'y']"
    sys.modules.pop(SLUG)


def test_statements_of_one_line_are_two() -> None:
    assert [one.source for one in statements(0, "a = 1; b = 2")] == ["a = 1", "b = 2"]


def test_a_check_shows_the_card_of_a_notebook_s() -> None:
    notebook = json.loads((ROOT / "exercises" / f"{SLUG}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("exercise") == "forward":
            cell["source"] = "def forward(a, b, c):\n    return {'d': a * b, 'e': a * b + c, 'L': (a * b + c) * 2}"
    said: list[str] = []
    found = check(SLUG, "forward", json.dumps(notebook), said.append)
    assert (found["status"], found["misconception"]) == ("failed", "doubled_for_squared")
    text = json.dumps(found["blocks"])
    assert "Hint 1 of" in text
    assert "backprop" not in text  # there is no terminal in a page
    assert "<" not in text.replace("<lambda>", "")  # a page makes nodes of it, and no text is markup
    html = "".join(card.message(found["message"]))
    sentences = [block["rest"] for block in found["blocks"] if "rest" in block]
    assert sentences
    assert all(sentence in unescape(html) for sentence in sentences)  # one description, and two who show it
    assert any("check 2 of" in line for line in said)


def test_a_page_calls_cells_what_they_are_in_it() -> None:
    notebook = json.loads((ROOT / "exercises" / f"{SLUG}.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("exercise") == "forward":
            cell["source"] = "def forward(a, b, c):\n    return a.nothing"
    message = check(SLUG, "forward", json.dumps(notebook))["message"]
    assert "(cell forward, line 2)" in message
    for cell in notebook["cells"]:
        if cell["metadata"].get("exercise") == "forward":
            cell["source"] = "def backward(a, b, c):\n    return a"
    assert "there is no function of that name in this page" in check(SLUG, "forward", json.dumps(notebook))["message"]
    tensor = json.loads((ROOT / "exercises" / "ch05_autograd_engine.ipynb").read_text(encoding="utf-8"))
    labels = [cell.label for cell in in_a_page(parse_submission("a.ipynb", json.dumps(tensor).encode())).cells]
    assert {"cell unbroadcast", "cell Tensor, part 1", "cell Tensor, part 2"} <= set(labels)


def test_a_page_needs_no_more_than_a_browser_has() -> None:
    program = (
        "import sys\n"
        "for name in ('psutil', 'fcntl', 'resource', 'ctypes', 'multiprocessing', 'filelock', 'IPython', 'rich'):\n"
        "    sys.modules[name] = None\n"
        "import types\n"
        "sys.modules['autograder.notebook'] = package = types.ModuleType('autograder.notebook')\n"
        "package.__path__ = ['autograder/notebook']\n"
        "import autograder.page.check, autograder.page.live\n"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_answers_of_other_checks_are_told_by_the_check_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Preparation, which runs before it, must not raise, since that would end in a Python error."""

    def prepared(slug: str) -> None:
        raise CheckError("other checks; load the page again")

    monkeypatch.setattr(page_check, "prepared", prepared)
    page_check.ready("ch06_vjps")
    assert check("ch06_vjps", "relu_vjp", '{"cells": []}') == {"error": "other checks; load the page again"}


PARTS = ("the tape", "arithmetic", "power")
POWER, ARITHMETIC = (Missing("not written yet", f"Tensor ({part})") for part in ("power", "arithmetic"))
DIFFERS = Comparison(1.0, 2.0, ("da",), "", None, 0.0, 0.0, problems=("da differs",))
NEXT = {"arithmetic": [Record(ended_by=POWER), Record(ended_by=ARITHMETIC)], "power": [Record(ended_by=POWER)]}
NO_NEXT = [
    [],
    [Record(ended_by=POWER), Record(comparisons=[DIFFERS])],
    [Record(ended_by=POWER), Record(comparisons=[DIFFERS], ended_by=ARITHMETIC)],
    [Record(ended_by=POWER), Record(visible=False, comparisons=[DIFFERS])],
    [Record(ended_by=Missing("Tensor uses unbroadcast, which is not written yet.", "unbroadcast"))],
    [Record(ended_by=Missing("Tensor (power) is not written yet."))],
]


@pytest.mark.parametrize(
    ("failing", "part"), [(one, part) for part, one in NEXT.items()] + [(one, "") for one in NO_NEXT]
)
def test_the_next_part_is_named_where_all_that_is_written_is_right(failing: list[Record], part: str) -> None:
    """By what ended each check, not by the words of its message."""
    tensor = replace(find_lesson("ch05_autograd_engine").exercise("Tensor"), parts=PARTS)
    passed = Record(comparisons=[replace(DIFFERS, problems=())])
    assert next_part(tensor, [passed, *failing]) == part


def test_the_next_part_is_not_stored() -> None:
    result = ExerciseResult("Tensor", 1.0, 8.0, "partial", "", None, "", 0.0, next_part="power")
    whole = SubmissionResult("ada", "ch05_autograd_engine", "", "", "", "", 1.0, 8.0, "graded", "", [result])
    assert "next_part" not in whole.to_json()["exercises"][0]


WRONG_TAPE = """class Tensor:
    recording, hooks, __array_ufunc__ = True, (), None

    def __init__(self, data, requires_grad=False):
        data = np.asarray(data)
        self.data = data if np.issubdtype(data.dtype, np.floating) else data.astype(np.float64)
        self.grad, self.requires_grad, self.edges = None, requires_grad, ()


def record(data, *edges):
    return Tensor(data)


Tensor.__neg__ = lambda a: record(-a.data, (a, lambda g: -g))
"""


def test_what_is_not_written_is_said_once_beside_what_is_wrong() -> None:
    made = json.loads((ROOT / "exercises" / "ch05_autograd_engine.ipynb").read_text(encoding="utf-8"))
    for cell in made["cells"]:
        if cell["metadata"].get("part") == "the tape":
            cell["source"] = WRONG_TAPE
    card = check("ch05_autograd_engine", "Tensor", json.dumps(made))
    assert card["message"].count("not written yet") == 1, card["message"]
    assert "On a hidden input" not in card["message"]
    assert card["next"] == ""


def test_a_card_leads_to_the_part_that_is_not_written() -> None:
    """Read from what ended the checks: its message says more where the class is defined in two cells."""
    solved = solved_notebook(find_lesson("ch05_autograd_engine"), ROOT / "solutions").cells
    made = json.loads((ROOT / "exercises" / "ch05_autograd_engine.ipynb").read_text(encoding="utf-8"))
    sources = {(cell.metadata.get("exercise"), cell.metadata.get("part")): cell.source for cell in solved}
    written = {("unbroadcast", None), *(("Tensor", part) for part in ("the tape", "arithmetic", "matmul"))}
    for cell in made["cells"]:
        if (of_it := (cell["metadata"].get("exercise"), cell["metadata"].get("part"))) in written:
            cell["source"] = sources[of_it]
    assert check("ch05_autograd_engine", "Tensor", json.dumps(made))["next"] == "power"
