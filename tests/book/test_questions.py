"""Quizzes and predictions in a page of the book: in a real browser, by keys and clicks, without scripts, on paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from widget_pages import SOURCE, Browser, assert_it_fits, build_page

pytestmark = pytest.mark.slow

PAGE_TEXT = """---
file_format: mystnb
kernelspec: {name: python3}
---
# Page

:::{quiz} What is the shape of $dW$?
- The shape of $W$.
  + A gradient has the shape of its input.
- A single number.
  - $L$ is a single number, $dW$ is not.
- It has none.
  - Every array has one.
:::

:::{quiz} Which of these are sums?
Both are about a batch.

- The gradient of a bias.
  + One number, many rows.
- The gradient of a weight.
  + One number, many rows here too.
- The output of a ReLU.
  - Nothing is added up there.
:::

:::{predict} What does it print?
- `6.0`
  - That counts a message twice.
- `4.0`
  + Each addition doubles it.
:::

```{code-cell} python3
a = 1.0
b = a + a
print("the gradient is", b + b)
```

Which is four, as each of the two additions doubles it.

**2. Next.** This stays open.
"""
QUIZ, SUMS, PREDICT, CELL = ".quiz:nth-of-type(1)", ".quiz:nth-of-type(2)", ".predict", ".cell"


@pytest.fixture
def opened(chromium: Browser, site: str) -> Browser:
    chromium.open(site, first=True)
    return chromium


def text(browser: Browser, selector: str) -> str:
    return str(browser.js(f"document.querySelector({selector!r}).innerText")).strip()


def choose(browser: Browser, box: str, *words: str) -> None:
    """Click the options that contain these words, then Check."""
    for one in words:
        labels = browser.js(f"[...document.querySelectorAll('{box} .choice')].map((one) => one.innerText)")
        place = next(at for at, label in enumerate(labels) if one in label)
        browser.click(f"{box} .choice:nth-of-type({place + 1}) input")
    browser.click(f"{box} .choices-check")


def test_the_answer_is_to_what_was_chosen_and_the_first_try_counts(opened: Browser, site: str) -> None:
    opened.click(f"{QUIZ} .choices-check")
    assert text(opened, f"{QUIZ} .choices-said") == "Choose one first."
    choose(opened, QUIZ, "single number")
    assert "is a single number" in text(opened, f"{QUIZ} .choices-reply")
    assert (
        text(opened, f"{QUIZ} .choices-said")
        == "Not yet: choose again. First tries on this page: 0 of 1 right, 1 to go."
    )
    choose(opened, QUIZ, "The shape of")
    assert text(opened, f"{QUIZ} .choices-reply") == "A gradient has the shape of its input."
    assert opened.js(f"document.querySelectorAll('{QUIZ} .choice.right').length") == 1
    choose(opened, SUMS, "a bias", "a weight")
    assert text(opened, f"{SUMS} .choices-said") == "Right. First tries on this page: 1 of 2 right, all answered."
    opened.open(site)  # what was chosen is still there
    assert opened.js(f"document.querySelector('{QUIZ} .choice.right input').checked")
    assert text(opened, f"{QUIZ} .choices-reply") == "A gradient has the shape of its input."
    assert opened.faults() == []


def test_several_may_be_right(opened: Browser) -> None:
    assert opened.js(f"document.querySelectorAll('{SUMS} input[type=checkbox]').length") == 3
    choose(opened, SUMS, "a bias")
    assert text(opened, f"{SUMS} .choices-said").startswith("There is more that is right.")
    choose(opened, SUMS, "a weight")
    assert text(opened, f"{SUMS} .choices-said").startswith("Right.")
    assert "Both are about a batch." in text(opened, SUMS)


def test_keys_alone_do_it(opened: Browser) -> None:
    opened.js(f"document.querySelector('{QUIZ} input').focus()")
    opened.key("ArrowDown", 40)
    assert opened.js(f"document.querySelectorAll('{QUIZ} input')[1].checked")
    opened.key("Enter", 13)
    assert text(opened, f"{QUIZ} .choices-reply")
    named = opened.js(f"document.querySelector('{QUIZ} fieldset legend').innerText")
    assert named.startswith("What is the shape of")
    assert opened.js(f"document.querySelector('{QUIZ} .choices-reply').getAttribute('aria-live')") == "polite"


def test_a_browser_that_keeps_nothing_says_so(opened: Browser) -> None:
    opened.js("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }")
    choose(opened, QUIZ, "The shape of")
    assert text(opened, f"{QUIZ} .choices-said") == (
        "Right. First tries on this page: 1 of 1 right, 1 to go. "
        "This browser keeps nothing for this page: your answers are forgotten when you leave."
    )
    assert opened.faults() == []


@pytest.mark.parametrize("choice", ["4.0", "6.0"])
def test_an_output_is_closed_until_one_has_chosen(opened: Browser, site: str, choice: str) -> None:
    shown = "document.querySelector('.predict-output').open"
    assert not opened.js(shown)
    assert "the gradient is 4.0" not in text(opened, "article")
    assert "Which is four" not in text(opened, "article")
    assert "This stays open." in text(opened, "article")
    choose(opened, PREDICT, choice)
    assert opened.js(shown)
    assert "the gradient is 4.0" in text(opened, CELL)
    assert "Each addition doubles it." in text(opened, CELL)
    assert "Which is four" in text(opened, CELL)
    assert ("That counts a message twice." in text(opened, CELL)) == (choice == "6.0")
    said = "As you predicted:" if choice == "4.0" else "The output is different:"
    assert text(opened, f"{PREDICT} .choices-said") == said
    opened.open(site)  # what was predicted is still there
    assert opened.js(shown)
    assert opened.js(f"document.querySelector('{PREDICT} .choice input:checked').parentElement.innerText") == choice


def test_who_does_not_want_to_predict_is_shown(opened: Browser) -> None:
    opened.click(".predict-output > summary")
    assert "the gradient is 4.0" in text(opened, CELL)


def test_without_a_script_they_are_folded(chromium: Browser, site: str, page: Path) -> None:
    chromium.open(site, script=False)
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    assert [len(quiz.select("details.quiz-option > summary")) for quiz in soup.select(".quiz")] == [3, 3]
    closed = soup.select_one(".cell > .cell_output > details:not([open])")
    assert closed is not None
    assert closed.summary is not None
    assert closed.summary.get_text() == "Just show me"
    assert "the gradient is 4.0" in closed.get_text()
    assert not soup.select(".predict > ul .quiz-answer")


def test_on_paper_answers_are_open(opened: Browser) -> None:
    opened.call("Emulation.setEmulatedMedia", media="print")
    opened.js("dispatchEvent(new Event('beforeprint'))")
    printed = text(opened, "article")
    opened.call("Emulation.setEmulatedMedia", media="")
    for words in ("A gradient has the shape of its input.", "Every array has one.", "the gradient is 4.0"):
        assert words in printed
    assert "Check" not in printed


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_they_fit_and_stand_out(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width=width, theme=theme)
    assert_it_fits(
        chromium, width, "article", {(".choices legend", "color"): 7, (".choices-said", "color"): 4}, ".choices"
    )


WRONG = {
    "- `5.0`\n  + Yes.\n- `6.0`\n  - No.": "is not what its cell shows: '5.0' is not in",
    "- `4.0`\n  + Yes.\n- `6.0`\n  + Too.": "a prediction has two to four options, one of them right",
}


def told(before: str = "", after: str = "") -> str:
    """A page whose prediction, 40.5, also stands in open text."""
    cell = "```{code-cell} python3\nprint(40.5)\n```\n"
    question = ":::{predict} What?\n- `40.5`\n  + Yes.\n- `60`\n  - No.\n:::\n"
    return f"{PAGE_TEXT.split('# Page')[0]}# Page\n\n{before}\n\n{question}\n{cell}\n{after}\n"


@pytest.mark.parametrize("where", [{"before": "It is 40.5."}, {"after": "See below.\n\nIt is 40.5, of course."}])
def test_an_answer_in_open_text_beside_its_question_fails_the_build(tmp_path: Path, where: dict[str, str]) -> None:
    with pytest.raises(
        AssertionError, match=re.escape("a prediction is told in open text beside it: '40.5' in 'It is")
    ):
        build_page(tmp_path, told(**where))


@pytest.mark.parametrize("options", WRONG)
def test_a_prediction_that_the_build_does_not_bear_out_fails_it(tmp_path: Path, options: str) -> None:
    cell = "```{code-cell} python3\nprint(4.0)\n```\n"
    with pytest.raises(AssertionError, match=re.escape(WRONG[options])):
        build_page(tmp_path, f"{PAGE_TEXT.split('# Page')[0]}# Page\n\n:::{{predict}} What?\n{options}\n:::\n\n{cell}")


def test_the_scripts_are_those_of_the_book() -> None:
    assert {file.name for file in (SOURCE / "_reader").glob("*.js")} >= {"reader.js", "quiz.js", "predict.js"}
