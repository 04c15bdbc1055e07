"""axe in one page of each kind, as it comes; `make accessibility` has it look at all pages of the book."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
from axe import PROGRAM
from book_axe import RECORD, SETTLED, findings, pages_of
from live_pages import Server
from widget_pages import SOURCE, Browser

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

sys.path.insert(0, str(SOURCE / "_ext"))
sentences = importlib.import_module("accessibility").sentences

KINDS = ("index", "ch10_activation_memory", "teach_class", "bibliography", "genindex", "search", "accessibility")
"""A page of each kind; those with exercises are looked at at work, in `test_live_axe.py`."""


@pytest.mark.parametrize("page", KINDS)
def test_a_page_has_no_fault(chromium: Browser, server: Server, page: str) -> None:
    site = f"http://127.0.0.1:{server.server_address[1]}"
    assert list(findings(chromium, site, f"{page}.html")) == []


SCROLLING = """[...document.querySelectorAll('article *')].filter((one) =>
  /auto|scroll/.test(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1 && one.clientWidth
  && !one.matches('[tabindex]') && !one.querySelector('a[href], button, input, select, textarea, summary, [tabindex]'))
  .map((one) => one.outerHTML.slice(0, 80))"""
"""What keys cannot scroll."""


def test_keys_reach_all_that_scrolls_on_a_phone(chromium: Browser, server: Server, built_book: Path) -> None:
    """A picture that a cell returns was wider than a phone, in a box that only fingers could scroll."""
    site, found = f"http://127.0.0.1:{server.server_address[1]}", {}
    for page in sorted(built_book.glob("ch*.html")):
        chromium.open(f"{site}/{page.name}", 390)
        found[page.name] = chromium.js(f"{SETTLED}.then(() => {SCROLLING})")
    assert {name: boxes for name, boxes in found.items() if boxes} == {}


def test_faults_of_each_impact_are_found(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text(
        "<!doctype html><html lang=en><title>Bad</title><main><h1>Bad</h1><img src=x.png>"
        "<div role=list><div role=doc-biblioentry>one</div></div>"
        "<table><thead><tr><th></th><th>n</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
        "<p style='color: #999'>pale</p></main><div>outside</div></html>"
    )
    found = list(findings(chromium, tmp_path.as_uri(), "bad.html", [(1440, "light")]))
    rules = {line.split(": ", 1)[1].split(" (")[0] for line in found}
    bibliography = {"aria-deprecated-role", "aria-allowed-role", "aria-required-children"}
    assert rules == {"image-alt", "color-contrast", "empty-table-header", "region", *bibliography}


def test_the_page_names_what_was_not_looked_at() -> None:
    looks = [[1440, "light"], [1440, "dark"], [390, "light"], [390, "dark"]]
    record = {"axe": "4", "rules": 9, "browser": "B", "on": "2026-01-02", "looks": looks, "pages": ["index", "search"]}
    said = sentences(record, {"index", "search", "new"})
    assert said[1].startswith(
        "- **Looked at**: 2 pages, each 1440 and 390 pixels wide and in the light and the dark theme"
    )
    assert "8 looks" in said[1]
    assert said[-1] == "- **Not looked at yet**: new."
    assert sentences(record, {"index"})[-1] == "- All pages of this edition were among them."


def test_the_record_is_of_this_axe_and_of_this_book(built_book: Path) -> None:
    """Otherwise the page "Accessibility" says what was looked at long ago: run `make accessibility`."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    assert record["axe"] == json.loads((PROGRAM.parent / "package.json").read_text(encoding="utf-8"))["version"]
    assert {f"{page}.html" for page in record["pages"]} <= set(pages_of(built_book))
