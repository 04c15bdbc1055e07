"""What a page shows once a file is chosen: one question at a time, the right button, and the new state at once."""

from __future__ import annotations

import json

import pytest
from hostile_pages import SAID, load, notebook
from live_pages import Reader

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("emptied")]

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"


def choose(reader: Reader, field: str, text: str, name: str) -> None:
    """Give a file to a field of the page."""
    reader.js(
        f"files = new DataTransfer(); files.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));"
        f"input = document.querySelector({field!r}); input.files = files.files;"
        "input.dispatchEvent(new Event('change')); true"
    )


def progress(**pages: object) -> str:
    """A file that "Save everything" could have written."""
    return json.dumps({"format": "backprop-progress", "version": 1, "pages": pages})


def test_a_question_goes_away_when_another_file_is_chosen(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    load(reader, notebook({"relu_vjp": "# mine"}))
    choose(reader, ".page-progress input", notebook({"relu_vjp": "# theirs"}), "theirs.ipynb")
    reader.until("document.querySelector('.page-ask')?.innerText.includes('Loading it would replace')")
    choose(reader, ".page-progress input", progress(), "all.json")
    reader.until(f"document.querySelector({SAID!r}).innerText.startsWith('all.json')")
    assert not reader.js("Boolean(document.querySelector('.page-ask'))")
    assert reader.text(SAID) == "all.json is a file of all your progress. Use Load everything on the front page."
    assert reader.js(f"document.querySelector({SAID + ' a'!r}).getAttribute('href')") == "index.html"
    assert reader.js("localStorage.getItem('backprop:draft:ch06-relu_vjp')") == "# mine"


def test_cards_of_the_front_page_show_what_was_loaded_at_once(reader: Reader) -> None:
    reader.visit("index.html", first=True)
    state = f"document.querySelector('.sd-card a[href^=\"{PAGE}\"]').closest('.sd-card').querySelector('.lesson-state')"
    assert reader.js(f"{state}.textContent") == "Not begun"
    result = {"status": "passed", "points": 2, "of": 2, "best": 2}
    choose(reader, ".page-everything input", progress(ch06_vjps={"results": {"relu_vjp": result}}), "all.json")
    reader.until(f"{state}.textContent.startsWith('exercises 1 of')")
