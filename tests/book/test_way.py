"""What comes next for a reader of the built book: marks, links to go on, solutions that stay, and addresses."""

from __future__ import annotations

import json
import re

import pytest
from live_pages import Reader

from course.syllabus import find_lesson, syllabus

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("emptied")]

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

PAGE = "ch06_vjps.html"
RIGHT = "def relu_vjp(g, x):\n    return (g * (x > 0)).astype(x.dtype)\n"
WRONG = "def relu_vjp(g, x):\n    return (g * (x >= 0)).astype(x.dtype)\n"
VJPS = find_lesson("ch06_vjps")
LATER = ("tied_autoencoder_gradient", "microbatch_gradient", "token_gradient")
"""Exercises of ch03 after bias_gradient that run in its page."""


def solve(reader: Reader, slug: str, *names: str, **more: object) -> None:
    """Store these exercises as solved."""
    for name in names or [one.name for one in find_lesson(slug).exercises]:
        of = find_lesson(slug).exercise(name).points
        value = json.dumps({"status": "passed", "points": of, "of": of, "best": of, **more})
        reader.js(f"localStorage.setItem('backprop:result:{slug}/{name}', {value!r}); true")


def test_a_passed_card_leads_to_the_next_exercise_that_is_not_solved(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    solve(reader, "ch06_vjps", "sigmoid_vjp")
    reader.visit(PAGE)
    reader.without_a_spare()
    after = reader.exercise("relu_vjp", ".exercise-next")
    assert reader.text(after) == ""
    check = f"document.querySelector({reader.exercise('relu_vjp', '.page-main')!r})"
    assert reader.js(f"{check}.title").startswith("Ctrl+Enter")
    reader.fill(reader.exercise("relu_vjp"), RIGHT)
    assert "passed" in reader.checked("relu_vjp")
    assert (
        reader.text(after)
        == "Next: read tanh: a stretched sigmoid, then tanh_vjp (stretch; the next core exercise is softmax_vjp)"
    )
    section = reader.js(f"document.querySelector({after + ' a'!r}).hash.slice(1)")
    assert reader.js(f"document.getElementById({section!r}).contains(document.getElementById('tanh_vjp'))")
    reader.js(f"[...document.querySelectorAll({after + ' a'!r})].find((one) => one.hash === '#tanh_vjp').click()")
    assert reader.js("location.hash") == "#tanh_vjp"
    reader.until(f"Math.abs(document.querySelector({reader.exercise('tanh_vjp')!r}).getBoundingClientRect().top) < 200")


def test_the_last_exercise_leads_to_what_was_skipped_and_to_the_next_chapter(reader: Reader) -> None:
    here = ["backward", "zero_grad", "bias_gradient", *LATER]
    reader.visit("ch03_accumulation.html", first=True)
    solve(reader, "ch03_accumulation", *here[1:])
    reader.visit("ch03_accumulation.html")
    after = reader.exercise("token_gradient", ".exercise-next")
    assert reader.text(after).startswith("Nothing is left below. Not solved yet: backward. Next: ch0")
    end = reader.text(".page-end")
    assert end.startswith("5 of 6 exercises on this page solved")
    assert "You can now write: zero_grad (The account, and zero_grad); bias_gradient" in end
    assert "Not solved yet: backward (Two sums in one backward)." in end
    solve(reader, "ch03_accumulation", "backward")
    reader.visit("ch03_accumulation.html")
    assert reader.text(after).startswith("All exercises on this page are solved. Next: ch0")
    assert reader.text(".page-end").startswith("All exercises on this page solved")


def test_the_end_of_a_chapter_counts_a_question_as_soon_as_it_is_answered(reader: Reader) -> None:
    reader.visit("ch03_accumulation.html", first=True)
    left = r"Number(document.querySelector('.page-end').innerText.match(/(\d+) questions? without your answer/)[1])"
    before = reader.js(left)
    reader.js("document.querySelector('.quiz[id] .choice input').click(); true")
    reader.js("document.querySelector('.quiz[id] .choices-check').click(); true")
    assert reader.js(left) == before - 1


def test_the_table_and_the_list_have_marks_and_lead_to_the_exercises(reader: Reader) -> None:
    reader.visit("ch03_accumulation.html", first=True)
    solve(reader, "ch03_accumulation", "zero_grad")
    partly = json.dumps({"status": "partial", "points": 1.5, "of": 4, "best": 1.5})
    reader.js(f"localStorage.setItem('backprop:result:ch03_accumulation/backward', {partly!r}); true")
    reader.visit("ch03_accumulation.html")
    cells = "[...row.cells].map((cell) => cell.textContent.trim())"
    rows = reader.js(f"[...document.querySelectorAll('#exercises tbody tr')].map((row) => {cells})")
    marks = dict(re.findall(r"^(\w+)\s*(.*)$", row[0])[0] for row in rows if row[0] != "all")
    expected = {"backward": "1.5 of 4 points so far", "zero_grad": "✓ solved", "bias_gradient": ""}
    assert marks == expected | dict.fromkeys(LATER, "") | {"train": "in the notebook"}
    links = "[...document.querySelectorAll('#exercises tbody td:first-child a, .page-exercises a')]"
    targets = reader.js(f"{links}.map((one) => one.hash)")
    assert sorted(targets) == sorted(2 * [f"#{name}" for name in marks if name != "train"])
    assert reader.js(f"{links}.every((one) => document.getElementById(one.hash.slice(1)).matches('.exercise'))")
    reader.js("[...document.querySelectorAll('.page-progress details')].forEach((one) => (one.open = true))")
    assert "zero_grad The account, and zero_grad core ✓ solved" in reader.text(".page-exercises")
    assert "Open your" not in reader.text("#exercises > p")


def test_the_front_page_goes_on_where_the_reader_was(reader: Reader) -> None:
    button = ".front-start a"
    reader.visit("index.html", first=True)
    assert reader.text(button) == "Start with chapter 1"
    reader.visit(PAGE)
    reader.fill(reader.exercise("tanh_vjp"), "def tanh_vjp(g, y):\n    return 1\n")
    reader.visit("index.html")
    assert reader.text(button) == "Continue with ch06: tanh_vjp"
    assert reader.js(f"document.querySelector({button!r}).href").endswith("/ch06_vjps.html#tanh_vjp")
    solve(reader, "ch06_vjps", "tanh_vjp")
    reader.visit("index.html")
    assert reader.text(button) == "Continue with ch06: softmax_vjp"
    reader.js("localStorage.removeItem('backprop:last')")  # as of a former edition
    reader.visit("index.html")
    assert reader.text(button) == "Continue with ch06: softmax_vjp"
    reader.js("localStorage.clear()")
    solve(reader, "ch01_computation_graph")
    reader.visit("index.html")
    assert reader.text(button) == "Continue with ch02: The chain rule, two ways round"
    reader.js("localStorage.setItem('backprop:place:ch06_vjps', '3'); localStorage.setItem('backprop:last', '7'); true")
    reader.visit("index.html")
    assert reader.text(button) == "Continue with ch02: The chain rule, two ways round"


def test_at_the_last_chapter_s_end_the_front_page_leads_to_what_was_left_out(reader: Reader) -> None:
    reader.visit("index.html", first=True)
    others = [slug for slug in syllabus() if slug != "ch02_chain_rule"]
    for slug in others:
        solve(reader, slug)
        reader.js(f"localStorage.setItem('backprop:place:{slug}', '100'); true")
    reader.visit("index.html")
    assert reader.text(".front-start a") == f"Continue with ch02: {find_lesson('ch02_chain_rule').title}"
    solve(reader, "ch02_chain_rule")
    reader.visit("index.html")
    assert reader.text(".front-start a") == "You have solved everything: see what is due today"
    assert reader.js("document.querySelector('.front-start a').href").endswith("/due.html")


def test_a_chapter_offers_to_go_on_where_the_reader_left(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    assert reader.text(".go-on") == ""
    reader.js("document.getElementById('tanh_vjp').scrollIntoView(); true")
    reader.until("localStorage.getItem('backprop:section:ch06_vjps')")
    reader.visit(PAGE)
    assert reader.text(".go-on").startswith("Go on at: tanh: a stretched sigmoid")
    assert reader.js("scrollY") == 0
    reader.js("document.querySelector('.go-on a').click()")
    assert "tanh" in reader.js("location.hash")
    reader.visit("index.html")
    reader.visit(f"{PAGE}#relu_vjp")
    assert reader.text(".go-on") == ""
    assert abs(reader.js("document.getElementById('relu_vjp').getBoundingClientRect().top")) < 200


def test_a_jump_to_the_end_is_not_reading(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    reader.js("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }); true")
    reader.until("localStorage.getItem('backprop:place:ch06_vjps')")
    reader.visit("index.html")
    card = "[...document.querySelectorAll('.lesson-state')].find((one) => /read/.test(one.innerText)).innerText"
    assert int(reader.js(card).split()[1]) < 10


def test_the_solution_stays_open_to_readers_who_have_passed(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    solve(reader, "ch06_vjps", "relu_vjp")
    reader.visit(PAGE)
    own = reader.exercise("relu_vjp", ".exercise-own")
    assert reader.text(reader.exercise("tanh_vjp", ".exercise-own")) == ""
    reader.js(f"document.querySelector({own!r}).open = true")
    reader.until(f"document.querySelector({own!r}).innerText.includes('def relu_vjp')")
    assert "Why." in reader.text(own)


def test_a_solution_that_cannot_be_fetched_is_not_said_to_be_missing(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    solve(reader, "ch06_vjps", "relu_vjp")
    reader.visit(PAGE)
    lost = "/solved/.test(address) ? Promise.reject(new TypeError()) : fetched(address, ...more)"
    reader.js(f"window.fetched = window.fetch; window.fetch = (address, ...more) => {lost}; true")
    own = reader.exercise("relu_vjp", ".exercise-own")
    reader.js(f"document.querySelector({own!r}).open = true")
    reader.until(f"document.querySelector({own + ' p'!r})?.innerText")
    assert reader.text(f"{own} p") == "The solution could not be fetched: is there a network?"
    reader.js(f"window.fetch = fetched; document.querySelector({own!r}).open = false")
    reader.js(f"new Promise((done) => setTimeout(done, 50)).then(() => (document.querySelector({own!r}).open = true))")
    reader.until(f"document.querySelector({own!r}).innerText.includes('def relu_vjp')")
    assert "could not be fetched" not in reader.text(own)


def test_the_solution_opens_after_the_last_hint_and_the_mark_says_so(reader: Reader) -> None:
    reader.visit(PAGE, first=True)
    reader.without_a_spare()
    relu, mark = reader.exercise("relu_vjp"), reader.exercise("relu_vjp", ".exercise-mark")
    reader.fill(relu, WRONG)
    assert "Hint 1 of" in reader.checked("relu_vjp")
    hints = "[...document.querySelectorAll(%r)].filter((one) => /^Hint/.test(one.firstElementChild.textContent))"
    hints %= reader.exercise("relu_vjp", ".exercise-card details")
    count = reader.js(f"{hints}.length")
    shown = reader.exercise("relu_vjp", ".exercise-after")
    for number in range(count):
        assert reader.text(shown) == "", number
        reader.js(f"{hints}[{number}].open = true")
        reader.js("new Promise((done) => setTimeout(done, 50))")
    reader.visit(PAGE)  # the offer stays
    reader.press(shown, "Show the solution")
    reader.until(f"document.querySelector({shown!r}).innerText.includes('def relu_vjp')")
    assert reader.text(mark).endswith("of 2 points so far")
    assert reader.text(f"{shown} .exercise-next").startswith("Next: read ")
    reader.js("navigator.clipboard.writeText = async (text) => { window.copied = text; }; true")
    reader.press(shown, "Copy")
    reader.until("window.copied?.startsWith('def relu_vjp(g, x)')")
    assert reader.js(f"getComputedStyle(document.querySelector({shown + ' pre'!r})).whiteSpace") == "pre-wrap"
    reader.visit(PAGE)
    reader.without_a_spare()
    assert "The course's own way" in reader.text(shown)
    reader.fill(relu, RIGHT)
    assert "passed" in reader.checked("relu_vjp")
    assert reader.text(mark) == "✓ solved with the solution"


@pytest.mark.parametrize("page", ["ch01_computation_graph", "ch03_accumulation", "ch06_vjps"])
def test_each_exercise_has_an_address_of_its_own(reader: Reader, page: str) -> None:
    reader.visit(f"{page}.html")
    twice = "(ids) => ids.filter((one, at) => ids.indexOf(one) !== at)"
    assert reader.js(f"({twice})([...document.querySelectorAll('[id]')].map((one) => one.id))") == []
    boxes = "[...document.querySelectorAll('.exercise[data-exercise]')]"
    own = f"{boxes}.map((one) => [one.id, one.dataset.exercise, one.querySelector('.exercise-head .headerlink').hash])"
    for anchor, name, link in reader.js(own):
        assert (anchor, link) == (name, f"#{name}")
    listed = reader.js("[...document.querySelectorAll('.page-exercises a')].map((one) => one.textContent)")
    assert listed == [name for _, name, _ in reader.js(own)]


def test_the_link_to_an_exercise_is_seen_where_nothing_can_hover_and_never_hidden(reader: Reader) -> None:
    """The theme hides such links, and shows those of headings only. A browser without a pointer is a phone."""
    reader.visit(PAGE)
    assert reader.js("matchMedia('(hover: none)').matches")
    link = f"document.querySelector({reader.exercise('relu_vjp', '.exercise-head .headerlink')!r})"
    look = f"(({{ visibility, opacity }}) => [visibility, opacity])(getComputedStyle({link}))"
    assert reader.js(look) == ["visible", "1"]
    reader.js(f"{link}.focus()")
    assert reader.js(f"document.activeElement === {link}")


def test_no_button_of_an_exercise_is_on_paper(reader: Reader) -> None:
    reader.visit("ch06_vjps.html", first=True)
    reader.fill(reader.exercise("relu_vjp"), "# begun")
    shown = "[...document.querySelectorAll('.exercise button')].filter((one) => one.checkVisibility()).length"
    assert reader.js(shown) > 20
    reader.call("Emulation.setEmulatedMedia", media="print")
    printed = reader.js(shown)
    reader.call("Emulation.setEmulatedMedia", media="")
    assert printed == 0


def test_a_record_of_what_is_solved_is_printed_alone_and_gives_no_credit(reader: Reader) -> None:
    reader.visit("index.html", first=True)
    assert "Print a record" not in reader.text(".page-progress")
    solve(reader, "ch06_vjps", "relu_vjp")
    solve(reader, "ch06_vjps", "tanh_vjp", shown=True)
    reader.visit("index.html")
    reader.js("window.prints = 0; window.print = () => { prints += 1; }; true")
    button = "[...document.querySelectorAll('.page-progress button')].find((one) => /^Print/.test(one.textContent))"
    reader.js(f"{button}.click(); {button}.click(); true")  # twice, as one does who sees nothing at once
    reader.until("Boolean(document.querySelector('.print-record'))")
    assert (reader.js("prints"), reader.js("document.querySelectorAll('.print-record').length")) == (1, 1)
    reader.call("Emulation.setEmulatedMedia", media="print")
    printed = reader.text("body")
    reader.call("Emulation.setEmulatedMedia", media="")
    earned = sum(VJPS.exercise(name).points for name in ("relu_vjp", "tanh_vjp"))
    counts = f"2 of {len(VJPS.exercises)} solved, {earned:g} of {VJPS.points:g} points"
    assert f"{VJPS.title}: {counts}. relu_vjp, tanh_vjp (with the solution)." in printed
    assert "it gives no credit" in printed
    assert "The bug, in one line" not in printed
    reader.js("dispatchEvent(new Event('afterprint'))")
    assert reader.js("Boolean(document.querySelector('.print-record'))") is False
