"""Nothing is lost: Load asks first, and one file holds all of a reader's progress."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hostile_pages import RIGHT, SAID, load, notebook
from live_pages import Reader

from course.syllabus import find_lesson

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("emptied")]

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"
VJPS = find_lesson("ch06_vjps")
MARKUP = "<img src=x onerror='window.caught = 1'>"
CHECKED = ".page-checked"
ROOT = Path(__file__).parents[2]
ALL_SAID = ".page-everything [role=status]"


def offered(reader: Reader, text: str, name: str, field: str, said: str) -> None:
    """Give a file to a field of the page, and wait until the page asks or says something."""
    reader.js(
        f"files = new DataTransfer(); files.items.add(new File([{json.dumps(text)}], {json.dumps(name)}));"
        f"document.querySelector({said!r}).textContent = '';"
        f"input = document.querySelector({field!r}); input.files = files.files;"
        "input.dispatchEvent(new Event('change')); true"
    )
    reader.until(f"Boolean(document.querySelector('.page-ask') || document.querySelector({said!r}).innerText)")


def everything(reader: Reader, text: str, name: str = "all.json", answer: str = "Replace") -> str:
    """Load a file of progress; returns what the page says."""
    offered(reader, text, name, ".page-everything input", ALL_SAID)
    if reader.js("Boolean(document.querySelector('.page-ask'))"):
        reader.press(".page-ask", answer)
    reader.until(f"document.querySelector({ALL_SAID!r}).textContent")
    return str(reader.js(f"document.querySelector({ALL_SAID!r}).textContent"))


def saved(reader: Reader, button: str = "Save everything", said: str = ALL_SAID) -> tuple[str, str]:
    """What a button saves, and what the page says about it."""
    take = "(blob) => (blob.text().then((text) => (saved = text)), 'about:blank')"
    reader.js(f"window.saved = null; URL.createObjectURL = {take}; true")
    reader.js("HTMLAnchorElement.prototype.click = function () { window.named = this.download; }; true")
    reader.press(".page-progress", button)
    reader.until("Boolean(saved)")
    reader.until(f"document.querySelector({said!r}).textContent")
    return str(reader.js("saved")), str(reader.js(f"document.querySelector({said!r}).textContent"))


def draft(reader: Reader, name: str) -> Any:
    return reader.js(f"localStorage.getItem('backprop:draft:ch06-{name}')")


def test_load_says_what_it_would_replace_before_it_does(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    load(reader, notebook({"relu_vjp": "# mine", "add_vjp": "# same"}, ["import math"]))
    theirs = notebook({"relu_vjp": "# theirs", "tanh_vjp": "# new", "add_vjp": "# same"}, ["import this"])
    field = ".page-progress input"
    offered(reader, theirs, "theirs.ipynb", field, SAID)
    asked = reader.text(".page-ask")
    assert "theirs.ipynb has 3 answers, and 1 cell of your own." in asked
    assert "Loading it would replace your version of: relu_vjp, cells of your own." in asked
    assert reader.js("document.activeElement.textContent") == "Keep mine where they differ"
    assert (draft(reader, "relu_vjp"), draft(reader, "tanh_vjp")) == ("# mine", None)
    reader.press(".page-ask", "Load nothing")
    reader.until(f"document.querySelector({SAID!r}).innerText === 'Nothing was loaded.'")
    assert draft(reader, "tanh_vjp") is None
    offered(reader, theirs, "theirs.ipynb", field, SAID)
    reader.press(".page-ask", "Keep mine where they differ")
    reader.until(f"document.querySelector({SAID!r}).innerText")
    assert reader.text(SAID) == "Loaded 2 answers of theirs.ipynb, and kept 2 of yours."
    assert (draft(reader, "relu_vjp"), draft(reader, "tanh_vjp")) == ("# mine", "# new")
    assert "math" in reader.js("localStorage.getItem('backprop:own:ch06_vjps')")
    load(reader, theirs)
    assert draft(reader, "relu_vjp") == "# theirs"


def test_saving_says_what_it_has_saved(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    reader.press(".page-progress", "Check all")
    assert "Nothing is written yet" in reader.text(CHECKED)
    load(reader, notebook({"relu_vjp": RIGHT, "tanh_vjp": "# t"}, ["import math"]))
    _, said = saved(reader, "Save my work", SAID)
    assert said == "Saved ch06_vjps.ipynb among your downloads, with 2 answers of yours and 1 cell of your own."


def test_an_answer_that_is_written_again_is_saved_as_it_was(reader: Reader) -> None:
    """It lies aside until it is passed again: neither file had it, nor a trace of it."""
    reader.visit(PAGE, first=True)
    reader.js(
        "for (const [key, text] of [['again:ch06-relu_vjp', '# before'], ['draft:ch06-relu_vjp', '# begun'],"
        " ['again:ch06-tanh_vjp', '# t']]) localStorage.setItem(`backprop:${key}`, text); true"
    )
    work, said = saved(reader, "Save my work", SAID)
    assert "with 2 answers of yours" in said
    assert "# before" in work
    assert "# begun" not in work
    text, _ = saved(reader)
    assert json.loads(text)["pages"]["ch06_vjps"]["answers"] == {"ch06-relu_vjp": "# before", "ch06-tanh_vjp": "# t"}


@pytest.mark.parametrize("whole", [False, True])
def test_undo_brings_back_an_answer_that_was_written_again(reader: Reader, whole: bool) -> None:
    """A loaded file replaces both what is begun and the solved answer that lies aside."""
    reader.visit(PAGE, first=True)
    reader.js(
        "for (const [key, text] of [['again:ch06-relu_vjp', '# before'], ['draft:ch06-relu_vjp', '# begun']])"
        " localStorage.setItem(`backprop:${key}`, text); true"
    )
    if whole:
        everything(reader, a_file({"answers": {"ch06-relu_vjp": "# theirs"}}))
    else:
        load(reader, notebook({"relu_vjp": "# theirs"}))
    assert draft(reader, "relu_vjp") == "# theirs"
    for former in ("# begun", "# before"):
        reader.press(reader.exercise("relu_vjp"), "Undo")
        assert draft(reader, "relu_vjp") == former


def test_one_file_holds_everything_and_another_browser_takes_it(reader: Reader) -> None:
    """Answers of two chapters, an edited cell, own cells, a result, choices, and places; to the front page and back."""
    reader.visit(PAGE, first=True)
    reader.without_a_spare()
    load(reader, notebook({"tanh_vjp": "# t"}, ["import math"]))
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    assert "passed" in reader.checked("relu_vjp")
    reader.js(
        "field = document.querySelector('.rule-note'); field.value = 'my sum'; field.dispatchEvent(new Event('input'));"
        "true"
    )
    cell = "document.querySelector(\"[class*='live-cell-']\").className.match(/live-cell-(\\d+)/)[1]"
    at = reader.js(cell)
    reader.js(f"localStorage.setItem('backprop:draft:ch06_vjps/{at}', 'print(1)'); true")
    reader.js("document.getElementById('tanh_vjp').scrollIntoView(); true")
    reader.until(
        "localStorage.getItem('backprop:section:ch06_vjps') && localStorage.getItem('backprop:place:ch06_vjps')"
    )
    reader.visit("ch03_accumulation.html")
    reader.fill(reader.exercise("zero_grad"), "# z")
    quiz = reader.js("document.querySelector('.quiz[id]').id")
    reader.js(f"document.querySelector('#{quiz} .choice input').click()")
    reader.js(f"document.querySelector('#{quiz} .choices-check').click()")
    guess = reader.js("document.querySelector('.predict[id]').id")
    reader.js(f"document.querySelector('#{guess} .choice input').click()")
    reader.js(f"document.querySelector('#{guess} .choices-check').click()")
    reader.visit("index.html")  # which notes nothing of its own
    kinds = "^backprop:(draft|own|note|result|quiz|due|place|section|last)"
    kept = f"Object.fromEntries(Object.entries(localStorage).filter(([key]) => /{kinds}/.test(key)))"
    before = reader.js(kept)
    assert {key.split(":")[1] for key in before} == {
        "draft",
        "own",
        "note",
        "result",
        "quiz",
        "due",
        "place",
        "section",
        "last",
    }
    text, said = saved(reader)
    assert "3 answers, 1 edited cell, 1 cell of your own, 1 result, 2 choices, of 2 pages." in said
    assert reader.js("named").startswith("backprop-20")
    reader.js("localStorage.clear()")
    reader.visit("index.html")
    assert "Loaded all.json: 3 answers" in everything(reader, text)
    after = reader.js(kept)
    results = [json.loads(one.pop("backprop:result:ch06_vjps/relu_vjp")) for one in (before, after)]
    assert after == before
    assert {key: results[1][key] for key in results[0]} == {
        **results[0],
        "loaded": True,
    }  # it counts until a check without the file's code
    assert "Continue with ch03: zero_grad" in reader.text(".front-start a")
    reader.visit(PAGE)
    assert "2 answers of a loaded file run with each check" in reader.text(".page-own").replace("1 cell and ", "")
    assert reader.text(reader.exercise("relu_vjp", ".exercise-mark")) == "✓ solved"
    assert reader.complaints() == []


def test_a_file_of_everything_asks_before_it_replaces(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    reader.fill(reader.exercise("relu_vjp"), "# theirs")
    reader.fill(reader.exercise("tanh_vjp"), "# t")
    text, _ = saved(reader)
    reader.fill(reader.exercise("relu_vjp"), "# mine")
    reader.js("document.querySelector('.page-everything').closest('details').open = true")
    offered(reader, text, "all.json", ".page-everything input", ALL_SAID)
    assert "Loading it would replace your version of: ch06/relu_vjp." in reader.text(".page-ask")
    reader.press(".page-ask", "Keep mine where they differ")
    reader.until(f"document.querySelector({ALL_SAID!r}).textContent.includes('Kept 1 of yours.')")
    assert draft(reader, "relu_vjp") == "# mine"
    assert "Undo, at each exercise" in everything(reader, text)
    assert draft(reader, "relu_vjp") == "# theirs"
    reader.press(reader.exercise("relu_vjp"), "Undo")
    assert draft(reader, "relu_vjp") == "# mine"


def a_file(page: Any = None, **more: Any) -> str:
    pages = {"ch06_vjps": page} if page is not None else {}
    return json.dumps({"format": "backprop-progress", "version": 1, "pages": pages, **more})


def test_what_no_page_of_the_book_has_is_left_out(reader: Reader) -> None:
    """It used to be stored, where no page shows, counts or can Reset it."""
    reader.visit("index.html", first=True)
    page = {
        "answers": {"ch06-relu_vjp": "# mine", "ch06-nothing": "#", "ch03-zero_grad": "#"},
        "code": {"0": "print(1)", "9999": "#"},
        "scratch": {"relu_vjp": "# s", "nothing": "#"},
        "notes": {"relu_vjp": "n", "nothing": "#"},
        "results": {"relu_vjp": RESULT, "nothing": RESULT},
        "choices": {"quiz-00000000": {"first": True, "chosen": [0]}},
        "due": {"quiz-00000000": DUE, "predict-1": DUE, "relu_vjp": DUE, "nothing": DUE},
    }
    nowhere = {"answers": {"x": "#"}, "own": [{"before": "", "source": "#"}]}
    said = everything(reader, a_file(pages={"ch06_vjps": page, "nowhere": nowhere}))
    assert said.startswith(
        "Loaded all.json: 1 answer, 1 edited cell, 1 scratch cell, 1 result, of 1 page. Left out 12 "
    )
    kept = "Object.keys(localStorage).filter((one) => /draft|result|own|note|due|quiz/.test(one)).sort()"
    assert reader.js(kept) == [
        "backprop:draft:ch06-relu_vjp",
        "backprop:draft:ch06_vjps/0",
        "backprop:draft:scratch/ch06_vjps/relu_vjp",
        "backprop:due:ch06_vjps/relu_vjp",
        "backprop:note:ch06_vjps/relu_vjp",
        "backprop:result:ch06_vjps/relu_vjp",
    ]
    assert "has nothing of this book's pages" in everything(reader, a_file(pages={"nowhere": nowhere}))


def test_what_is_saved_can_be_loaded_or_nothing_is_saved(reader: Reader) -> None:
    reader.visit("index.html", first=True)
    hints = json.dumps(RESULT | {"hints": 500})
    reader.js(f"localStorage.setItem('backprop:result:ch06_vjps/relu_vjp', {hints!r}); true")
    text, _ = saved(reader)
    assert "Loaded" in everything(reader, text)
    reader.js(
        "for (let at = 0; at < 31; at++) localStorage.setItem(`backprop:draft:ch06-a${at}`, '#'.repeat(50_000));"
        "window.named = null; true"
    )
    reader.press(".page-progress", "Save everything")
    reader.until(f"document.querySelector({ALL_SAID!r}).textContent")
    said = reader.js(f"document.querySelector({ALL_SAID!r}).textContent")
    assert said.startswith("Your answers have 1,551 kB together, and a file has room for 1500 kB. Nothing was saved")
    assert reader.js("named") is None


DUE = {"due": 0, "log": [[0, 3]]}
RESULT = {"status": "passed", "points": 2, "of": 2, "best": 2}
REFUSED: dict[str, str] = {
    "nothing": "null",
    "a notebook": '{"cells": []}',
    "no JSON": "{",
    "a newer version": a_file(version=2),
    "no version": a_file(version=MARKUP),
    "no pages": a_file(pages=[MARKUP]),
    "a page's name": a_file(pages={MARKUP: {}}),
    "answers": a_file({"answers": MARKUP}),
    "an answer": a_file({"answers": {"ch06-relu_vjp": {"html": MARKUP}}}),
    "a long answer": a_file({"answers": {"ch06-relu_vjp": "#" * 50_001}}),
    "an answer's name": a_file({"answers": {MARKUP: "#"}}),
    "many answers": a_file({"answers": {f"a{n}": "#" for n in range(201)}}),
    "long answers": a_file({"answers": {f"a{n}": "#" * 50_000 for n in range(31)}}),
    "own cells": a_file({"own": [{"before": 1, "source": MARKUP}]}),
    "many own cells": a_file({"own": [{"before": "", "source": "#"}] * 201}),
    "long own cells": a_file({"own": [{"before": "", "source": "#" * 199_999}] * 2}),
    "a status": a_file({"results": {"relu_vjp": RESULT | {"status": MARKUP}}}),
    "points": a_file({"results": {"relu_vjp": RESULT | {"best": 10**9}}}),
    "points in words": a_file({"results": {"relu_vjp": RESULT | {"best": MARKUP}}}),
}
REFUSED_IN_A_PAGE = {
    "a choice": a_file({"choices": {"quiz-1": {"first": True, "chosen": [MARKUP]}}}),
    "a long derivation": a_file({"notes": {"relu_vjp": "x" * 5001}}),
    "what was read": a_file({"read": MARKUP}),
    "a section": a_file({"section": MARKUP}),
    "the last exercise": a_file(last={"lesson": MARKUP, "exercise": "x"}),
}


def test_no_file_of_progress_breaks_a_page_or_becomes_markup(reader: Reader) -> None:
    reader.visit("index.html", first=True)
    for what, text in (REFUSED | REFUSED_IN_A_PAGE).items():
        said = everything(reader, text, f"{MARKUP}.json")
        assert "Loaded" not in said, what
        assert MARKUP in said, what
        assert reader.js("[window.caught ?? null, Object.keys(localStorage).filter((one) => /draft/.test(one))]") == [
            None,
            [],
        ], what
    hostile = {
        "answers": {"ch06-relu_vjp": MARKUP, "__proto__": "#", "constructor": MARKUP},
        "code": {"3": MARKUP},
        "notes": {"relu_vjp": MARKUP, "__proto__": MARKUP},
        "own": [{"before": MARKUP, "source": MARKUP}],
        "results": {"relu_vjp": RESULT | {"best": 1000, "misconception": MARKUP}, "__proto__": RESULT},
        "choices": {"quiz-1": {"first": True, "chosen": [99]}, "__proto__": {"first": True, "chosen": []}},
        "section": "__proto__",
        MARKUP: MARKUP,
    }
    text = a_file(hostile, last={"lesson": "ch06_vjps", "exercise": "__proto__"}, saved={"a": MARKUP})
    text = text.replace('"pages": {', f'"pages": {{"__proto__": {json.dumps(hostile)}, ')
    assert "Loaded" in everything(reader, text)
    for page in ("index.html", PAGE):
        reader.visit(page)
        assert reader.js("window.caught ?? null") is None
        assert reader.faults() == []
        assert reader.js("document.querySelectorAll('article img[src=x]').length") == 0
        assert reader.js("({}).answers ?? null") is None
    assert reader.text(reader.exercise("relu_vjp", "pre")) == MARKUP
    relu = VJPS.exercise("relu_vjp").points
    assert f"1 of {len(VJPS.exercises)} solved, {relu:g} of {VJPS.points:g} points" in reader.text(".page-progress")
    assert json.loads(saved(reader)[0])["pages"]["ch06_vjps"]["answers"]["ch06-relu_vjp"] == MARKUP


def test_the_command_takes_the_page_s_file_and_gives_one_back(reader: Reader, tmp_path: Path) -> None:
    reader.visit(PAGE, first=True)
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    (tmp_path / "all.json").write_text(saved(reader)[0], encoding="utf-8")

    def backprop(*words: str) -> str:
        command = [str(Path(sys.executable).with_name("backprop")), *words]
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
        return run.stdout + run.stderr

    backprop("start", ".", "ch06")
    assert "1 answer into ch06_vjps.ipynb (relu_vjp)" in backprop("load", "all.json")
    assert "2/2" in backprop("check", "ch06/relu_vjp")
    assert "1 answer and 1 result of 1 lesson" in backprop("save", "mine.json")
    reader.js("localStorage.clear()")
    reader.visit("index.html")
    assert "1 answer, 1 result, of 1 page" in everything(reader, (tmp_path / "mine.json").read_text(encoding="utf-8"))
    reader.visit(PAGE)
    assert reader.text(reader.exercise("relu_vjp", ".exercise-mark")) == "✓ solved"
    assert draft(reader, "relu_vjp").strip() == RIGHT.strip()
