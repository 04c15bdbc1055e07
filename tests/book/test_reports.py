"""Reports of mistakes: the dialog at a page's foot and below a card, with keys, and what there is without a script."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import pytest
from live_pages import Reader
from page_axe import findings

from course.version import RELEASE

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"
FIELD = "document.querySelector('.report-dialog textarea').value"
OPEN = "Boolean(document.querySelector('.report-dialog[open]'))"


def test_the_foot_of_a_page_reports_the_selected_text(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    reader.js(
        "getSelection().selectAllChildren(document.querySelector('#relu-a-mask > p:not([class])'));"
        "document.querySelector('.report-button').focus(); true"
    )
    reader.key("Enter", 13)
    reader.until(OPEN)
    said = str(reader.js(FIELD))
    assert said.startswith(f"Page: {PAGE}\nSection: relu: a mask (#relu-a-mask)\nVersion: {RELEASE}\n\nThe text:\n> ")
    assert said.endswith("\n\nWhat is wrong, and what would be right:\n")
    assert reader.js("document.activeElement.localName") == "textarea", "the reader writes at once"
    found = [findings(reader, ".report-dialog", theme) for theme in ("light", "dark")]
    assert found == [[], []]
    assert reader.text(".report-dialog a") == "", "this copy of the course names no repository"
    reader.js("navigator.clipboard.writeText = async (text) => { window.copied = text; }; true")
    reader.press(".report-dialog", "Copy")
    reader.until("window.copied")
    assert reader.js("copied") == said
    assert "Copied." in reader.text(".report-dialog")
    reader.key("Escape", 27)
    reader.until(f"!{OPEN}")
    assert reader.js("document.activeElement.className") == "report-button", "and is where he was"
    assert reader.complaints() == []


def test_a_message_is_reported_without_code_unless_the_reader_adds_it(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    reader.without_a_spare()
    reader.fill(reader.exercise("relu_vjp"), "def relu_vjp(g, x):\n    my_secret = 7\n    return g\n")
    reader.checked("relu_vjp")
    card = reader.exercise("relu_vjp", ".exercise-card")
    reader.press(card, "This message is wrong")
    reader.until(OPEN)
    said = str(reader.js(FIELD))
    assert said.startswith(f"Exercise: ch06_vjps/relu_vjp\nVersion: {RELEASE}\nStatus: failed\n\nThe message:\n> ")
    assert "my_secret" not in said
    reader.js("document.querySelector('.report-code input').click()")
    assert "my_secret = 7" in str(reader.js(FIELD))
    reader.js("document.querySelector('.report-code input').click()")
    assert str(reader.js(FIELD)) == said
    assert reader.complaints() == []


def test_with_a_repository_the_text_goes_to_a_new_issue(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    form = "https://git.example/o/n/issues/new?title={title}&body={text}"
    about = json.dumps({"page": PAGE, "version": "9", "issue": form})
    reader.js("document.querySelector('.report-button').click(); true")
    reader.until(OPEN)
    reader.js(f"document.querySelector('.report-dialog').close(); reportMistake({about}); true")
    link: Any = "document.querySelector('.report-dialog a')"
    assert reader.js(f"{link}.textContent") == "Begin an issue at git.example"
    reader.js(
        "field = document.querySelector('.report-dialog textarea'); field.value = 'a & b # c';"
        "field.dispatchEvent(new Event('input')); true"
    )
    assert reader.js(f"{link}.href") == (
        "https://git.example/o/n/issues/new?title=Mistake%20in%20ch06_vjps.html&body=a%20%26%20b%20%23%20c"
    )
    reader.js("field.value = 'a' + '😀'.repeat(3000) + '\\ud83d'; field.dispatchEvent(new Event('input')); true")
    body = str(reader.js(f"{link}.href")).partition("&body=")[2]
    assert unquote(body, errors="strict") == "a" + "😀" * 499, "servers refuse long addresses, and no emoji is cut"


def test_without_a_script_the_foot_says_what_to_write(reader: Reader) -> None:
    reader.open(f"{reader.address}/{PAGE}", 390, script=False)
    assert reader.text(".report > summary") == "Report a mistake"
    reader.js("document.querySelector('.report').open = true")
    assert f"name the page ({PAGE}), its version ({RELEASE})" in reader.text(".report")
