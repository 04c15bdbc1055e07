"""A descent through a quantizer that a reader steers: what the page shows is what the course's code computes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from widget_pages import (
    Browser,
    assert_a_figure_without_scripts,
    assert_controls_fit,
    assert_it_fits,
    page_of,
)

from course.experiments.straight_through import BACKWARDS, QUANTIZERS, best, descend, verdict
from course.widgets.straight_through import RATES, STEPS, TARGETS, WEIGHTS, straight_through

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets.straight_through import straight_through

straight_through(figure="there")
""",
)
BOX = ".straight_through"
STOPS: dict[str, tuple[float, ...]] = {"w": WEIGHTS, "target": TARGETS, "rate": RATES, "steps": STEPS}
SAYS = {
    "arrived": "arrived at",
    "stuck": "gradient 0",
    "runs": "still runs",
    "jumps": "jumps between",
    "on its way": "on its way",
}


def put(browser: Browser, q: str, **values: float) -> None:
    browser.js(f"document.querySelector('{BOX} input[name=q][value={q}]').click()")
    for name, value in values.items():
        browser.js(
            f"(() => {{ const e = document.querySelector('{BOX} input[name={name}]');"
            f" e.value = {STOPS[name].index(value)}; e.dispatchEvent(new Event('input')); }})()"
        )


def text(browser: Browser, selector: str) -> str:
    return str(browser.js(f"document.querySelector('{BOX} {selector}').textContent")).replace("−", "-")


def table(browser: Browser) -> dict[str, list[float]]:
    """Weight, rounded value, loss, slope and gradient of each backward."""
    rows = browser.js(
        f"Object.fromEntries([...document.querySelectorAll('{BOX} .figures tbody tr')].map((row) =>"
        " [row.dataset.key, [...row.querySelectorAll('td')].map((cell) => cell.textContent)]))"
    )
    return {key: [float(cell.replace("−", "-")) for cell in cells] for key, cells in rows.items()}


def value(browser: Browser, name: str) -> float:
    at = browser.js(f"Number(document.querySelector('{BOX} input[name={name}]').value)")
    return STOPS[name][at]


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert text(chromium, ".said").startswith("The best level is 0, with a loss of 0.16. A small change of w")
    assert chromium.faults() == []


def test_all_numbers_are_the_courses(chromium: Browser, site: str) -> None:
    chromium.open(site)
    draw, seen = random.Random(8), set()
    for name in [*QUANTIZERS] * 20:
        settings: dict[str, Any] = {key: draw.choice(stops) for key, stops in STOPS.items()}
        put(chromium, name, **settings)
        shown = table(chromium)
        assert set(shown) == set(BACKWARDS)
        for key in BACKWARDS:
            points = descend(name, key, **settings)
            assert shown[key] == pytest.approx(points[-1], abs=0.0051), (name, settings, key)
            stands = verdict(name, points)
            seen.add(stands)
            assert SAYS[stands] in text(chromium, f".descent.{key}"), (name, settings, key)
        level, loss = best(name, settings["target"])
        ties = [one for one in QUANTIZERS[name].levels if (one - settings["target"]) ** 2 - loss < 1e-9]
        assert level in ties
        said = text(chromium, ".said")
        assert any(f"The best level is {one:g}, with a loss of {loss:.2f}" in said for one in ties), (said, settings)
    assert seen == set(SAYS)
    assert chromium.faults() == []


@pytest.mark.parametrize("name", QUANTIZERS)
def test_halves_and_ends_are_pytorchs(chromium: Browser, site: str, name: str) -> None:
    chromium.open(site)
    for w in (-2.5, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5):
        put(chromium, name, w=w, target=0.4, steps=0)
        for key, shown in table(chromium).items():
            assert shown == pytest.approx(descend(name, key, w, 0.4, 0.1, 0)[-1], abs=0.0051), (w, key)


def test_spots_stand_on_the_staircase_and_dashes_have_the_slope(chromium: Browser, site: str) -> None:
    chromium.open(site)
    put(chromium, "round", w=2.8, target=-1.0, rate=0.1, steps=5)
    ticks, spots, dashes = chromium.js(
        f"(() => {{ const plot = document.querySelector('{BOX} .stairs');"
        " const at = (one) => one.getBBox().x + one.getBBox().width / 2;"
        " const ticks = [...plot.querySelectorAll('text[text-anchor=middle]')]"
        ".map((one) => [Number(one.textContent.replace('−', '-')), Number(one.getAttribute('x'))]);"
        " return [ticks, Object.fromEntries([...plot.querySelectorAll('.spot')].map((one) =>"
        " [one.classList[1], at(one)])), [...plot.querySelectorAll('.slope')].map((one) => one.getBBox().height)]; })()"
    )
    (first, left), (last, right) = ticks[0], ticks[-1]
    scale = (right - left) / (last - first)
    for key in BACKWARDS:
        w = descend("round", key, 2.8, -1.0, 0.1, 5)[-1].w
        assert spots[key] == pytest.approx(left + (w - first) * scale, abs=0.1), key
    assert sorted(round(height) == 0 for height in dashes) == [False, True]  # true and clipped are one flat line


def test_dragging_sets_the_start_and_steps_are_taken_one_by_one(chromium: Browser, site: str) -> None:
    chromium.open(site)
    put(chromium, "round", steps=12)
    box = chromium.js(
        f"(() => {{ const e = document.querySelector('{BOX} .stairs'); e.scrollIntoView({{ block: 'center' }});"
        " const r = e.getBoundingClientRect(); return [r.x, r.y, r.width]; })()"
    )

    def mouse(kind: str, w: float) -> None:
        x = box[0] + 26 + (w + 3.5) / 7 * (box[2] - 34)
        chromium.call("Input.dispatchMouseEvent", type=kind, x=x, y=box[1] + 60, button="left", clickCount=1)

    mouse("mousePressed", -1.0)
    assert (value(chromium, "w"), value(chromium, "steps")) == (-1.0, 0)
    mouse("mouseMoved", -2.4)
    mouse("mouseReleased", -2.4)
    mouse("mouseMoved", 1.0)
    assert value(chromium, "w") == -2.4
    assert table(chromium)["clipped"] == pytest.approx([-2.4, -2, 5.76, 0, 0])
    chromium.click(f"{BOX} .controls button")
    assert value(chromium, "steps") == 1
    assert table(chromium)["straight"][0] == pytest.approx(-2.4 + 0.1 * 2 * 2.4, abs=0.0051)
    chromium.js("new Promise((done) => setTimeout(done, 400))")
    assert chromium.js("location.hash") == "#straight?w=-2.4&steps=1"
    chromium.click(f"{BOX} .controls button + button")
    assert value(chromium, "steps") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    for name in QUANTIZERS:
        put(chromium, name, w=-2.8, target=3.0, rate=0.5, steps=60)
        inks = {
            (".said", "color"): 4.5,
            (".value", "stroke"): 3,
            (".slope", "stroke"): 3,
            (".spot.true", "stroke"): 4.5,
            (".spot.straight", "fill"): 4.5,
        }
        assert_it_fits(chromium, width, BOX, inks)
    assert_controls_fit(chromium, BOX)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


@pytest.mark.parametrize("changed", [{"q": "floor"}, {"w": 0.15}, {"target": 9.0}, {"rate": 0.3}, {"steps": 61}])
def test_what_no_control_stops_at_is_refused(changed: dict[str, Any]) -> None:
    straight_through()
    with pytest.raises(ValueError, match="which is none of"):
        straight_through(**changed)
