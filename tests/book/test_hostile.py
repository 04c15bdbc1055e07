"""Hostile code in a page, hostile values in its storage, and hostile files are shown as text and do no harm.

The hostile code is in a classmate's notebook, which a reader loads, or in a cell. It can `import js` from Pyodide.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hostile_pages import PAGE, answers, hole, impostor, load, notebook, ready
from live_pages import Reader, Server

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "book" / "_page"
CELL = ".first-live"
MARKUP = "<img src=x onerror='window.caught = 1'><script>window.caught = 2</script><a href='javascript:caught=3'>go</a>"


def kinds() -> dict[str, list[str]]:
    """The kinds of messages and of actions in the page's own list."""
    program = (
        f"import({json.dumps((SCRIPTS / 'messages.js').as_uri())}).then(({{ KINDS, ANSWERS }}) =>"
        " console.log(JSON.stringify({ said: Object.keys(KINDS), answers: Object.keys(ANSWERS) })))"
    )
    run = subprocess.run(["node", "--no-warnings", "-e", program], capture_output=True, text=True, check=True)
    return dict(json.loads(run.stdout))


def test_a_page_understands_what_the_worker_can_say_and_nothing_else() -> None:
    worker = (SCRIPTS / "worker.js").read_text(encoding="utf-8")
    said = set(re.findall(r"tell\(\{ (\w+)", worker))
    asked = set(
        re.findall(r"^  (?:async )?(\w+)(?:\(|:)", worker.partition("const ACTIONS")[2].partition("\n};")[0], re.M)
    )
    found = kinds()
    assert said == set(found["said"])
    assert asked == set(found["answers"])


NO_MESSAGES = """
const card = (blocks) => ({ id: 3, done: { status: "passed", points: 2, message: "m", blocks } });
const wide = (inside, levels) => (levels ? Array(50).fill({ summary: "s", inside: wide(inside, levels - 1) }) : inside);
import(ADDRESS).then(({ understood }) => {
  const is = (text) => {
    try { return understood(text, { id: 3, asked: "check" })?.kind ?? null; } catch (error) { return error.name; }
  };
  const long = JSON.stringify({ ...card([]), more: "x".repeat(2.5e6) });
  const texts = ["[".repeat(1e6) + "]".repeat(1e6), "x", '"x"', "null", long];
  const blocks = [[], wide([{ lines: "x" }], 1), wide([{ lines: "x" }], 2), wide([], 3)];
  const cards = [{ ...card([]), id: 4 }, ...blocks.map(card)].map((one) => JSON.stringify(one));
  console.log(JSON.stringify([...texts, ...cards].map(is)));
});
"""


def test_a_message_is_one_text_of_bounded_length_and_parts() -> None:
    program = NO_MESSAGES.replace("ADDRESS", json.dumps((SCRIPTS / "messages.js").as_uri()))
    run = subprocess.run(["node", "--no-warnings", "-e", program], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == [
        *("Error", "SyntaxError", "Error", "Error", "Error"),
        *(None, "done", "done", "Error", "Error"),
    ]


def visit(reader: Reader) -> None:
    reader.visit(PAGE)
    mark(reader)


def stay(reader: Reader) -> None:
    reader.remain(PAGE)
    mark(reader)


def mark(reader: Reader) -> None:
    reader.js(
        "document.querySelector(\"[class*='live-cell-']\").classList.add('first-live'); window.caught = undefined"
    )


def nothing_ran(reader: Reader) -> None:
    """Assert that no markup from the worker is in the page, and that no script of it ran."""
    assert reader.js("window.caught") is None
    strange = "img[src=x], a[href^='javascript:'], [onerror], .exercise-card [id], .live-out script, .page-line script"
    found = (
        f"[...document.querySelectorAll({json.dumps(strange)})].map((one) => one.parentElement.outerHTML.slice(0, 300))"
    )
    assert reader.js(found) == []


def run(reader: Reader, code: str = "") -> str:
    """Run a cell, with this code if there is any; return what the page then shows."""
    if code:
        reader.fill(CELL, code)
    reader.press(CELL, "Run")
    reader.until(f"document.querySelector({CELL + ' .live-tools button'!r}).hidden === false")
    return reader.text(CELL)


def sends(message: Any) -> str:
    """Code that sends the page a message through the hole, with every id that the question may have."""
    return (
        "import js, json\n"
        f"message = {message!r}\n"
        "for number in range(1, 30):\n"
        "    js.Array.hole(json.dumps(message | {'id': number}))\n"
        "print('went on')\n"
    )


SENT: dict[str, tuple[list[Any], list[Any]]] = {
    "say": ([MARKUP], [{"html": MARKUP}, 7]),
    "out": ([MARKUP], [[MARKUP], None]),
    "failed": ([MARKUP], [{"toString": MARKUP}]),
    "done": (
        [
            {"value": MARKUP, "ran": 0},
            {
                "value": MARKUP,
                "error": MARKUP,
                "picture": f"<svg xmlns='http://www.w3.org/2000/svg'>{MARKUP}</svg>",
                "ran": 1,
            },
        ],
        [{"value": {"html": MARKUP}, "ran": 0}, MARKUP, None],
    ),
}
"""By kind: what a page takes, and what it refuses."""
REFUSED = "does not understand"


def shown_as_text(reader: Reader, kind: str, shown: str) -> None:
    """Assert that the page has taken a message, and that its markup is text."""
    nothing_ran(reader)
    assert REFUSED not in shown, kind
    assert kind == "say" or "onerror" in shown, kind  # it is there to be read; what is said is gone by the end


def test_every_message_is_text_or_refused(reader: Reader) -> None:
    """An impostor sends all of them; one Python those that the page takes, and at its end one that it refuses."""
    assert set(SENT) == set(kinds()["said"])
    taken = [(kind, value) for kind, (values, _) in SENT.items() for value in values]
    refused = [(kind, value) for kind, (_, values) in SENT.items() for value in values]
    end = {"done": {"value": "", "ran": 0}}
    with impostor(reader):
        visit(reader)
        for kind, value in taken:
            answers(reader, {kind: value}, end)
            shown_as_text(reader, kind, run(reader))
        for kind, value in refused:
            answers(reader, {kind: value}, end)
            assert REFUSED in run(reader), (kind, value)
            nothing_ran(reader)
    with hole(reader):
        visit(reader)
        for kind, value in taken:
            shown_as_text(reader, kind, run(reader, sends({kind: value})))
        assert REFUSED in run(reader, sends({"say": 7}))
        nothing_ran(reader)


CARD = {"status": "passed", "points": 2, "misconception": MARKUP, "message": MARKUP}
TAKEN = {
    "words and points alone": (
        CARD | {"blocks": [{"cause": f"1{MARKUP}", "rest": MARKUP}, {"lines": MARKUP}]},
        "1<img",
    ),
    "what opens": (CARD | {"blocks": [{"summary": f"2{MARKUP}", "inside": [{"lines": MARKUP}]}]}, "2<img"),
    "more keys": (
        CARD | {"points": 1, "blocks": [], "html": MARKUP, "name": "ch07/train", "of": 10**9},
        "1 of 2 points",
    ),
    "an error": ({"error": f"3{MARKUP}"}, "3<img"),
    "more points than there are": (CARD | {"points": 900, "blocks": []}, "2 of 2 points"),
}
"""Cards that a page takes, each with words of it that are seen in no card before it."""
NO_CARDS = {
    "an unknown status": CARD | {"status": MARKUP, "blocks": []},
    "points that are no number": CARD | {"points": "<b>2</b>", "blocks": []},
    "markup in the place of blocks": CARD | {"blocks": MARKUP},
    "without an end": CARD | {"blocks": [{"lines": "x"}] * 1000},
}
KEPT = {f"backprop:{kind}:ch06-relu_vjp" for kind in ("draft", "before", "before2", "before3")}
KEPT |= {"backprop:result:ch06_vjps/relu_vjp", "backprop:loaded:ch06_vjps", "backprop:place:ch06_vjps"}
KEPT |= {"backprop:last", "backprop:section:ch06_vjps", "backprop:due:ch06_vjps/relu_vjp"}


def check_says(reader: Reader) -> str:
    """What the page shows after a check, which must be text, and keep nothing but this exercise's points."""
    relu = reader.exercise("relu_vjp")
    reader.press(relu, "Check")
    ready(reader, relu)
    nothing_ran(reader)
    kept = reader.js("localStorage.getItem('backprop:result:ch06_vjps/relu_vjp')")
    assert kept is None or json.loads(kept)["points"] <= 2
    return reader.text(relu)


def test_a_loaded_notebook_s_card_is_data(reader: Reader) -> None:
    """A classmate's notebook could put markup into a check's card, and so read the drafts of all chapters.

    An impostor sends each card. Then the code of a notebook does, in one Python: a card at each check, and at its end
    one that the page refuses.
    """
    cards = [card for card, _ in TAKEN.values()] + list(NO_CARDS.values())[:1]
    forged = (
        "import sys\n"
        "def relu_vjp(g, x):\n"
        "    return (g * (x > 0)).astype(x.dtype)\n"
        f"vars(sys).setdefault('cards', iter({cards!r}))\n"
        "sys.modules['autograder.page.check'].shown = lambda *given: next(sys.cards)\n"
    )
    try:
        with impostor(reader):
            visit(reader)
            before = set(reader.js("Object.keys(localStorage)"))
            load(reader, notebook({"relu_vjp": "# theirs"}))
            for what, (card, shown) in TAKEN.items():
                answers(reader, {"done": card})
                assert shown in check_says(reader), what
            for what, card in NO_CARDS.items():
                answers(reader, {"done": card})
                assert REFUSED in check_says(reader), what
        visit(reader)
        load(reader, notebook({"relu_vjp": forged}))
        for what, (_, shown) in TAKEN.items():
            said = check_says(reader)
            assert shown in said, what
            assert REFUSED not in said, what
        assert REFUSED in check_says(reader)
        assert set(reader.js("Object.keys(localStorage)")) <= before | KEPT
    finally:
        reader.js("localStorage.clear()")


REACH = """
import js
tries = {}
def reach(name, do):
    try:
        tries[name] = f"REACHED {do()}"
    except BaseException as error:
        tries[name] = type(error).__name__
for name in ("caches", "indexedDB", "BroadcastChannel", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource",
             "Worker", "SharedWorker", "importScripts", "navigator", "localStorage", "sessionStorage", "cookieStore",
             "storageBuckets", "webkitRequestFileSystem", "Request", "postMessage"):
    reach(name, lambda: getattr(js, name).toString())
reach("eval", lambda: js.eval("1 + 1"))
reach("Function", lambda: js.Function.new("return 1")())
reach("constructor", lambda: js.Object.constructor("return 1")())
from pyodide.code import run_js
reach("run_js", lambda: run_js("1 + 1"))
import pyodide_js
reach("pyodide's fetch", lambda: pyodide_js._module.readBinary("ADDRESS/index.html"))
reach("origin", lambda: js.self.origin)
print([name for name, found in tries.items() if found.startswith("REACHED")])
import pyodide.http
try:
    answer = await_it(pyodide.http.pyfetch("ADDRESS/index.html"))
except BaseException as error:
    answer = "no"
print(sorted(set(js.Object.getOwnPropertyNames(js.self).to_py()) & {"caches", "indexedDB", "fetch"}))
one = js.self  # the worker's own fetch stood in front of the browser's, which was still there
while one:
    fetch = getattr(one, "fetch", None)
    if fetch:
        js.Reflect.apply(fetch, js.self, js.Array.of("ADDRESS/leak?draft")).catch(lambda error: print("no"))
    one = js.Object.getPrototypeOf(one)
"""


def test_python_reaches_neither_the_origin_nor_another_host(reader: Reader, server: Server) -> None:
    stay(reader)
    reader.js("caches.open('of-the-test').then((cache) => cache.put('mine', new Response('mine')))")
    code = REACH.replace("ADDRESS", reader.address).replace("await_it(", "(")
    reader.fill(CELL, code)
    reader.press(CELL, "Run")
    reader.until(f"document.querySelector({CELL + ' .live-tools button'!r}).hidden === false")
    said = reader.text(f"{CELL} .live-out")
    assert said.splitlines()[0] == "[]", said
    reader.js("fetch('after-the-leaks').then((got) => got.status)")
    assert [address for address in server.asked if "leak?" in address] == []
    assert (
        reader.js("caches.open('of-the-test').then((cache) => cache.match('mine')).then((one) => one.text())") == "mine"
    )
    reader.js("caches.delete('of-the-test')")


def test_a_worker_that_floods_or_ends_is_told(reader: Reader) -> None:
    stay(reader)
    reader.fill(CELL, "print('x' * 1_000_000)\nprint('y' * 1_000_000)")
    reader.press(CELL, "Run")
    reader.until(f"document.querySelector({CELL + ' .live-out'!r})?.textContent.includes('which is not shown')")
    flood = "import sys\nfor number in range(100_000):\n    sys.modules['autograder.page.check']._say[0]('x')\n"
    reader.fill(reader.exercise("relu_vjp"), flood)
    reader.press(reader.exercise("relu_vjp"), "Check")
    ready(reader, reader.exercise("relu_vjp"))
    assert "than a page can take" in reader.text(reader.exercise("relu_vjp"))
    reader.press(reader.exercise("relu_vjp"), "Reset")
    reader.press(CELL, "Reset")


def test_a_plan_gives_no_work_of_other_chapters_away(reader: Reader) -> None:
    """The worker may ask for any answers, but the page only gives those that its own code imports."""
    stay(reader)
    lie = (
        "import sys, json\n"
        "live = sys.modules['autograder.page.live']\n"
        "live.plan_as_json = lambda *given: json.dumps({'elsewhere': '', 'numpy': False, 'data': False,"
        " 'answers': {'ch0' + '7_mlp_backprop': ['train']}})\n"
    )
    run(reader, lie)
    assert "does not import ch07_mlp_backprop" in run(reader)
    reader.press(CELL, "Reset")


STORED = [MARKUP, json.dumps(MARKUP), "null", "7", "[]", "[null]", "{", json.dumps({"status": MARKUP, "best": MARKUP})]
STORED += [json.dumps({"status": "passed", "best": MARKUP, "misconception": {}, "hints": "x"})]
STORED += [json.dumps({"lesson": "ch06_vjps", "exercise": MARKUP}), json.dumps("__proto__"), json.dumps("f" * 25)]
STORED += [json.dumps([{"before": MARKUP, "source": MARKUP}]), json.dumps({"chosen": [999], "first": MARKUP})]


def test_no_stored_value_breaks_a_page_or_becomes_markup(reader: Reader) -> None:
    """Any page of the origin can write any value to every key that our pages or the theme use."""
    watch = (
        "const was = Storage.prototype.getItem; window.asked = new Set();"
        "Storage.prototype.getItem = function (key) { asked.add(key); return was.call(this, key); }"
    )
    hook = reader.call("Page.addScriptToEvaluateOnNewDocument", source=watch)["identifier"]
    pages = (PAGE, "index.html")
    try:
        keys: set[str] = set()
        for page in pages:
            reader.visit(page)
            keys |= set(reader.js("[...asked]"))
        families = {key.split(":")[1] for key in keys if key.startswith("backprop:")}
        assert {"draft", "result", "own", "quiz", "place", "section", "last"} <= families
        for value in STORED:
            reader.js(
                f"for (const key of {json.dumps(sorted(keys))}) localStorage.setItem(key, {json.dumps(value)}); true"
            )
            for page in pages:
                reader.visit(page)
                nothing_ran(reader)
                assert reader.faults() == [], (page, value)
                assert reader.js("Boolean(document.querySelector('.page-progress').textContent)"), (page, value)
    finally:
        reader.call("Page.removeScriptToEvaluateOnNewDocument", identifier=hook)
        reader.js("localStorage.clear()")


def test_no_file_that_is_loaded_breaks_a_page(reader: Reader) -> None:
    visit(reader)
    cells = [
        None,
        7,
        {"cell_type": "code"},
        {"cell_type": "code", "source": {"a": 1}},
        {"cell_type": "code", "source": [1]},
    ]
    for text in ["null", "7", "[]", *(json.dumps({"cells": [cell]}) for cell in cells)]:
        load(reader, text, f"{MARKUP}.ipynb", says="is no notebook")
        nothing_ran(reader)
    load(reader, notebook({"relu_vjp": MARKUP, "tanh_vjp": MARKUP}, metadata={"title": MARKUP}))
    nothing_ran(reader)
    assert "onerror" in reader.text(reader.exercise("relu_vjp"))
    reader.js("localStorage.clear()")


FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|setHTML|parseHTMLUnsafe"
    r"|(?<![\w.])eval\(|new Function|javascript:"
)
ALLOWED = {
    ("picture.js", "DOMParser"),  # of a picture that the worker draws, of which no node gets into the page
    ("pages.js", "DOMParser"),  # of a page of the book
}


def test_no_script_of_ours_makes_markup_of_a_text() -> None:
    folders = [ROOT / "book" / "_page", ROOT / "book" / "_reader", ROOT / "course" / "widgets"]
    found = set()
    for folder in folders:
        for file in folder.glob("*.js"):
            found |= {(file.name, word) for word in FORBIDDEN.findall(file.read_text(encoding="utf-8"))}
    assert found == ALLOWED
