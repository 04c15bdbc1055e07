"""A newcomer's first hour with a notebook: missing packages, a new kernel, output that is cut off."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from PIL import Image
from typer.testing import CliRunner

from autograder.authoring.stubs import HOW
from autograder.collection import with_judge
from autograder.commands import app
from autograder.diagnosis.case import render_case
from autograder.isolation import Workers, packages
from autograder.judging.explaining.shown_case import call_shown
from autograder.judging.records.results import ExerciseResult
from autograder.judging.session import Judge
from autograder.notebook import server
from autograder.notebook.feedback import Feedback
from autograder.notebook.missing import explain, for_a_cell
from autograder.places import Places
from autograder.sections import with_links
from autograder.submission import Submission, read_submission
from course.published import Published
from course.syllabus import find_lesson

NOWHERE = Published("", "")


@pytest.fixture
def shell() -> Any:
    """A separate IPython shell, without state of this process."""
    return InteractiveShell()


def test_a_missing_package_is_one_line_with_a_command(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Formerly a traceback, in the second cell that a newcomer ran in ch04."""
    explain(shell, ["no_such_torch"])
    result = shell.run_cell("import no_such_torch.nn")
    assert isinstance(result.error_in_exec, ModuleNotFoundError), "Run All ends here, as it did"
    told = capsys.readouterr().out.strip().split("\n")
    assert told == [
        "no_such_torch is not installed. Run this in a cell of your own, and then this cell again:",
        "  %pip install no_such_torch",
    ]


def test_other_missing_modules_are_reported_as_by_python(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    explain(shell, ["no_such_torch"])
    shell.run_cell("import nothing_of_ours")
    assert "Traceback" in capsys.readouterr().out


@pytest.mark.parametrize(
    "said",
    [
        f"ch04_detachment needs torch: {packages.how_to_install('torch')}",
        f"f cannot be graded here: torch is needed and not installed; {packages.how_to_install('torch')}.",
    ],
)
def test_the_command_for_a_missing_package_can_be_run_in_a_cell(said: str) -> None:
    """Formerly it was a terminal command, followed by a full stop that pip refuses."""
    sentence, line = for_a_cell(said).split("\n")
    assert sentence.endswith(". Run this in a cell of your own, and then the check again:")
    assert line == f"  %{packages.how_to_install('torch')}"


def test_an_untouched_exercise_without_its_package_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formerly a red line in a NumPy lesson, although its reader had written nothing."""
    lesson = find_lesson("ch01_computation_graph")
    there = packages.installed
    monkeypatch.setattr(packages, "installed", lambda package: () if package == "torch" else there(package))
    stub = read_submission(Places().notebook(lesson.slug)).cells
    begun = "def read_torch_graph(loss):\n    return [loss]"

    def ask(judge: Judge) -> list[ExerciseResult]:
        workers, found = Workers(lesson, "process"), []
        try:
            for cells in ([cell.source for cell in stub], [*(cell.source for cell in stub), begun]):
                result = server.graded(judge, Submission.of_cells("cells", cells), workers, ["read_torch_graph"])
                found += result.exercises
        finally:
            workers.stop()
        return found

    calm, lacking = with_judge(lesson, ask)
    assert calm.status == "missing"
    assert calm.message.startswith("read_torch_graph is not written yet, and cannot be graded here: torch is needed")
    assert lacking.status == "error"


def test_a_judge_that_lacks_a_package_says_so_once_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formerly it repeated this even after an installation; the next request must start a new judge."""
    answers: list[dict[str, Any]] = []
    requests = iter(['{"number": 1}\n', '{"number": 2}\n'])
    monkeypatch.setattr(server, "with_judge", mock.Mock(side_effect=server.IsolationError("it needs torch")))
    monkeypatch.setattr(server, "_tell", lambda _, answer: answers.append(answer))
    monkeypatch.setattr(server.sys, "argv", ["server", "ch04_detachment"])
    standard_input = SimpleNamespace(readline=lambda: next(requests, ""), __iter__=lambda self: requests)
    monkeypatch.setattr(server.sys, "stdin", standard_input)
    server.main()
    assert answers == [{"number": 1, "error": "it needs torch"}]


def test_packages_installed_while_a_judge_runs_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert packages.installed("backprop-late") == ()
    (tmp_path / "late").mkdir()
    found = SimpleNamespace(files=[Path("late/__init__.py")], locate_file=lambda top: tmp_path / top, requires=[])
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: found)
    try:
        assert packages.installed("backprop-late") == (tmp_path / "late",)
    finally:
        packages._installed.cache_clear()


def test_the_first_message_says_what_to_do_in_a_new_kernel() -> None:
    assert "`check` is not defined" in HOW
    assert "run the notebook's first cell" in HOW


def test_a_command_that_shows_a_section_is_a_paragraph_of_its_own() -> None:
    """Formerly it followed the sentence before it, and was broken at the line's end."""
    section = "[Chapter section](../book/ch06_vjps.md#ch06-relu-vjp)"
    apart = "Return `dx`.\n\nChapter section: `backprop read ch06/relu_vjp`"
    assert with_links(f"Return `dx`.\n{section}", NOWHERE) == apart
    assert with_links(f"Return `dx`.\n\n{section}", NOWHERE) == apart
    inside = "NumPy only.\nRead [the chapter](../book/ch06_vjps.md) along."
    assert "\n\n" not in with_links(inside, NOWHERE)


def test_a_program_that_fits_in_one_line_is_shown_as_a_program() -> None:
    """Formerly it was a text with a literal backslash and n."""
    many = [(name, 1.0) for name in "abcdefgh"]
    shown = render_case("", [("code", "y = a * b\ny.backward()"), *many], [], case="a product", height=5)
    assert "  code = y = a * b; y.backward()" in shown.split("\n")
    shown = render_case("", [("code", "for a in b:\n    a"), *many], [], case="a loop", height=5)
    assert r"  code = 'for a in b:\n    a'" in shown.split("\n")


def test_a_case_with_nothing_below_it_is_a_sentence() -> None:
    """Formerly it was a heading, `a generator of 4 losses:`, with nothing below it."""
    no_call: Any = None
    assert call_shown(no_call, [], no_call, no_call, 9, case="4 losses") == ["This was on: 4 losses."]


def test_the_picture_of_a_card_shows_all_of_it() -> None:
    """Formerly its left line ended behind the status bar, and so did the card's last words."""
    picture = np.asarray(Image.open(Places().root / "docs" / "pictures" / "notebook.png").convert("RGB")).astype(int)
    red = (picture[..., 0] > 150) & (picture[..., 1] < 60) & (picture[..., 2] < 60)
    below = len(picture) - np.flatnonzero(red[:, :250].any(axis=1)).max()
    assert below > 50, "the status bar is 36 pixels high"


def test_names_in_a_section_have_no_background_of_their_own() -> None:
    """Formerly they had a black background, which hid them in a light theme."""
    colours = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    shown = CliRunner().invoke(app, ["read", "--no-browser", "ch01/forward"], env=colours, color=True).output
    styles = re.findall(r"\x1b\[([\d;]+)m[^\x1b]*course\.graph", shown)
    assert styles
    assert all("40" not in style.split(";") for style in styles)


@pytest.mark.slow
def test_an_untouched_program_is_not_a_red_block() -> None:
    """Formerly Run All on the fresh notebook of ch12 gave a dozen red blocks."""
    lesson = find_lesson("ch12_debugging")
    stub = [cell.source for cell in read_submission(Places().notebook(lesson.slug)).cells]
    touched = [cell.replace("losses.append(loss.item())", "losses.append(float(loss))") for cell in stub]

    def ask(judge: Judge) -> list[ExerciseResult]:
        workers, found = Workers(lesson, "process"), []
        try:
            for cells in (stub, touched):
                found += server.graded(judge, Submission.of_cells("cells", cells), workers, ["fix_01"]).exercises
        finally:
            workers.stop()
        return found

    calm, failing = with_judge(lesson, ask, only="fix_01")
    assert calm.status == "missing"
    assert calm.message.startswith("fix_01 is as it was handed out.\nThe program does what it did")
    assert failing.status == "failed"
    shown = Feedback(lesson.exercise("fix_01"), {"exercises": [calm.__dict__], "message": ""}, 0)
    line, _, rest = shown._repr_mimebundle_()["text/html"].partition("</div>")
    assert re.sub("<[^>]+>", "", line).startswith("○ fix_01: as it was handed out (core, 2 points).")
    assert rest.startswith("<details")
    assert "The program does what it did" in rest
