"""Code that Load, Undo and Reset replace does not judge later answers, and no text is lost."""

from __future__ import annotations

import json

import pytest
from hostile_pages import LIES, PAGE, RIGHT, WRONG, answers, impostor, load, notebook, ready
from live_pages import Reader

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("emptied")]

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

FORMER = "about what stood here when the check began. It has changed since, and this is not counted"
RESULT = "localStorage.getItem('backprop:result:ch06_vjps/relu_vjp')"
DRAFT = "backprop:draft:ch06-relu_vjp"
CARD = {"status": "failed", "points": 0, "message": "m", "blocks": [], "case": "a case"}
ASKED = """
const sent = Worker.prototype.postMessage;
window.asked = [];
Worker.prototype.postMessage = function (message, ...more) {
  asked.push(message.do);
  sent.call(this, message, ...more);
};
true
"""
"""Notes what the page asks of Python."""
FILL = "for (let n = 2 ** 22; n >= 1; n /= 2) try { localStorage.setItem('other' + n, 'x'.repeat(n)) } catch {}; true"


def friends(reader: Reader) -> None:
    """Write a wrong answer, then load a friend's notebook, whose code forges all checks in the same Python."""
    load(reader, notebook({"relu_vjp": WRONG}), "mine.ipynb")
    load(reader, notebook({"relu_vjp": RIGHT + LIES, "tanh_vjp": "def tanh_vjp(g, y):\n    return g\n"}))


def press(reader: Reader, *pressed: tuple[str, str]) -> None:
    """Press these buttons within one task of the page's event loop."""
    found = "[...document.querySelectorAll(selector)].find((one) => !one.hidden && one.textContent === words).click()"
    pairs = [[reader.exercise(name, "button"), words] for name, words in pressed]
    reader.js(f"for (const [selector, words] of {json.dumps(pairs)}) {found}; true")


def test_no_order_of_check_and_undo_lets_former_code_judge(reader: Reader, hold_checks: str) -> None:
    """A wrong answer used to pass if Undo was pressed while Python started, or while checks waited.

    Python starts for the first; for the others an impostor stands for a Python that has run the friend's code.
    """
    relu, card = reader.exercise("relu_vjp"), reader.exercise("relu_vjp", ".exercise-card")
    reader.visit(PAGE)
    friends(reader)
    press(reader, ("relu_vjp", "Check"), ("relu_vjp", "Undo"))  # while Python starts
    ready(reader, relu)
    assert "failed" in reader.text(card)
    assert "forged" not in reader.checked("relu_vjp")

    with impostor(reader):
        reader.visit(PAGE)
    reader.js(hold_checks)
    friends(reader)
    reader.js("window.held = []")
    press(reader, ("tanh_vjp", "Check"), ("relu_vjp", "Check"))  # one runs, one waits
    reader.until("held.length === 1")
    press(reader, ("relu_vjp", "Undo"))
    reader.js("release()")
    ready(reader, relu)
    assert "failed" in reader.text(card)
    assert "forged" not in reader.text(card)
    assert FORMER in reader.text(reader.exercise("tanh_vjp", ".exercise-card"))

    reader.js("localStorage.removeItem('backprop:result:ch06_vjps/relu_vjp')")
    friends(reader)
    reader.js("window.held = []")
    press(reader, ("relu_vjp", "Check"))
    reader.until("held.length === 1")
    load(reader, notebook({"relu_vjp": WRONG}), "mine.ipynb")
    reader.js("release()")
    ready(reader, relu)
    assert FORMER in reader.text(card)
    assert reader.js(RESULT) is None
    assert "forged" not in reader.checked("relu_vjp")

    friends(reader)
    assert "forged" in reader.checked("relu_vjp")
    assert "stood here before" not in reader.text(card)
    press(reader, ("relu_vjp", "Undo"))
    assert "This is about the text that stood here before." in reader.text(card)


def test_a_case_that_replaced_code_may_have_told_does_not_reach_a_new_python(reader: Reader, hold_checks: str) -> None:
    """Reset during a check used to offer its case; Reset while "Run this case" waited used to run it."""
    with impostor(reader):
        reader.visit(PAGE, first=True)
    relu, case = reader.exercise("relu_vjp"), reader.exercise("relu_vjp", ".exercise-case")
    reader.js(ASKED + hold_checks)
    answers(reader, {"done": CARD})
    reader.fill(reader.exercise("tanh_vjp", ".exercise-part"), "# mine")
    reader.fill(reader.exercise("relu_vjp", ".exercise-part"), WRONG)
    reader.js("window.held = []")
    press(reader, ("relu_vjp", "Check"))
    reader.until("held.length === 1")
    press(reader, ("relu_vjp", "Reset"))
    reader.js("release()")
    ready(reader, relu)
    assert FORMER in reader.text(reader.exercise("relu_vjp", ".exercise-card"))
    assert reader.js(f"document.querySelector({case!r})") is None

    press(reader, ("relu_vjp", "Undo"), ("relu_vjp", "Check"))
    reader.until(f"Boolean(document.querySelector({case!r}))")
    ready(reader, relu)
    reader.js("window.held = []")
    press(reader, ("tanh_vjp", "Check"), ("relu_vjp", "Run this case"))  # one runs, one waits
    reader.until("held.length === 1")
    press(reader, ("relu_vjp", "Reset"))
    reader.js("release()")
    said = f"document.querySelector({case + ' .page-tools'!r})?.textContent ?? ''"
    reader.until(f"({said}).includes('The answer was replaced: check it again.') || asked.includes('look')")
    assert "look" not in reader.js("asked")


def test_undo_goes_back_over_several_loads_and_resets(reader: Reader) -> None:
    """The reader's own answer used to be lost after Load and Reset, or after a second Load."""
    reader.visit(PAGE)
    relu = reader.exercise("relu_vjp")
    reader.fill(relu, "# mine")
    stored = f"localStorage.getItem({DRAFT!r})"
    for friend in ("# a", "# b"):
        load(reader, notebook({"relu_vjp": friend}, [f"{friend} has cells"]))
    press(reader, ("relu_vjp", "Reset"))
    seen = []
    for _ in range(4):
        press(reader, ("relu_vjp", "Undo"))
        seen.append(reader.js(stored))
    assert seen == ["# b", "# a", "# mine", "# b"]
    assert "Undo brings back" in load(reader, notebook({"relu_vjp": "# c"}))  # and leaves the cells out
    for cells in ("# b", "# a", "# b"):
        reader.js(
            "[...document.querySelectorAll('.page-progress button')].find((one) => /^Undo/.test(one.innerText)).click()"
        )
        assert f"{cells} has cells" in reader.js("localStorage.getItem('backprop:own:ch06_vjps')")
    reader.js(FILL)
    press(reader, ("relu_vjp", "Undo"))
    assert reader.js(stored) == "# b"
    assert reader.complaints() == []


def test_a_text_that_is_set_aside_stays_until_reset(reader: Reader) -> None:
    """Load and typing used to replace it or, with a full storage, to delete it."""
    aside, rest = 60_000 * "#", notebook({"relu_vjp": RIGHT, "tanh_vjp": "# new"}, ["import math"])
    reader.js(f"localStorage.setItem({DRAFT!r}, '#'.repeat(60_000)); true")
    reader.visit(PAGE)
    line = reader.exercise("relu_vjp", ".page-unkept")
    said = load(reader, rest, says="Nothing was loaded")
    assert "set aside a text of relu_vjp that is too long for a page. Nothing was loaded: Reset relu_vjp first" in said
    reader.fill(reader.exercise("relu_vjp"), "# mine")
    reader.until(f"document.querySelector({line!r}).innerText.includes('What you type here is lost')")
    assert reader.js(f"localStorage.getItem({DRAFT!r})") == aside
    press(reader, ("relu_vjp", "Reset"), ("relu_vjp", "Undo"))
    assert reader.js(f"localStorage.getItem({DRAFT!r})") == "# mine"
    assert reader.text(line) == ""
    reader.js(f"localStorage.setItem('backprop:before2:ch06-relu_vjp', '#'.repeat(60_000)); {FILL}")
    load(reader, notebook({"relu_vjp": "#" * 40_000}), says="no room")
    assert reader.js("localStorage.getItem('backprop:before2:ch06-relu_vjp')") == aside


def test_a_loaded_notebook_is_taken_as_the_grader_takes_it(reader: Reader) -> None:
    """Only one cell of an answer in two was loaded; an `exercise` that is not a string was a JavaScript error."""
    made = json.loads(notebook({"relu_vjp": "def relu_vjp(g, x):\n    return g * positive(x)"}))
    at = next(i for i, cell in enumerate(made["cells"]) if cell["metadata"].get("exercise") == "relu_vjp")
    half = made["cells"][at] | {"id": "half", "source": "def positive(x):\n    return x > 0\n"}
    between = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "import math"}
    made["cells"][at:at] = [half, between]
    deep = "[" * 100_000 + "]" * 100_000
    odd = [{"exercise": {"toString": 1}}, {"exercise": "tanh_vjp", "part": {"toString": 1}}, {"exercise": "DEEP"}]
    made["cells"] += [{"cell_type": "code", "metadata": one, "outputs": [], "source": "pass"} for one in odd]
    reader.visit(PAGE)
    said = load(reader, json.dumps(made).replace('"DEEP"', deep))
    assert "Loaded 2 answers, and 2 cells of your own of friend.ipynb." in said
    whole = "def positive(x):\n    return x > 0\n\nimport math\n\ndef relu_vjp(g, x):\n    return g * positive(x)"
    assert reader.js(f"localStorage.getItem({DRAFT!r})") == whole
    assert "is no notebook" in load(reader, deep, says="no notebook")
    made["cells"] += [half] * 40_000
    load(reader, json.dumps(made), says="the answer to relu_vjp has")

    said, own = reader.text(".page-own"), "localStorage.getItem('backprop:own:ch06_vjps')"
    assert "2 cells and 2 answers of a loaded file run with each check." in said
    reader.visit(PAGE)
    assert reader.text(".page-own") == said
    reader.fill(reader.exercise("tanh_vjp"), "# mine")
    reader.until("document.querySelector('.page-own').innerText.includes('2 cells and 1 answer of')")
    reader.press(".page-own", "Leave them out")
    assert reader.js(own) is None
    assert "1 answer of a loaded file runs with each check." in reader.text(".page-own")
    reader.press(".page-own", "Reset the answer")
    assert reader.text(".page-own") == ""
    assert reader.js(f"localStorage.getItem({DRAFT!r})") is None
    press(reader, ("relu_vjp", "Undo"))
    assert reader.js(f"localStorage.getItem({DRAFT!r})") == whole
    assert "1 answer of a loaded file" in reader.text(".page-own")


SOONER = """
const timer = window.setTimeout;
window.setTimeout = (done, wait, ...more) => timer(done, wait >= 100_000 ? wait / 200 : wait, ...more);
"""
SAYS = """
import sys, time
for number in range(10**6):
    sys.modules["autograder.page.check"]._say[0](f"wait {number}")
    time.sleep(0.2)
"""


def test_code_that_says_something_now_and_then_is_stopped(reader: Reader) -> None:
    """Only silent code used to be stopped, because each message restarted the time limit."""
    hook = reader.call("Page.addScriptToEvaluateOnNewDocument", source=SOONER)["identifier"]
    try:
        reader.visit(PAGE)
        load(reader, notebook({"relu_vjp": SAYS}))
        reader.press(reader.exercise("relu_vjp"), "Check")
        ready(reader, reader.exercise("relu_vjp"))
        said = reader.text(reader.exercise("relu_vjp", ".page-line"))
        assert "Stopped after 300 seconds: is there a loop that does not end? It was at wait" in said
    finally:
        reader.call("Page.removeScriptToEvaluateOnNewDocument", identifier=hook)
