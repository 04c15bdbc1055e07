"""Cell magics: those that IPython runs in the notebook's namespace run here, and no others."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from autograder.judging.asking.run import SubmissionRun, request_of
from autograder.judging.asking.source_text import SourceText
from autograder.magics import OF_IPYTHON, RUN_THE_BODY, takes_the_body
from autograder.submission import Submission
from autograder.worker import stand_ins

Make = Callable[..., SubmissionRun]
OPTIONS = {
    "script": "false --no-raise-error",
    "writefile": "old.py",
    "file": "old.py",
    "code_wrap": "around",
    "timeit": "-n1 -r1",
}
MORE = ("perl", "bash", "sql", "R", "no_such_magic")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    folder = tmp_path_factory.mktemp("shell")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(folder)
        monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
        monkeypatch.setattr(builtins, "input", lambda *_: "c")  # `%%debug` waits for input
        yield make_shell()


def make_shell() -> InteractiveShell:
    config = Config()
    config.HistoryManager.enabled = False  # no history database
    return InteractiveShell(config=config)


def leaves_a_name(shell: InteractiveShell, cell: str) -> bool:
    shell.user_ns.pop("marker", None)
    shell.ast_transformers.clear()  # `%%code_wrap` adds one
    shell.run_cell(cell)
    return "marker" in shell.user_ns


def test_the_magics_that_run_a_body_here_are_those_of_ipython(
    shell: InteractiveShell, capfd: pytest.CaptureFixture[str]
) -> None:
    known = {*shell.magics_manager.magics["cell"], *MORE}
    cells = {name: f"%%{name} {OPTIONS.get(name, '')}\nmarker = 1\n" for name in known}
    assert len(known) > 20
    run = {name for name, cell in cells.items() if leaves_a_name(shell, cell)}
    assert run == RUN_THE_BODY
    assert set(shell.magics_manager.magics["cell"]) | {"cmd"} == OF_IPYTHON  # only on Windows
    assert {name for name, cell in cells.items() if not takes_the_body(cell)} == run


@pytest.mark.parametrize(
    "cell",
    [
        "\n\n  \n%%time\nmarker = 1",
        "%%capture out --no-stderr\n%%time\nmarker = 1",
        "%%time\n%%script false\nmarker = 1",
        "%%time --no-raise-error\nmarker = 1",
        "%%time x = 1\nmarker = 1",
        "%%timeit?\nmarker = 1",
        "%time marker = 1",
        "%timeit -n1 -r1 marker = 1",
        "%prun -q marker = 1",
        "%time\nmarker = (7\n % 4)",
        "!echo a \\\n  b\nmarker = 1",
        "%%html\nmarker = 1",
        "x = 1\nif x:\n    %time marker = 1\n",
    ],
)
def test_a_cell_defines_the_same_as_in_ipython(
    shell: InteractiveShell, run_cells: Make, cell: str, capfd: pytest.CaptureFixture[str]
) -> None:
    run = run_cells(cell, "def f():\n    return 'marker' in globals()")
    assert run.ask(request_of("f", []), 5.0)["value"] == leaves_a_name(shell, cell)


def test_a_cell_of_a_notebook_saved_as_a_file_defines_the_same(run_cells: Make) -> None:
    """`jupyter nbconvert --to script` writes each cell magic as a call with the cell as a string."""
    assert stand_ins.RUN_THE_BODY == RUN_THE_BODY
    timed = "get_ipython().run_cell_magic('time', '', 'def f():\\n    return K\\n%time K = 2\\n')\n"
    off = "get_ipython().run_cell_magic('script', 'false', 'def f():\\n    return 1\\n')\n"
    run = run_cells(timed + off, "from IPython import get_ipython\nget_ipython().run_line_magic('time', 'K = 3')")
    assert run.ask(request_of("f", []), 5.0)["value"] == 3


def test_a_definition_hidden_by_a_magic_is_explained() -> None:
    text = SourceText(Submission.of_cells("a.ipynb", ["x = 1", "%%script false\ndef f():\n    return 1"]), [])
    assert text.why_missing("f") == (
        "f is not defined: cell 2 begins with %%script, and Jupyter does not run what follows in the notebook. "
        "Take that line out."
    )
    assert "its f was not graded" in text.kept_out("f")


@pytest.mark.parametrize("magic", ["pyinstrument", "cython", "TIME"])
def test_unknown_magics_are_described_truthfully(magic: str) -> None:
    """`%%pyinstrument` runs its cell in Jupyter: formerly it was called a cell that Jupyter does not run."""
    text = SourceText(Submission.of_cells("a.ipynb", [f"%%time\n%%{magic}\ndef f():\n    return 1"]), [])
    why = f"cell 1 begins with %%{magic}, no magic of IPython's own, so the cell was not run here"
    assert text.why_missing("f") == f"f is not defined: {why}. Take that line out."
    assert text.kept_out("f") == f"{why}: its f was not graded."
