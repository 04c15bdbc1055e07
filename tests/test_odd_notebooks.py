"""A class of odd hand-ins, one per student, graded by the real command: work counts, whatever surrounds it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import run_backprop
from small_results import a_result, write
from test_choice import PLACES, clone, untouched, worked

from autograder.nbgrader_course.folder import write_course
from autograder.workbook import copy_lessons

pytestmark = pytest.mark.slow

RELU = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
LESSON = "ch06_vjps"

OF_ONE_CELL = {
    "nbconvert": "#!/usr/bin/env python\n\n# In[1]:\n\n\nget_ipython().run_line_magic('matplotlib', 'inline')\n",
    "vs_code": "# %%\nfrom IPython import get_ipython\n\n# %%\nget_ipython().run_line_magic('load_ext', 'x')\n\n# %%\n",
    "rc_params": "import matplotlib.pyplot as plt\nplt.rcParams['figure.figsize'] = (8, 3)\nfig, ax = plt.subplots()\n",
    "colab": "from google.colab import drive\ndrive.mount('/content/drive')\n",
    "seaborn": "import seaborn as sns\nsns.set()\n",
    "chdir": "import os\nos.chdir('/home/ann/course')\n",
    "argparse": "import argparse\np = argparse.ArgumentParser()\np.add_argument('lr')\nargs = p.parse_args()\n",
    "tqdm": "from tqdm import tqdm\nfor i in tqdm(range(3)):\n    pass\n",
    "failed_assert": "assert abs(0.1 + 0.2 - 0.3) < 1e-20\n",
    "asks": "n = int(input('How many rows? '))\n",
    "device_first": "device = torch.device('cuda')\nimport numpy as np\n",
    "opens_a_file": "data = open('digits.csv').read()\nrows = data.splitlines()\nN = len(rows)\n",
    "wrong_below_an_error": "1 / 0\ndef relu_vjp(g, x):\n    return g\n",
    "no_python": "def relu_vjp(g, x:\n    return g\n",
    "path_of_a_plot": "import matplotlib.pyplot as plt\nimport os\nos.path.join(plt.title, 'a')\n",
    "later": "scale = LAST + 1\n",
    "times_a_line": "%time N = 3\n",
}
"""Code above a right function in the same cell; for two students the function is another one."""
WRONG = "def relu_vjp(g, x):\n    return g\n"
OFF_CELLS = {
    "script": "%%script false --no-raise-error\n",
    "writefile": "%%writefile old.py\n",
    "timeit": "%%timeit\n",
    "python3": "\n\n%%script python3\n",
    "bash": "%%bash\n",
    "unknown": "%%no_such_magic\n",
}
"""First lines of later cells that Jupyter does not run in the notebook's namespace."""
SAID = {
    "chdir": "raised FileNotFoundError",
    "argparse": "raised SystemExit: 2; what is defined below it was defined all the same",
    "failed_assert": "raised AssertionError: what is defined below it was defined all the same",
    "asks": "nobody answers input() when this is graded; write the value into the code",
    "device_first": "raised NameError: name 'torch' is not defined; what is defined below it",
    "opens_a_file": "raised FileNotFoundError",
    "wrong_below_an_error": "raised ZeroDivisionError",
    "no_python": "is not Python (SyntaxError",
    "path_of_a_plot": "not stand-in for a plot or a progress bar",
    "later": "name 'LAST' is not defined yet: cell 2, below, defines it",
}
"""The message about the error, by student."""


def the_class(folder: Path) -> None:
    for name, above in OF_ONE_CELL.items():
        below = "" if name in ("wrong_below_an_error", "no_python") else RELU
        file = folder / name / f"{LESSON}.{'py' if name in ('nbconvert', 'vs_code') else 'ipynb'}"
        file.parent.mkdir(parents=True)
        file.write_text(above + below if file.suffix == ".py" else notebook(above + below, "LAST = 2"))
    for name, above in OFF_CELLS.items():
        (folder / name).mkdir()
        (folder / name / f"{LESSON}.ipynb").write_text(notebook(RELU, above + WRONG))
    (folder / "only_off").mkdir()
    (folder / "only_off" / f"{LESSON}.ipynb").write_text(notebook("%%script false\n" + RELU))
    (folder / "newer_python").mkdir()
    newer = 'def named(d):\n    return f"{d["name"]}"\n'
    (folder / "newer_python" / f"{LESSON}.ipynb").write_text(notebook(newer + RELU))
    (folder / "signed_out").mkdir()
    (folder / "signed_out" / f"{LESSON}.ipynb").write_text("<!DOCTYPE html>\n<html><title>Sign in</title></html>\n")
    (folder / "marimo").mkdir()
    marimo = "import marimo\n\n__generated_with = '0.19.0'\napp = marimo.App()\n\n\n@app.function\n"
    (folder / "marimo" / f"{LESSON}.py").write_text(marimo + RELU)
    for when, answer in (("2027_03_01T10_00_00_123456", WRONG), ("2027_03_02T09_00_00_000001", RELU)):
        of_otter(folder / "otter" / f"ch06_vjps_{when}.zip", answer)
    right = "return (g * (x > 0)).astype(x.dtype)"
    stub = relu_first(folder.parent / "stub.ipynb")
    for name, git in (("cloned", True), ("downloaded", False)):
        copy_lessons(clone(folder / name, git=git) / "my-work", "ipynb")
        worked(folder / name / "my-work" / f"{LESSON}.ipynb", stub, with_what=right)
    clone(folder / "cloned_without_exercises", without=("exercises",))
    worked(folder / "cloned_without_exercises" / "mine.ipynb", stub, with_what=right)
    clone(folder / "only_cloned")
    for name in ("partner_one", "partner_two"):
        untouched(folder / name / f"{LESSON}.ipynb")
        (folder / name / ".git").mkdir()
        worked(folder / name / "src" / f"{LESSON}.ipynb", stub, with_what=right)
    untouched(folder / "final" / f"{LESSON}.ipynb")
    worked(folder / "final" / f"{LESSON}_FINAL.ipynb", stub, with_what=right)
    untouched(folder / "untouched" / f"{LESSON}.ipynb")
    untouched(folder / "of_the_course" / "ch03_accumulation.py", PLACES.source("ch03_accumulation"))


def notebook(*sources: str) -> str:
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    return json.dumps({"cells": cells, "nbformat": 4})


def of_otter(file: Path, answer: str) -> None:
    """A zip as Otter's `Notebook.export` makes it."""
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr("__zip_filename__", file.name)
        zipped.writestr("ch06_vjps.ipynb", notebook(answer))
        zipped.writestr("ch06_vjps.pdf", b"%PDF-1.7")
        zipped.writestr(".OTTER_LOG", b"\x80")


def relu_first(file: Path) -> Path:
    """A file with the stub of a single exercise, the first that `worked` finds."""
    notebook = json.loads(PLACES.notebook(LESSON).read_text())
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["metadata"].get("exercise") == "relu_vjp"]
    file.write_text(json.dumps(notebook))
    return file


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The class, graded by the command."""
    folder = tmp_path_factory.mktemp("odd")
    the_class(folder / "class")
    return folder, run_backprop("grade", "class", "--out", "res", cwd=folder)


def result(folder: Path, student: str, lesson: str = LESSON) -> dict[str, object]:
    return dict(json.loads((folder / "res" / "students" / student / f"{lesson}.json").read_text()))


def relu(found: dict[str, object]) -> str:
    (status,) = [one["status"] for one in found["exercises"] if one["name"] == "relu_vjp"]  # type: ignore[attr-defined]
    return str(status)


Graded = tuple[Path, subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("student", OF_ONE_CELL)
def test_what_stands_above_a_function_does_not_lose_it(graded: Graded, student: str) -> None:
    """It used to lose all code below it: 0 of 63 points."""
    found = result(graded[0], student)
    expected = {"wrong_below_an_error": "failed", "no_python": "error"}.get(student, "passed")
    assert relu(found) == expected, found["message"]
    told = json.dumps(found, ensure_ascii=False)
    assert SAID.get(student, "") in told, "an error is said all the same"
    if student not in SAID:
        assert " raised " not in told


@pytest.mark.parametrize(
    ("student", "remark"),
    [
        ("cloned", "'my-work/ch06_vjps.ipynb' was graded."),
        ("downloaded", "'my-work/ch06_vjps.ipynb' was graded."),
        ("cloned_without_exercises", "'mine.ipynb' was graded as ch06_vjps, by the exercises in it."),
        ("partner_one", "'src/ch06_vjps.ipynb' was graded; 'ch06_vjps.ipynb' was handed in, too."),
        ("partner_two", "'src/ch06_vjps.ipynb' was graded; 'ch06_vjps.ipynb' was handed in, too."),
        ("final", "'ch06_vjps_FINAL.ipynb' was graded; 'ch06_vjps.ipynb' was handed in, too."),
    ],
)
def test_work_is_graded_and_not_the_template(graded: Graded, student: str, remark: str) -> None:
    found = result(graded[0], student)
    assert (relu(found), remark in str(found["message"])) == ("passed", True), found["message"]
    assert len(list((graded[0] / "res" / "students" / student).iterdir())) == 1, (
        "the course's own files are no hand-ins"
    )


@pytest.mark.parametrize("student", OFF_CELLS)
def test_a_cell_that_jupyter_keeps_out_of_the_notebook_overrides_nothing(graded: Graded, student: str) -> None:
    """Its code used to be run and reported as wrong: 10 of 14 points for a right answer."""
    found = result(graded[0], student)
    assert relu(found) == "passed", found["message"]
    magic = OFF_CELLS[student].split()[0]
    why = "and Jupyter does not run what follows in the notebook"
    if student == "unknown":
        why = "no magic of IPython's own, so the cell was not run here"
    assert found["message"] == f"cell 2 begins with {magic}, {why}: its relu_vjp was not graded."


def test_a_hand_in_that_cannot_run_here_is_told_why(graded: Graded) -> None:
    def told(student: str) -> str:
        return json.dumps(result(graded[0], student), ensure_ascii=False)

    assert "cell 1 begins with %%script, and Jupyter does not run what follows in the notebook. Take" in told(
        "only_off"
    )
    if sys.version_info < (3, 12):
        assert "cell 1, line 2 needs Python 3.12 or newer, and work is graded with 3.11" in told("newer_python")
        assert relu(result(graded[0], "newer_python")) == "passed", "what else is in the cell was lost with one line"
    assert "this is a web page, as one to sign in, and no notebook" in told("signed_out")
    assert "'marimo export ipynb FILE.py -o FILE.ipynb'" in told("marimo")


def test_of_two_zips_of_otter_the_later_counts_and_nothing_in_them_is_a_row(graded: Graded) -> None:
    folder, done = graded
    found = result(folder, "otter")
    assert relu(found) == "passed", found["message"]
    assert found["message"] == "It was handed in 2 times; the last counts."
    rows = [line for line in done.stderr.splitlines() if line.startswith("backprop: ")]  # others tell the progress
    assert not any("otter" in row for row in rows)


def test_what_is_not_worked_on_is_said(graded: Graded) -> None:
    folder, done = graded
    assert done.returncode == 3
    assert "only_cloned/.: nothing in it but the course's own files: no exercise is worked on" in done.stderr
    assert not (folder / "res" / "students" / "only_cloned").exists()
    assert result(folder, "untouched")["points"] == 0
    told = str(result(folder, "of_the_course", "ch03_accumulation")["message"])
    assert told == "ch03_accumulation.py is the course's own solution, byte for byte."


def test_what_else_was_handed_in_is_said_when_it_comes_later(graded: Graded) -> None:
    folder, _ = graded
    worked(folder / "class" / "chdir" / "old" / "ch06.ipynb")
    again = run_backprop("grade", "class", "--out", "res", cwd=folder)
    assert again.returncode == 3
    assert "'ch06_vjps.ipynb' was graded; 'old/ch06.ipynb' was handed in, too." in str(
        result(folder, "chdir")["message"]
    )


def test_a_notebook_without_ids_is_shown_and_no_library_warns_the_teacher(tmp_path: Path) -> None:
    """nbformat's MissingIDFieldWarning, with its path and a line of source, used to appear on the terminal."""
    new, _ = write_course(tmp_path / "course", [LESSON])
    notebook = json.loads(new[-1].read_text())
    for cell in notebook["cells"]:
        del cell["id"]
    handed_in = tmp_path / "course" / "submitted" / "ann" / LESSON / f"{LESSON}.ipynb"
    handed_in.parent.mkdir(parents=True)
    handed_in.write_text(json.dumps(notebook))
    told = replace(a_result("ann"), sha256=hashlib.sha256(handed_in.read_bytes()).hexdigest())
    results = write(tmp_path / "results", told)
    args = ("report", results, "--format", "nbgrader", "--gradebook", tmp_path / "course")
    done = run_backprop(*args, cwd=tmp_path)
    assert (done.returncode, "Warning" in done.stderr) == (0, False), done.stderr
    assert (tmp_path / "course" / "autograded" / "ann" / LESSON / f"{LESSON}.ipynb").is_file()
