"""A reader looks inside an answer: Run this case, what a check printed, a scratch cell, the line that raised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from live_pages import Reader, Server
from page_axe import LOOKS, look

from autograder.submission import parse_submission

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
PAGE = "ch06_vjps.html"
WRONG = "def relu_vjp(g, x):\n    print('seen', x.shape)\n    return (g * (x >= 0)).astype(x.dtype)\n"
RAISES = "def relu_vjp(g, x):\n    y = x\n    return y.nope\n"
BACKWARD = """def backward(output):
    for node in (output, *output.parents, *output.parents[0].parents):
        node.grad = 7
"""
CELL = ".first-live"
SCRATCH = ".exercise-scratch"


def test_run_this_case_shows_what_the_answer_prints_and_returns(reader: Reader) -> None:
    reader.visit(PAGE)
    relu, case = reader.exercise("relu_vjp"), reader.exercise("relu_vjp", ".exercise-case")
    reader.fill(relu, WRONG)
    reader.checked("relu_vjp")
    reader.press(case, "Run this case")
    reader.until(f"Boolean(document.querySelector({case + ' mark'!r}))")
    said = reader.text(f"{case} .live-out")
    assert said.startswith("seen (2,)\n")
    assert "expected" in said
    assert reader.js(f"document.querySelector({case + ' mark'!r}).textContent").startswith("*-0.7")
    # the text as it is now is run, not that of the check
    reader.fill(relu, WRONG.replace(">=", ">"))
    reader.press(case, "Run this case")
    reader.until(f"document.querySelector({case + ' .live-out'!r}).innerText.includes('right')")
    assert reader.complaints() == []


def test_what_a_check_printed_is_folded_below_the_card_and_bounded(reader: Reader) -> None:
    reader.remain(PAGE)
    relu = reader.exercise("relu_vjp")
    reader.fill(relu, WRONG.replace("'seen'", "'seen' * 3000"))
    reader.checked("relu_vjp")
    printed = reader.exercise("relu_vjp", ".exercise-printed")
    reader.until(f"Boolean(document.querySelector({printed!r}))")
    assert not reader.js(f"document.querySelector({printed!r}).open")
    said = str(reader.js(f"document.querySelector({printed + ' .live-out'!r}).textContent"))
    assert said.startswith("seenseen")
    assert "which is not shown" in said
    assert len(said) < 11_000
    reader.fill(relu, WRONG.replace("    print('seen', x.shape)\n", ""))
    reader.checked("relu_vjp")
    assert not reader.js(f"Boolean(document.querySelector({printed!r}))")


def test_the_line_that_raised_is_marked_until_the_text_changes(reader: Reader) -> None:
    reader.remain(PAGE)
    relu = reader.exercise("relu_vjp")
    reader.fill(relu, RAISES)
    reader.checked("relu_vjp")
    marked = reader.exercise("relu_vjp", ".page-raised")
    reader.until(f"Boolean(document.querySelector({marked!r}))")
    assert reader.text(marked).strip() == "return y.nope"
    reader.fill(relu, WRONG)
    assert not reader.js(f"Boolean(document.querySelector({marked!r}))")


def test_a_scratch_cell_calls_the_reader_s_functions_and_is_kept(reader: Reader) -> None:
    reader.remain(PAGE)
    scratch = reader.exercise("relu_vjp", SCRATCH)
    reader.fill(reader.exercise("relu_vjp", ".exercise-part"), WRONG)
    reader.js(f"document.querySelector({scratch!r}).open = true")
    reader.fill(scratch, "relu_vjp(np.ones(2), np.array([0., 1]))")
    reader.press(scratch, "Run")
    reader.until(f"document.querySelector({scratch + ' .live-out'!r}).innerText.includes('array([1., 1.])')")
    assert "seen (2,)" in reader.text(f"{scratch} .live-out")
    reader.visit(PAGE)
    reader.js(f"document.querySelector({scratch!r}).open = true")
    assert "np.ones(2)" in reader.text(scratch)
    take = "(blob) => (blob.text().then((text) => (saved = text)), 'about:blank')"
    reader.js(
        f"window.saved = null; URL.createObjectURL = {take}; HTMLAnchorElement.prototype.click = () => {{}}; true"
    )
    reader.press(".page-progress", "Save my work")
    reader.until("Boolean(saved)")
    assert "np.ones(2)" not in reader.js("saved")


def test_an_endless_scratch_is_stopped(reader: Reader) -> None:
    reader.remain(PAGE)
    scratch = reader.exercise("relu_vjp", SCRATCH)
    reader.js(f"document.querySelector({scratch!r}).open = true")
    reader.fill(scratch, "print('begun', flush=True)\nwhile True:\n    pass")
    reader.press(scratch, "Run")
    reader.until(f"document.querySelector({scratch + ' .live-out'!r}).innerText.includes('begun')")
    reader.press(scratch, "Stop")
    reader.until(f"document.querySelector({scratch + ' .live-out'!r}).innerText.includes('Stopped')")
    reader.press(scratch, "Reset")


def test_a_case_of_a_text_that_was_replaced_is_not_run(reader: Reader) -> None:
    """Code that a reader has thrown away may have said what the case is."""
    reader.remain(PAGE)
    relu, case = reader.exercise("relu_vjp"), reader.exercise("relu_vjp", ".exercise-case")
    reader.fill(reader.exercise("relu_vjp", ".exercise-part"), WRONG)
    reader.checked("relu_vjp")
    assert reader.js(f"document.querySelector({case + ' .page-tools'!r}).hidden") is False
    reader.press(relu, "Reset")
    assert reader.js(f"document.querySelector({case + ' .page-tools'!r}).hidden") is True


def test_a_cell_of_the_page_uses_mine_or_the_course_s(reader: Reader) -> None:
    reader.remain(PAGE)
    reader.js("document.querySelector(\"[class*='live-cell-']\").classList.add('first-live')")
    reader.fill(reader.exercise("relu_vjp", ".exercise-part"), "def relu_vjp(g, x):\n    return 'mine'\n")
    reader.fill(CELL, "import ch06_vjps as vjps\nprint(vjps.relu_vjp(np.ones(2), np.array([0., 1])))")
    reader.press(CELL, "Run")
    reader.until(f"document.querySelector({CELL + ' .live-out'!r})?.innerText.includes('mine')")
    assert "Used your relu_vjp." in reader.text(f"{CELL} .page-line")
    reader.press(CELL, "Use the course's")
    reader.until(f"document.querySelector({CELL + ' .live-out'!r}).innerText.includes('[0. 1.]')")
    assert "Used the course's relu_vjp." in reader.text(f"{CELL} .page-line")
    reader.press(CELL, "Use mine")
    reader.until(f"document.querySelector({CELL + ' .live-out'!r}).innerText.includes('mine')")
    reader.press(CELL, "Reset")


def test_to_try_it_has_run(reader: Reader) -> None:
    reader.visit("ch03_accumulation.html")
    contract = reader.exercise("backward", ".exercise-contract")
    reader.press(contract, "Run")
    reader.until(f"document.querySelector({contract + ' .live-out'!r}).innerText.includes('your code here')")
    reader.fill(reader.exercise("backward", ".exercise-part"), BACKWARD)
    reader.press(contract, "Run")
    reader.until(f"document.querySelector({contract + ' .live-out'!r}).innerText.includes('(7, 7, 7)')")
    reader.js("localStorage.clear()")


def test_each_part_of_a_class_has_its_check_and_its_card(reader: Reader) -> None:
    reader.visit("ch05_autograd_engine.html")
    tensor = reader.exercise("Tensor")
    first = f"[...document.querySelectorAll({tensor + ' .exercise-part'!r})]"
    assert reader.js(f"{first}.length") == 7
    assert reader.js(f"{first}.every((one) => /Check/.test(one.innerText))")
    reader.js(f"[...{first}[2].querySelectorAll('button')].find((one) => one.textContent === 'Check').click()")
    reader.until(f"Boolean({first}[2].querySelector('.card-line'))")
    assert "not written yet" in reader.js(f"{first}[2].innerText")
    reader.js(f"[...{first}[0].querySelectorAll('button')].find((one) => one.textContent === 'Check').click()")
    reader.until(f"Boolean({first}[0].querySelector('.card-line'))")
    assert not reader.js(f"Boolean({first}[2].querySelector('.card-line'))")
    links = f"[...document.querySelectorAll({tensor + ' .exercise-contract a'!r})]"
    assert reader.js(f"{links}.map((one) => one.getAttribute('href'))") == ["#ch05-unbroadcast"]


def test_a_right_part_of_a_class_leads_to_the_next_in_green(reader: Reader) -> None:
    page = "ch05_autograd_engine"
    reader.visit(f"{page}.html")
    reader.without_a_spare()
    tensor = reader.exercise("Tensor")
    assert "run all cells below it again" not in reader.text(f"{tensor} .exercise-contract")
    part = f"[...document.querySelectorAll({tensor + ' .exercise-part'!r})]"
    solution = parse_submission(f"{page}.py", (ROOT / "solutions" / f"{page}.py").read_bytes())
    source = next(cell.source for cell in solution.cells if cell.exercise == "Tensor")
    reader.js(f"localStorage.setItem('backprop:draft:ch05-Tensor-the-tape', {json.dumps(source)}); true")
    reader.visit(f"{page}.html")
    check = f"{part}[%s].querySelector('.page-main').click()"
    card = f"{part}[%s].querySelector('.card-line')"
    reader.js(check % 0)
    reader.until(f"Boolean({card % 0})")
    shown = reader.js(f"{card % 0}.innerText")
    assert shown.startswith("✓ right so far Tensor 0.59 of 8 points")
    assert "All that you have written is right. Next: arithmetic." in shown
    assert "not written yet" not in shown
    assert reader.js(f"{card % 0}.className") == "card-line card-passed"
    link = reader.js(f"{card % 0}.querySelector('a').getAttribute('href')")
    assert reader.js(f"document.querySelector({link!r}) === {part}[1]")
    reader.js(check % 1)  # of a part that is not written: as before
    reader.until(f"Boolean({card % 1})")
    assert "Tensor (arithmetic) is not written yet." in reader.js(f"{card % 1}.innerText")
    reader.js("localStorage.clear()")


def test_python_is_fetched_while_a_reader_writes(reader: Reader, server: Server) -> None:
    reader.visit("ch06_vjps.html", first=True)
    reader.js("caches.keys().then((all) => Promise.all(all.map((one) => caches.delete(one))))")  # of earlier tests
    reader.call("Network.clearBrowserCache")
    server.asked.clear()
    reader.js(f"document.querySelector({reader.exercise('relu_vjp', 'pre')!r}).click()")
    reader.until("document.activeElement.classList.contains('cm-content')")
    for _ in range(300):
        if any(address.endswith("relu_vjp.book") for address in server.asked):
            break
        reader.js("new Promise((done) => setTimeout(done, 100))")
    asked = [address.rpartition("/")[2] for address in server.asked]
    assert "relu_vjp.book" in asked
    assert "grader.tar.bz2" in asked


def test_axe_finds_nothing_in_any_of_it(reader: Reader) -> None:
    reader.remain(PAGE, 1440)
    relu = reader.exercise("relu_vjp", ".exercise-part")
    reader.fill(relu, RAISES.replace("y = x", "print(x)"))
    reader.checked("relu_vjp")
    case, scratch = reader.exercise("relu_vjp", ".exercise-case"), reader.exercise("relu_vjp", SCRATCH)
    reader.press(case, "Run this case")
    reader.until(f"Boolean(document.querySelector({case + ' .live-error'!r}))")
    reader.js(f"document.querySelector({scratch!r}).open = true")
    reader.js(f"document.querySelector({reader.exercise('relu_vjp', '.exercise-printed')!r}).open = true")
    reader.fill(scratch, "np.arange(3)")
    reader.press(scratch, "Run")
    reader.until(f"document.querySelector({scratch + ' .live-out'!r}).innerText.includes('array')")
    found = {look_at: look(reader, *look_at) for look_at in LOOKS}
    assert {look_at: told for look_at, told in found.items() if told} == {}
    assert reader.complaints() == []


def test_an_endless_loop_gets_its_card_with_the_case_and_the_hints(reader: Reader) -> None:
    reader.visit(PAGE)
    reader.fill(reader.exercise("relu_vjp", ".exercise-part"), "def relu_vjp(g, x):\n    while True:\n        pass\n")
    card = reader.checked("relu_vjp")
    assert "relu_vjp did not return within 10 seconds. It was at cell relu_vjp, line " in card
    assert reader.js(f"Boolean(document.querySelector({reader.exercise('relu_vjp', '.page-raised')!r}))")
    assert "relu_vjp(g, x):\n  g = " in card
    assert "Hint 1 of" in card
    case = reader.exercise("relu_vjp", ".exercise-case")
    reader.press(case, "Run this case")
    reader.until(f"Boolean(document.querySelector({case + ' .live-error'!r}))", 40)
    said = reader.text(f"{case} .live-out")
    assert said.startswith("It did not return within 10 seconds, and was stopped at cell relu_vjp, line ")
    assert not reader.text(f"{case} .page-line")
    reader.press(case, "Run this case")  # Python is still there
    reader.until(f"/it may take 45 s/.test(document.querySelector({case + ' .page-line'!r}).innerText)", 10)
    reader.js("localStorage.clear()")


def test_open_hints_stay_open_over_a_check(reader: Reader) -> None:
    reader.visit(PAGE)
    reader.without_a_spare()
    reader.fill(reader.exercise("relu_vjp", ".exercise-part"), WRONG)
    reader.checked("relu_vjp")
    card = reader.exercise("relu_vjp", ".exercise-card")
    hints = f"[...document.querySelectorAll({card + ' details'!r})].filter((one) => /^Hint/.test(one.textContent))"
    reader.js(f"{hints}.slice(0, 2).forEach((one) => one.firstElementChild.click())")
    reader.js("new Promise((done) => setTimeout(done, 100))")
    reader.js(f"{hints}[0].dataset.former = ''; true")
    reader.press(reader.exercise("relu_vjp"), "Check")
    reader.until(f"{hints}.length > 0 && !('former' in {hints}[0].dataset)")
    assert reader.js(f"{hints}.map((one) => one.open)") == [True, True]
    reader.js(f"{hints}[0].firstElementChild.click()")  # who closes it finds it closed
    reader.js("new Promise((done) => setTimeout(done, 100))")
    reader.js(f"{hints}[0].dataset.former = ''; true")
    reader.press(reader.exercise("relu_vjp"), "Check")
    reader.until(f"{hints}.length > 0 && !('former' in {hints}[0].dataset)")
    assert reader.js(f"{hints}[0].open") is False
    reader.js("localStorage.clear()")


OFTEN = "def matmul_vjp(g, A, B):\n    return len(A) * g @ B.T, A.T @ g\n"
SIDES = "[...document.querySelectorAll({!r})].map((one) => one.getBoundingClientRect().toJSON())"


def test_what_was_got_is_beside_what_is_expected_and_below_it_on_a_phone(reader: Reader) -> None:
    """Of a case whose arrays do not fit beside each other, both are in sight."""
    card = reader.exercise("matmul_vjp", ".exercise-card")
    for width in (1440, 390):
        reader.visit(PAGE, width)
        reader.without_a_spare()
        reader.fill(reader.exercise("matmul_vjp", ".exercise-part"), OFTEN)
        reader.checked("matmul_vjp")
        sides = reader.js(SIDES.format(f"{card} .card-sides > span"))
        assert len(sides) >= 2, reader.text(card)
        expected, got, *_ = sides
        if width == 1440:
            assert expected["top"] == got["top"]
            assert got["left"] > expected["right"]
        else:
            assert got["top"] >= expected["bottom"]
            assert got["left"] == expected["left"]
            assert got["right"] < width
        said = f"[...document.querySelectorAll({card + ' .card-sides > span'!r})].map((one) => one.textContent)"
        assert [one.split()[0] for one in reader.js(said)][:2] == ["expected", "got"]
    reader.js("localStorage.clear()")


EVERY_ROW = """def cross_entropy_loss(logits, targets):
    n = len(targets)
    z = logits - logits.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    d = np.exp(logp)
    d[:, targets] -= 1
    return -logp[np.arange(n), targets].mean(), d / n
"""


def test_code_in_a_sentence_of_a_card_is_set_as_code(reader: Reader) -> None:
    reader.visit("ch07_mlp_backprop.html")
    reader.without_a_spare()
    reader.fill(reader.exercise("cross_entropy_loss", ".exercise-part"), EVERY_ROW)
    card = reader.exercise("cross_entropy_loss", ".exercise-card")
    said = reader.checked("cross_entropy_loss")
    assert "p[:, targets] -= 1 changes those columns in every row." in said
    assert "`" not in reader.text(f"{card} .card-line > p")
    assert reader.text(f"{card} b code") == "p[:, targets] -= 1"
    reader.js("localStorage.clear()")


def test_a_scratch_cell_has_two_minutes(reader: Reader) -> None:
    """Ten were long for a loop without an end."""
    reader.visit(PAGE, first=True)
    reader.without_a_spare()
    cell = reader.exercise("relu_vjp", ".exercise-scratch")
    reader.js(f"document.querySelector({cell!r}).open = true")
    reader.fill(cell, "while True:\n    pass\n")
    reader.press(cell, "Run")
    reader.until(f"/ s; it may take 2 min$/.test(document.querySelector({cell + ' .page-line'!r}).innerText)")
    reader.press(cell, "Stop")
    reader.until(f"document.querySelector({cell + ' .live-out'!r}).innerText.includes('Stopped.')")
    reader.js("localStorage.clear()")


def test_the_case_of_a_card_shows_on_a_phone_that_it_scrolls(reader: Reader) -> None:
    """Its title and its arrays ended at the edge without a sign."""
    reader.visit(PAGE, 390, first=True)
    reader.without_a_spare()
    reader.fill(reader.exercise("add_vjp", ".exercise-part"), "def add_vjp(g, a, b):\n    return g, g\n")
    reader.checked("add_vjp")
    case = f"document.querySelector({reader.exercise('add_vjp', '.card-line > pre')!r})"
    assert reader.js(f"{case}.scrollWidth > {case}.clientWidth"), "arrays keep their columns"
    assert "local" in reader.js(f"getComputedStyle({case}).backgroundAttachment"), "a shadow at the edge"
    title = f"{case}.querySelector('.card-title')"
    assert reader.js(f"{title}.textContent").startswith("add_vjp(")
    assert reader.js(f"{title}.scrollWidth <= {case}.clientWidth"), "a title is a sentence, and wraps"
    reader.js("localStorage.clear()")
