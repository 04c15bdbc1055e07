"""Loaded code, other tabs and notebooks of other chapters neither lose nor judge the reader's own work."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import pytest
from hostile_pages import LIES, PAGE, RIGHT, WRONG, load, notebook
from live_pages import Reader

from autograder.places import ROOT

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

DRAFT = "localStorage.getItem('backprop:draft:ch06-relu_vjp')"
TYPED = "".join(chr(ord("a") + number % 26) for number in range(120))


SHORT = "document.querySelectorAll('.katex, figure, .cell').forEach((one) => one.remove()); true"
"""Takes out of a page what would be laid out again for each letter."""


@pytest.fixture(autouse=True)
def _empty(reader: Reader) -> Iterator[None]:
    yield
    reader.js("localStorage.clear()")


def test_what_a_loaded_file_won_stands_until_a_check_without_it(reader: Reader) -> None:
    """Wrong code that was typed over a loaded answer used to pass, and forged points stayed for good."""
    reader.visit(PAGE)
    relu = reader.exercise("relu_vjp")
    mark = reader.exercise("relu_vjp", ".exercise-mark")
    load(reader, notebook({"relu_vjp": (RIGHT + LIES).replace("\n", "\r\n")}))
    reader.js(f"document.querySelector({relu + ' pre'!r}).click()")
    reader.until(f"Boolean(document.querySelector({relu + ' .cm-content'!r}))")
    assert "answer of a loaded file" in reader.text(".page-own"), (
        "the editor changes line ends, and the answer is still the file's"
    )
    assert "forged" in reader.checked("relu_vjp")
    assert reader.text(mark) == "✓ solved"
    reader.fill(relu, WRONG)
    reader.press(relu, "Check")
    reader.until(f"document.querySelector({relu + ' .exercise-card'!r}).innerText.includes('failed')")
    assert "solved" not in reader.text(mark)
    assert reader.complaints() == []


@contextmanager
def another_tab(reader: Reader) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Open another tab with the same storage; commands inside `with there():` go to that tab."""
    first = reader.session
    reader.session = None
    target = reader.call("Target.createTarget", url="about:blank", browserContextId=reader.profile)["targetId"]
    session = reader.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    @contextmanager
    def there() -> Iterator[None]:
        reader.session = session
        try:
            yield
        finally:
            reader.session = first

    with there():
        for domain in ("Page", "Runtime", "Network"):
            reader.call(f"{domain}.enable")
        reader.call("Page.setLifecycleEventsEnabled", enabled=True)
    try:
        yield there
    finally:
        reader.call("Emulation.setFocusEmulationEnabled", enabled=False)
        reader.session = None
        reader.call("Target.closeTarget", targetId=target)
        reader.session = first


def test_two_tabs_with_the_same_cell_open_lose_no_letter(reader: Reader) -> None:
    """Each tab used to write back the text it heard of, which was older than the text typed since."""
    editor = reader.exercise("relu_vjp", ".cm-content")
    typing = (
        f"new Promise(async (done) => {{ document.querySelector({editor!r}).focus(); for (const one of {TYPED!r}) {{"
        "document.execCommand('insertText', false, one); await new Promise((go) => setTimeout(go, 3)) } done(true) })"
    )
    with another_tab(reader) as there:
        for tab in (nullcontext, there):
            with tab():
                reader.call("Emulation.setFocusEmulationEnabled", enabled=True)
                reader.visit(PAGE)
                reader.js(SHORT)
                reader.fill(reader.exercise("relu_vjp"), "#")
        for _ in range(4):
            reader.fill(reader.exercise("relu_vjp"), "#")
            reader.js("new Promise((done) => setTimeout(done, 300))")
            reader.js(typing)
            reader.js("new Promise((done) => setTimeout(done, 500))")
            with there():
                found = [reader.text(editor)]
            found += [reader.text(editor), reader.js(DRAFT)]
            assert [one.strip() for one in found] == ["#" + TYPED] * 3


def test_a_page_that_comes_back_shows_what_was_written_meanwhile(reader: Reader) -> None:
    """In the cache of Back and Forward a page hears nothing of other tabs; its next letter replaced their text."""
    reader.visit(PAGE)
    reader.fill(reader.exercise("relu_vjp"), "# early")
    reader.js("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true })); true")
    reader.js("localStorage.setItem('backprop:draft:ch06-relu_vjp', '# an hour of work'); true")
    reader.js("document.activeElement.blur(); dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    assert "an hour" in reader.text(reader.exercise("relu_vjp", ".cm-content"))


def test_a_notebook_of_another_chapter_replaces_nothing(reader: Reader) -> None:
    """`backward` is an exercise of both chapters."""
    reader.visit("ch07_mlp_backprop.html")
    reader.fill(reader.exercise("backward"), "# my backward")
    other = (ROOT / "exercises" / "ch03_accumulation.ipynb").read_text(encoding="utf-8")
    load(reader, other, "theirs.ipynb", says="theirs.ipynb is a notebook of another chapter")
    drafts = reader.js("Object.entries(localStorage).filter(([key]) => /draft:/.test(key)).map(([, text]) => text)")
    assert drafts == ["# my backward"]


BORROWS = "from ch01_computation_graph import topological_order\ntopological_order(None)\n"
CELL = ".borrowing"


def test_borrowed_code_of_another_chapter_judges_nothing_here(reader: Reader) -> None:
    """A live cell borrowed another chapter's loaded answer, whose code then forged the checks of this page."""
    reader.visit("ch01_computation_graph.html")
    theirs = json.loads((ROOT / "exercises" / "ch01_computation_graph.ipynb").read_text(encoding="utf-8"))
    for cell in theirs["cells"]:
        if cell["metadata"].get("exercise") == "topological_order" and "check" not in cell["metadata"].get("tags", ()):
            cell["source"] = f"import autograder.page.check\ndef topological_order(output):\n    return []\n{LIES}"
    load(reader, json.dumps(theirs))
    reader.visit("ch03_accumulation.html")
    reader.fill(reader.exercise("zero_grad"), "def zero_grad(parameters, set_to_none=True):\n    return 7\n")
    reader.js("document.querySelector(\"[class*='live-cell-']\").classList.add('borrowing')")
    reader.fill(CELL, BORROWS)
    reader.press(CELL, "Run")
    reader.until(f"document.querySelector({CELL + ' .live-tools button'!r}).hidden === false")
    assert "forged" not in reader.checked("zero_grad")
