"""Previews of the book's links: with pointer, keyboard and touch, and from the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe import violations
from widget_pages import Browser, contrast

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

OPEN = "!document.querySelector('#preview').hidden"
FIGURE = "a.reference[href='#fig-ch01-failure']"
SOON, LATER = 5000, 900
"""Milliseconds: the longest wait for something, and the time in which nothing may happen."""
KINDS = {
    "figure": ("ch01_computation_graph", FIGURE, "Fig. 1.6 Four backward walks"),
    "equation": ("ch07_mlp_backprop", "a.reference[href='#equation-eq-ch07-affine']", "(7.1)"),
    "chapter": ("ch01_computation_graph", "a.reference[href='ch02_chain_rule.html']", "The chain rule, two ways round"),
    "section": ("ch06_vjps", "p a.reference[href='#ch06-break']", "Something to break"),
    "citation": ("ch06_vjps", "a.reference[href^='bibliography.html#']", "Tri Dao"),
    "section of another page": (
        "ch05_autograd_engine",
        "a.reference[href='ch04_detachment.html#ch04-in-place']",
        "six writes in place",
    ),
    "glossary term": (
        "ch03_accumulation",
        "a.reference[href='glossary.html#term-VJP']",
        "without writing a matrix down",
    ),
}
"""Sorted by page, because tests go on in a page that is already open."""


def pause(browser: Browser, milliseconds: int) -> None:
    browser.js(f"new Promise((done) => setTimeout(done, {milliseconds}))")


def opens(browser: Browser) -> bool:
    """Whether a preview opens soon."""
    return bool(
        browser.js(
            f"new Promise((done) => {{ const end = performance.now() + {SOON}; const look = () => {OPEN} ? done(true)"
            " : performance.now() > end ? done(false) : setTimeout(look, 30); look(); })"
        )
    )


def middle(browser: Browser, selector: str) -> list[float]:
    """The centre of an element's first line."""
    place: list[float] = browser.js(
        f"(() => {{ const r = document.querySelector({selector!r}).getClientRects()[0];"
        " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
    )
    return place


def point(browser: Browser, x: float, y: float) -> None:
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)


def rest_on(browser: Browser, selector: str) -> None:
    browser.js(f"document.querySelector({selector!r}).scrollIntoView({{ block: 'center', behavior: 'instant' }})")
    point(browser, 1, 1)
    point(browser, *middle(browser, selector))


def come(browser: Browser, address: str, width: int = 1440, theme: str = "light") -> None:
    """Have a page open that shows no preview."""
    browser.stay(address, width, theme)
    point(browser, 1, 1)
    browser.js(f"new Promise((done) => {{ const look = () => {OPEN} ? setTimeout(look, 30) : done(); look(); }})")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1440, 600])
def test_a_link_shows_where_it_leads(chromium: Browser, book_site: str, kind: str, width: int) -> None:
    page, link, words = KINDS[kind]
    come(chromium, f"{book_site}/{page}.html", width)
    link = f"article {link}"
    rest_on(chromium, link)
    size = "[document.documentElement.scrollHeight, document.documentElement.scrollWidth, scrollY]"
    before = chromium.js(size), middle(chromium, link)
    assert opens(chromium)
    assert (chromium.js(size), middle(chromium, link)) == before  # nothing has moved
    assert words in " ".join(chromium.js("document.querySelector('#preview').innerText").split())
    assert chromium.js("document.querySelector('#preview').querySelectorAll('[id], a, button, input').length") == 0
    assert chromium.js(f"document.querySelector({link!r}).getAttribute('aria-describedby')") == "preview"
    pause(chromium, 300)  # pictures come
    left, top, right, bottom = chromium.js(
        "(() => { const r = document.querySelector('#preview').getBoundingClientRect();"
        " return [r.left, r.top, r.right, r.bottom]; })()"
    )
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= 900
    assert not top <= middle(chromium, link)[1] <= bottom  # the link stays in sight
    if kind == "figure":
        assert chromium.js("document.querySelector('#preview img').naturalWidth") > 0
    assert chromium.faults() == []


def test_it_stays_while_one_reads_it_and_goes_when_one_leaves(chromium: Browser, book_site: str) -> None:
    come(chromium, f"{book_site}/ch01_computation_graph.html")
    rest_on(chromium, f"article {FIGURE}")
    assert opens(chromium)
    point(chromium, *middle(chromium, "#preview"))
    pause(chromium, LATER)
    assert chromium.js(OPEN)
    point(chromium, 1, 1)
    pause(chromium, LATER)
    assert not chromium.js(OPEN)


def test_a_pointer_that_passes_by_opens_nothing(chromium: Browser, book_site: str) -> None:
    come(chromium, f"{book_site}/ch01_computation_graph.html")
    rest_on(chromium, f"article {FIGURE}")
    point(chromium, 1, 1)
    pause(chromium, LATER)
    assert not chromium.js(OPEN)


def test_escape_closes_it_until_one_comes_again(chromium: Browser, book_site: str) -> None:
    come(chromium, f"{book_site}/ch01_computation_graph.html")
    rest_on(chromium, f"article {FIGURE}")
    assert opens(chromium)
    chromium.key("Escape", 27)
    assert not chromium.js(OPEN)
    x, y = middle(chromium, f"article {FIGURE}")
    point(chromium, x + 1, y)
    pause(chromium, LATER)
    assert not chromium.js(OPEN)
    rest_on(chromium, f"article {FIGURE}")
    assert opens(chromium)


def test_keys_open_it_and_keep_the_focus(chromium: Browser, book_site: str) -> None:
    chromium.open(f"{book_site}/ch01_computation_graph.html", width=1440)
    point(chromium, 1, 1)
    link = f"document.querySelector({f'article {FIGURE}'!r})"
    chromium.key("Tab", 9)  # from here on the reader uses keys
    chromium.js(f"{link}.focus()")
    assert opens(chromium)
    pause(chromium, LATER)
    assert chromium.js(OPEN)
    chromium.key("Escape", 27)
    assert not chromium.js(OPEN)
    assert chromium.js(f"document.activeElement === {link}")
    chromium.js(f"{link}.blur(); {link}.focus()")
    assert opens(chromium)
    chromium.js(f"{link}.blur()")
    pause(chromium, LATER)
    assert not chromium.js(OPEN)


def test_a_finger_follows_the_link(chromium: Browser, book_site: str) -> None:
    chromium.open(f"{book_site}/ch01_computation_graph.html", width=390)
    chromium.js(f"document.querySelector({f'article {FIGURE}'!r}).scrollIntoView({{ block: 'center' }})")
    pause(chromium, 600)
    x, y = middle(chromium, f"article {FIGURE}")
    chromium.js("window.seen = 0; new MutationObserver(() => seen++).observe(preview, { childList: true })")
    chromium.call("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            chromium.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        pause(chromium, LATER)
        assert chromium.js("location.hash") == "#fig-ch01-failure"
        assert chromium.js("[window.seen, preview.hidden]") == [0, True]
    finally:
        chromium.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_a_finger_opens_a_term_and_then_follows_it(chromium: Browser, book_site: str) -> None:
    chromium.open(f"{book_site}/ch03_accumulation.html", width=390)
    link = "article a[href='glossary.html#term-VJP']"
    chromium.js(f"document.querySelector({link!r}).scrollIntoView({{ block: 'center' }})")
    pause(chromium, 600)
    x, y = middle(chromium, link)
    chromium.call("Emulation.setTouchEmulationEnabled", enabled=True)

    def tap(x: float, y: float) -> None:
        for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
            chromium.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    try:
        tap(x, y)
        assert opens(chromium)
        assert "without writing a matrix down" in chromium.js("preview.textContent")
        tap(5, 5)
        pause(chromium, LATER)
        assert not chromium.js(OPEN), "a tap elsewhere closes it"
        tap(x, y)
        assert opens(chromium)
        tap(x, y)
        pause(chromium, LATER)
        assert chromium.js("location.pathname").endswith("glossary.html")
    finally:
        chromium.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_what_is_in_sight_is_not_shown_twice(chromium: Browser, book_site: str) -> None:
    chromium.open(f"{book_site}/ch01_computation_graph.html", width=1440)
    chromium.js(
        f"(() => {{ const link = document.querySelector({f'article {FIGURE}'!r});"
        " document.querySelector('#fig-ch01-failure figcaption').append(link); })()"
    )
    rest_on(chromium, f"article {FIGURE}")
    chromium.js("document.querySelector('#fig-ch01-failure').scrollIntoView({ block: 'center', behavior: 'instant' })")
    point(chromium, 1, 1)
    point(chromium, *middle(chromium, f"article {FIGURE}"))
    pause(chromium, LATER)
    assert not chromium.js(OPEN)
    chromium.open("about:blank")  # no other test meets the link where it has been put


def test_from_the_disk_a_page_shows_itself_and_other_pages_stay_links(chromium: Browser, built_book: Path) -> None:
    page = (built_book / "ch01_computation_graph.html").as_uri()
    chromium.open(page, width=1440)
    rest_on(chromium, f"article {FIGURE}")
    assert opens(chromium)
    rest_on(chromium, "article a.reference[href='ch02_chain_rule.html']")
    pause(chromium, LATER)
    assert not chromium.js(OPEN)
    assert chromium.faults() == []
    followed = chromium.js(
        "new Promise((done) => { addEventListener('click', (event) => {"
        " done(!event.defaultPrevented); event.preventDefault(); });"
        " document.querySelector(\"article a.reference[href='ch02_chain_rule.html']\").click(); })"
    )
    assert followed


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["figure", "chapter", "section", "citation"])
def test_axe_finds_nothing_and_inks_stand_out(chromium: Browser, book_site: str, kind: str, theme: str) -> None:
    page, link, _ = KINDS[kind]
    come(chromium, f"{book_site}/{page}.html", theme=theme)
    rest_on(chromium, f"article {link}")
    assert opens(chromium)
    paper, ink = chromium.js(
        "(({ backgroundColor, color }) => [backgroundColor, color])"
        "(getComputedStyle(document.querySelector('#preview')))"
    )
    assert contrast(ink, paper) > 7
    assert (sum(int(part) for part in paper.removeprefix("rgb(").rstrip(")").split(",")) < 200) == (theme == "dark")
    pause(chromium, 1000)  # colours change slowly
    read = "(all) => all.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target.join(' ')}`))"
    part = {"include": ["#preview", "[aria-describedby=preview]"]}
    found = violations(chromium, part, theme, read)
    assert found == []
