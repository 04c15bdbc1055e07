"""The search of the book answers with sections, as readers would ask: in a real browser, and from the disk."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from axe import violations
from widget_pages import SOURCE, Browser

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

QUESTIONS = {
    "vanishing gradients": {"ch09_vanishing_gradients.html", "ch09_vanishing_gradients.html#the-intuition"},
    "log softmax backward": {
        "ch06_vjps.html#cross-entropy-predicted-minus-true",
        "ch07_mlp_backprop.html#softmax-and-cross-entropy-two-ways-to-p-y",
    },
    "gradcheck step size": {"ch02_chain_rule.html#gradcheck-the-witness"},
    "detach": {"ch04_detachment.html", "ch05_autograd_engine.html#detach-the-same-numbers-no-history"},
    "activation checkpointing memory": {"ch11_checkpointing.html#production-reality"},
    "why is my grad None": {"ch04_detachment.html#none-is-not-zero"},
    "vanising gradeint": {"ch09_vanishing_gradients.html"},  # typed in a hurry
    "has_rsample": {"ch13_beyond_first_order.html#production-reality"},  # in code alone
}
FOUND = """[...document.querySelectorAll('.found li')].map((one) => ({
  address: one.querySelector('a').getAttribute('href'),
  words: one.querySelector('.found-words').innerText,
  marks: [...one.querySelectorAll('mark')].map((mark) => mark.innerText.toLowerCase()),
}))"""
PAGE = r"""<html><body><article><section id="top"><h1>1. Sums<a class="headerlink" href="#top">#</a></h1>
<p class="chapter-time">About an hour to read.</p><p>What this is
about.</p>
<section id="deep"><span id="label"></span><h2>Deep <code>x</code></h2>
<p>Here <span class="math"><span class="katex"><span class="katex-mathml"><math><semantics><mrow/><annotation>\grad{W}
</annotation></semantics></math></span><span class="katex-html">dLdW</span></span></span> is.</p>
<div class="highlight"><pre>a = 1
b = f(a)</pre></div><details class="hide above-input"><pre>plt.plot(hidden)</pre></details>
<details class="quiz-option"><summary>An option.</summary><div class="quiz-answer">The answer.</div></details>
<table><tr><td><p>one</p></td><td><p>two</p></td></tr></table>
<div class="citation" id="id3"><span class="label">[X]</span><p>A. B. Ada and C. Bob. On sums. 2020.</p></div>
</section></section></article></body></html>"""


def asked(browser: Browser, site: str, question: str) -> list[dict[str, Any]]:
    browser.open(f"{site}/search.html?q={question.replace(' ', '+')}", width=1440)
    found: list[dict[str, Any]] = browser.js(FOUND)
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_leads_to_its_section(chromium: Browser, book_site: str, question: str) -> None:
    found = asked(chromium, book_site, question)
    first = found[:3]
    assert QUESTIONS[question] & {one["address"] for one in first}, [one["address"] for one in found]
    assert chromium.js("document.querySelector('.found-count').innerText").endswith("with all of it.")
    for one in first:
        assert one["marks"]
        assert one["words"]
    address = next(one["address"] for one in first if one["address"] in QUESTIONS[question])
    chromium.open(f"{book_site}/{address}")
    assert chromium.js("!location.hash || Boolean(document.getElementById(location.hash.slice(1)))")
    assert chromium.faults() == []


def test_what_is_quoted_stands_in_the_section(chromium: Browser, book_site: str) -> None:
    found = {one["address"]: one for one in asked(chromium, book_site, "has_rsample")}
    one = found["ch13_beyond_first_order.html#production-reality"]
    assert "has_rsample says whether a distribution offers rsample" in one["words"]
    assert one["marks"][:2] == ["has", "rsample"]


def test_it_asks_for_no_page_and_for_none_of_sphinx_s_index(chromium: Browser, book_site: str) -> None:
    asked(chromium, book_site, "detach")
    sent = [
        one["params"]["request"]["url"] for one in chromium.events if one.get("method") == "Network.requestWillBeSent"
    ]
    assert any(url.endswith("/_static/sections.js") for url in sent)
    assert [url for url in sent if "searchindex" in url or ("html" in url and "search.html" not in url)] == []


def test_an_empty_result_says_what_to_try(chromium: Browser, book_site: str) -> None:
    assert asked(chromium, book_site, "qwertzuiop") == []
    said = chromium.js("document.querySelector('.found-count').innerText")
    assert "Nothing in the book has “qwertzuiop”. Try" in said
    for address in chromium.js("[...document.querySelectorAll('.found-count a')].map((one) => one.search)"):
        chromium.open(f"{book_site}/search.html{address}")
        assert len(chromium.js(FOUND)) > 0, address


def test_answers_come_while_one_types_and_keep_their_address(chromium: Browser, book_site: str) -> None:
    chromium.open(f"{book_site}/search.html")
    assert chromium.js(FOUND) == []
    chromium.js("document.querySelector('.bd-search-container input').focus()")
    chromium.call("Input.insertText", text="softmax")
    chromium.js("new Promise((done) => setTimeout(done, 1200))")
    assert len(chromium.js(FOUND)) > 5
    assert chromium.js("location.search") == "?q=softmax"
    chromium.js("window.same = true")
    chromium.key("Enter", 13)
    chromium.js("new Promise((done) => setTimeout(done, 600))")
    assert chromium.js("window.same") is True
    assert len(chromium.js(FOUND)) > 5


def test_the_glass_covers_no_letter(chromium: Browser, book_site: str) -> None:
    """Of the field on the page of results, and of the one that opens over any other page."""
    box = "(field) => parseFloat(getComputedStyle(field).paddingLeft) + field.getBoundingClientRect().left"
    glass = "(field) => field.parentElement.querySelector('i').getBoundingClientRect().right"
    for page, opened, field in (
        ("search.html", "true", ".bd-search-container input"),
        ("index.html", "document.querySelector('#pst-search-dialog').showModal()", "#pst-search-dialog input"),
    ):
        chromium.open(f"{book_site}/{page}")
        chromium.js(f"{opened}; true")
        left, right = (chromium.js(f"({of})(document.querySelector('{field}'))") for of in (box, glass))
        assert left >= right > 0, page


def test_it_finds_from_the_disk(chromium: Browser, built_book: Path) -> None:
    chromium.open(f"{(built_book / 'search.html').as_uri()}?q=vanishing+gradients")
    assert chromium.js(FOUND)[0]["address"] == "ch09_vanishing_gradients.html"
    assert chromium.faults() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("question", ["log softmax backward", "qwertzuiop"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(chromium: Browser, book_site: str, question: str, theme: str, width: int) -> None:
    chromium.open(f"{book_site}/search.html?q={question.replace(' ', '+')}", width=width, theme=theme)
    chromium.js("new Promise((done) => setTimeout(done, 1000))")
    read = (
        "(all) => all.filter(({ impact }) => impact !== 'minor')"
        ".flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target.join(' ')}`))"
    )
    found = violations(chromium, "main", theme, read)
    assert found == []
    assert chromium.js("document.documentElement.scrollWidth") <= width


def test_what_a_section_says_is_what_its_reader_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SOURCE / "_ext"))
    sections_of = importlib.import_module("section_search").sections_of
    top, deep, work = sections_of("page", PAGE)
    assert tuple(top) == ("page", "top", "1. Sums", [], "What this is about.")
    assert deep[:4] == ("page", "deep", "Deep x", ["1. Sums"])
    assert deep.text.split("\n") == ["Here ∂L/∂W is.", "a = 1", "b = f(a)", "An option.", "one · two"]
    assert tuple(work) == ("page", "id3", "On sums", ["1. Sums", "Deep x"], "A. B. Ada and C. Bob. On sums. 2020.")
