"""Code in pages of the built book, edited or only shown: how its long lines wrap, and its colours."""

from __future__ import annotations

import json

import pytest
from live_pages import Reader

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("emptied")]

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch01_computation_graph.html"
PATHS = "gradient_by_paths"
DRAFT = 'def gradient_by_paths(output, leaf):\n    """Mine."""\n\n    return 1.0  # for now\n'
KEY = "backprop:draft:ch01-gradient_by_paths"
SOLVED = json.dumps({"status": "passed", "points": 3, "of": 3, "best": 3})
SCROLLS = """(selector) => {
  const inner = ":is(pre, .cm-scroller)";
  return [...document.querySelectorAll(`${selector} ${inner}`)].some((one) => one.scrollWidth > one.clientWidth);
}"""
FIRST_ROWS = """
((selector) => {
  const lines = [...document.querySelectorAll(selector + " .page-code")];
  const line = lines.find((one) => one.textContent.includes('\"\"\"'));
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  const rows = new Map();
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    for (let at = 0; at < node.length; at += 1) {
      if (!node.data[at].trim()) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const { top, left } = range.getBoundingClientRect();
      if (!rows.has(Math.round(top))) rows.set(Math.round(top), left);
    }
  return [...rows.values()];
})(%r)
"""
"""Where each row of the docstring's line begins."""


@pytest.mark.parametrize("width", [1440, 390])
def test_long_lines_hang_below_their_own_indentation(reader: Reader, width: int) -> None:
    """The editor cut them at its right edge; the course's own way began again at the left one, as no Python does."""
    exercise = reader.exercise(PATHS)
    reader.visit(PAGE, width, first=True)
    reader.js(f"localStorage.setItem('backprop:result:ch01_computation_graph/{PATHS}', {SOLVED!r}); true")
    reader.visit(PAGE, width)
    reader.js(f"document.querySelector({exercise + ' .exercise-own'!r}).open = true")
    reader.until(f"Boolean(document.querySelector({exercise + ' .exercise-own .page-k'!r}))")
    reader.press(exercise, "Write")
    reader.until(f"Boolean(document.querySelector({exercise + ' .cm-content'!r}))")
    for place in (f"{exercise} .page-editor", f"{exercise} .exercise-own"):
        assert not reader.js(f"(({SCROLLS}))({place!r})"), place
        first, *others = reader.js(FIRST_ROWS % place)
        assert others, place
        assert all(first < left < first + 30 for left in others), (place, first, others)
    pre = f"document.querySelector({exercise + ' .exercise-own pre'!r})"
    assert reader.js(f"getSelection().selectAllChildren({pre}), getSelection().toString() === {pre}.textContent")


def test_an_answer_has_its_colours_after_a_reload_and_keeps_its_text(reader: Reader) -> None:
    """It stood in plain black until "Go on writing"."""
    still = reader.exercise(PATHS, ".page-still pre")
    reader.visit(PAGE, first=True)
    assert "gradient_by_paths: your code here" in reader.js(f"document.querySelector({still!r}).textContent")
    reader.js(f"localStorage.setItem({KEY!r}, {DRAFT!r}); true")
    reader.visit(PAGE)
    reader.until(f"Boolean(document.querySelector({still + ' .page-k'!r}))", 20)
    words = reader.js(f"[...document.querySelectorAll({still + ' .page-k'!r})].map((one) => one.textContent)")
    assert words == ["def", "return"]
    assert reader.js(f"document.querySelector({still!r}).textContent") == DRAFT
    assert reader.text(reader.exercise(PATHS, ".page-still .page-c")) == "# for now"
