"""*Check all*: checks what is written or was loaded, one after the other, and says how it went."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hostile_pages import RIGHT, WRONG, answers, impostor, load, notebook
from live_pages import Reader

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("emptied")]

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"
TANH = "def tanh_vjp(g, x):\n    return (g * (1 - np.tanh(x) ** 2)).astype(x.dtype)\n"
CHECKED = ".page-checked"
ROOT = Path(__file__).parents[2]


def test_what_was_loaded_is_checked_in_one_go(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    reader.without_a_spare()
    load(
        reader, notebook({"relu_vjp": RIGHT, "tanh_vjp": TANH, "sigmoid_vjp": "def sigmoid_vjp(g, y):\n    return g\n"})
    )
    assert reader.text(reader.exercise("relu_vjp", ".exercise-mark")) == ""  # loading runs nothing
    reader.press(".page-progress", "Check all 3")
    reader.until(f"/^Checked 3/.test(document.querySelector({CHECKED!r}).innerText)")
    assert reader.text(CHECKED) == "Checked 3: 2 passed, 1 not: sigmoid_vjp."
    assert reader.text(reader.exercise("tanh_vjp", ".exercise-mark")) == "✓ solved"
    assert reader.js("scrollY") == 0
    reader.fill(reader.exercise("relu_vjp"), WRONG)
    reader.press(".page-progress", "Check all")
    reader.until(f"document.querySelector({CHECKED!r}).innerText.startsWith('Checked 3: 1 passed, 2 not: relu_vjp')")
    reader.press(".page-progress", "Check all")
    reader.press(".page-progress", "Stop checking")
    reader.until(f"document.querySelector({CHECKED!r}).innerText.startsWith('Stopped after')")


def test_a_check_without_a_verdict_does_not_count_as_checked(reader: Reader, hold_checks: str) -> None:
    with impostor(reader):
        reader.visit(PAGE, first=True)
    reader.js(hold_checks)
    load(reader, notebook({"relu_vjp": RIGHT, "tanh_vjp": TANH}))
    answers(reader, {"done": 7})
    reader.press(".page-progress", "Check all 2")
    reader.until(f"document.querySelector({CHECKED!r}).innerText.includes('2 could not be checked: ')")
    assert reader.text(CHECKED) == "2 could not be checked: relu_vjp, tanh_vjp."
    reader.js("said = null; window.held = []; true")
    reader.press(reader.exercise("relu_vjp"), "Check")
    reader.until("held.length === 1")
    reader.press(".page-progress", "Check all")
    reader.js("release()")
    reader.until(f"document.querySelector({CHECKED!r}).innerText.includes('could')")
    assert reader.text(CHECKED) == "Checked 1: 0 passed, 1 not: tanh_vjp. 1 could not be checked: relu_vjp."

    load(reader, notebook({"relu_vjp": WRONG, "tanh_vjp": TANH}))
    reader.js("window.held = []; true")
    reader.press(".page-progress", "Check all")
    reader.until("held.length === 1")
    reader.press(".page-progress", "Check all 2")  # which begins no second round
    assert reader.js("Boolean(document.querySelector('.page-offer'))")
    reader.press(".page-progress", "Stop checking")
    reader.js("held = null; true")
    reader.until(f"document.querySelector({CHECKED!r}).innerText.startsWith('Stopped after')")
    assert reader.text(CHECKED) == "Stopped after 0 of 2."


def test_only_exercises_of_the_page_are_offered_to_check(reader: Reader) -> None:
    """`train` needs PyTorch, so it is only in the notebook."""
    made = json.loads((ROOT / "exercises" / "ch03_accumulation.ipynb").read_text(encoding="utf-8"))

    def with_answers(*names: str) -> str:
        cells = [
            cell | {"source": "# mine"} if cell["metadata"].get("exercise") in names else cell for cell in made["cells"]
        ]
        return json.dumps(made | {"cells": cells})

    reader.visit("ch03_accumulation.html", first=True)
    load(reader, with_answers("train"))
    assert reader.text(".page-offer") == ""
    load(reader, with_answers("train", "zero_grad", "backward"))
    reader.until("Boolean(document.querySelector('.page-offer'))")
    assert reader.text(".page-offer") == "Check all 2"
