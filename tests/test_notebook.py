"""`check` in a notebook: points, cards, hints, and messages about names."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from notebook_runs import CHECK, KERNELS_OWN, RIGHT, SETUP, run

from autograder.authoring.rules.notebooks import short_of_full_points
from autograder.authoring.stubs import solved_notebook, stub_notebook
from autograder.learning import progress
from autograder.notebook import card, lesson
from autograder.notebook.check import in_vain
from autograder.notebook.feedback import Feedback
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow


HALF = "def relu_vjp(g, x):\n    return g * (x >= 0)"


@pytest.fixture(scope="module")
def outputs() -> list[Any]:
    sources = [
        SETUP,
        RIGHT,
        CHECK,
        "np.testing.assert_allclose = None",
        HALF,
        CHECK,
        "def relu_vjp(g, x):\n    return g",
        CHECK,
    ]
    hints = [f'check("add_vjp", hint={number})' for number in ('"1"', "-1", '"all"')]
    hints.append("check(hint=1)")
    sources += ['check("relu_vjp", hint=1)', 'check("nope")', "1 / 0\n", RIGHT, CHECK, 'lesson("ch99")']
    return run(*sources, *hints)


def test_full_points_are_a_number_with_feedback_around_it(outputs: list[Any]) -> None:
    assert outputs[2].data["text/plain"] == "2.0"
    assert "✓ passed</span> <b>relu_vjp</b>" in outputs[2].data["text/html"]
    assert "backprop solution ch06/relu_vjp" in outputs[2].data["text/html"]


def test_a_card_shows_the_model_solution_and_why_after_a_pass_and_not_before(outputs: list[Any]) -> None:
    why = html.escape(find_lesson("ch06_vjps").exercise("relu_vjp").why)
    passed, partial = outputs[2].data["text/html"], outputs[5].data["text/html"]
    _, _, opened = passed.partition("<summary")
    assert "The course" in opened
    assert opened.index("return (g * (x &gt; 0)).astype(x.dtype)") < opened.index(why)
    assert why not in partial
    assert "astype(x.dtype)" not in partial


def test_partial_points_are_a_number_too(outputs: list[Any]) -> None:
    assert 0 < float(outputs[5].data["text/plain"]) < 2
    assert "the mask is x &gt; 0" in outputs[5].data["text/html"]


def test_no_points_are_a_card_too(outputs: list[Any]) -> None:
    """It used to be a red traceback, which ended Run All if a cell had lost its tag."""
    assert outputs[7].output_type == "execute_result"
    assert outputs[7].data["text/plain"] == "0.0"
    page = outputs[7].data["text/html"]
    assert "✗ failed</span> <b>relu_vjp</b> <span>0 of 2 points, core" in page
    assert "g = np.array([" in page
    assert "This case as code, with every digit" in page
    assert page.count("<details") == 3, "the code and two hints, each of which opens where it stands"
    assert "<b>Hint 1 of 2.</b>" in outputs[8].data["text/html"]


def test_the_case_as_code_is_the_one_that_fails(outputs: list[Any]) -> None:
    (code,) = re.findall(r"every digit</summary><div[^>]*><pre[^>]*>([^<]*)</pre>", outputs[7].data["text/html"])
    made: dict[str, Any] = {}
    exec(html.unescape(code).replace("relu_vjp(g, x)", ""), made)
    assert made["g"].dtype == made["x"].dtype == "float64"
    assert (made["x"] <= 0).any(), "where x is negative the gradient is 0, and not g"


def test_how_a_check_went_is_kept_beside_its_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `backprop check` stores it, in the notebook's folder and nowhere else."""
    monkeypatch.chdir(tmp_path)
    run(SETUP, RIGHT, CHECK)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "ch06_vjps.ipynb").write_text("{}")
    run(SETUP, RIGHT, CHECK)
    exercise = find_lesson("ch06_vjps").exercise("relu_vjp")
    assert progress.read(tmp_path).passes(exercise)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    run(SETUP, HALF, CHECK)
    assert progress.read(tmp_path).passes(exercise)


def test_no_points_raise_for_nbgrader_without_a_traceback_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """nbgrader counts a cell that raises as 0, whatever follows the check."""
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    outputs = run(SETUP, "def relu_vjp(g, x):\n    return g", CHECK, 'check("nope")', "x = " + CHECK, HALF, CHECK)
    assert outputs[2].output_type == outputs[3].output_type == outputs[4].output_type == "error"
    text = "\n".join(outputs[2].traceback)
    assert "0 of 2 points" in text
    assert "File" not in text
    assert 0 < float(outputs[6].data["text/plain"]) < 2


def test_a_check_that_is_no_last_line_is_shown_all_the_same() -> None:
    """Only one of two checks in a cell used to be shown, and `points = check(…)` showed none."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(source)
            for source in (SETUP, RIGHT, f"points = {CHECK}", f"{CHECK};", f'{CHECK}\ncheck("add_vjp")')
        ]
    )
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute(stderr=KERNELS_OWN)
    shown = [
        [re.findall(r"<b>(\w+)</b>", output.data.get("text/html", "")) for output in cell.outputs]
        for cell in notebook.cells[2:]
    ]
    names = [[name for found in cell for name in found[:1]] for cell in shown]
    assert [sorted(one) for one in names] == [["relu_vjp"], ["relu_vjp"], ["add_vjp", "relu_vjp"]]


def test_a_lesson_that_nobody_has_begun_runs_from_its_top_to_its_end() -> None:
    """Every check used to be a red block, and the class stubs of two lessons ended the run."""
    notebook = stub_notebook(find_lesson("ch10_activation_memory"))
    for cell in notebook.cells:
        cell.metadata.pop("tags", None)  # JupyterLab's "raises-exception" is not what lets it go on
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute(stderr=KERNELS_OWN)
    pages = [
        output.data["text/html"]
        for cell in notebook.cells
        if cell.id.startswith("ch10-check-")
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    assert len(pages) == len(find_lesson("ch10_activation_memory").exercises)
    assert all("not written yet (" in page and "<pre" not in page for page in pages)


def test_check_alone_tells_where_the_lesson_stands() -> None:
    outputs = run(SETUP, RIGHT, "def add_vjp(g, a, b):\n    return g", "check()")
    words, page = outputs[3].data["text/plain"], outputs[3].data["text/html"]
    assert words.splitlines()[0] == f"VJPs, one op at a time: 2 of {find_lesson('ch06_vjps').points:g} points"
    assert re.search(r"^✓ relu_vjp +2/2  passed, core$", words, re.MULTILINE)
    assert re.search(r"^✗ add_vjp +0/3  failed, core$", words, re.MULTILINE)
    assert re.search(r"^○ max_vjp +0/3  not written yet, stretch$", words, re.MULTILINE)
    assert words.endswith('Go on with add_vjp: check("add_vjp")')
    assert page.count("<tr") == 1 + len(find_lesson("ch06_vjps").exercises)


def test_colours_can_be_read_in_a_light_and_in_a_dark_theme() -> None:
    """White on a badge's colour has a contrast of at least 4.5 to 1; all other text has the page's colour."""
    for _, color in card.BADGES.values():
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert 1.05 / (luminance + 0.05) >= 4.5, color
    exercise = find_lesson("ch06_vjps").exercise("relu_vjp")
    graded = {"name": "relu_vjp", "status": "failed", "points": 0, "max_points": 2, "message": "Wrong.\nf(x):\n  x = 1"}
    page = Feedback(exercise, {"exercises": [graded], "message": "", "code": "x = 1"}, 1)._repr_mimebundle_()[
        "text/html"
    ]
    assert set(re.findall(r"(?<!-)color:([^;']+)", page)) == {"#fff", "inherit"}
    assert set(re.findall(r"background(?:-color)?:([^;']+)", page)) == {card.BADGES["failed"][1], "none"}


@pytest.mark.parametrize(
    ("message", "said", "laid_out"),
    [
        ("One.", ["One."], []),
        ("One.\nf(x), a case:\n  x = 1", ["One."], ["f(x), a case:", "  x = 1"]),
        ("One.\n\ny: expected  1\n   got       2\nAnother check says: no.", ["One.", "Another check says: no."],
         ["", "y: expected  1", "   got       2"]),
        ("One.\nb = a + a:\n  x = 1\nAnother check says: no.\nf is not written yet.\nNo points: f is about how. Why.",
         ["One.", "Another check says: no.", "f is not written yet.", "No points: f is about how. Why."],
         ["b = a + a:", "  x = 1"]),
    ],
)  # fmt: skip
def test_what_is_laid_out_stays_so(message: str, said: list[str], laid_out: list[str]) -> None:
    assert card.split(message) == (said, laid_out)


def test_bad_names_get_one_clear_line(outputs: list[Any]) -> None:
    assert "has no exercise &#x27;nope&#x27;; it has add_vjp" in outputs[9].data["text/html"]
    assert "there is no lesson 'ch99'" in outputs[13].traceback[0]
    told = html.unescape(re.sub("<[^>]*>", "", outputs[17].data["text/html"]))
    assert told.startswith('Which exercise? check("add_vjp"), for example. All: add_vjp, ')


def test_a_lambda_may_be_handed_over_too() -> None:
    """It used to be shown without a name, because Jupyter takes '<lambda>' for a tag."""
    outputs = run(SETUP, "relu_vjp = lambda g, x: (g * (x > 0)).astype(x.dtype)", "check(relu_vjp)")
    assert outputs[2].data["text/plain"] == "2.0"


def test_a_cell_that_awaits_counts() -> None:
    awaits = "import asyncio\nawait asyncio.sleep(0)\n"
    outputs = run(SETUP, awaits + RIGHT, CHECK)
    assert outputs[2].data["text/plain"] == "2.0"
    assert "Note" not in outputs[2].data["text/html"]


def test_a_number_of_hints_may_be_written_as_one_likes(outputs: list[Any]) -> None:
    assert "<b>Hint 1 of 3.</b>" in outputs[14].data["text/html"]
    assert "<b>Hint" not in outputs[15].data["text/html"]
    told = html.unescape(outputs[16].data["text/html"])
    assert "'all' is no number of hints: check(\"add_vjp\", hint=1)" in told


def test_a_cell_that_ran_again_counts_as_it_last_was(outputs: list[Any]) -> None:
    assert outputs[12].data["text/plain"] == "2.0"


def test_what_to_do_about_a_cell_that_never_ends_is_said() -> None:
    """Every check used to wait ten seconds for an interrupted and deleted cell, without saying what to do."""
    said = in_vain("In [4] did not end within 10 seconds and was left out: each check runs it again.")
    assert said.startswith("Change In [4]")
    assert in_vain("In [4] took 3 s: each check runs it again.") == ""


def test_a_method_may_be_asked_for_by_itself() -> None:
    check = lesson("ch05_autograd_engine")

    def detach() -> None: ...

    detach.__qualname__ = "detach"  # as in a cell of its own
    assert (check._exercise_name(detach), check._exercise_name("detach"), check._exercise_name(len)) == (
        "Tensor.detach",
        "detach",
        "len",
    )
    check._judge.stop()


@pytest.mark.parametrize("slug", ["ch06_vjps", "ch07_mlp_backprop"])
def test_a_solved_notebook_passes_every_check(slug: str) -> None:
    notebook = solved_notebook(find_lesson(slug))
    NotebookClient(notebook, kernel_name="python3", timeout=120).execute(stderr=KERNELS_OWN)
    assert list(short_of_full_points(notebook)) == []
