"""What a reader of the built book is told while Python starts, from the first second on."""

from __future__ import annotations

import pytest
from live_pages import Reader

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
HOLD = """
(() => {
  const post = Worker.prototype.postMessage;
  window.waiting = [];
  window.release = () => { waiting.splice(0).forEach((send) => send()); window.released = true; };
  Worker.prototype.postMessage = function (message, ...more) {
    const send = () => post.call(this, message, ...more);
    message.do === "prepare" && !window.released ? waiting.push(send) : send();
  };
  return true;
})()
"""
"""Workers begin when `release` is called, as on a slow machine."""
NOTED = """
const Known = Worker;
window.made = 0;
window.Worker = class extends Known {
  constructor(...given) {
    super(...given);
    made += 1;
  }
};
true
"""
SHOWN = """
(() => {
  window.texts = [];
  const line = document.querySelector(%r);
  new MutationObserver(() => texts.push(line.innerText)).observe(line, { childList: true, subtree: true });
  return true;
})()
"""


def test_the_first_check_says_where_python_is_when_it_was_begun_while_the_reader_wrote(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    reader.without_a_spare()
    reader.js(HOLD)
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    reader.until("waiting.length > 0")  # all is fetched: no message comes until Python has started
    line = reader.exercise("relu_vjp", ".page-line")
    reader.js(SHOWN % line)
    reader.press(reader.exercise("relu_vjp"), "Check")
    assert reader.text(line) == "Starting Python"
    reader.js("release()")
    reader.until(f"document.querySelector({reader.exercise('relu_vjp', '.exercise-card')!r}).innerText")
    steps = list(dict.fromkeys(reader.js("texts")))
    assert list(dict.fromkeys(one.split("\n")[0] for one in steps if one.startswith("Starting"))) == [
        "Starting Python",
        "Starting NumPy",
        "Starting the checks",
    ]


def test_seconds_and_a_bar_show_that_a_slow_start_is_alive(reader: Reader) -> None:
    """Each step stood up to 15 s without a sign of life, on a loaded machine 41 s."""
    reader.visit(PAGE, first=True)
    reader.without_a_spare()
    reader.js(HOLD)
    line = reader.exercise("relu_vjp", ".page-line")
    bar = f"document.querySelector({line + ' progress'!r})"
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    reader.until("waiting.length > 0")
    reader.press(reader.exercise("relu_vjp"), "Check")
    assert not reader.js(f"{bar}.hidden"), "from the click on"
    assert not reader.js(f"{bar}.hasAttribute('value')"), "nobody knows how far it is"
    reader.until(f"/^Starting Python\\s+1 s$/.test(document.querySelector({line!r}).innerText)", 3)
    reader.until(f"/^Starting Python\\s+3 s$/.test(document.querySelector({line!r}).innerText)", 5)
    reader.press(reader.exercise("relu_vjp"), "Stop")
    reader.until(f"document.querySelector({line!r}).innerText === 'Stopped.'")
    assert reader.js(f"{bar}.hidden")


def test_no_wait_counts_megabytes_of_a_small_file(reader: Reader) -> None:
    reader.visit(PAGE)
    reader.without_a_spare()
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    assert "passed" in reader.checked("relu_vjp")
    reader.fill(reader.exercise("tanh_vjp"), "def tanh_vjp(g, y):\n    return g\n")
    line = reader.exercise("tanh_vjp", ".page-line")
    reader.js(SHOWN % line)
    reader.checked("tanh_vjp")
    assert not [text for text in reader.js("texts") if " 0 MB" in text]
    assert "Getting what this check needs" in reader.js("texts")
    reader.js("localStorage.clear()")


def test_a_check_of_nothing_answers_at_once_and_starts_no_python(reader: Reader) -> None:
    """It started Python, 22 s on a busy machine, to say that nothing is written."""
    reader.visit(PAGE, first=True)
    reader.js(NOTED)
    reader.press(reader.exercise("relu_vjp"), "Check")
    assert "Nothing is written here yet." in reader.text(reader.exercise("relu_vjp", ".exercise-card"))
    assert "not written yet" in reader.text(reader.exercise("relu_vjp", ".card-badge"))
    assert reader.js("made") == 0
    assert reader.js("localStorage.getItem('backprop:result:ch06_vjps/relu_vjp')") is None
    reader.press(reader.exercise("relu_vjp"), "Show hints")
    reader.until(
        f"/Hint 1 of/.test(document.querySelector({reader.exercise('relu_vjp', '.exercise-card')!r}).innerText)"
    )
    assert reader.js("made") > 0
