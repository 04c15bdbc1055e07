"""What a worker says of a case, a scratch cell and a marked line is data: shown as text, or refused."""

from __future__ import annotations

from typing import Any

import pytest
from hostile_pages import PAGE, answers, impostor
from live_pages import Reader

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

MARKUP = "<img src=x onerror='window.caught = 1'>*1.0<script>window.caught = 2</script>"
CARD = {"status": "failed", "points": 0, "misconception": None, "message": "m", "blocks": []}
REFUSED = "does not understand"
FAR = {"part": 99, "line": 999_999}
"""A line that no editor has."""
LOOKS: list[dict[str, Any]] = [{"lines": MARKUP}, {"error": MARKUP, "line": FAR}, {"lines": MARKUP, "html": MARKUP}]
NO_LOOKS: list[Any] = [
    {"lines": {"html": MARKUP}},
    {"error": [MARKUP]},
    {"error": MARKUP, "line": {"part": MARKUP, "line": 1}},
    {"error": MARKUP, "line": {"part": 0, "line": 1}},
    MARKUP,
]
SCRATCHES: list[dict[str, Any]] = [
    {"value": MARKUP},
    {"value": MARKUP, "picture": f"<svg xmlns='http://www.w3.org/2000/svg'>{MARKUP}</svg>", "error": MARKUP},
]
NO_SCRATCHES: list[Any] = [{"value": 7}, {"picture": {}}, {"error": MARKUP, "line": "1"}]
NO_CARDS = [CARD | {"case": {"code": MARKUP}}, CARD | {"line": {"part": 1}}, CARD | {"line": MARKUP}]


@pytest.fixture(scope="module")
def page(reader: Reader) -> Reader:
    """A page whose worker is an impostor, after a check that had a case."""
    with impostor(reader):
        reader.visit(PAGE, first=True)
        reader.fill(reader.exercise("relu_vjp", ".exercise-part"), "# mine")
        answers(reader, {"out": MARKUP}, {"done": CARD | {"case": MARKUP, "line": FAR}})
        reader.press(reader.exercise("relu_vjp"), "Check")
        reader.until(f"Boolean(document.querySelector({reader.exercise('relu_vjp', '.exercise-case')!r}))")
    return reader


def nothing_ran(reader: Reader) -> None:
    assert reader.js("window.caught") is None
    assert reader.js("document.querySelectorAll('.exercise img, .exercise script, .exercise [onerror]').length") == 0


def pressed(reader: Reader, within: str) -> str:
    reader.js(f"document.querySelector({within!r}).closest('details')?.setAttribute('open', '')")
    before = "Run this case" if "case" in within else "Run"
    reader.press(within, before)
    buttons = f"[...document.querySelectorAll({within + ' button'!r})]"
    reader.until(f"{buttons}.some((one) => !one.hidden && one.textContent === {before!r})")
    nothing_ran(reader)
    return reader.text(within)


def test_what_a_check_prints_is_text(page: Reader) -> None:
    nothing_ran(page)
    printed = page.exercise("relu_vjp", ".exercise-printed .live-out")
    assert "onerror" in page.js(f"document.querySelector({printed!r}).textContent")


@pytest.mark.parametrize(
    ("place", "taken", "refused"),
    [(".exercise-case", LOOKS, NO_LOOKS), (".exercise-scratch", SCRATCHES, NO_SCRATCHES)],
    ids=["a case", "a scratch cell"],
)
def test_what_a_run_says_is_text_or_refused(
    page: Reader, place: str, taken: list[dict[str, Any]], refused: list[Any]
) -> None:
    within = page.exercise("relu_vjp", place)
    for one in taken:
        answers(page, {"out": MARKUP}, {"done": one})
        said = pressed(page, within)
        assert REFUSED not in said, one
        assert said.count("onerror") >= 2, one
    for one in refused:
        answers(page, {"done": one})
        assert REFUSED in pressed(page, within), one


def test_a_card_s_case_and_line_are_of_their_kind(page: Reader) -> None:
    relu = page.exercise("relu_vjp")
    for card in NO_CARDS:
        answers(page, {"done": card})
        page.press(relu, "Check")
        page.until(f"document.querySelector({relu!r}).innerText.includes({REFUSED!r})")
        nothing_ran(page)
    page.js("localStorage.clear()")
