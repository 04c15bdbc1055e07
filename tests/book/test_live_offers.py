"""Further features of pages with live code: showing changes, progress, a notebook, and one line for an error."""

from __future__ import annotations

import json

import pytest
from live_pages import Reader, Server

from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
CELL = ".first-live"


def mark(reader: Reader) -> None:
    reader.js("document.querySelector(\"[class*='live-cell-']\").classList.add('first-live')")


def fetched(reader: Reader, name: str) -> bool:
    asked = [event["params"] for event in reader.events if event.get("method") == "Network.requestWillBeSent"]
    return any(f"/{name}" in one["request"]["url"] for one in asked)


def test_who_begins_to_write_replaces_the_stub(reader: Reader) -> None:
    reader.visit(PAGE)
    tanh = reader.exercise("tanh_vjp")
    reader.press(tanh, "Write")
    reader.until("document.activeElement.classList.contains('cm-content')")
    reader.call("Input.insertText", text="return g * (1 - np.tanh(x) ** 2)")
    written = reader.text(reader.exercise("tanh_vjp", ".cm-content"))
    assert "raise" not in written
    assert "return g * (1 - np.tanh(x) ** 2)" in written
    assert "def tanh_vjp(g, x" in written
    reader.press(tanh, "Reset")


def test_line_numbers_cover_code_that_is_scrolled_sideways(reader: Reader) -> None:
    reader.visit(PAGE, 390)
    reader.fill(reader.exercise("tanh_vjp"), f"def tanh_vjp(g, y):\n    return {' + '.join(['g'] * 60)}\n")
    gutter = reader.exercise("tanh_vjp", ".cm-gutters")
    ink = reader.js(f"getComputedStyle(document.querySelector({gutter!r})).backgroundColor")
    assert ink == reader.js(
        f"getComputedStyle(document.querySelector({gutter!r}).closest('.cm-editor')).backgroundColor"
    )
    assert ink.startswith("rgb("), "not transparent"
    reader.js("localStorage.clear()")


def test_changes_are_shown_when_somebody_asks(reader: Reader) -> None:
    reader.visit(PAGE)
    relu = reader.exercise("relu_vjp")
    assert "Show changes" not in reader.text(relu)
    reader.fill(relu, RIGHT)
    assert not fetched(reader, "_static/page/difference-")
    reader.press(relu, "Show changes")
    deleted = reader.exercise("relu_vjp", ".cm-deletedChunk")
    reader.until(f"Boolean(document.querySelector({deleted!r}))")
    assert fetched(reader, "_static/page/difference-")
    assert "NotImplementedError" in reader.text(deleted)
    assert "astype" not in reader.text(deleted)
    reader.press(relu, "Hide changes")
    reader.until(f"!document.querySelector({deleted!r})")
    assert "astype" in reader.text(reader.exercise("relu_vjp", ".cm-content"))
    reader.press(relu, "Show changes")
    reader.press(relu, "Reset")
    reader.until(f"!document.querySelector({deleted!r})")
    assert "NotImplementedError" in reader.text(reader.exercise("relu_vjp", ".cm-content"))


def test_changes_are_those_since_the_check_and_since_the_pass(reader: Reader, emptied: None) -> None:
    """A reader who has written on wants to see that, not again how the answer differs from the stub."""
    reader.visit(PAGE)
    relu = reader.exercise("relu_vjp")
    deleted = reader.exercise("relu_vjp", ".cm-deletedChunk")

    def shown_as(since: str) -> str:
        reader.press(relu, f"Show changes{since}")
        reader.until(f"Boolean(document.querySelector({deleted!r}))")
        found = reader.text(deleted)
        reader.press(relu, f"Hide changes{since}")
        reader.until(f"!document.querySelector({deleted!r})")
        return found

    wrong = RIGHT.replace("x > 0", "x >= 0")
    assert wrong != RIGHT
    reader.fill(relu, wrong)
    reader.checked("relu_vjp")
    assert "NotImplementedError" in shown_as("")  # nothing was written since
    reader.fill(relu, RIGHT)
    assert "x >= 0" in shown_as(" since the check")
    reader.checked("relu_vjp")
    reader.until(f"document.querySelector({reader.exercise('relu_vjp')!r}).dataset.status === 'passed'")
    assert "x >= 0" not in shown_as("")
    reader.fill(relu, RIGHT.replace("x > 0", "x < 0"))
    assert "x > 0" in shown_as(" since it passed")


def test_the_side_bar_says_how_far_one_is_on_every_page(reader: Reader) -> None:
    reader.visit(PAGE)
    result = json.dumps({"status": "passed", "points": 2, "of": 2, "best": 2})
    reader.js(f"localStorage.setItem('backprop:result:ch06_vjps/relu_vjp', {result!r}); true")
    exercises = len(find_lesson("ch06_vjps").exercises)
    for page in (PAGE, "index.html"):
        reader.visit(page)
        marks = reader.js("[...document.querySelectorAll('.bd-links .page-nav')].map((one) => one.innerText)")
        assert marks.count(f"1/{exercises}") == 1, page
        title = reader.js("[...document.querySelectorAll('.bd-links .page-nav')].find((one) => one.innerText).title")
        assert title.startswith(f"1 of {exercises} solved, 2 of ")
    reader.js("localStorage.removeItem('backprop:result:ch06_vjps/relu_vjp'); true")


def test_the_page_is_there_as_a_notebook(reader: Reader) -> None:
    reader.visit(PAGE)
    link = "document.querySelector('#page-notebook a[download]')"
    made = reader.js(f"fetch({link}.href).then((answer) => answer.json())")
    text = "".join(
        cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"]) for cell in made["cells"]
    )
    assert "torch.manual_seed(6)" in text
    assert "{glue:text}" not in text
    assert "[…]" not in text  # numbers are those of the build
    assert ".venv/bin/jupyter lab book/ch06_vjps_chapter.ipynb" in reader.text("#page-notebook")
    notes = "[...document.querySelectorAll('.live-elsewhere')]"
    assert reader.js(f"{notes}.length") > 5
    assert reader.js(f"{notes}.every((one) => one.querySelector('a').getAttribute('href') === '#page-notebook')")


def test_a_cell_that_asks_and_one_that_calls_itself_end_in_one_line(reader: Reader) -> None:
    reader.visit(PAGE)
    mark(reader)
    for code, said in (
        ("input('Name? ')\n", "EOFError: a page cannot ask with input(); write the value into the code"),
        ("def f(x):\n    return f(x)\n\nf(1)\n", "RecursionError: maximum recursion depth exceeded"),
        ("import matplotlib\n", "This cell needs Matplotlib, which this page does not have"),
        ("print('here again')\n", "here again"),
    ):
        reader.fill(CELL, code)
        reader.press(CELL, "Run")
        whole = f"document.querySelector({CELL!r}).innerText"
        reader.until(f"{whole}.includes({said!r})")
        if "Matplotlib" in said:
            assert reader.text(f"{CELL} .live-out") == "", "the output of the cell that ran before"
            reader.js(f"document.querySelector({CELL + ' .page-line a'!r}).click()")
            assert reader.js("location.hash + document.querySelector(location.hash).innerText").count("notebook") > 1
            assert reader.js("document.querySelector('#page-notebook').open !== false")
    reader.press(CELL, "Reset")


def test_a_page_that_was_never_opened_says_so_offline(reader: Reader, server: Server) -> None:
    reader.remain(PAGE)
    mark(reader)
    reader.fill(CELL, "print('Python was here')")
    reader.press(CELL, "Run")
    reader.until(f"document.querySelector({CELL + ' .live-out'!r})?.innerText.includes('Python was here')")
    reader.js("navigator.serviceWorker.ready.then(() => true)")
    server.gone = True
    try:
        reader.open(f"{reader.address}/never-opened.html")
        told = reader.text("body")
    finally:
        server.gone = False
    assert "never opened in this browser" in told
    assert "ch06_vjps" in told
