"""A check in a real kernel: cells that ran again, an interrupt, an endless cell, an error of the course."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from unittest import mock

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel
from notebook_runs import CHECK, KERNELS_OWN, RIGHT, SETUP, run

from autograder.notebook.check import _Judge
from autograder.notebook.executed import ExecutedCells

pytestmark = pytest.mark.slow


def test_a_broken_cell_is_called_as_the_notebook_calls_it() -> None:
    """A newer definition that is not Python is reported, and the older one counts; slow cells are reported, too."""
    broken = "def relu_vjp(g, x):\n    return g *"
    sources = [
        SETUP,
        RIGHT,
        broken,
        "import time\ntime.sleep(2)",
        CHECK,
        "def add_vjp(g, A, B):\n    oops",
        'check("add_vjp")',
    ]
    outputs = run(*sources)
    assert outputs[4].data["text/plain"] == "2.0"
    shown = outputs[4].data["text/html"]
    assert "In [3], line 2 is not Python" in shown
    assert "what was defined before that was graded" in shown
    assert re.search(r"Note: .*In \[4\] took \d+ s: each check runs it again", shown)
    assert "In [6], line 2" in outputs[6].data["text/html"]


@contextmanager
def a_kernel() -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """A kernel whose client does not wait for a running cell."""
    manager, client = start_new_kernel(kernel_name="python3", stderr=KERNELS_OWN)
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def cards_of(client: BlockingKernelClient, cell: str) -> list[str]:
    """The HTML outputs of the cell with this id."""
    return outputs_of(client, cell, kind="text/html")


def outputs_of(client: BlockingKernelClient, cell: str, *, until: str = "", kind: str = "text/plain") -> list[str]:
    """The outputs of the cell with this id, to its end or until `until` appears."""
    shown: list[str] = []
    while True:
        message = client.get_iopub_msg(timeout=120)
        content = message["content"]
        if message["parent_header"].get("msg_id") != cell:
            continue
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            return shown
        if "data" in content or "traceback" in content:
            shown.append(content.get("data", {}).get(kind) or "\n".join(content.get("traceback", [])))
            if until and until in shown[-1]:
                return shown


def test_an_interrupted_check_is_not_the_answer_to_the_next() -> None:
    with a_kernel() as (manager, client):

        def run_cell(source: str) -> str:
            return "\n".join(outputs_of(client, client.execute(source)))

        run_cell(SETUP)
        run_cell("def relu_vjp(g, x):\n    while True: pass")
        hanging = client.execute(CHECK)
        shown = outputs_of(client, hanging, until="stops it")
        assert "relu_vjp: check 1 of" in shown[-1], "a check says what takes so long"
        manager.interrupt_kernel()
        assert "relu_vjp: the check was interrupted" in cards_of(client, hanging)[-1]
        assert "add_vjp is not defined" in cards_of(client, client.execute('check("add_vjp")'))[-1]
        run_cell(RIGHT)
        assert run_cell(CHECK) == "2.0"


def test_imports_that_ran_again_still_come_before_what_needs_them() -> None:
    """After the first cells had run again, np used to be reported as not defined."""
    needs = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\nrelu_vjp(np.ones(1), np.ones(1))"
    outputs = run(SETUP, "import numpy as np", needs, "import numpy as np", CHECK)
    assert "Note" not in outputs[-1].data["text/html"]


@pytest.mark.parametrize("again", ["ONE = 1.0", "ONE = 1"])
def test_a_cell_that_ran_again_was_there_for_those_that_needed_it(again: str) -> None:
    """A right answer used to fail with "name 'ONE' is not defined" once the cell of its default had run again."""
    exercise = "def relu_vjp(g, x, one=ONE):\n    return (g * one * (x > 0)).astype(x.dtype)"
    outputs = run(SETUP, "import numpy as np", "ONE = 1.0", exercise, again, CHECK)
    assert outputs[-1].data["text/plain"] == "2.0"


def test_the_same_where_the_editor_names_its_cells() -> None:
    """JupyterLab sends the ids of cells."""
    with a_kernel() as (_, client):

        def run_cell(name: str, source: str) -> str:
            content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
            request = client.session.msg("execute_request", content, metadata={"cellId": name})
            client.shell_channel.send(request)
            return "\n".join(outputs_of(client, request["header"]["msg_id"]))

        exercise = "def relu_vjp(g, x, one=ONE):\n    return (g * one * (x > 0)).astype(x.dtype)"
        cells = {"setup": SETUP, "numpy": "import numpy as np", "mine": "ONE = 1.0", "exercise": exercise}
        for name in (*cells, "mine"):
            run_cell(name, cells[name])
        assert run_cell("check", CHECK) == "2.0"
        run_cell("mine", "ONE = 1")
        assert run_cell("check", CHECK) == "2.0"


OPERATOR = "def add(a, b): ...\nTensor.__add__ = add"


@pytest.mark.parametrize(
    ("ran", "counts"),
    [
        (["a: A = 1", "b: B = A + 1", "a: A = 1"], [1, 2, 3]),
        (["a: A = 1", "b: B = A + 1", "a: A = 2", "b: B = A + 1"], [3, 4]),
        (["a: def deco(f): return f", "b: @deco\ndef f(): ...", "a: def deco(f): return f"], [1, 2, 3]),
        (["a: class Tensor: ...", f"b: {OPERATOR}", "a: class Tensor: ..."], [1, 2, 3]),
        (["a: class Tensor: ...", f"b: {OPERATOR}", "a: class Tensor: ...", f"b: {OPERATOR}"], [3, 4]),
        (["a: A = 1", "b: f = lambda: A", "c: C = f()", "a: A = 1"], [1, 2, 3, 4]),
        (["a: kept = []", "b: kept.append(1)", "c: n = len(kept)", "b: kept.append(1)"], [1, 2, 3, 4]),
        (["a: def f(x): return x", "b: def g(f): return f", "a: def f(x): return -x"], [2, 3]),
        (["a: %time A = 1", "b: B = A", "a: %time A = 1"], [1, 2, 3]),
        (["a: A = 1", "b: B = A", "a: "], [1, 2]),
        (["a: A = 1", 'b: check("A")', "a: A = 2"], [3]),
        (["a: A = 1", "b: # A demo: no check runs it.\nprint(A)"], [1]),
        ([f"{cell}: {cell} = a + b" for cell in "ab" * 9], [11, 12, 13, 14, 15, 16, 17, 18]),
    ],
)
def test_an_earlier_run_counts_as_long_as_something_has_need_of_it(ran: list[str], counts: list[int]) -> None:
    cells = ExecutedCells()
    for number, (name, _, source) in enumerate((one.partition(": ") for one in ran), 1):
        cells.add(source, name, number)
    assert cells.as_request()["labels"] == [f"In [{number}]" for number in counts]


def test_what_only_the_kernel_still_knows_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The function worked when called, but its check only said that the helper is not defined."""
    cells = ExecutedCells()
    assert cells.remembered("name 'helper' is not defined") == ""
    monkeypatch.setattr(
        cells, "_shell", SimpleNamespace(user_ns={"helper": len, "exit": len}, user_ns_hidden={"exit": len})
    )
    assert cells.remembered("NameError: name 'helper' is not defined.").startswith("This kernel still has helper")
    assert cells.remembered("NameError: name 'other' is not defined.") == ""
    assert cells.remembered("f is not defined") == ""
    assert cells.remembered("NameError: name 'exit' is not defined.") == "", "no cell of theirs: IPython gives it"
    refused = "Before that, In [2], line 1 raised ModuleNotFoundError: helper is not among the packages."
    assert cells.remembered(f"name 'helper' is not defined\n{refused}") == ""


def test_a_check_says_which_cell_it_waits_for_while_it_does() -> None:
    """It used to say 'running your cells', and which cell only at the end."""
    with a_kernel() as (_, client):
        slow_elsewhere = "import sys, time\nif 'ipykernel' not in sys.modules: time.sleep(4)"
        for source in (SETUP, RIGHT, slow_elsewhere):
            outputs_of(client, client.execute(source))
        shown = outputs_of(client, client.execute(CHECK), until="stops it")
        assert "relu_vjp: running your cells, In [3]" in shown[-1]


def test_whoever_interrupts_twice_can_go_on_checking() -> None:
    """Every later check used to fail with 'write to closed file' until the kernel was restarted."""
    judge = _Judge("ch06_vjps")
    request = {"cells": [RIGHT], "labels": ["In [1]"], "exercise": "relu_vjp"}
    for impatient in ("stop", "_start"):
        with (
            mock.patch.object(judge, "_answer", side_effect=KeyboardInterrupt),
            mock.patch.object(judge, impatient, side_effect=KeyboardInterrupt),
            pytest.raises(KeyboardInterrupt),
        ):
            judge.ask(request, print)
        assert judge.ask(request, print)["points"] == 2
    judge.stop()


COURSE_IN_ERROR = """
import sys
from autograder.judging.records.errors import CheckError
from autograder.judging.session import Judge
from autograder.notebook.server import main

def grade(*args, **kwargs):
    raise CheckError("test_f fails on the solution, too")

Judge.grade = grade
sys.argv = ["server", "ch06_vjps"]
main()
"""


def test_who_waits_for_a_check_that_is_wrong_is_answered() -> None:
    """The kernel used to wait forever: the judge had ended with the error, and only answered later requests."""
    request = {"cells": ["x = 1"], "labels": ["In [1]"], "exercise": "relu_vjp"}
    lines = "".join(json.dumps({**request, "number": number}) + "\n" for number in (1, 2))
    command = [sys.executable, "-c", COURSE_IN_ERROR]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=120, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers == [{"error": "test_f fails on the solution, too", "number": number} for number in (1, 2)]
