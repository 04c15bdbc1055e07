"""A product of Jacobians whose widths a reader sets: what the page shows is what the course's code computes."""

from __future__ import annotations

import math
import random
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from widget_pages import Browser, assert_controls_fit, assert_it_fits, page_of

from course.experiments.bracket_order import Tree, flops, products, written
from course.widgets.bracket_order import CHAINS, ORDERS, WIDTHS, bracket_order

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets.bracket_order import bracket_order

bracket_order()
""",
)
BOX = ".bracket-order"


def put(browser: Browser, widths: tuple[int, ...], order: str) -> None:
    for i, width in enumerate(widths):
        browser.js(
            f"(() => {{ const e = document.querySelector('{BOX} input[name=n{i}]');"
            f" e.value = {WIDTHS.index(width)}; e.dispatchEvent(new Event('input')); }})()"
        )
    browser.js(f"document.querySelector('{BOX} input[name=order][value={order}]').click()")


def widths(browser: Browser) -> tuple[int, ...]:
    places = browser.js(
        f"[0, 1, 2, 3, 4].map((i) => Number(document.querySelector('{BOX} input[name=n' + i + ']').value))"
    )
    return tuple(WIDTHS[place] for place in places)


def press(browser: Browser, words: str) -> None:
    browser.js(
        f"[...document.querySelectorAll('{BOX} .buttons button')].find((one) => one.textContent === '{words}').click()"
    )


def text(browser: Browser, selector: str) -> str:
    return str(browser.js(f"document.querySelector('{BOX} {selector}').textContent"))


def rows(browser: Browser) -> dict[str, list[Any]]:
    """For each order: FLOPs, ratio, width of the bar in percent, and whether it is marked as the cheapest."""
    return dict(
        browser.js(
            f"Object.fromEntries([...document.querySelectorAll('{BOX} tbody tr')].map((row) => [row.dataset.order,"
            " [...['.flops', '.more'].map((one) => row.querySelector(one).textContent),"
            " parseFloat(row.querySelector('.bar').style.width), row.classList.contains('cheapest')]]))"
        )
    )


def ratio(value: float) -> str:
    if value < 10:
        return f"{Decimal(value).quantize(Decimal('0.1'), ROUND_HALF_UP)}×"
    return f"{math.floor(value + 0.5):,}×"


def left_after_each_step(tree: Tree, sizes: tuple[int, ...]) -> list[list[tuple[int, int]]]:
    """(first, last) of the factors in every state, from the steps of the course's code."""
    states = [[(i, i) for i in range(len(sizes) - 1, 0, -1)]]
    for step in products(tree, sizes):
        inside = [(a, b) for a, b in states[-1] if step.last <= b and a <= step.first]
        at = states[-1].index(inside[0])
        states.append([*states[-1][:at], (step.first, step.last), *states[-1][at + len(inside) :]])
    return states


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert text(chromium, ".said") == (
        "Cheapest: from the output end, 393,216 FLOPs. "
        "From the output end each result has 1 row, from the input end 256 columns."
    )
    assert chromium.faults() == []


def test_all_numbers_are_the_courses(chromium: Browser, site: str) -> None:
    """Drawn widths and orders: every total, ratio, bar and mark, the sentence, and the steps in words and blocks."""
    chromium.open(site)
    draw, seen = random.Random(2), set()
    chains = [*CHAINS.values(), *(tuple(draw.choice(WIDTHS) for _ in range(5)) for _ in range(25))]
    for at, sizes in enumerate(chains):
        order = [*ORDERS][at % len(ORDERS)]
        put(chromium, sizes, order)
        totals = {name: flops(tree, sizes) for name, tree in ORDERS.items()}
        least, most = min(totals.values()), max(totals.values())
        for name, (shown, more, bar, cheapest) in rows(chromium).items():
            assert shown == f"{totals[name]:,}", (sizes, name)
            assert more == ratio(totals[name] / least), (sizes, name)
            assert bar == pytest.approx(100 * totals[name] / most, rel=1e-4)
            assert cheapest == (totals[name] == least)
        said, best = text(chromium, ".said"), {name for name in totals if totals[name] == least}
        seen |= best
        assert f"{least:,} FLOPs. " in said
        assert said.startswith("All orders cost the same: " if len(best) == len(totals) else "Cheapest: ")
        assert ("Here neither end is cheapest." in said) == (not best & {"output", "input"})
        results = [f"{n:,} {one}{'s' if n > 1 else ''}" for n, one in ((sizes[-1], "row"), (sizes[0], "column"))]
        assert f"From the output end each result has {results[0]}, from the input end {results[1]}." in said

        states = chromium.js(
            f"[...document.querySelectorAll('{BOX} .state')].map((state) => [[...state.querySelectorAll('text')]"
            ".map((one) => one.textContent), [...state.querySelectorAll('rect')].map((one) =>"
            " ['height', 'width'].map((name) => Number(one.getAttribute(name))))])"
        )
        steps, factors = products(ORDERS[order], sizes), left_after_each_step(ORDERS[order], sizes)
        assert len(states) == len(factors) == len(steps) + 1 == 4
        for i, ((words, blocks), left) in enumerate(zip(states, factors, strict=True)):
            names = ["".join(written(n) for n in range(a, b - 1, -1)) for a, b in left]
            shapes = [(sizes[a], sizes[b - 1]) for a, b in left]
            assert words[-2 * len(left) :] == [
                part for pair in zip(names, (f"{a}×{b}" for a, b in shapes), strict=True) for part in pair
            ]
            assert blocks == [[pytest.approx(4 + 5.6 * math.log2(n)) for n in shape] for shape in shapes]
            if i:
                step = steps[i - 1]
                made = "".join(written(n) for n in range(step.first, step.last - 1, -1))
                assert words[0] == f"{i}. {made}: {step.flops:,} FLOPs"
                assert words[1] == f"2 · {step.rows:,} · {step.inner:,} · {step.columns:,}"
    assert seen == set(ORDERS)
    assert chromium.faults() == []


def test_buttons_set_chains_and_turn_them_round(chromium: Browser, site: str) -> None:
    chromium.open(site)
    for name, chain in CHAINS.items():
        press(chromium, name)
        assert widths(chromium) == chain
    put(chromium, (2, 4, 8, 16, 32), "halves")
    press(chromium, "Turn round")
    assert widths(chromium) == (32, 16, 8, 4, 2)
    press(chromium, "A loss")
    assert rows(chromium)["output"][3]
    press(chromium, "Turn round")
    assert rows(chromium)["input"][3]
    chromium.js("new Promise((done) => setTimeout(done, 400))")
    assert chromium.js("location.hash") == "#brackets?n0=1&n4=256&order=halves"


def test_the_keyboard_steers(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.js(f"document.querySelector('{BOX} input[name=n4]').focus()")
    chromium.key("ArrowRight", 39)
    assert widths(chromium)[4] == 2
    assert chromium.js("document.activeElement.getAttribute('aria-valuetext')") == "2"
    chromium.js(f"document.querySelector('{BOX} input[name=order]:checked').focus()")
    chromium.key("ArrowDown", 40)
    assert chromium.js(f"document.querySelector('{BOX} tr[aria-current]').dataset.order") == [*ORDERS][1]
    assert text(chromium, ".state:nth-of-type(2) text") == f"1. J₃J₂: {2 * 256**3:,} FLOPs"
    chromium.key("Enter", 13)  # must not send the form
    assert chromium.js("location.search") == ""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    for order, kind in (("output", "of-output"), ("halves", "of-halves"), ("input", "of-input")):
        put(chromium, (1024,) * 5, order)
        inks = {(".said", "color"): 4.5, (".plot text", "fill"): 4.5, (".cheapest .flops", "color"): 4.5}
        inks |= {(f".bar.{kind}", "backgroundColor"): 3, (f".block.made.{kind}", "stroke"): 3}
        assert_it_fits(chromium, width, BOX, inks)
        assert_controls_fit(chromium, BOX)
        shapes = chromium.js(
            f"[...document.querySelectorAll('{BOX} .state')].map((state) => [...state.querySelectorAll('.shape')]"
            ".map((one) => { const r = one.getBoundingClientRect(); return [r.left, r.right]; }))"
        )
        edge = chromium.js(f"document.querySelector('{BOX} .plot').getBoundingClientRect().right")
        for state in shapes:
            assert all(right < left for (_, right), (left, _) in pairwise(state))
            assert state[-1][1] <= edge


def test_without_scripts_the_page_has_a_table(chromium: Browser, site: str) -> None:
    chromium.open(site, 360, script=False)
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)
    assert chromium.js("document.documentElement.scrollWidth") <= 360
    cells = chromium.js(
        "[...document.querySelectorAll('.widget noscript tr')].map((row) =>"
        " [...row.children].map((cell) => cell.textContent))"
    )
    loss, bottleneck = CHAINS["A loss"], CHAINS["Bottleneck"]
    assert cells[1:] == [
        [written(tree), *(f"{flops(tree, sizes):,}" for sizes in (loss, loss[::-1], bottleneck))]
        for tree in ORDERS.values()
    ]
    assert cells[0][2] == "turned round, 1 → 256 → 256 → 256 → 256"


@pytest.mark.parametrize("changed", [{"widths": (3, 4, 8, 16, 32)}, {"order": "luck"}])
def test_what_no_control_stops_at_is_refused(changed: dict[str, Any]) -> None:
    bracket_order()
    with pytest.raises(ValueError, match="which is none of"):
        bracket_order(**changed)


def test_another_number_of_widths_is_refused() -> None:
    with pytest.raises(ValueError, match="4 Jacobians have 5 widths, not 3"):
        bracket_order((1, 2, 4))
