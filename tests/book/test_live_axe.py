"""axe checks pages with exercises and live cells in a real browser, in both themes and on desktop and phone."""

from __future__ import annotations

import json

import pytest
from hostile_pages import notebook
from live_pages import Reader
from page_axe import LOOKS, findings, look

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

WRONG = "def relu_vjp(g, x):\n    return (g * (x >= 0)).astype(x.dtype)\n"


def test_a_page_at_work(reader: Reader) -> None:
    """A page with an answer that was checked and compared with the stub, and a cell that ended in an error.

    Nowhere else axe meets an open editor, a comparison, a card or an error's output: on a desktop and on a phone, in
    both themes.
    """
    reader.visit("ch06_vjps.html", 1440)
    reader.without_a_spare()
    reader.fill(reader.exercise("relu_vjp"), WRONG)
    assert "Hint 1 of" in reader.checked("relu_vjp")
    reader.press(reader.exercise("relu_vjp"), "Show changes")
    reader.until(f"Boolean(document.querySelector({reader.exercise('relu_vjp', '.cm-deletedChunk')!r}))")
    reader.js("document.querySelector(\"[class*='live-cell-']\").classList.add('first-live')")
    reader.fill(".first-live", "print('seen')\n1 / 0\n")
    reader.press(".first-live", "Run")
    reader.until("Boolean(document.querySelector('.first-live .live-error'))")
    found = {look_at: look(reader, *look_at) for look_at in LOOKS}
    assert {look_at: told for look_at, told in found.items() if told} == {}
    assert reader.complaints() == []


STORED = {
    "result:ch06_vjps/relu_vjp": {"status": "passed", "points": 2, "of": 2, "best": 2},
    "result:ch06_vjps/tanh_vjp": {"status": "failed", "points": 0, "of": 2, "best": 0, "hinted": True},
    "due:ch06_vjps/relu_vjp": {"due": 0, "log": [[0, 3]]},
    "section:ch06_vjps": "relu-a-mask",
    "last": {"lesson": "ch06_vjps", "exercise": "tanh_vjp"},
}
"""What a browser has stored of a reader who is under way."""


def test_a_page_of_a_reader_under_way(reader: Reader) -> None:
    """Marks, links to go on, the box at the end, the question before Load, and what is due today."""
    reader.visit("ch06_vjps.html", 1440, first=True)
    reader.js(
        f"for (const [key, value] of Object.entries({json.dumps(STORED)}))"
        " localStorage.setItem('backprop:' + key, JSON.stringify(value)); true"
    )
    quiz = reader.js("document.querySelector('.quiz[id]').id")
    choice = json.dumps({"first": True, "chosen": [0]})
    reader.js(f"localStorage.setItem('backprop:quiz:ch06_vjps/{quiz}', {choice!r}); true")
    found: dict[tuple[str, int, str], list[str]] = {}
    for page in ("ch06_vjps.html", "index.html", "due.html"):
        reader.open(f"{reader.address}/{page}", 1440)
        if page == "due.html":
            reader.until("Boolean(document.querySelector('.due-item .choice'))")
        elif page == "ch06_vjps.html":
            reader.fill(reader.exercise("add_vjp"), "# mine")
            theirs = notebook({"add_vjp": "# theirs"})
            reader.js(
                f"files = new DataTransfer(); files.items.add(new File([{json.dumps(theirs)}], 'theirs.ipynb'));"
                "input = document.querySelector('.page-progress input'); input.files = files.files;"
                "input.dispatchEvent(new Event('change')); true"
            )
            reader.until("Boolean(document.querySelector('.page-ask'))")
            assert reader.text(".go-on")
        reader.js("document.querySelectorAll('.page-progress details').forEach((one) => (one.open = true))")
        found |= {(page, *at): look(reader, *at) for at in LOOKS}
    reader.js("localStorage.clear()")
    assert {at: told for at, told in found.items() if told} == {}
    assert reader.complaints() == []


def test_a_fault_in_a_cell_is_found(reader: Reader) -> None:
    reader.visit("ch06_vjps.html", 1440)
    reader.js(
        "button = document.querySelector('.exercise .page-main');"
        "button.textContent = ''; button.removeAttribute('title'); true"
    )
    assert any(told.startswith("button-name (critical)") for told in findings(reader, reader.exercise("add_vjp")))
