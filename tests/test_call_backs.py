"""Functions and objects passed between a check and a submission stay in their own process and are called there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from submissions_run import value

from autograder.judging.asking import transport
from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.records.errors import Crashed

pytestmark = pytest.mark.slow

Make = Callable[..., SubmissionRun]


def test_functions_are_called_back_and_counted_where_they_live(run_cells: Make) -> None:
    calls = []

    def square(x: float) -> float:
        calls.append(x)
        return x * x

    run = run_cells("def f(g):\n    return g(3.0) + g(4.0)")
    assert value(run, "f", square) == 25.0
    assert calls == [3.0, 4.0]


def test_an_error_of_a_call_back_reaches_the_caller(run_cells: Make) -> None:
    def refuse(x: float) -> float:
        raise ValueError("not this")

    run = run_cells("def f(g):\n    try:\n        g(1)\n    except ValueError as e:\n        return str(e)")
    assert value(run, "f", refuse) == "not this"


def test_a_call_back_takes_keywords(run_cells: Make) -> None:
    run = run_cells("def f(g):\n    return g(3.0, power=2)")
    assert value(run, "f", lambda x, power: x**power) == 9.0


def test_an_error_of_a_call_back_does_not_name_the_function(run_cells: Make) -> None:
    run = run_cells("def f(g):\n    try:\n        g()\n    except TypeError as e:\n        return str(e)")
    said = {value(run, "f", function) for function in (lambda x: x, _also_of_one_argument)}
    assert said == {"the function missing 1 required positional argument: 'x'"}


def _also_of_one_argument(x: float) -> float:
    return x


def test_an_unsendable_result_of_a_call_back_is_an_error_in_the_caller(run_cells: Make) -> None:
    """Later calls still work."""
    run = run_cells(
        "def f(g):\n    try:\n        g()\n    except TypeError as e:\n        return str(e)\ndef h():\n    return 2"
    )
    assert "which is not data" in value(run, "f", lambda: {1, 2})
    assert value(run, "h") == 2


def test_the_arguments_of_call_backs_are_counted(run_cells: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CALLBACK_BYTES", 10**6)
    kept: list[Any] = []
    run = run_cells(
        "import numpy as np\ndef f(g):\n    for _ in range(1000): g(np.zeros(10**3))\ndef h():\n    return 2"
    )
    with pytest.raises(Crashed, match="call-backs with more than"):
        run.ask(request_of("f", [kept.append]), 9.0)
    assert len(kept) < 130
    assert value(run, "h") == 2


def test_a_call_back_refuses_too_large_arguments(run_cells: Make) -> None:
    """A function of ours may take time proportional to the square of its input's size."""
    run = run_cells("import numpy as np\ndef f(g, size):\n    return g(np.zeros(size))\ndef h():\n    return 2")
    assert value(run, "f", len, 1000) == 1000
    with pytest.raises(Crashed, match="a call-back with 1953 KiB of arguments"):
        run.ask(request_of("f", [len, 250_000]), 9.0)
    assert value(run, "h") == 2


def test_a_class_that_refuses_inspection_has_no_methods(run_cells: Make) -> None:
    run = run_cells(
        "class Meta(type):\n    def __getattr__(cls, name): raise SystemExit\n"
        "class Tensor(metaclass=Meta): pass\ndef h():\n    return 2"
    )
    assert run.ask(request_of("Tensor.backward", []), 9.0).get("missing")
    assert value(run, "h") == 2


def test_texts_are_marked_as_the_submissions_own(run_cells: Make) -> None:
    run = run_cells("def f():\n    raise NotImplementedError('f: your code here')", "x = 1")
    assert run.source.says("f: your code here")
    assert not run.source.says("f_0.25: your code here")


def test_objects_stay_and_come_back_the_same(run_cells: Make) -> None:
    run = run_cells("class Cache: pass\nkept = Cache()\ndef f():\n    return 1, kept\ndef g(c):\n    return c is kept")
    _, handle = value(run, "f")
    assert "Cache" in repr(handle)
    assert value(run, "g", handle) is True


@pytest.mark.parametrize(
    "expression",
    ["[[]] * 10**7", "np.broadcast_to(1.0, (10**6, 10**6))", "deep", "10**5000", "{i: i for i in range(10**5)}"],
)
def test_results_that_cannot_be_sent_are_named(run_cells: Make, expression: str) -> None:
    run = run_cells(
        f"import numpy as np\ndeep = []\nfor _ in range(500): deep = [deep]\ndef f():\n    return {expression}"
    )
    assert run.ask(request_of("f", []), 9.0)["failure"]["kind"] == "UnreadableResult"
