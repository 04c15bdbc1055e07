"""Training with zero_grad and without, steered by a reader: what the page shows is what Python measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from widget_pages import Browser, assert_a_figure_without_scripts, assert_it_fits, page_of

from course.widgets import gradient_account

pytestmark = pytest.mark.slow

STEPS = 5
PAGE_TEXT = page_of(
    """
from course.widgets import gradient_account

def run(clear, steps=5):
    run = {name: {"value": [], "gradient": [], "grad": []} for name in "wb"} | {"": {"loss": []}}
    now, grad = {"w": 1.0, "b": -2000.0}, {"w": 0.0, "b": 0.0}
    for _ in range(steps):
        run[""]["loss"].append(sum(value**2 for value in now.values()) / 2)
        for name, value in now.items():
            grad[name] = value if clear else grad[name] + value
            for key, number in (("value", value), ("gradient", value), ("grad", grad[name])):
                run[name][key].append(number)
            now[name] -= 0.5 * grad[name]
    return run

gradient_account(run(True), run(False), figure="there")
""",
    """
still = {"w": {"value": [0.0], "gradient": [0.0], "grad": [0.0]}, "": {"loss": [0.0]}}
gradient_account(still, still)
""",
)


def said(browser: Browser, which: int = 0) -> str:
    return str(browser.js(f"document.querySelectorAll('.gradient-account .said')[{which}].textContent"))


def radio(group: str, value: str) -> str:
    return f'.gradient-account input[name="{group}"][value="{value}"]'


def rows(browser: Browser) -> list[list[float]]:
    """The table: step, loss, value, gradient, .grad."""
    cells = "[...row.children].map((cell) => Number(cell.textContent.replaceAll('−', '-')))"
    found = browser.js(f"[...document.querySelector('.numbers').querySelectorAll('tbody tr')].map((row) => {cells})")
    return [list(row) for row in found]


def go_to(browser: Browser, step: int) -> None:
    browser.js(
        "(() => { const e = document.querySelector('.gradient-account input[type=range]');"
        f" e.value = {step}; e.dispatchEvent(new Event('input')); }})()"
    )


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert said(chromium).startswith("Step 1, zero_grad on. The gradient of w is 1.00. .grad holds 1.00, this step's")
    assert said(chromium, 1).endswith("The loss is 0.000; with zero_grad off it is 0.000.")
    assert chromium.js("document.querySelector('.plot').querySelectorAll('.fresh, .held').length") == 2 * STEPS
    assert chromium.faults() == []


def expected(clear: bool, start: float) -> list[tuple[float, float, float]]:
    """Value, gradient and .grad of ½v² at a learning rate of 0.5, by hand."""
    found, value, grad = [], start, 0.0
    for _ in range(STEPS):
        grad = value if clear else grad + value
        found.append((value, value, grad))
        value -= 0.5 * grad
    return found


def test_the_switch_and_the_slider_show_what_python_measured(chromium: Browser, site: str) -> None:
    chromium.open(site)
    for off in (0, 1):
        chromium.click(radio("zero_grad", "off" if off else "on"))
        w, b = expected(not off, 1.0), expected(not off, -2000.0)
        for name, series in (("w", w), ("b", b)):
            chromium.click(radio("Parameter", name))
            for step, (row, numbers) in enumerate(zip(rows(chromium), series, strict=True), start=1):
                loss = (w[step - 1][0] ** 2 + b[step - 1][0] ** 2) / 2
                assert row == pytest.approx([step, loss, *numbers], rel=0.05, abs=0.001)
    chromium.click(radio("Parameter", "w"))
    go_to(chromium, 3)
    # v: 1, 0.5, −0.25; .grad: 1, 1.5, 1.25
    assert said(chromium).startswith(
        "Step 3, zero_grad off. The gradient of w is −0.250. .grad holds 1.25, the sum of 3 gradients. The loss is "
    )
    assert chromium.faults() == []


def test_the_bars_have_the_heights_of_the_numbers(chromium: Browser, site: str) -> None:
    """One scale for both runs; a bar is as long as its number, on its side of zero; later steps are faint."""
    chromium.open(site)
    go_to(chromium, 2)
    script = """(() => { const plot = document.querySelector('.gradient-account .plot');
      const zero = Number(plot.querySelector('.zero').getAttribute('d').split(' ')[1].split('H')[0]);
      const bars = (kind) => [...plot.querySelectorAll('.' + kind)].map((bar) => {
        const [y, height] = ['y', 'height'].map((name) => Number(bar.getAttribute(name)));
        return Math.abs(y - zero) < 0.01 ? -height : height; });
      return [bars('fresh'), bars('held'), plot.querySelectorAll('.later').length]; })()"""
    scales = []
    for off in (0, 1):
        chromium.click(radio("zero_grad", "off" if off else "on"))
        fresh, held, later = chromium.js(script)
        wanted = expected(not off, 1.0)
        scales.append(fresh[0])
        assert fresh == pytest.approx([fresh[0] * gradient for _, gradient, _ in wanted], abs=0.51)
        assert held == pytest.approx([fresh[0] * grad for _, _, grad in wanted], abs=0.51)
        assert later == 2 * (STEPS - 2)
    assert scales[0] == scales[1] > 20


def test_the_keyboard_steers_it(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.js(f"document.querySelector('{radio('zero_grad', 'on')}').focus()")
    stops = []
    for _ in range(4):
        stops.append(
            chromium.js("(({ name, type, textContent }) => name || type || textContent)(document.activeElement)")
        )
        chromium.key("Tab", 9)
    assert stops == ["zero_grad", "Parameter", "step", "The numbers as a table"]
    chromium.js(f"document.querySelector('{radio('zero_grad', 'on')}').focus()")
    chromium.key("ArrowRight", 39)
    chromium.key("Enter", 13)  # must not send the form
    chromium.key("Tab", 9)
    chromium.key("Tab", 9)
    chromium.key("ArrowRight", 39)
    chromium.key("End", 35)
    assert said(chromium).startswith(f"Step {STEPS}, zero_grad off.")
    assert said(chromium, 1).startswith("Step 1, zero_grad on.")  # the other widget is untouched
    assert chromium.js("location.search") == ""
    assert chromium.js("document.querySelector('.gradient-account tr[aria-current]').children[0].textContent") == "5"
    assert chromium.faults() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    heights = set()
    for off in (0, 1):
        chromium.click(radio("zero_grad", "off" if off else "on"))
        for name in ("w", "b"):
            chromium.click(radio("Parameter", name))
            for step in range(1, STEPS + 1):
                go_to(chromium, step)
                heights.add(chromium.js("document.querySelector('.gradient-account form').offsetHeight"))
            labels = "[...document.querySelectorAll('.plot text')].every((one) => one.getBBox().x >= 0)"
            assert chromium.js(labels), name
    assert len(heights) == 1, heights
    inks = {
        (".plot text", "fill"): 4.5,
        (".fresh", "fill"): 3.0,
        (".held", "stroke"): 3.0,
        (".loss.chosen", "stroke"): 4.5,
    }
    assert_it_fits(chromium, width, ".gradient-account", inks)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


ONE: dict[str, Any] = {"w": {"value": [1.0], "gradient": [1.0], "grad": [1.0]}, "": {"loss": [1.0]}}


@pytest.mark.parametrize(
    ("cleared", "kept"),
    [
        ({}, {}),
        ({"": ONE[""]}, {"": ONE[""]}),
        (ONE, {**ONE, "b": ONE["w"]}),
        (ONE, {"w": ONE["w"]}),
        (ONE, {**ONE, "w": {"value": [1.0], "gradient": [1.0]}}),
        (ONE, {**ONE, "": {"loss": [1.0, 2.0]}}),
        ({"w": {key: [] for key in ONE["w"]}, "": {"loss": []}},) * 2,
    ],
)
def test_runs_that_do_not_match_are_refused(cleared: dict[str, Any], kept: dict[str, Any]) -> None:
    gradient_account(ONE, ONE)
    with pytest.raises(ValueError, match="two runs of as many steps"):
        gradient_account(cleared, kept)
