"""Exercises and code in the pages of the built book: a real browser, a plain file server, and no other host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from live_pages import Reader, Server, plain_server
from widget_pages import contrast

from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
PAGE = "ch06_vjps.html"
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
SIGMOID = "def sigmoid_vjp(g, x):\n    s = 1 / (1 + np.exp(-np.abs(x)))\n    return (g * s * (1 - s)).astype(x.dtype)\n"
WRONG = "def relu_vjp(g, x):\n    return (g * (x >= 0)).astype(x.dtype)\n"
CELL = ".first-live"
"""The first cell of the page that can run."""
OWN = "Loaded 1 answer, and 1 cell of your own of mine.ipynb."
LOOP = "n = 0\nwhile True:\n    n += 1\n    if n % 100_000 == 0:\n        print(n)\n"


def requests(reader: Reader) -> list[str]:
    asked = [event["params"] for event in reader.events if event.get("method") == "Network.requestWillBeSent"]
    return [one["request"]["url"] for one in asked]


def test_nothing_of_python_is_fetched_before_it_is_asked_for(reader: Reader) -> None:
    reader.visit(PAGE)
    own = [url.rpartition("/")[2] for url in requests(reader) if "/_static/page/" in url]
    assert {re.sub(r"-\w+(?=\.js)|\?.*", "", name) for name in own} == {
        "cells.css",
        "cells.js",
        "chunk.js",
        "sidebar.js",
    }
    assert not reader.js(
        f"document.querySelectorAll({reader.exercise('relu_vjp', 'button:not([hidden])')!r}).length === 0"
    )


def test_a_check_waits_for_the_answers_to_its_own_exercise_alone(live_book: Path, tmp_path: Path) -> None:
    with plain_server(live_book) as server:
        reader = Reader(tmp_path, server)
        try:
            reader.visit(PAGE)
            reader.fill(reader.exercise("relu_vjp"), RIGHT)
            reader.checked("relu_vjp")
            asked = [address.rpartition("/")[2] for address in server.asked if address.endswith(".book")]
        finally:
            reader.close()
    assert asked == ["relu_vjp.book"]


def test_a_wrong_answer_and_a_right_one_as_the_command_tells_them(reader: Reader, tmp_path: Path) -> None:
    reader.visit(PAGE)
    reader.without_a_spare()
    reader.fill(reader.exercise("relu_vjp"), WRONG)
    card = reader.checked("relu_vjp")
    told = [line for line in card.splitlines() if line][1]
    assert told == as_the_command(reader, tmp_path)
    assert "Hint 1 of" in card
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    card = reader.checked("relu_vjp")
    assert "passed" in card
    assert "2 of 2 points" in card
    assert "solved" in reader.text(reader.exercise("relu_vjp", ".exercise-mark"))
    assert f"1 of {len(find_lesson('ch06_vjps').exercises)} solved, 2 of" in reader.text(".page-progress")
    assert reader.complaints() == []


def test_keys_alone(reader: Reader) -> None:
    reader.remain(PAGE)
    at = reader.exercise("sigmoid_vjp", "button")
    reader.js(f"[...document.querySelectorAll({at!r})].find((one) => /rit/.test(one.textContent)).focus()")
    reader.key("Enter", 13)
    reader.until("document.activeElement.classList.contains('cm-content')")
    reader.chord("a", 2, "selectAll")
    reader.call("Input.insertText", text=SIGMOID)
    reader.key("Tab", 9)
    assert "cm-content" in reader.focused()  # it indents
    reader.key("Escape", 27)
    reader.key("Tab", 9)
    assert "cm-content" not in reader.focused()
    reader.js(f"document.querySelector({reader.exercise('sigmoid_vjp', '.cm-content')!r}).focus()")
    reader.chord("Enter", 2, code=13)
    reader.until(
        f"document.querySelector({reader.exercise('sigmoid_vjp', '.exercise-card')!r}).innerText.includes('passed')"
    )


@pytest.mark.parametrize("editor", ["exercise", "scratch", "cell"])
def test_every_printable_key_is_typed(reader: Reader, editor: str) -> None:
    """Sphinx's script took the key `/` for the search, so that nobody could type a division."""
    reader.remain(PAGE)
    exercise, scratch = reader.exercise("tanh_vjp"), reader.exercise("tanh_vjp", ".exercise-scratch")
    reader.js(f"document.querySelector({scratch!r}).open = true")
    reader.js("document.querySelector(\"[class*='live-cell-']\").classList.add('first-live')")
    selector = {"exercise": exercise, "scratch": scratch, "cell": CELL}[editor]
    reader.fill(selector, "")
    keys = "".join(map(chr, range(32, 127)))
    reader.type(f"x = 1 / 2  # {keys}")
    typed = reader.text(f"{selector} .cm-content").replace("\xa0", " ")
    assert "1 / 2" in typed
    assert set(keys) - {" "} <= set(typed)
    reader.fill(selector, "")
    reader.type('"""Says what it does."""')
    assert reader.text(f"{selector} .cm-content") == '"""Says what it does."""'


def test_storage_that_is_refused_loses_nothing_that_is_on_the_page(reader: Reader) -> None:
    reader.remain(PAGE)
    full = "throw new DOMException('', 'QuotaExceededError')"
    reader.js(f"window.keeps = Storage.prototype.setItem; Storage.prototype.setItem = () => {{ {full}; }}; true")
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    assert "passed" in reader.checked("relu_vjp")
    assert "storage is full" in reader.text(reader.exercise("relu_vjp", ".page-line"))
    reader.js("Storage.prototype.setItem = keeps; true")


def test_offline_from_the_first_time_on(reader: Reader, server: Server) -> None:
    reader.remain(PAGE)
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    assert "passed" in reader.checked("relu_vjp")
    reader.js("navigator.serviceWorker.ready.then(() => true)")
    for name in ("tanh_vjp", "attention_vjp"):  # fetched once the reader rests
        reader.until(f"caches.match('_static/page/ch06_vjps/{name}.book').then(Boolean)", 20)
    server.gone = True
    try:
        reader.visit(PAGE)
        reader.without_a_spare()
        assert "passed" in reader.checked("relu_vjp")
        reader.fill(reader.exercise("tanh_vjp"), "def tanh_vjp(g, y):\n    return g * (1 - y)\n")
        assert "0 of 2 points" in reader.checked("tanh_vjp")
        reader.js("localStorage.removeItem('backprop:draft:ch06-tanh_vjp')")
    finally:
        server.gone = False


def test_run_an_error_and_stop(reader: Reader) -> None:
    reader.remain(PAGE)
    reader.js("document.querySelector(\"[class*='live-cell-']\").classList.add('first-live')")
    reader.fill(CELL, "import numpy as np\nprint('hello', np.arange(3))\n1 / 0\n")
    reader.press(CELL, "Run")
    reader.until(f"Boolean(document.querySelector({CELL + ' .live-error'!r}))")
    said = reader.text(f"{CELL} .live-out")
    assert said.splitlines() == [
        "hello [0 1 2]",
        "Traceback (most recent call last):",
        '  File "this cell", line 3, in <module>',
        "    1 / 0",
        "    ~~^~~",
        "ZeroDivisionError: division by zero",
    ]
    reader.fill(CELL, LOOP)
    reader.press(CELL, "Run")
    reader.until(f"document.querySelector({CELL + ' .live-out'!r}).innerText.includes('200000')")
    reader.press(CELL, "Stop")
    reader.until(f"document.querySelector({CELL + ' .live-error'!r})?.innerText.includes('Stopped')")
    assert "while True" in reader.text(f"{CELL} .cm-content")
    reader.press(CELL, "Reset")
    reader.press(CELL, "Run")  # another interpreter, which runs what this cell needs
    reader.until(f"!document.querySelector({CELL + ' .live-tools button'!r}).hidden")
    assert "Error" not in reader.text(f"{CELL} .live-out")


def saved_work(reader: Reader) -> str:
    """The notebook that "Save my work" writes."""
    take = "(blob) => (blob.text().then((text) => (saved = text)), 'about:blank')"
    reader.js(f"window.saved = null; URL.createObjectURL = {take}; true")
    reader.js("HTMLAnchorElement.prototype.click = () => {}; true")
    reader.press(".page-progress", "Save my work")
    reader.until("Boolean(saved)")
    return str(reader.js("saved"))


def as_the_command(reader: Reader, folder: Path) -> str:
    """The first line that `backprop check` prints for the notebook that the page would save."""
    (folder / "ch06_vjps.ipynb").write_text(saved_work(reader), encoding="utf-8")
    command = [str(Path(sys.executable).with_name("backprop")), "check", "ch06/relu_vjp"]
    environment = {**os.environ, "COLUMNS": "300", "NO_COLOR": "1"}
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    lines = [line.strip() for line in run.stdout.splitlines() if "mask" in line]
    assert lines, run.stdout + run.stderr
    return re.sub(r"^.*relu_vjp\S*\s+", "", lines[0]) if "relu_vjp:" in lines[0] else lines[0]


def test_work_that_was_saved_is_taken_back(reader: Reader) -> None:
    reader.visit(PAGE)
    reader.fill(reader.exercise("tanh_vjp"), "def tanh_vjp(g, y):\n    return 42\n")
    saved = saved_work(reader)
    assert "return 42" in saved
    reader.press(reader.exercise("tanh_vjp"), "Reset")
    for text, said in ((saved, "Loaded "), ("{}", "no notebook"), ('{"cells": []}', "none of its exercises")):
        load(reader, text)
        reader.until(f"document.querySelector('.page-progress [role=status]').innerText.includes({said!r})")
    assert "return 42" in reader.text(reader.exercise("tanh_vjp", ".cm-content"))
    reader.press(reader.exercise("tanh_vjp"), "Reset")


def load(reader: Reader, notebook: str) -> None:
    reader.js(
        f"files = new DataTransfer(); files.items.add(new File([{json.dumps(notebook)}], 'mine.ipynb'));"
        "input = document.querySelector('.page-progress input');"
        "input.files = files.files; input.dispatchEvent(new Event('change')); true"
    )


def test_cells_of_ones_own_are_loaded_run_and_saved(reader: Reader) -> None:
    """A helper in an additional cell used to be lost, so that every answer that called it failed."""
    reader.visit(PAGE, first=True)
    mine = json.loads(saved_work(reader))
    at = next(i for i, cell in enumerate(mine["cells"]) if cell["metadata"].get("exercise") == "relu_vjp")
    mine["cells"][at]["source"] = "def relu_vjp(g, x):\n    return masked(g, x)\n"
    helper = "def masked(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
    mine["cells"].insert(at, {"cell_type": "code", "metadata": {}, "outputs": [], "source": helper})
    load(reader, json.dumps(mine))
    reader.until(f"document.querySelector('.page-progress [role=status]').innerText.includes({OWN!r})")
    assert "masked" in reader.js("document.querySelector('.page-own').textContent")
    assert "passed" in reader.checked("relu_vjp")
    assert [cell["source"] for cell in json.loads(saved_work(reader))["cells"]].index(helper) == at
    reader.js("document.querySelector('.page-own').open = true")
    reader.press(".page-own", "Leave it out")
    assert "name 'masked' is not defined" in reader.checked("relu_vjp")
    assert helper not in saved_work(reader)
    reader.press(reader.exercise("relu_vjp"), "Reset")


def test_reload_keeps_the_draft_and_a_second_tab_follows(reader: Reader, server: Server) -> None:
    reader.visit(PAGE)
    reader.fill(reader.exercise("tanh_vjp"), "def tanh_vjp(g, y):\n    return 17\n")
    reader.until("localStorage.getItem('backprop:draft:ch06-tanh_vjp')")
    reader.visit(PAGE)
    assert "return 17" in reader.text(reader.exercise("tanh_vjp", "pre"))
    reader.fill(reader.exercise("tanh_vjp"), "def tanh_vjp(g, y):\n    return 18\n")
    # another tab is another document with the same storage: a frame is one
    frame = "window.frame = document.createElement('iframe')"
    reader.js(f"({frame}).src = {PAGE!r}; document.body.append(frame); new Promise((done) => (frame.onload = done))")
    reader.until("frame.contentDocument.documentElement.dataset.cells === 'ready'")
    key = "'backprop:draft:ch06-tanh_vjp'"
    reader.js(f"document.activeElement.blur(); frame.contentWindow.localStorage.setItem({key}, 'def tanh_vjp(): 19')")
    reader.until(f"document.querySelector({reader.exercise('tanh_vjp', '.cm-content')!r}).innerText.includes('19')")
    reader.press(reader.exercise("tanh_vjp"), "Reset")
    assert "your code here" in reader.text(reader.exercise("tanh_vjp", ".cm-content"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(reader: Reader, theme: str) -> None:
    reader.visit(PAGE, 390, theme)
    assert reader.js("document.documentElement.scrollWidth") <= 390
    reader.fill(reader.exercise("relu_vjp"), WRONG)
    assert reader.js("document.documentElement.scrollWidth") <= 390
    colour = "(s, what) => getComputedStyle(document.querySelector(s))[what]"
    for ink, paper in ((".cm-content", ".cm-editor"), (".page-k", ".cm-editor"), (".cm-gutters", ".cm-editor")):
        front = reader.js(f"({colour})({reader.exercise('relu_vjp', ink)!r}, 'color')")
        back = reader.js(f"({colour})({reader.exercise('relu_vjp', paper)!r}, 'backgroundColor')")
        assert contrast(front, back) >= 4.5, (ink, front, back)
    button = reader.exercise("relu_vjp", ".page-main")
    front, back = (reader.js(f"({colour})({button!r}, {what!r})") for what in ("color", "backgroundColor"))
    assert contrast(front, back) >= 4.5
