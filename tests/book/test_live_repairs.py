"""The search for a repair in a page: the card first, the sentence when it is found, and Stop at any time."""

from __future__ import annotations

import pytest
from live_pages import Reader

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"
GUIDED = "def relu_vjp(g, x):\n    return np.where((x > 0) & (g > 0), g, 0).astype(x.dtype)\n"
KNOWN = "def relu_vjp(g, x):\n    return (g * (x >= 0)).astype(x.dtype)\n"
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
FOUND = "Cell relu_vjp, line 2, (x > 0) & (g > 0): without one operand every visible case passes."
QUOTED = FOUND.replace("(x > 0) & (g > 0)", "`(x > 0) & (g > 0)`")
STOPPED = "The search for the smallest change was stopped."
ARCHIVE = "performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('repairs.tar.bz2')).length"
HELD = """
const post = Worker.prototype.postMessage;
window.held = [];
window.release = () => { held.forEach((send) => send()); held = null; };
Worker.prototype.postMessage = function (message, ...more) {
  const send = () => post.call(this, message, ...more);
  held && message.do === "repair" ? held.push(send) : send();
};
true
"""
"""Holds back the question for a repair until `release()`."""


@pytest.fixture
def page(reader: Reader) -> Reader:
    reader.visit(PAGE, first=True)
    reader.without_a_spare()
    return reader


def card(reader: Reader) -> str:
    return reader.text(reader.exercise("relu_vjp", ".exercise-card"))


def until_found(reader: Reader) -> None:
    reader.until(f"!('looking' in document.querySelector({reader.exercise('relu_vjp')!r}).dataset)")


def test_only_an_answer_that_nothing_known_explains_is_searched(page: Reader) -> None:
    page.fill(page.exercise("relu_vjp"), KNOWN)
    page.checked("relu_vjp")
    assert page.js(ARCHIVE) == 0
    page.fill(page.exercise("relu_vjp"), GUIDED)
    page.checked("relu_vjp")
    until_found(page)
    page.until(f"document.querySelector({page.exercise('relu_vjp', '.exercise-card')!r}).innerText.includes('passes.')")
    assert FOUND in card(page)
    assert page.js(ARCHIVE) == 1
    assert page.complaints() == []


def test_the_card_is_there_while_the_search_runs(page: Reader) -> None:
    page.js(HELD)
    page.fill(page.exercise("relu_vjp"), GUIDED)
    first = page.checked("relu_vjp")
    assert "dx differs in" in first
    assert FOUND not in first
    page.until("held.length === 1")
    looking = "relu_vjp: looking for the smallest change that makes it right"
    assert page.text(page.exercise("relu_vjp", ".page-line")).startswith(looking)
    hint = page.exercise("relu_vjp", ".exercise-card .card-line details:last-of-type")
    page.js(f"document.querySelector({hint!r}).open = true")
    page.js(f"document.querySelector({hint + ' > summary'!r}).focus()")
    page.js("release()")
    until_found(page)
    page.until(f"document.querySelector({page.exercise('relu_vjp', '.exercise-card')!r}).innerText.includes('passes.')")
    assert page.js(f"document.querySelector({hint!r}).open"), "what a reader has opened stays open"
    assert page.focused().startswith(" Hint 1 of")
    said = page.exercise("relu_vjp", "> p.visually-hidden")
    assert FOUND in page.js(f"document.querySelector({said!r}).textContent"), "a screen reader says what was added"
    assert page.complaints() == []


def test_stop_ends_the_search_and_leaves_the_card(page: Reader) -> None:
    page.js(HELD)
    page.fill(page.exercise("relu_vjp"), GUIDED)
    first = page.checked("relu_vjp")
    page.until("held.length === 1")
    page.press(page.exercise("relu_vjp"), "Stop")
    page.until(f"document.querySelector({page.exercise('relu_vjp', '.page-line')!r}).innerText.includes({STOPPED!r})")
    assert card(page) == first
    page.fill(page.exercise("relu_vjp"), RIGHT)
    page.press(page.exercise("relu_vjp"), "Check")
    page.until(f"document.querySelector({page.exercise('relu_vjp')!r}).dataset.status === 'passed'")


def test_another_check_ends_the_search(page: Reader) -> None:
    page.js(HELD)
    page.fill(page.exercise("relu_vjp"), GUIDED)
    page.checked("relu_vjp")
    page.until("held.length === 1")
    page.fill(page.exercise("relu_vjp"), RIGHT)
    page.chord("Enter", 2, code=13)
    page.until(f"document.querySelector({page.exercise('relu_vjp')!r}).dataset.status === 'passed'")
    assert "✓ passed" in card(page)


def test_other_work_ends_the_search(page: Reader) -> None:
    """It would wait for it, up to a hundred seconds."""
    page.js(HELD)
    page.fill(page.exercise("relu_vjp"), GUIDED)
    first = page.checked("relu_vjp")
    page.until("held.length === 1")
    page.fill(page.exercise("add_vjp"), "def add_vjp(g, x, y):\n    return g\n")
    assert page.checked("add_vjp")
    assert card(page) == first
    assert STOPPED in page.text(page.exercise("relu_vjp", ".page-line"))


def test_check_all_searches_nothing(page: Reader) -> None:
    page.js(HELD)
    page.fill(page.exercise("relu_vjp"), GUIDED)
    page.press(".page-progress", "Check all")
    page.until("document.querySelector('.page-checked').innerText.startsWith('Checked 1')")
    assert page.js("held.length") == 0


def test_a_report_quotes_the_message_that_is_on_screen(page: Reader) -> None:
    page.js(HELD)
    page.fill(page.exercise("relu_vjp"), GUIDED)
    page.checked("relu_vjp")
    page.until("held.length === 1")
    page.js("release()")
    until_found(page)
    page.until(f"document.querySelector({page.exercise('relu_vjp', '.exercise-card')!r}).innerText.includes('passes.')")
    page.press(page.exercise("relu_vjp", ".exercise-card"), "This message is wrong")
    page.until("Boolean(document.querySelector('.report-dialog[open]'))")
    assert QUOTED in str(page.js("document.querySelector('.report-dialog textarea').value"))
