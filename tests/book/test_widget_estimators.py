"""Clouds of three estimators that a reader steers: what the page shows is what the lesson's functions compute."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from widget_pages import (
    Browser,
    assert_a_figure_without_scripts,
    assert_controls_fit,
    assert_it_fits,
    page_of,
)

from autograder.judging.checking.reference import load_module
from course.experiments.estimators import CASES, CLOUD, clouds, noise
from course.widgets.estimators import BASELINES, MUS, SIGMAS, SIZES, estimators

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets.estimators import estimators

estimators(figure="there")
""",
)
BOX = ".estimators"
SOLUTIONS = Path(__file__).parents[2] / "solutions"
STOPS = {"mu": MUS, "sigma": SIGMAS, "baseline": BASELINES, "n": SIZES}
NAMES = ("score", "baseline", "path")


def put(browser: Browser, f: str, draw: int = 1, **values: float) -> None:
    browser.js(f"document.querySelector('{BOX} input[name=f][value={f}]').click()")
    places = {name: STOPS[name].index(value) for name, value in values.items()} | {"draw": draw}
    for name, value in places.items():
        browser.js(
            f"(() => {{ const e = document.querySelector('{BOX} input[name={name}]');"
            f" e.value = {value}; e.dispatchEvent(new Event('input')); }})()"
        )


def said(browser: Browser) -> str:
    return str(browser.js(f"document.querySelector('{BOX} .said').textContent")).replace("−", "-")


def table(browser: Browser) -> dict[str, list[float]]:
    """Exact mean, mean drawn, exact standard deviation, the one drawn."""
    rows = browser.js(
        f"Object.fromEntries([...document.querySelectorAll('{BOX} .figures tbody tr')].map((row) =>"
        " [row.dataset.key, [...row.querySelectorAll('td')].map((cell) => cell.textContent)]))"
    )
    return {key: [float(cell.replace("−", "-")) for cell in cells] for key, cells in rows.items()}


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert said(chromium) == (
        "The gradient is 3.000. One sample of the score function scatters with 13 times the path's variance. "
        "Without a baseline the two score functions are one. The best b is 5.25."
    )
    assert chromium.faults() == []


def test_all_numbers_are_the_lessons(chromium: Browser, site: str) -> None:
    """For drawn settings of all functions: means and spreads of the lesson's estimates, the formulas, and the text."""
    chromium.open(site)
    lesson, draw = load_module(SOLUTIONS / "ch13_beyond_first_order.py"), random.Random(13)
    for case in [*CASES] * 4:
        settings: dict[str, Any] = {name: draw.choice(stops) for name, stops in STOPS.items()}
        settings["draw"] = draw.randrange(1, 99)
        put(chromium, case, **settings)
        mu, sigma, b, n = (settings[name] for name in ("mu", "sigma", "baseline", "n"))
        of, eps = CASES[case], noise(settings["draw"], CLOUD * n)
        single = {
            "score": lesson.score_function_gradient(of.f, mu, sigma, eps),
            "baseline": lesson.score_function_gradient(lambda x, of=of, b=b: of.f(x) - b, mu, sigma, eps),
            "path": lesson.reparameterized_gradient(of.slope, mu, sigma, eps),
        }
        exact = of.exact(mu, sigma)
        variances = {
            "score": exact.score_variance(sigma),
            "baseline": exact.score_variance(sigma, b),
            "path": exact.path_variance,
        }
        mine = clouds(case, mu, sigma, b, n, settings["draw"])
        half = 0.0051 if n == 1 else 0.00051
        shown = table(chromium)
        assert set(shown) == set(NAMES)
        for name, values in shown.items():
            estimates = single[name].reshape(CLOUD, n).mean(axis=1)
            assert np.allclose(estimates, mine[name])
            mean = exact.path_mean if name == "path" else exact.gradient
            wanted = [mean, estimates.mean(), math.sqrt(max(0, variances[name]) / n), estimates.std()]
            assert values == pytest.approx(wanted, abs=half), (case, settings, name)
        text = said(chromium)
        gradient = f"{exact.gradient:.3f}".replace("-0.000", "0.000")
        assert f"The gradient is {gradient}." in text
        best = float(re.findall(r"(?:best b(?: is|,)|best one,) (-?[\d.]+)", text)[0].rstrip("."))
        assert best == pytest.approx(exact.once, abs=0.0051)
        assert ("wrong mean" in text) == (case == "step")
        assert ("worse one" in text) == (case != "step" and variances["path"] > variances["score"])
        assert ("makes it worse" in text) == (variances["baseline"] > variances["score"])
    assert chromium.faults() == []


def test_dots_are_the_estimates(chromium: Browser, site: str) -> None:
    """Where the dots of a cloud lie, on the scale of its ticks; hollow ones are beyond the plot."""
    chromium.open(site)
    put(chromium, "square", mu=1.5, sigma=1.0, baseline=4.0, n=1, draw=5)
    ticks, dots = chromium.js(
        f"(() => {{ const plot = document.querySelector('{BOX} .plot');"
        " const ticks = [...plot.querySelectorAll('text')].filter((one) => /^[−\\d]/.test(one.textContent))"
        ".map((one) => [Number(one.textContent.replace('−', '-')), Number(one.getAttribute('x'))]);"
        " return [ticks, [...plot.querySelectorAll('.cloud')].map((cloud) => [...cloud.querySelectorAll('.in, .out')]"
        ".map((dot) => [Number(dot.getAttribute('cx')), dot.classList.contains('out')]))]; })()"
    )
    (first, left), (last, right) = ticks[0], ticks[-1]
    scale = (right - left) / (last - first)
    beyond = 0
    for name, cloud in zip(NAMES, dots, strict=True):
        estimates = clouds("square", 1.5, 1.0, 4.0, 1, 5)[name]
        assert len(cloud) == CLOUD
        for (at, out), estimate in zip(cloud, estimates, strict=True):
            place = left + (estimate - first) * scale
            beyond += out
            assert out or abs(at - place) < 4, (name, estimate)
            assert not out or not 8 <= place <= right + 60
    assert 0 < beyond < 30


def test_more_samples_narrow_the_clouds_and_draws_differ(chromium: Browser, site: str) -> None:
    chromium.open(site)
    put(chromium, "square", n=1)
    before = table(chromium)
    put(chromium, "square", n=64)
    after = table(chromium)
    for name in NAMES:
        assert after[name][2] == pytest.approx(before[name][2] / 8, abs=2e-3)
    chromium.click(f"{BOX} .controls button")
    assert table(chromium)["score"][1] != after["score"][1]
    chromium.js("new Promise((done) => setTimeout(done, 400))")
    assert chromium.js("location.hash") == "#estimators?n=64&draw=2"


def test_the_keyboard_steers(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.js(f"document.querySelector('{BOX} input[name=baseline]').focus()")
    chromium.key("ArrowRight", 39)
    assert chromium.js("document.activeElement.getAttribute('aria-valuetext')") == "0.25"
    exact = CASES["square"].exact(1.5, 1.0)
    cut = f"from {exact.score_variance(1.0):.2f} to {exact.score_variance(1.0, 0.25):.2f}, and the mean stays"
    assert cut in said(chromium)
    chromium.key("Enter", 13)  # must not send the form
    assert chromium.js("location.search") == ""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    for case in CASES:
        put(chromium, case, mu=-2.75, sigma=1.75, baseline=12.25, n=64)
        inks = {(".said", "color"): 4.5, (".path .mean", "fill"): 3, (".baseline .mean", "fill"): 3}
        assert_it_fits(chromium, width, BOX, inks)
    assert_controls_fit(chromium, BOX)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


@pytest.mark.parametrize("changed", [{"case": "tan"}, {"mu": 0.1}, {"sigma": 0.0}, {"baseline": 99.0}, {"n": 2}])
def test_what_no_slider_stops_at_is_refused(changed: dict[str, Any]) -> None:
    estimators()
    with pytest.raises(ValueError, match="which is none of"):
        estimators(**changed)
