"""What a reader has known comes back: questions, predictions and passed exercises, on the page "Due today"."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from live_pages import Reader

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("emptied")]

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch03_accumulation.html"
DAY = 86_400_000
SAID = ".due-today [role=status]"
SIDE = "document.querySelector('nav.bd-links a[href$=\"due.html\"]').textContent.trim()"
MARKUP = "<img src=x onerror='window.caught = 1'>"


def due(reader: Reader) -> dict[str, Any]:
    """The stored repetitions, by page and name."""
    kept = "Object.entries(localStorage).filter(([key]) => key.startsWith('backprop:due:'))"
    return {key.removeprefix("backprop:due:"): json.loads(value) for key, value in reader.js(kept)}


def later(reader: Reader, days: float) -> None:
    """Have all repetitions come these days sooner."""
    for key, found in due(reader).items():
        log = [[then - days * DAY, grade] for then, grade in found["log"]]
        value = json.dumps({"due": found["due"] - days * DAY, "log": log})
        reader.js(f"localStorage.setItem('backprop:due:{key}', {value!r}); true")


def list_of(reader: Reader) -> str:
    reader.open(f"{reader.address}/due.html")
    reader.until(f"Boolean(document.querySelector({SAID!r})?.innerText)")
    return reader.text(SAID)


def answer(reader: Reader, box: str, right: bool) -> None:
    """Choose a right or a wrong option of a question in a chapter, and check."""
    reader.js(
        f"for (const input of document.querySelectorAll('{box} .choice input')) {{ input.click();"
        f" document.querySelector('{box} .choices-check').click();"
        f" if (Boolean(document.querySelector('{box} .choice.right input:checked')) === {json.dumps(right)}) break; }}"
        "true"
    )


def test_a_question_comes_back_the_next_day_and_then_later_and_later(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    assert list_of(reader).startswith("Nothing yet")
    reader.visit(PAGE)
    quiz = reader.js(
        "[...document.querySelectorAll('.quiz[id]')].find((one) => !one.querySelector('[type=checkbox]')).id"
    )
    answer(reader, f"#{quiz}", right=True)
    assert list_of(reader).startswith("Nothing is due today. The next item comes back on")
    waits = []
    for _ in range(3):
        later(reader, (next(iter(due(reader).values()))["due"] - time.time() * 1000) / DAY + 0.01)
        assert list_of(reader).startswith("1 due today, of 1 that you have answered or passed.")
        assert "ch03, a question" in reader.text(".due-item")
        answer(reader, ".due-item", right=True)
        reader.until(f"document.querySelector({SAID!r}).innerText === 'Done for today.'")
        (found,) = due(reader).values()
        waits.append((found["due"] - time.time() * 1000) / DAY)
    assert 0.9 < waits[0] < waits[1] < waits[2], waits
    assert waits[2] > 7
    assert reader.faults() == []


def test_a_wrong_answer_comes_back_the_next_day(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    guess = reader.js("document.querySelector('.predict[id]').id")
    options = f"[...document.querySelectorAll('#{guess} .predict-options > li')]"
    wrong = reader.js(f"{options}.findIndex((one) => !one.classList.contains('right'))")
    answer(reader, f"#{guess}", right=True)
    later(reader, 30)
    assert list_of(reader).startswith("1 due today")
    assert "a prediction" in reader.text(".due-item")
    reader.js(f"document.querySelectorAll('.due-item .choice input')[{wrong}].click(); true")
    reader.js("document.querySelector('.due-item .choices-check').click(); true")
    assert reader.text(".due-item .choices-said").startswith("Not yet: choose again.")
    (found,) = due(reader).values()
    assert found["log"][-1][1] == 1
    assert (found["due"] - time.time() * 1000) / DAY < 1.5
    assert "comes back on" in reader.text(".due-item .choices-said")


def test_a_passed_exercise_comes_back_and_the_front_page_says_so(reader: Reader) -> None:
    reader.visit("index.html", first=True)
    passed = json.dumps({"status": "passed", "points": 2, "of": 2, "best": 2})
    reader.js(f"localStorage.setItem('backprop:result:ch06_vjps/relu_vjp', {passed!r}); true")
    reader.visit("index.html")
    assert "1 due today" in reader.text(".page-progress")
    assert reader.text(".front-start").split("\n")[-1].endswith("1 due today")
    assert reader.js("document.querySelector('.front-due').getBoundingClientRect().bottom < innerHeight")
    assert reader.js(SIDE) == "Due today1 (1 due)"
    list_of(reader)
    assert (
        reader.js("document.querySelector('.due-item a').getAttribute('href')")
        == "ch06_vjps.html?again=relu_vjp#relu_vjp"
    )
    reader.js("document.querySelector('.due-item .choices-check').click()")
    assert "It comes back on" in reader.text(".due-item .due-said")
    reader.visit("index.html")
    assert "due today" not in reader.text(".page-progress") + reader.text(".front-start")
    assert reader.js(SIDE) == "Due today"


def shown_due(reader: Reader, page: str, anchor: str) -> str:
    """What "Due today" shows of one item; the storage has nothing else."""
    reader.js("localStorage.clear()")
    value = json.dumps({"due": 0, "log": [[0, 3]]})
    reader.js(f"localStorage.setItem('backprop:due:{page}/{anchor}', {value!r}); true")
    assert list_of(reader).startswith("1 due today")
    return reader.text(".due-item")


def test_what_is_due_carries_what_it_is_about(reader: Reader) -> None:
    reader.visit("index.html", first=True)
    predictions = "[...document.querySelectorAll('.predict[id], .bet .quiz[id]')].map((one) => one.id)"
    bet, *_ = reader.js(predictions)
    shown_due(reader, "index", bet)
    picture = "document.querySelector('.due-about img')"
    reader.until(f"{picture}.naturalWidth > 0")
    reader.visit("ch01_computation_graph.html")
    examples, *_ = reader.js(predictions)
    shown = shown_due(reader, "ch01_computation_graph", examples)
    assert "One node of this example sends the wrong message." in shown
    assert "def backward(node" in shown  # the code of its cell
    assert reader.js("document.querySelectorAll('.due-about .predict-output').length") == 0
    reader.visit("ch01_computation_graph.html")
    quiz = reader.js(
        "[...document.querySelectorAll('.quiz[id]')].find((one) => /20 diamonds/.test(one.textContent)).id"
    )
    assert "Many outputs need one" not in shown_due(reader, "ch01_computation_graph", quiz)
    reader.js("document.querySelector('.due-section').open = true")
    reader.until("document.querySelector('.due-section').innerText.includes('Many outputs need one')")
    assert reader.js("document.querySelectorAll('.due-item [id]').length") == 0
    assert reader.faults() == []


def test_a_due_exercise_opens_with_the_answer_of_before_folded(reader: Reader) -> None:
    own = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)  # mine\n"
    reader.visit("index.html", first=True)
    shown = shown_due(reader, "ch06_vjps", "relu_vjp")
    assert "y = max(x, 0)" in shown
    assert "def relu_vjp(g, x):" in shown
    passed = json.dumps({"status": "passed", "points": 2, "of": 2, "best": 2})
    reader.js(f"localStorage.setItem('backprop:result:ch06_vjps/relu_vjp', {passed!r}); true")
    reader.js(f"localStorage.setItem('backprop:draft:ch06-relu_vjp', {json.dumps(own)}); true")
    reader.visit(reader.js("document.querySelector('.due-from a').getAttribute('href')"))
    reader.until("Boolean(document.querySelector('.exercise-again'))")
    relu = reader.exercise("relu_vjp")
    assert "NotImplementedError" in reader.text(f"{relu} .exercise-part")
    assert reader.js("document.activeElement === document.body"), "no button takes the keyboard's focus"
    assert "mine" not in reader.text(relu)
    reader.fill(f"{relu} .exercise-part", "def relu_vjp(g, x):\n    return g\n")
    assert reader.js("localStorage.getItem('backprop:last')") is None, "a repetition is not where one goes on"
    for address in ("ch06_vjps.html", "ch06_vjps.html?again=relu_vjp#relu_vjp"):  # it stays, and no second one comes
        reader.visit("index.html")
        reader.visit(address)
        reader.until(f"Boolean(document.querySelector({relu + ' .exercise-again'!r}))")
        assert "return g\n" in reader.js(f"document.querySelector({relu + ' .exercise-part pre'!r}).textContent")
    reader.js(f"document.querySelector({relu + ' .exercise-again'!r}).open = true")
    assert "# mine" in reader.text(f"{relu} .exercise-again")
    reader.press(f"{relu} .exercise-again", "Bring it back")
    assert "# mine" in reader.text(f"{relu} .exercise-part")
    assert reader.js("localStorage.getItem('backprop:draft:ch06-relu_vjp')") == own
    assert not reader.js("Object.keys(localStorage).some((key) => key.startsWith('backprop:again:'))")
    assert not reader.js(f"Boolean(document.querySelector({relu + ' .exercise-again'!r}))")
    reader.press(relu, "Undo")  # what was written in the meantime
    assert "return g\n" in reader.js("localStorage.getItem('backprop:draft:ch06-relu_vjp')")
    assert reader.faults() == []


UNREADABLE = [MARKUP, json.dumps(MARKUP), "null", "[]", "{", json.dumps({"due": MARKUP, "log": []})]
UNREADABLE += [json.dumps({"due": 1e300, "log": []}), json.dumps({"due": 0, "log": [[MARKUP, 3]]})]
UNREADABLE += [json.dumps({"due": 0, "log": [[1, 3]] * 101})]
ODD = json.dumps({"due": 0, "log": [[1e14, 4], [0, 1], [5, 2]]})
"""A repetition in no order that a reader could have answered in."""
NONE = "Nothing yet: answer questions and pass exercises in the chapters. They come back here from the next day on."
STORED = dict.fromkeys(UNREADABLE, NONE) | {ODD: "3 due today, of 3 that you have answered or passed."}


def test_no_stored_repetition_breaks_the_page_or_becomes_markup(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    quiz = reader.js("document.querySelector('.quiz[id]').id")
    for value, said in STORED.items():
        for name in (f"ch03_accumulation/{quiz}", "ch03_accumulation/__proto__", f"{MARKUP}/x", "nowhere/quiz-1"):
            reader.js(f"localStorage.setItem('backprop:due:' + {json.dumps(name)}, {json.dumps(value)}); true")
        assert list_of(reader) == said, value
        assert reader.js("window.caught ?? null") is None
        assert reader.js("document.querySelectorAll('article img[src=x]').length") == 0
        if value == ODD:
            reader.js("[...document.querySelectorAll('.due-item button')].forEach((one) => one.click()); true")
        reader.visit("index.html")
        assert reader.faults() == [], value


def test_questions_are_saved_as_cards_of_anki(reader: Reader) -> None:
    """Fields are separated by tabs, markup is escaped, and formulas bring the book's own commands with them."""
    reader.visit("ch01_computation_graph.html", first=True)
    steepest = (
        "[...document.querySelectorAll('.quiz[id]')].find((one) => one.textContent.includes('largest magnitude')).id"
    )
    answer(reader, f"#{reader.js(steepest)}", right=True)
    reader.visit(PAGE)
    which = "[...document.querySelectorAll('.quiz[id]')].find((one) => one.textContent.includes('16 bits')).id"
    quiz, guess = reader.js(which), reader.js("document.querySelector('.predict[id]').id")
    answer(reader, f"#{quiz}", right=True)
    answer(reader, f"#{guess}", right=True)
    list_of(reader)
    take = "(blob) => (blob.text().then((text) => (saved = text)), 'about:blank')"
    reader.js(f"window.saved = null; URL.createObjectURL = {take}; true")
    reader.js("HTMLAnchorElement.prototype.click = function () { window.named = this.download; }; true")
    reader.press(".due-today", "Save my questions for Anki")
    reader.until("Boolean(saved)")
    assert reader.js("named") == "backprop-anki.txt"
    head, *rows = reader.js("saved").rstrip("\n").split("\n#tags column:3\n")
    assert head.startswith("#separator:Tab\n#html:true\n")
    cards = [row.split("\t") for row in rows[0].split("\n")]
    assert [len(card) for card in cards] == [3, 3, 3]
    (of_memory,) = (card for card in cards if "runs out of memory" in card[0])
    assert of_memory[2] == "backprop ch03_accumulation"
    assert re.search(r"<br>[A-C]\. Gradients in 16 bits, in place of 32 bits\.", of_memory[0]), of_memory[0]
    assert "<code>zero_grad(set_to_none=False)</code>" in of_memory[0]
    reason = r"[A-C]\. A smaller micro-batch, with accumulation\.<br>Yes: the memory kept for backward"
    assert re.match(reason, of_memory[1]), of_memory[1]
    (of_loss,) = (card for card in cards if "largest magnitude" in card[0])
    assert of_loss[0].startswith(r"\(\def\loss{L}\loss = (a \cdot b + c)^2\) at \(a = 2\)")
    assert reader.faults() == []
