"""Programs whose edges a reader cuts: what the page shows, and says of it, is what PyTorch computes."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from widget_pages import (
    Browser,
    assert_a_figure_without_scripts,
    assert_it_fits,
    page_of,
)

from course.experiments.cuts import PROGRAMS, Number, Program, run
from course.widgets.cut_edges import cut_edges

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets.cut_edges import cut_edges

cut_edges(figure="there")
""",
)
BOX = ".cut-edges"
Edge = tuple[str, str]


def says(number: Number | None) -> str:
    """A number as the page writes it."""
    if isinstance(number, list):
        return f"[{', '.join(map(says, number))}]"
    return "None" if number is None else f"{number:g}".replace("-", "−")


def text(browser: Browser, selector: str) -> str:
    return str(browser.js(f"document.querySelector('{BOX} {selector}').textContent"))


def choose(browser: Browser, name: str, cuts: Collection[Edge]) -> None:
    """Take a program, and make its checkboxes those of these cuts."""
    keys = ["-".join(edge) for edge in cuts]
    browser.js(
        f"(() => {{ document.querySelector('{BOX} input[name=program][value={name}]').click();"
        f" for (const box of document.querySelectorAll('{BOX} .cuts input'))"
        f" if (box.checked !== {keys}.includes(box.value)) box.click(); }})()"
    )


def guess(browser: Browser, **guesses: str) -> None:
    for leaf, kind in guesses.items():
        browser.click(f"{BOX} input[name=guess-{leaf}][value={kind}]")


def press_run(browser: Browser) -> None:
    browser.js(f"document.querySelector('{BOX} .answers button').click()")


def shown(browser: Browser) -> dict[str, Any]:
    """The texts in the boxes, beside the leaves and in the listing, and the arrows and walls drawn."""
    all_of = f"[...document.querySelectorAll('{BOX} %s')]"
    return dict(
        browser.js(
            "({"
            f" boxes: Object.fromEntries({all_of % '.node'}.map((one) => [one.dataset.name,"
            " [...one.querySelectorAll('text')].map((words) => words.textContent)])),"
            f" answers: Object.fromEntries({all_of % '.leaf[data-leaf]'}.map((one) => [one.dataset.leaf,"
            " one.querySelector('.answer').textContent])),"
            f" lines: {all_of % '.lines code > span'}.map((one) => one.textContent),"
            f" walls: {all_of % '.handle.cut'}.map((one) => one.dataset.edge),"
            f" rings: {all_of % '.handle:not(.cut)'}.map((one) => one.dataset.edge),"
            f" forward: {all_of % '.arrow.forward'}.length, backward: {all_of % '.arrow.backward'}.length }})"
        )
    )


def ways(edges: Collection[Edge], start: str) -> int:
    return start == "L" or sum(ways(edges, end) for used, end in edges if used == start)


def answer(program: Program, cuts: Collection[Edge], leaf: str) -> str:
    """The expected sentence for a leaf without a guess."""
    grad, every = run(program, cuts).grads[leaf], ways(program.edges, leaf)
    left = ways([edge for edge in program.edges if edge not in cuts], leaf)
    if grad is None:
        assert left == 0
        return "None No path is left."
    whole = "Its one path is left" if every == 1 else f"All {every} paths are left"
    some = whole if left == every else f"{left} of {every} paths {'are' if left > 1 else 'is'} left"
    if grad == 0:
        return f"0 {some}" + (", with a slope of 0 on it." if left == 1 else ", and their messages add up to 0.")
    before = "" if left == every else f" Without a cut, it is {says(run(program).grads[leaf])}."
    return f"{says(grad)} {some}.{before}"


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert text(chromium, ".said") == "Nothing is cut. Say what each leaf will hold, then run."
    assert chromium.faults() == []


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_numbers_are_pytorchs_for_every_combination_of_cuts(chromium: Browser, site: str, name: str) -> None:
    chromium.open(site)
    program = PROGRAMS[name]
    for cuts in program.cuts:
        choose(chromium, name, cuts)
        outcome, keys = run(program, cuts), {"-".join(edge) for edge in cuts}
        before = shown(chromium)
        hidden = {node: ".grad ?" if node in program.leaves else "" for node in program.places}
        values = {node: f"{node} = {says(value)}" for node, value in outcome.values.items()}
        assert before["boxes"] == {node: [values[node], hidden[node]] for node in program.places}, cuts
        assert set(before["answers"].values()) == {""}
        assert before["backward"] == 0
        press_run(chromium)
        now = shown(chromium)
        for node, grad in outcome.grads.items():
            none = ".grad None" if node in program.leaves else "no g"
            below = none if grad is None else f"{'.grad' if node in program.leaves else 'g ='} {says(grad)}"
            assert now["boxes"][node] == [values[node], below], (cuts, node)
        assert now["answers"] == {leaf: answer(program, cuts, leaf) for leaf in program.leaves}, cuts
        assert now["lines"] == [*program.text(cuts), "L.backward()"]
        assert (set(now["walls"]), len(now["rings"])) == (keys, len(program.edges) - len(cuts))
        assert now["forward"] == len(program.edges)
        # A message goes along an edge whose result has a gradient, and whose used tensor has a leaf behind it.
        live = [edge for edge in program.edges if edge not in cuts and outcome.grads[edge[1]] is not None]
        recorded = [edge for edge in live if any(reaches(program, cuts, leaf, edge[0]) for leaf in program.leaves)]
        assert now["backward"] == len(recorded), cuts
        said = text(chromium, ".said")
        if outcome.error:
            assert said == f"No path is left at all, so backward raises an error: {outcome.error}."
        else:
            assert said.startswith(f"L is {says(outcome.values['L'])}")
    assert chromium.faults() == []


def reaches(program: Program, cuts: Collection[Edge], start: str, goal: str) -> bool:
    ends = [end for used, end in program.edges if used == start and (used, end) not in cuts]
    return start == goal or any(reaches(program, cuts, end, goal) for end in ends)


def test_a_guess_is_judged_when_all_are_made_and_a_new_cut_asks_again(chromium: Browser, site: str) -> None:
    chromium.open(site)
    choose(chromium, "teacher", [("u", "L")])
    guess(chromium, s="none")
    assert text(chromium, ".answers button") == "Just show me"
    guess(chromium, b="value", t="zero")
    assert text(chromium, ".answers button") == "Run L.backward()"
    assert set(shown(chromium)["answers"].values()) == {""}
    chromium.click(f"{BOX} .answers button")
    assert shown(chromium)["answers"] == {
        "s": "✗ 0 Its one path is left, with a slope of 0 on it: backward writes that 0.",
        "b": "✓ −6 Its one path is left.",
        "t": "✗ None No path is left, so backward writes nothing, not even a 0.",
    }
    assert text(chromium, ".said").startswith("1 of 3 right. L is 9, as it is without a cut")
    assert chromium.js(f"[...document.querySelectorAll('{BOX} .leaf input')].every((one) => one.disabled)")
    chromium.click(f"{BOX} .cuts input[value=u-L]")
    assert chromium.js("document.activeElement.value") == "u-L"
    assert chromium.js(f"document.querySelectorAll('{BOX} .leaf input:checked').length") == 0
    assert set(shown(chromium)["answers"].values()) == {""}
    guess(chromium, s="zero", b="value", t="value")
    chromium.click(f"{BOX} .answers button")
    assert text(chromium, ".said").startswith("3 of 3 right, 4 of 6 so far. L is 9.")
    chromium.click(f"{BOX} .answers button")
    assert text(chromium, ".answers button") == "Just show me"


def test_a_ring_is_clicked_and_a_wall_is_taken_away(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.click(f'{BOX} input[name=program][value="mean"]')
    chromium.click(f'{BOX} .handle[data-edge="m-c"] circle')
    assert shown(chromium)["walls"] == ["m-c"]
    assert chromium.js(f"document.querySelector('{BOX} .cuts input[value=m-c]').checked")
    assert text(chromium, "mark") == ".detach()"
    chromium.js("new Promise((done) => setTimeout(done, 400))")
    assert chromium.js("location.hash") == "#cut?program=mean&cuts=m-c"
    guess(chromium, w="value", b="zero")
    press_run(chromium)
    assert shown(chromium)["answers"]["b"] == "✗ −6 1 of 2 paths is left. Without a cut, it is 0."
    chromium.click(f'{BOX} .handle[data-edge="m-c"] circle')
    assert shown(chromium)["walls"] == []
    chromium.click(f'{BOX} input[name=program][value="target"]')
    assert set(shown(chromium)["boxes"]) == set(PROGRAMS["target"].places)
    assert chromium.faults() == []


def test_the_keyboard_cuts_guesses_and_runs(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.js(f"document.querySelector('{BOX} .cuts input[value=t-u]').focus()")
    chromium.key(" ", 32)
    assert shown(chromium)["walls"] == ["t-u"]
    for _ in range(2):
        chromium.key("Tab", 9)
    for _ in PROGRAMS["teacher"].leaves:
        chromium.key("Tab", 9)
        chromium.key(" ", 32)
    chromium.key("Tab", 9)
    assert chromium.js("document.activeElement.textContent") == "Run L.backward()"
    chromium.key("Enter", 13)
    assert text(chromium, ".said").startswith("1 of 3 right. ")
    assert chromium.js("document.activeElement.textContent") == "Guess again"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    for name, program in PROGRAMS.items():
        choose(chromium, name, program.edges[-1:])
        press_run(chromium)
        inks = {
            (".said", "color"): 4.5,
            (".answer", "color"): 4.5,
            ("mark", "color"): 4.5,
            (".plot text", "fill"): 4.5,
            (".forward .line", "stroke"): 3,
            (".wall", "stroke"): 3,
        }
        assert_it_fits(chromium, width, BOX, inks)
        # Each text lies in its box, and no two boxes touch.
        inside = (
            f"[...document.querySelectorAll('{BOX} .node')].every((one) => {{"
            " const box = one.querySelector('rect').getBBox();"
            " return [...one.querySelectorAll('text')].every((words) => words.getBBox().width < box.width - 4); })"
        )
        assert chromium.js(inside), name
        boxes = chromium.js(
            f"[...document.querySelectorAll('{BOX} .node rect')].map((one) => {{ const r = one.getBBox();"
            " return [r.x, r.y, r.x + r.width, r.y + r.height]; })"
        )
        pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[:i]]
        assert all(a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1] for a, b in pairs), name
        assert chromium.js(
            f"[...document.querySelectorAll('{BOX} :is(pre, fieldset)')].every((one) =>"
            " one.scrollWidth <= one.parentElement.clientWidth)"
        )


def test_without_scripts_the_page_names_a_figure_and_shows_each_cut(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)
    tables = chromium.js(
        "[...document.querySelectorAll('.widget noscript table')].map((one) =>"
        " [...one.querySelectorAll('tr')].map((row) => [...row.children].map((cell) => cell.textContent)))"
    )
    for found, program in zip(tables, PROGRAMS.values(), strict=True):
        grads = [run(program, cuts).grads for cuts in ((), *([edge] for edge in program.edges))]
        assert found[0] == ["cut", *(f"{leaf}.grad" for leaf in program.leaves)]
        assert [row[0] for row in found[1:]] == ["nothing", *(" → ".join(edge) for edge in program.edges)]
        assert [row[1:] for row in found[1:]] == [[says(one[leaf]) for leaf in program.leaves] for one in grads]


def test_what_is_no_program_and_no_edge_is_refused() -> None:
    cut_edges("mean", [("m", "c")])
    with pytest.raises(ValueError, match="program is luck, which is none of"):
        cut_edges("luck")
    with pytest.raises(ValueError, match="no edges of the program"):
        cut_edges("teacher", [("m", "c")])
