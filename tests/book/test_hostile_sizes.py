"""A loaded notebook that uses up a page's storage, time or Python does no lasting harm, in a real browser."""

from __future__ import annotations

import json

import pytest
from hostile_pages import LIES, PAGE, RIGHT, SAID, WRONG, answers, impostor, load, notebook, ready
from live_pages import Reader

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("emptied")]

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")


FILL = "for (let n = 2 ** 22; n >= 1; n /= 2) try { localStorage.setItem('other' + n, 'x'.repeat(n)) } catch {}; true"
DRAFTS = "Object.entries(localStorage).filter(([key]) => /:(draft|own|before):/.test(key)).sort()"
EXERCISES = ("add_vjp", "mul_vjp", "matmul_vjp", "sum_vjp", "max_vjp", "relu_vjp")

TOO_MUCH = {
    "an answer": (
        {"relu_vjp": "#" * 50_001},
        (),
        "friend.ipynb: the answer to relu_vjp has 51 kB, and a page takes at most 50 kB. Nothing was loaded",
    ),
    "the answers": (dict.fromkeys(EXERCISES, "#" * 49_000), (), "the answers and cells have 295 kB, and a page takes"),
    "many cells": ({}, ["a"] * 150_000, "friend.ipynb has 150,000 cells of your own, and a page takes at most 200."),
    "long cells": ({}, ["a" * 5_000] * 50, "the cells of your own have 252 kB, and a page takes at most 200 kB."),
}


def test_a_file_that_is_too_large_for_a_page_leaves_all_as_it_was(reader: Reader) -> None:
    """It used to fill the storage, so that other chapters' drafts were lost, or left a page that never started."""
    reader.visit(PAGE)
    load(reader, notebook({"relu_vjp": WRONG}, ["import math"]))
    before = reader.js(DRAFTS)
    for what, (sources, own, said) in TOO_MUCH.items():
        assert said in load(reader, notebook({"tanh_vjp": "# more"} | sources, own), says="Nothing was loaded"), what
        assert reader.js(DRAFTS) == before, what
    most = notebook(dict.fromkeys(EXERCISES[:4], "#" * 50_000), ["a" * 100] * 200)
    assert "4 answers, and 200 cells of your own" in load(reader, most)
    assert reader.js("Object.entries(localStorage).reduce((sum, [key, text]) => sum + text.length, 0)") < 500_000
    reader.visit(PAGE)
    assert reader.js("document.querySelectorAll('.live-tools').length") > 10


def test_a_full_storage_takes_a_file_whole_or_not_at_all(reader: Reader) -> None:
    reader.visit(PAGE)
    load(reader, notebook({"relu_vjp": WRONG}, ["import math"]))
    before = reader.js(DRAFTS)
    reader.js(FILL)
    said = load(reader, notebook({"relu_vjp": RIGHT, "tanh_vjp": "# more" * 100}, ["import this"]), says="no room")
    assert "Nothing was loaded: Reset answers that you no longer need." in said
    assert reader.js(DRAFTS) == before


def test_a_draft_that_is_not_stored_is_said_to_be_until_it_is(reader: Reader) -> None:
    """The editor's message stays during checks and other edits, and disappears when there is room."""
    reader.visit(PAGE)
    reader.without_a_spare()
    reader.js(FILL)
    relu, line = reader.exercise("relu_vjp"), reader.exercise("relu_vjp", ".page-unkept")
    reader.fill(relu, RIGHT)
    reader.until(f"document.querySelector({line!r}).innerText.includes('storage is full')")
    assert "passed" in reader.checked("relu_vjp")
    assert "is lost when you leave" in reader.text(line)
    assert reader.text(reader.exercise("tanh_vjp", ".page-unkept")) == ""
    reader.js("localStorage.removeItem('other524288')")
    reader.until(f"!document.querySelector({line!r}).innerText")
    assert reader.js("localStorage.getItem('backprop:draft:ch06-relu_vjp')").strip() == RIGHT.strip()
    reader.fill(relu, "#" * 50_001)
    reader.until(f"document.querySelector({line!r}).innerText.includes('answers of up to 50 kB')")
    reader.fill(relu, RIGHT)
    reader.until(f"!document.querySelector({line!r}).innerText")


LEFT_BEHIND = {
    "draft:ch06-relu_vjp": "#" * 4_000_000,
    "own:ch06_vjps": json.dumps([{"before": "", "source": "a"}] * 20_000),
    "result:ch06_vjps/tanh_vjp": "{",
}


def test_what_is_stored_and_no_page_writes_is_set_aside_and_told(reader: Reader) -> None:
    """A file with 150,000 cells, which an older page had stored, kept the page from starting."""
    reader.visit(PAGE)
    for key, value in LEFT_BEHIND.items():
        text = f"'#'.repeat({len(value)})" if set(value) == {"#"} else json.dumps(value)
        reader.js(f"localStorage.setItem('backprop:{key}', {text}); true")
    reader.visit(PAGE)
    told = reader.text(".page-progress")
    assert "no page of this course writes, for cells of your own, the result of tanh_vjp. It is set aside." in told
    assert "it is set aside. Reset deletes it" in reader.text(reader.exercise("relu_vjp", ".page-unkept"))
    assert "NotImplementedError" in reader.text(reader.exercise("relu_vjp", "pre"))
    assert reader.js("document.querySelectorAll('.page-own pre').length") == 0
    assert len(reader.js("localStorage.getItem('backprop:own:ch06_vjps')")) > 0  # until somebody says so
    reader.press(reader.exercise("relu_vjp"), "Reset")
    reader.press(".page-progress", "Delete it")
    reader.visit(PAGE)
    assert "set aside" not in reader.text(".page-progress") + reader.text(reader.exercise("relu_vjp"))


def test_a_part_that_cannot_start_does_not_stop_the_rest(reader: Reader) -> None:
    broken = (
        "document.addEventListener('readystatechange', () => {"
        " if (document.readyState !== 'interactive') return;"
        " document.querySelector('.exercise-part .highlight').remove();"
        " document.querySelector(\"[class*='live-cell-'] .cell_input pre\").remove();"
        " document.querySelector('.page-progress').dataset.exercises = '{'; })"
    )
    hook = reader.call("Page.addScriptToEvaluateOnNewDocument", source=broken)["identifier"]
    try:
        reader.visit(PAGE)
    finally:
        reader.call("Page.removeScriptToEvaluateOnNewDocument", identifier=hook)
    told = reader.js(
        "[...document.querySelectorAll('.page-unkept')].filter((one) => /could not start/.test(one.innerText)).length"
    )
    assert told == 3
    assert reader.js("document.querySelectorAll('.live-tools').length") > 10
    assert reader.js("document.querySelectorAll('.exercise .page-main').length") > 10


SHARED = """(() => {
  let block = { lines: "x" };
  for (let level = 0; level < 9; level++) block = { summary: "s", inside: Array(50).fill(block) };
  return { id, done: { status: "passed", points: 2, message: "m", blocks: [block] } };
})()"""
MESSAGES = {
    "parts that are shared": SHARED,
    "24 MB to nobody": "{ id: -1, out: Array(3e6).fill(1.5) }",
    "texts of 2 MB to nobody": 'JSON.stringify({ id: -1, out: "x".repeat(2e6) })',
}
ENDED = ("does not understand, and was stopped", "than a page can take")


def test_messages_that_are_too_large_end_the_worker_and_not_the_page(reader: Reader) -> None:
    """50 ** 9 nodes, or 60 messages of 24 MB, used to freeze the page."""
    relu = reader.exercise("relu_vjp")
    with impostor(reader, MESSAGES):
        reader.visit(PAGE)
        reader.fill(relu, "# mine")
        for what in MESSAGES:
            answers(reader, *[{"made": what}] * 60)
            reader.press(relu, "Check")
            ready(reader, relu)
            line = reader.text(reader.exercise("relu_vjp", ".page-line"))
            assert any(words in line for words in ENDED), (what, line)
            assert reader.text(reader.exercise("relu_vjp", ".exercise-card")) == "", what
        answers(reader, {"done": {"status": "passed", "points": 2, "message": "goes on", "blocks": []}})
        assert "passed" in reader.checked("relu_vjp")


JUDGES = RIGHT + LIES
NOTE = "import js\njs.Array.mine = 'the same'\n"
SAME = "    import js\n    assert getattr(js.Array, 'mine', None) is None, 'one and the same Python'\n"


def test_code_that_ran_does_not_judge_what_is_loaded_or_written_next(reader: Reader) -> None:
    """It used to, until the page was reloaded: the reader's own wrong answer passed.

    Only here a page must start Python anew for each of Load, Reset, "Leave it out" and a change in another tab. Python
    itself runs the code once; then an impostor's state stands for it.
    """
    relu = reader.exercise("relu_vjp")
    reader.visit(PAGE)
    load(reader, notebook({"relu_vjp": JUDGES}))
    assert "forged" in reader.checked("relu_vjp")
    load(reader, notebook({"relu_vjp": WRONG}), "mine.ipynb")
    assert "forged" not in reader.checked("relu_vjp")
    assert "failed" in reader.text(relu)
    with impostor(reader):
        reader.visit(PAGE)
    for away in ("Load", "Reset", "Leave it out"):
        load(reader, notebook({"relu_vjp": JUDGES}, ["pass  # mine"]))
        assert "forged" in reader.checked("relu_vjp")
        reader.js("document.querySelector('.page-own').open = true")
        if away == "Load":
            load(reader, notebook({"relu_vjp": WRONG}), "mine.ipynb")
        else:
            reader.press(relu if away == "Reset" else ".page-own", away)
            reader.fill(relu, WRONG)
        assert "forged" not in reader.checked("relu_vjp"), away
        assert "failed" in reader.text(relu)
    # another tab is another document with the same storage
    load(reader, notebook({"relu_vjp": JUDGES}))
    assert "forged" in reader.checked("relu_vjp")
    frame = "window.frame = document.createElement('iframe')"
    reader.js(f"({frame}).src = {PAGE!r}; document.body.append(frame); new Promise((done) => (frame.onload = done))")
    reader.js(f"frame.contentWindow.localStorage.setItem('backprop:draft:ch06-relu_vjp', {WRONG!r}); true")
    reader.until(f"document.querySelector({relu + ' .cm-content'!r}).innerText.includes('x * 0')")
    assert "forged" not in reader.checked("relu_vjp")


def test_who_writes_and_checks_goes_on_with_the_same_python(reader: Reader) -> None:
    reader.visit(PAGE)
    relu = reader.exercise("relu_vjp")
    reader.fill(relu, NOTE + RIGHT)
    assert "passed" in reader.checked("relu_vjp")
    reader.fill(relu, RIGHT.replace("\n", f"\n{SAME}", 1))
    assert "one and the same Python" in reader.checked("relu_vjp")


def test_undo_brings_back_what_load_and_reset_replaced(reader: Reader) -> None:
    reader.visit(PAGE)
    relu, shown = reader.exercise("relu_vjp"), reader.exercise("relu_vjp", "pre")
    load(reader, notebook({"relu_vjp": RIGHT, "tanh_vjp": "# mine"}, ["import math"]), "mine.ipynb")
    assert "Undo brings back" not in reader.text(SAID)  # nothing was replaced
    assert "Undo brings back" in load(reader, notebook({"relu_vjp": WRONG}, ["import this"]))
    reader.visit(PAGE)
    assert "x * 0" in reader.text(shown)
    reader.press(relu, "Undo")
    assert "(x > 0)" in reader.text(shown)
    reader.press(relu, "Undo")  # and the other way round
    assert "x * 0" in reader.text(shown)
    reader.press(relu, "Undo")
    reader.press(".page-progress", "Undo: your former cells")
    own = "document.querySelector('.page-own').textContent"
    assert "import math" in reader.js(own)
    reader.js("document.querySelector('.page-own').open = true")
    reader.press(".page-own", "Leave it out")
    reader.press(".page-progress", "Undo: your cells")
    assert "import math" in reader.js(own)
    reader.press(relu, "Reset")
    reader.visit(PAGE)
    assert "NotImplementedError" in reader.text(shown)
    reader.press(relu, "Undo")
    assert "(x > 0)" in reader.text(shown)
    assert reader.complaints() == []
