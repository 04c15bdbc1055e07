"""The built book: all pages exist and are computed, nothing in them is broken, and they need no other host.

Each check is a function that lists the faults in a folder of pages. It runs on the book and, to show that it works, on
a small page with the fault.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup, Tag

from course.syllabus import syllabus

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "book"
CHAPTERS = list(syllabus())
NOT_PROSE = ("script", "style", "code", "pre", "annotation")
RAW_MATH = re.compile(r"\$|\\\(|\\\[|\\begin\{|\\(?:frac|partial|mathbb|operatorname)\b")
CSS_URL = re.compile(r"""(?:url\(|@import\s)\s*["']?([^"')\s]+)""")
TRACEBACK = "Traceback (most recent call last)"
CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
FETCHED = {"src", "srcset", "data", "poster", "background"}  # attributes that a browser follows by itself


@pytest.fixture(scope="session")
def book() -> Path:
    """Built pages: BOOK_HTML where it is set, else book/_build/html, which `make book` brings up to date."""
    if "BOOK_HTML" in os.environ:
        return Path(os.environ["BOOK_HTML"]).resolve()
    (SOURCE / "_build").mkdir(exist_ok=True)
    with (SOURCE / "_build" / "lock").open("w") as lock:  # test processes that run side by side build it once
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "--silent", "book"], cwd=ROOT, check=True)
    return SOURCE / "_build" / "html"


@cache
def parse(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def places(page: Path) -> set[str]:
    """The ids on `page` that a link may point to."""
    return {str(element["id"]) for element in parse(page).select("[id]")}


def pages(folder: Path) -> Iterator[tuple[Path, BeautifulSoup]]:
    for page in sorted(folder.glob("*.html")):
        yield page, parse(page)


def stylesheets(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every place with CSS: style sheets, style elements and style attributes."""
    for sheet in sorted(folder.rglob("*.css")):
        yield sheet, CSS_COMMENT.sub("", sheet.read_text(encoding="utf-8"))
    for page, soup in pages(folder):
        for style in soup.find_all("style"):
            yield page, style.get_text()
        for element in soup.select('[style*="url("]'):
            yield page, str(element["style"])


def references(folder: Path) -> Iterator[tuple[Path, Tag, str, str]]:
    """Every address in the pages: page, element, attribute, address."""
    for page, soup in pages(folder):
        for element in soup.find_all(True):
            for name in sorted(element.attrs.keys() & (FETCHED | {"href"})):
                for address in str(element[name]).split(",") if name == "srcset" else [str(element[name])]:
                    yield page, element, name, address.strip()


# ---- what can be wrong with a folder of pages


def off_host(folder: Path) -> list[str]:
    """Addresses on another host that a browser would fetch by itself; a link that a reader follows is fine."""
    found = [
        f"{page.name}: <{element.name} {name}={address}>"
        for page, element, name, address in references(folder)
        if urlsplit(address).netloc and (name in FETCHED or element.name == "link")
    ]
    return found + [
        f"{place.name}: {address}"
        for place, css in stylesheets(folder)
        for address in CSS_URL.findall(css)
        if urlsplit(address).netloc
    ]


def dead_links(folder: Path) -> list[str]:
    """Addresses within the book that lead nowhere: no such file, or no such place on the page."""
    found = []
    for page, element, _, address in references(folder):
        url = urlsplit(address)
        if url.scheme or url.netloc:
            continue
        target = page.parent / unquote(url.path) if url.path else page
        if not target.is_file():
            found.append(f"{page.name}: <{element.name}> {address}: no such file")
        elif element.name == "a" and url.fragment and unquote(url.fragment) not in places(target):
            found.append(f"{page.name}: {address}: no such place on that page")
    for place, css in stylesheets(folder):
        for address in CSS_URL.findall(css):
            url = urlsplit(address)
            if not url.scheme and url.path and not (place.parent / unquote(url.path)).is_file():
                found.append(f"{place.name}: url({address}): no such file")
    return found


def raw_math(folder: Path) -> list[str]:
    """Formulas that reached the reader as TeX, and formulas that KaTeX could not read."""
    found = [f"{page.name}: {bad.get_text()}" for page, soup in pages(folder) for bad in soup.select(".katex-error")]
    return found + [
        f"{page.name}: {text.strip()[:100]}"
        for page, soup in pages(folder)
        for text in soup.find_all(string=RAW_MATH)
        if not any(parent.name in NOT_PROSE for parent in text.parents)
    ]


def errors(folder: Path) -> list[str]:
    """Cells that raised and should not have, cells that should have and did not, and whatever went to stderr."""
    bad = []
    for page, soup in pages(folder):
        raised = [output for output in soup.select(".cell_output .output") if TRACEBACK in output.get_text()]
        bad += [(page, output) for output in raised if not output.find_parent(class_="tag_raises-exception")]
        bad += [(page, output) for output in soup.select(".output.stderr")]
        bad += [(page, cell) for cell in soup.select(".tag_raises-exception") if not cell.select(".output.traceback")]
    return [f"{page.name}: {element.get_text().strip()[-200:]}" for page, element in bad]


def mute_images(folder: Path) -> list[str]:
    """Images without alternative text."""
    return [
        f"{page.name}: {image.get('src')}"
        for page, soup in pages(folder)
        for image in soup.select("article img")
        if not str(image.get("alt", "")).strip() or str(image["alt"]).startswith("_images/")
    ]


def stray_values(folder: Path) -> list[str]:
    """Values of last lines that cells with hidden code show, so that readers cannot know what they are."""
    return [
        f"{page.name}: {output.get_text().strip()[:100]}"
        for page, soup in pages(folder)
        for output in soup.select(":is(.tag_hide-input, .tag_remove-input) .output.text_plain")
    ]


CHECKS: list[Callable[[Path], list[str]]] = [off_host, dead_links, raw_math, errors, mute_images, stray_values]


@pytest.mark.parametrize("check", CHECKS)
def test_nothing_is_wrong(book: Path, check: Callable[[Path], list[str]]) -> None:
    assert check(book) == []


FAULTS = [
    (off_host, '<script src="https://cdn.example/x.js"></script>'),
    (off_host, '<link rel="stylesheet" href="//cdn.example/x.css">'),
    (off_host, '<img srcset="a.png 1x, http://cdn.example/b.png 2x">'),
    (off_host, '<p style="background: url(https://cdn.example/x.png)">'),
    (off_host, "<style>@import 'https://cdn.example/x.css';</style>"),
    (dead_links, '<a href="gone.html">gone</a>'),
    (dead_links, '<a href="#gone">gone</a>'),
    (dead_links, '<img src="_images/gone.svg">'),
    (dead_links, "<style>p { background: url('gone.png') }</style>"),
    (raw_math, "<p>Then $g = 1$.</p>"),
    (raw_math, r"<p>Then \(g = 1\).</p>"),
    (raw_math, '<span class="katex-error">x</span>'),
    (errors, '<div class="cell_output"><div class="output traceback">Traceback (most recent call last)\nE</div></div>'),
    (errors, '<div class="output stderr">a warning</div>'),
    (errors, '<div class="cell tag_raises-exception">1 + 1</div>'),
    (stray_values, '<div class="cell tag_hide-input"><div class="output text_plain">array([1.])</div></div>'),
    (mute_images, '<article><img src="_images/x.svg"></article>'),
]


@pytest.mark.parametrize(("check", "fault"), FAULTS)
def test_a_fault_is_found(tmp_path: Path, check: Callable[[Path], list[str]], fault: str) -> None:
    (tmp_path / "page.html").write_text(f'<h1 id="top">Page</h1><a href="#top">up</a>{fault}')
    assert len(check(tmp_path)) == 1


def test_a_good_page_passes(tmp_path: Path) -> None:
    good = '<a href="https://example.org">there</a> <code>$HOME</code> <annotation>\\frac{1}{2}</annotation>'
    output = f'<div class="cell_output"><div class="output traceback">{TRACEBACK}</div></div>'
    (tmp_path / "page.html").write_text(f'{good}<div class="cell tag_raises-exception">{output}</div>')
    assert [check(tmp_path) for check in CHECKS] == [[]] * len(CHECKS)


# ---- what must be there


def test_every_page_of_the_contents_is_there(book: Path) -> None:
    contents = re.findall(r"(?:file|root): (\w+)", (SOURCE / "_toc.yml").read_text())
    assert {"index", *CHAPTERS} <= set(contents)
    for name in contents:
        article = parse(book / f"{name}.html").select_one("article")
        assert article is not None
        assert article.select_one("h1")


@pytest.mark.parametrize("chapter", ["index", *CHAPTERS])
def test_a_link_to_a_page_shows_what_it_is(book: Path, chapter: str) -> None:
    soup = parse(book / f"{chapter}.html")
    told = {str(meta.get("name") or meta.get("property")): str(meta.get("content")) for meta in soup.select("meta")}
    assert len(told["description"]) > 80
    assert told["og:description"] == told["description"]
    assert told["og:title"]


@pytest.mark.parametrize("chapter", ["index", *CHAPTERS])
def test_figures_were_drawn(book: Path, chapter: str) -> None:
    """Every named figure of the source is on the page, as an SVG with something in it, or as an experiment."""
    soup = parse(book / f"{chapter}.html")
    names = re.findall(r"^:\s+name: (\S+)", (SOURCE / f"{chapter}.md").read_text(), re.MULTILINE)
    assert len(names) >= (1 if chapter == "index" else 3)
    for name in names:
        if soup.select_one(f"figure#{name} .widget"):
            continue
        image = soup.select_one(f"figure#{name} img")
        assert image is not None, name
        drawing = (book / str(image["src"])).read_text()
        assert "<svg" in drawing, name
        assert drawing.count("<path") + drawing.count("<use") > 10, name


@pytest.mark.parametrize("chapter", ["index", *CHAPTERS])
def test_numbers_were_computed(book: Path, chapter: str) -> None:
    """Every number that the source takes from a cell is on the page."""
    source = (SOURCE / f"{chapter}.md").read_text()
    article = parse(book / f"{chapter}.html").select_one("article")
    assert article is not None
    wanted = re.findall(r"\{glue:(?:text)?\}`([^`]+)`", source)
    pasted = [span.get_text().strip() for span in article.select(".pasted-text")]
    assert len(pasted) == len(wanted) > 0
    assert all(pasted)
    assert "{glue" not in article.get_text()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_exercise_has_its_place(book: Path, chapter: str) -> None:
    anchors = {exercise.anchor for exercise in syllabus()[chapter].exercises}
    assert anchors - places(book / f"{chapter}.html") == set()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_quizzes_answer_back(book: Path, chapter: str) -> None:
    quizzes = parse(book / f"{chapter}.html").select(".quiz")
    assert len(quizzes) >= 3
    for quiz in quizzes:
        answers = quiz.select("details > .quiz-answer")
        assert len(answers) == len(quiz.select("details")) >= 2
        assert all(answer.get_text().strip() for answer in answers)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_questions_stand_where_they_are_about_something(book: Path, chapter: str) -> None:
    """A chapter has at most two quizzes at the end, the others in their sections, and at least one prediction."""
    soup = parse(book / f"{chapter}.html")
    assert 1 <= len(soup.select("#checkpoint-questions .quiz")) <= 2
    sections = {quiz.find_parent("section")["id"] for quiz in soup.select(".quiz")}  # type: ignore[index]
    assert len(sections) >= 3
    for question in soup.select(".predict"):
        assert question.parent is not None
        assert len(question.parent.select(":scope > .cell_output > details.predict-output:not([open])")) == 1
    assert soup.select(".predict")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_interview_questions_stand_on_their_page(book: Path, chapter: str) -> None:
    """The page lists each chapter's questions, word for word, below a link to the chapter."""
    collected = parse(book / "interview.html")
    link = collected.select_one(f'article a[href="{chapter}.html#interview-questions"]')
    assert link is not None
    listed = [item.get_text() for item in link.find_parent("p").find_next_sibling("ol").select("li")]  # type: ignore[union-attr]
    lesson = parse(book / f"{chapter}.html")
    asked = lesson.select("#interview-questions details > summary .sd-summary-text")
    assert [item.strip() for item in listed] == [item.get_text().strip() for item in asked]
    assert len(asked) >= 3
    assert not lesson.select("#interview-questions details details")  # an answer that is not closed hides the next


def test_every_page_has_a_policy(book: Path) -> None:
    """`test_book_browser.py` sees that pages keep it."""
    pages = sorted(page.name for page in book.glob("*.html"))
    assert "search.html" in pages
    for page in pages:
        text = (book / page).read_text(encoding="utf-8")
        policy = re.search(r'<head[^>]*><meta http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        assert policy, page
        rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
        assert not {"'unsafe-inline'", "'unsafe-eval'", "data:", "blob:", "*"} & set(rules["script-src"].split()), page
        assert rules["connect-src"] == "'self'"
        assert rules["object-src"] == "'none'"
