"""The built book in a real browser: no request to another host, no script errors, and it fits a narrow screen.

Chromium records what it asks for (`--log-net-log`). A request that a page causes has the page's origin as initiator;
the browser's own traffic has none.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from browser import Visit, served, visit
from page_sight import look
from widget_pages import Browser

from course.syllabus import syllabus

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
KILOBYTES = 600
"""Maximum compressed size of a page before the first click, in KB."""
SOON = 1000
"""Maximum distance of a chapter's first picture or experiment from the top, in pixels, in a window 1440 wide."""
PHONE = 360
"""Width in CSS pixels of a small phone. Headless Chromium opens no window that narrow, so pages are put in a frame."""

MEASURE = """onload = () => {
  for (const frame of document.querySelectorAll("iframe"))
    frame.title = frame.contentDocument.documentElement.scrollWidth;
}"""


def elsewhere(requests: list[str]) -> list[str]:
    return [url for url in requests if urlsplit(url).hostname not in ("127.0.0.1", None)]


def errors(seen: Visit) -> list[str]:
    """The console's errors of scripts."""
    return [line for line in seen.console if line.startswith("Uncaught")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the built book (BOOK_HTML, or what `make book` builds), to which tests may add pages."""
    built = os.environ.get("BOOK_HTML", ROOT / "book" / "_build" / "html")
    if "BOOK_HTML" not in os.environ:
        subprocess.run(["make", "--silent", "book"], cwd=ROOT, check=True)
    return Path(shutil.copytree(built, tmp_path_factory.mktemp("book") / "html"))


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """The address of a plain file server of the book."""
    with served(folder) as address:
        yield address


def frames(folder: Path, site: str) -> tuple[Visit, dict[str, int]]:
    """Every page in a frame as wide as a phone: the visit, and the width that each page takes."""
    names = [page.name for page in sorted(folder.glob("*.html"))]
    page = "".join(f'<iframe width="{PHONE}" height="700" src="{name}"></iframe>' for name in names)
    (folder / "frames.html").write_text(f"{page}<script>{MEASURE}</script>")
    seen = visit(f"{site}/frames.html")
    (folder / "frames.html").unlink()
    widths = {name: int(width) for name, width in re.findall(r'src="(\S+)" title="(\d+)"', seen.dom)}
    assert list(widths) == names
    return seen, widths


def test_pages_stand_alone_and_fit_a_phone(folder: Path, site: str) -> None:
    """No page requests another host, has a script error or is wider than the screen: wide elements scroll."""
    seen, widths = frames(folder, site)
    assert any("katex.min.css" in url for url in seen.requests)
    assert elsewhere(seen.requests) == []
    assert errors(seen) == []
    assert {name: width for name, width in widths.items() if width > PHONE} == {}


def test_a_page_that_does_not_is_seen(tmp_path: Path) -> None:
    picture, script = "http://pictures.example/a.png", "https://data.example/b"
    wrong = f'<script>fetch("{script}"); nothing.here()</script>'
    (tmp_path / "bad.html").write_text(f'<img src="{picture}"><p style="width: 900px">wide</p>{wrong}')
    with served(tmp_path) as site:
        seen, widths = frames(tmp_path, site)
    assert sorted(elsewhere(seen.requests)) == [picture, script]
    assert len([error for error in errors(seen) if "nothing" in error]) == 1
    assert widths["bad.html"] > PHONE


def test_search_finds(site: str) -> None:
    seen = visit(f"{site}/search.html?q=broadcasting")
    assert 'href="ch06_vjps.html' in seen.dom.split('id="search-results"')[1]
    assert elsewhere(seen.requests) == []


def test_pages_open_from_the_disk(folder: Path) -> None:
    seen = visit((folder / "index.html").as_uri())
    assert elsewhere(seen.requests) == []
    assert errors(seen) == []
    assert "fig-index-loss" in seen.dom


WATCH = """addEventListener("securitypolicyviolation", (event) =>
  (window.broken ??= []).push([event.violatedDirective, event.blockedURI.slice(0, 80)]))"""
"""Lists what a page's policy has forbidden."""
ALLOWED = [None, True]
KEPT = "[window.broken, [...document.fonts].length > 0]"
"""`ALLOWED` where a page's scripts and typefaces load, and nothing is forbidden."""


@contextmanager
def watched(browser: Browser) -> Iterator[None]:
    hook = browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)["identifier"]
    try:
        yield
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=hook)


class Look(NamedTuple):
    """What a reader who comes to a page first sees of it, the kilobytes that it asks for, and its `KEPT`."""

    seen: dict[str, Any]
    kilobytes: float
    kept: list[Any]


@pytest.fixture(scope="module")
def looks(browsers: list[Browser], folder: Path, site: str) -> dict[str, Look]:
    """By the page's name."""
    browser = browsers[-1]
    with watched(browser):
        return {
            page.stem: Look(*look(browser, f"{site}/{page.name}", folder), browser.js(KEPT))
            for page in sorted(folder.glob("*.html"))
        }


def test_pages_are_light(looks: dict[str, Look]) -> None:
    """The gzipped size of all files that Chromium fetches for a page is limited.

    The first test to ask for `looks` pays for opening every page, also for those of policies and of pictures.
    """
    weights = {name: round(one.kilobytes) for name, one in looks.items() if name not in ("genindex", "search")}
    assert {name: weight for name, weight in weights.items() if weight > KILOBYTES} == {}
    assert min(weights.values()) > 50  # they were loaded


def test_every_page_keeps_its_policy(chromium: Browser, looks: dict[str, Look], folder: Path, site: str) -> None:
    """Both from a file server and from the disk, scripts and typefaces load, and nothing forbidden does."""
    assert {name: one.kept for name, one in looks.items() if one.kept != ALLOWED} == {}
    with watched(chromium):
        for page in looks:
            chromium.open((folder / f"{page}.html").as_uri())
            assert chromium.js(KEPT) == ALLOWED, page
        chromium.open(f"{site}/ch06_vjps.html")
        image = "'<img src=x onerror=\"window.caught = 1\">'"
        inject = f"document.querySelector('article').insertAdjacentHTML('beforeend', {image})"
        chromium.js(f"{inject}; new Promise((done) => setTimeout(done, 300))")
        assert chromium.js("window.caught") is None  # and the policy is one more wall
        assert ["script-src-attr", "inline"] in chromium.js("window.broken")


def test_the_first_screen_says_what_this_is_and_asks(chromium: Browser, site: str) -> None:
    chromium.open(f"{site}/index.html", width=1440)
    for what in (".front-lead", ".front-facts", ".front-start a", ".bet img", ".bet .choices-check"):
        assert chromium.js(f"document.querySelector('{what}').getBoundingClientRect().bottom") < 900, what
    assert chromium.js("document.querySelector('.front-start a').href").endswith("/ch01_computation_graph.html")
    chromium.click(".bet .choice input")
    chromium.click(".bet .choices-check")
    assert "nothing to learn" in chromium.js("document.querySelector('.bet .choices-reply').innerText")
    assert chromium.faults() == []


def test_a_card_shows_how_far_this_reader_is(chromium: Browser, site: str) -> None:
    card = "document.querySelector('.sd-card:has(a[href^=\"ch01_\"])').innerText"
    chromium.open(f"{site}/index.html", first=True)
    assert "Not begun" in chromium.js(card)
    chromium.open(f"{site}/ch01_computation_graph.html")
    chromium.click(".quiz .choice input")
    chromium.click(".quiz .choices-check")
    kept = "localStorage.getItem('backprop:place:ch01_computation_graph')"  # of what was on the screen for a second
    look = f"const look = () => ({kept} ? done() : setTimeout(look, 100)); look();"
    chromium.js(f"new Promise((done) => {{ scrollTo(0, document.body.scrollHeight / 2); {look} }})")
    chromium.open(f"{site}/index.html")
    assert re.search(r"read [1-9]\d? % · quizzes [01] of \d", chromium.js(card))
    assert "Not begun" not in chromium.js(card)


@pytest.mark.parametrize("chapter", syllabus())
def test_a_picture_comes_soon(looks: dict[str, Look], chapter: str) -> None:
    first = looks[chapter].seen["picture"]
    assert first is not None
    assert first < SOON


@pytest.mark.parametrize("chapter", syllabus())
def test_every_experiment_asks_before_it_shows(chromium: Browser, site: str, chapter: str) -> None:
    """Each is in a numbered figure and has its own name, and each answer opens it at the case in question."""
    address = f"{site}/{chapter}.html"
    chromium.open(address, first=True)
    asked = """[...document.querySelectorAll('.widget')].map((one) => {
      const { frame } = JSON.parse(one.querySelector('script').textContent);
      const closed = one.querySelector('.frame-body').inert;
      return { ...frame, closed, number: one.closest('figure')?.querySelector('.caption-number')?.textContent };
    })"""
    experiments = chromium.js(asked)
    names = [one["name"] for one in experiments]
    assert len(set(names)) == len(names)
    for one in experiments:
        assert one["closed"], one["name"]
        assert re.match(r"Fig\. \d", one["number"] or ""), one
        form = f"document.getElementById('{one['name']}').querySelector('form')"
        for text, says in one["question"]["options"]:
            plain = text.replace("`", "")
            options = f"[...document.querySelectorAll('#{one['name']} .option')]"
            chromium.js(f"{options}.find((button) => button.textContent === {plain!r}).click()")
            reply = chromium.js(f"document.querySelector('#{one['name']} .reply').textContent")
            assert says.replace("`", "") in reply
            for name, value in one["question"]["then"].items():
                values = chromium.js(
                    f"[...{form}.elements].filter((e) => e.name === '{name}' && (e.type !== 'radio' || e.checked))"
                    ".map((e) => String(e.stops ? e.stops[e.value] : e.value))"
                )
                assert values == [value], (one["name"], name)
            chromium.js(f"document.querySelector('#{one['name']} .asks button').click()")  # ask me again
    assert chromium.faults() == []


@pytest.mark.parametrize("page", ["index", "ch06_vjps", "ch14_scaling_out"])
def test_names_in_code_stay_whole_and_marks_stay_with_formulas(chromium: Browser, site: str, page: str) -> None:
    """On a desktop, no name in code is broken between lines, and no line begins with a full stop after a formula."""
    chromium.open(f"{site}/{page}.html", width=1440)
    broken = chromium.js(
        "[...document.querySelectorAll('main code.literal .pre')].filter((one) => one.getClientRects().length > 1"
        " && /^[\\\\w.]+$/.test(one.textContent)).map((one) => one.textContent)"
    )
    assert broken == []
    torn = chromium.js(
        "[...document.querySelectorAll('.math-and-mark')].filter((one) => {"
        " const mark = document.createRange(); mark.selectNodeContents(one.lastChild);"
        " return mark.getBoundingClientRect().top > one.querySelector('.katex-html').getBoundingClientRect().bottom;"
        " }).length"
    )
    assert torn == 0


def test_the_contents_follow_the_reader(chromium: Browser, site: str) -> None:
    chromium.open(f"{site}/ch06_vjps.html", width=1440)
    chromium.js(
        "new Promise((done) => { document.querySelector('#softmax-subtract-the-average').scrollIntoView();"
        " setTimeout(done, 400); })"
    )
    active = chromium.js("[...document.querySelectorAll('.page-toc a.here')].map((one) => one.textContent.trim())")
    assert active == ["Whole rows: softmax and normalization", "Softmax: subtract the average"]
    box = chromium.js(
        "(() => { const r = document.querySelector('.page-toc [aria-current]').getBoundingClientRect();"
        " return [r.top, r.bottom, r.height]; })()"
    )
    assert 0 <= box[0] < box[1] <= 900
    assert box[2] > 0
