"""Running a submission: broken cells cost what they define, hanging calls their own exercise."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import numpy as np
import psutil
import pytest
from submissions_run import value

from autograder.isolation import Worker, start_worker
from autograder.isolation.base import kill_tree
from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.asking.source_text import SourceText
from autograder.judging.asking.submission_process import SubmissionProcess
from autograder.judging.records.errors import Crashed, TimedOut
from autograder.submission import Submission, parse_submission
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

Make = Callable[..., SubmissionRun]


def test_cells_share_one_module_and_values_come_back(run_cells: Make) -> None:
    run = run_cells("import numpy as np", "def f(x):\n    return np.exp(x), {'n': len(x)}")
    got, info = value(run, "f", np.zeros(3))
    np.testing.assert_array_equal(got, np.ones(3))
    assert info == {"n": 3}


def test_a_namedtuple_is_the_tuple_that_it_is(run_cells: Make) -> None:
    """It used to be "an object of type Grads; expected a tuple of 2". A nested one keeps its class."""
    run = run_cells(
        "from collections import namedtuple\nGrads = namedtuple('Grads', 'da db')\n"
        "def f():\n    return Grads(1, 2)\ndef g():\n    return 1, Grads(3, 4)\ndef h(cache):\n    return cache.db\n"
        "def all():\n    return [Grads(1, 2), Grads(3, 4)]"
    )
    assert value(run, "f") == (1, 2)
    assert value(run, "all") == [(1, 2), (3, 4)]
    _, cache = value(run, "g")
    assert value(run, "h", cache) == 4


def test_text_and_numbers_of_a_class_of_their_own_are_text_and_numbers(run_cells: Make) -> None:
    """A status from `np.select` or a `StrEnum` used to be "an object of type str_; expected some text"."""
    run = run_cells(
        "import enum\nimport numpy as np\nclass Mode(enum.StrEnum):\n    FORWARD = 'forward'\n"
        "class Bytes(int):\n    def __int__(self): return 0\n"
        "class Loss(float):\n    def __float__(self): return 0.0\n"
        "def f():\n    text = np.array(['a', 'b'])[1]\n"
        "    return text, Mode.FORWARD, Bytes(3), Loss(2.5), {np.str_('k'): Mode.FORWARD}, np.float64(1) == 1"
    )
    found = value(run, "f")
    assert found == ("b", "forward", 3, 2.5, {"k": "forward"}, True)
    assert [type(one) for one in (*found[:4], *found[4], found[5])] == [str, str, int, float, str, bool]


def test_a_broken_cell_costs_what_it_defines_and_nothing_else(run_cells: Make) -> None:
    run = run_cells(
        "def f(:\n    pass", "def g():\n    return 1", "1 / 0\ndef h():\n    return 2", "def k():\n    return 3"
    )
    assert value(run, "g") == 1
    assert value(run, "k") == 3
    assert run.ask(request_of("f", []), 5.0) == {"missing": True}
    assert value(run, "h") == 2
    assert "cell 1, line 1 is not Python (SyntaxError" in run.source.why_missing("f")
    assert [problem.text for problem in run.process.problems][1:] == [
        "cell 3, line 1 raised ZeroDivisionError: division by zero; what is defined below it was defined all the same"
    ]


@pytest.mark.parametrize("imports", ["", "import math\n"], ids=["whole", "imports"])
@pytest.mark.parametrize(
    "fails",
    [
        "1 / 0",
        "assert 1 == 2, 'a note'",
        "raise SystemExit(2)",
        "x: int = undefined",
        "for i in range(3):\n    if i == 2:\n        raise KeyError(i)",
        "def broken(x=undefined):\n    return x",
        "@undefined\ndef broken(x):\n    return x",
    ],
)
def test_below_a_statement_that_fails_definitions_are_made(run_cells: Make, imports: str, fails: str) -> None:
    """Only definitions: no other statement below it runs."""
    below = (
        "import os\nSCALE = 2\nTABLE = [SCALE] * 3\nunneeded = [].pop()\nprint(SCALE)\n"
        "def f(x):\n    return SCALE * x + TABLE[0]\n"
        "class T:\n    pass\ndef g(self):\n    return os.sep\nT.g, T.same = g, property(g)\nmore = lambda x: f(x)\n"
        "try:\n    import nothing\nexcept ImportError:\n    nothing = 0\n"
        "boom()\ndef h():\n    return 3\n"
    )
    run = run_cells(
        f"{imports}first = 1\n{fails}\n{below}", "def last():\n    return first, T().same, more(2), nothing"
    )
    assert (value(run, "f", 3), value(run, "h"), value(run, "last")) == (8, 3, (1, "/", 6, 0))
    (problem,) = run.process.problems
    assert problem.text.startswith(f"cell 1, line {2 + imports.count(chr(10)) + 2 * ('KeyError' in fails)} raised ")
    assert problem.text.endswith(" defined below it was defined all the same")
    assert ("what else is" in problem.text) == ("def " in fails)
    assert run.ask(request_of("unneeded", []), 5.0) == {"missing": True}


def test_a_function_that_no_cell_defines_is_asked_for_once(run_cells: Make) -> None:
    """Each check of each exercise that a learner has not begun waited for the same answer."""
    run = run_cells("def g(): return 1")
    assert run.ask(request_of("f", [1]), 5.0) == {"missing": True}
    assert run.process.transport is not None
    received = run.process.transport.received
    assert run.ask(request_of("f", [2]), 5.0) == {"missing": True}
    assert run.process.transport.received == received


def test_what_ends_a_cell_a_million_times_is_left_alone(run_cells: Make) -> None:
    cells = "1 / 0\n" + "def f(x=undefined): pass\n" * 1000, "def g():\n    return 1"
    run = run_cells(*cells, cell_seconds=9.0)
    assert value(run, "g") == 1
    (problem,) = run.process.problems
    assert "ZeroDivisionError" in problem.text, "and not that it took too long"


def test_a_definition_that_fails_is_said_where_an_older_one_counts(run_cells: Make) -> None:
    run = run_cells("def f():\n    return 1", "def f(x=undefined):\n    return 2\ndef g():\n    return 3")
    assert (value(run, "f"), value(run, "g")) == (1, 3)
    told = run.source.failed_to_redefine("f")
    assert told is not None
    assert "cell 2, line 1 raised NameError: name 'undefined' is not defined; what else is" in told.text


@pytest.mark.parametrize(
    "shows",
    [
        "from IPython import get_ipython\nget_ipython().run_line_magic('matplotlib', 'inline')",
        "get_ipython().system('ls')\ndisplay(1)",
        "import matplotlib.pyplot as plt\nplt.rcParams['x'] = 1\nfig, ax = plt.subplots()\nax.plot([1])[0].set(x=1)",
        "from matplotlib import cm, pyplot\npyplot.figure(figsize=(1, 2)).savefig('x')",
        "import seaborn as sns\nsns.set()\nwith sns.axes_style('dark'):\n    pass",
        "from google.colab import drive\ndrive.mount('/content')",
        "from tqdm.auto import tqdm, trange\nassert list(tqdm([1, 2])) == [1, 2] and list(trange(2)) == [0, 1]",
        "import tqdm\nbar = tqdm.tqdm(range(2), desc='x')\nbar.set_postfix(a=1)\nassert len(bar) == 2",
        "from tqdm.notebook import tqdm as t\nassert sum(t(x for x in range(3))) == 3\nfrom ipywidgets import *",
    ],
)
def test_plots_and_progress_bars_are_swallowed(run_cells: Make, shows: str) -> None:
    run = run_cells(shows, "def f():\n    return 2")
    assert value(run, "f") == 2
    assert run.process.problems == []


def test_nobody_answers_input(run_cells: Make) -> None:
    run = run_cells("n = int(input('n? '))\ndef f():\n    return 2")
    assert value(run, "f") == 2
    assert "EOFError: nobody answers input() when this is graded" in run.process.problems[0].text


def test_of_several_cells_for_a_function_the_last_says_why_there_is_none(run_cells: Make) -> None:
    """`f = None` used to be blamed on an older cell that is not Python."""
    assert "f is not defined as a function: cell 2 has given that name" in why_f_is_missing(
        run_cells("def f(:\n    pass", "f = None")
    )
    assert "cell 2 has given that name" in why_f_is_missing(run_cells("def f(x):\n    return x", "f = f(3)"))
    assert "cell 2, line 1 is not Python" in why_f_is_missing(run_cells("f = None", "def f(:\n    pass"))


def test_a_definition_that_does_not_run_is_found_where_it_stands() -> None:
    """The message used to be "no function of that name", although the notebook defined it."""
    for kind in ("markdown", "raw"):
        cells = [{"cell_type": "code", "source": "x = 1"}, {"cell_type": kind, "source": "def f(x):\n    return x"}]
        said = SourceText(parse_submission("a.ipynb", json.dumps({"cells": cells}).encode()), []).why_missing("f")
        assert said.startswith(
            f"f is not defined: cell 2 is a {kind.capitalize()} cell, and no code. Make it a code cell"
        )
    text = b'if __name__ == "__main__":\n    def f(x):\n        return x\n'
    said = SourceText(parse_submission("a.py", text), []).why_missing("f")
    assert 'stands under `if __name__ == "__main__":` (line 1), which a check does not run' in said


def test_of_two_definitions_it_is_said_which_one_counts() -> None:
    """With a stub copied below the solution, the exercise used to be "not written yet"."""
    source = SourceText(Submission.of_cells("work", ["def f(x):\n    return x", "y = 1", "def f():\n    ..."]), [])
    assert source.defined_again("f") == " cell 1 defines f, too: what counts is the last one, cell 3."
    assert SourceText(Submission.of_cells("work", ["def f(x):\n    return x", "f(1)"]), []).defined_again("f") == ""


def test_a_class_that_is_made_anew_lacks_what_was_attached(run_cells: Make) -> None:
    run = run_cells("class T: pass", "T.f = lambda self: 1", "class T: pass")
    assert "cell 3 makes the class anew" in run.source.why_missing("T.f")
    assert "there is no function of that name" in run_cells("class T: pass").source.why_missing("T.f")


def why_f_is_missing(run: SubmissionRun) -> str:
    run.process.load()
    return run.source.why_missing("f")


def test_a_forbidden_import_costs_its_own_names_only(run_cells: Make) -> None:
    run = run_cells(
        "import torch\nimport numpy as np\ndef f():\n    return np.pi\ndef g():\n    return torch.tensor(1)"
    )
    assert value(run, "f") == pytest.approx(3.14159265)
    failure = run.ask(request_of("g", []), 5.0)["failure"]
    assert failure["kind"] == "NameError"
    assert "torch is not among the packages" in run.process.problems[0].text


def test_magics_and_shell_lines_are_no_errors(run_cells: Make) -> None:
    run = run_cells("%matplotlib inline\n!ls\nx = 2\n%timeit x", "def f():\n    return x")
    assert value(run, "f") == 2


def test_a_line_that_keeps_what_a_magic_gives_costs_no_cell(run_cells: Make) -> None:
    """Such a cell's functions used to be "not defined", with 'invalid syntax' in a line that IPython runs."""
    run = run_cells("files = !ls\ntime = %timeit -o 1\ndef f():\n    return 2")
    assert value(run, "f") == 2


def test_a_cell_that_awaits_runs_as_in_jupyter(run_cells: Make) -> None:
    """Its definitions used to be "not written yet", with "not Python ('await' outside function)"."""
    awaits = "import asyncio\nawait asyncio.sleep(0)\ndef f():\n    return 1\nx = [await asyncio.sleep(0, 2)]"
    run = run_cells(awaits, "def g():\n    return x[0]")
    assert run.process.problems == []
    assert (value(run, "f"), value(run, "g")) == (1, 2)


@pytest.mark.parametrize("before", ["", "import math\n", "%matplotlib inline\n"])
@pytest.mark.parametrize("wait", ["await asyncio.sleep(0.01)", "await asyncio.to_thread(int)"])
def test_a_cell_may_await_at_its_top_as_in_jupyter(run_cells: Make, before: str, wait: str) -> None:
    """Such a cell's functions used to be "not defined", because of a line that is 'not Python'."""
    run = run_cells("import asyncio", f"{before}{wait}\ndef f():\n    return 2\nx = await asyncio.sleep(0, 3)\ny = x")
    assert value(run, "f") == 2
    assert run.process.problems == []
    run = run_cells("import asyncio", f"{wait}\ndef f():\n    return 2\nawait asyncio.sleep(0, 1 / 0)")
    assert value(run, "f") == 2
    assert "cell 2, line 4 raised ZeroDivisionError" in run.process.problems[0].text


def test_future_imports_hold_for_their_cell(run_cells: Make) -> None:
    run = run_cells("from __future__ import annotations\ndef f(x: Undefined) -> Missing:\n    return 1")
    assert value(run, "f", 0) == 1


@pytest.mark.parametrize("end", ["while True: pass", "import os; os._exit(3)", "import os; os.kill(os.getpid(), 9)"])
def test_a_cell_that_never_ends_or_ends_the_process_is_left_out(run_cells: Make, end: str) -> None:
    run = run_cells("def f():\n    return 1", end, "def g():\n    return 2", cell_seconds=1.0)
    assert (value(run, "f"), value(run, "g")) == (1, 2)
    assert run.process.problems[0].text.startswith("cell 2 ")


def test_the_slow_cell_is_named_and_none_before_it(worker: Worker) -> None:
    """Earlier cells used to be blamed, because answers are held while more requests wait."""
    at: list[str] = []
    submission = Submission.of_cells("a test", ["x = 1", "y = 2", "import time\ntime.sleep(1.5)"])
    run = SubmissionRun(SubmissionProcess(submission, worker, at_cell=at.append))
    run.process.load()
    run.close()
    assert (at, list(run.process.slow)) == (["cell 1", "cell 2", "cell 3"], ["cell 3"])


def test_a_cell_that_every_check_waits_for_is_known(run_cells: Make) -> None:
    run = run_cells("import time\ntime.sleep(1.5)", "x = 1", "while True: time.sleep(1)", cell_seconds=3.0)
    run.process.load()
    assert run.process.slow == {"cell 1": "took 2 s", "cell 3": "did not end within 3 seconds and was left out"}


def test_who_is_asked_to_forget_remembers_nothing(run_cells: Make) -> None:
    run = run_cells(
        "import os\ndef f():\n    seen = [*f.__dict__, *os.environ.get('SEEN', ''), *os.listdir()]\n    f.x = 1\n"
        "    os.environ['SEEN'] = 'x'\n    open('x', 'w').close()\n    return seen"
    )
    assert [value(run, "f"), value(run, "f")] == [[], ["x", "x", "x"]]
    run.forget()
    assert value(run, "f") == []
    run.forget()
    run.forget()
    assert value(run, "f") == []


def test_cells_that_a_check_has_run_again_have_their_time_again(
    run_cells: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise an honest notebook that trains a model at its top would run out of time."""
    monkeypatch.setattr("autograder.judging.asking.submission_process.LOAD_SECONDS", 1.0)
    run = run_cells("import time\ntime.sleep(0.4)\ndef f():\n    return 1")
    for _ in range(4):
        assert value(run, "f") == 1
        run.forget()


def test_a_call_that_hangs_costs_its_exercise_and_the_rest_goes_on(run_cells: Make) -> None:
    run = run_cells("def f():\n    while True: pass", "def g():\n    return 2")
    with pytest.raises(TimedOut, match=r"did not return within 1 second\."):
        run.ask(request_of("f", []), 1.0)
    with pytest.raises(TimedOut):
        run.ask(request_of("f", []), 1.0)
    assert value(run, "g") == 2


def test_a_call_that_ends_the_process_is_said_to(run_cells: Make) -> None:
    run = run_cells("import os\ndef f():\n    os._exit(7)", "def g():\n    return 2")
    with pytest.raises(Crashed, match="exit status 7"):
        run.ask(request_of("f", []), 5.0)
    assert value(run, "g") == 2


def test_memory_is_limited_and_running_out_is_an_ordinary_error(run_cells: Make) -> None:
    run = run_cells("import numpy as np\ndef f():\n    return np.ones(10**11)\ndef g():\n    return 2")
    assert run.ask(request_of("f", []), 5.0)["failure"]["kind"] == "MemoryError"
    assert value(run, "g") == 2


def test_changed_arguments_are_noticed(run_cells: Make) -> None:
    run = run_cells("def f(x, y):\n    y[0] = 5\n    return 1")
    assert run.ask(request_of("f", [np.zeros(2), np.zeros(2)]), 5.0)["changed"] == [1]


def test_the_random_state_is_the_same_for_every_submission(run_cells: Make) -> None:
    cells = ("import random\nimport numpy as np\ndef f():\n    return random.random(), np.random.rand()",)
    first = run_cells(*cells)
    drawn = value(first, "f")
    first.close()
    assert value(run_cells(*cells), "f") == drawn


@pytest.mark.parametrize("worker", ["sandbox"], indirect=True)
def test_submissions_that_run_at_a_time_cannot_reach_each_other(run_cells: Make) -> None:
    first = run_cells("import os\nopen('own', 'w').close()\ndef f():\n    return os.getpid(), os.getcwd()")
    process, folder = value(first, "f")
    probe = f"""
import os

def g():
    reached = []
    for action, name in ((os.kill, "signal"), (os.sched_setaffinity, "move"), (os.setpriority, "slow down")):
        try:
            action(*{{"signal": ({process}, 0), "move": ({process}, [0]), "slow down": (0, {process}, 19)}}[name])
            reached.append(name)
        except OSError:
            pass
    for path in ("{folder}/own", "{folder}", "/proc/{process}/mem", "/proc/{process}/environ"):
        try:
            os.open(path, os.O_RDONLY)
            reached.append(path)
        except OSError:
            pass
    return reached
"""
    assert value(run_cells(probe), "g") == []
    assert value(first, "f") == (process, folder)


def test_a_process_that_ends_while_it_is_looked_at_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was killed and reaped between two of our lookups used to cost its submission all points."""

    def ended(process: psutil.Process, recursive: bool) -> list[psutil.Process]:
        raise psutil.NoSuchProcess(process.pid)

    monkeypatch.setattr(psutil.Process, "children", ended)
    assert kill_tree(os.getpid(), keep_root=True)


def test_a_scratch_folder_serves_again_only_if_nothing_was_put_into_it(run_cells: Make) -> None:
    look = "import os\ndef f():\n    return os.getcwd()"
    used = "import os\nopen('note', 'w').close()\nos.remove('note')\ndef f():\n    return os.getcwd()"
    folders = []
    for cells in (look, used, look):
        run = run_cells(cells)
        folders.append(value(run, "f"))
        run.close()
    assert folders[0] == folders[1] != folders[2]


def test_a_backward_pass_that_runs_into_itself_is_told_as_that() -> None:
    """It used to be "was killed by SIGSEGV", which does not help a learner who forgot to detach a tensor."""
    again = (
        "import torch\nclass Again(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        y = 2 * x\n        ctx.save_for_backward(y)\n"
        "        return y\n"
        "    @staticmethod\n    def backward(ctx, g):\n        (y,) = ctx.saved_tensors\n"
        "        y.backward(g)\n        return g\n"
        "def f():\n    Again.apply(torch.ones(2, requires_grad=True)).sum().backward()\n"
    )
    worker = start_worker(find_lesson("ch08_custom_functions").environment, "process")
    run = SubmissionRun(SubmissionProcess(Submission.of_cells("a test", [again]), worker, cell_seconds=10.0))
    try:
        with pytest.raises(Crashed, match=r"was killed by SIGSEGV, .*a backward pass that runs into itself"):
            run.ask(request_of("f", []), 20.0)
    finally:
        run.close()
        worker.stop()
