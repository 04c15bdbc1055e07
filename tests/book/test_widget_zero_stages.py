"""What each GPU stores in ZeRO's stages: the page shows what course.memory and the lesson's function compute."""

from __future__ import annotations

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

from autograder.judging.checking.reference import load_module
from course.widgets.zero_stages import GPUS, KINDS, SHAPES, STAGES, held_bytes, sent_bytes, zero_stages

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets.zero_stages import zero_stages

zero_stages(figure="there")
""",
)
BOX = ".zero-stages"
CARD = 80e9
SOLUTIONS = Path(__file__).parents[2] / "solutions"


def put(browser: Browser, model: str, stage: int, gpus: int) -> None:
    browser.js(
        f"(() => {{ const box = document.querySelector('{BOX}');"
        f" box.querySelector('input[name=model][value=\"{model}\"]').click();"
        f" box.querySelector('input[name=stage][value=\"{stage}\"]').click();"
        f" const e = box.querySelector('input[name=gpus]'); e.value = {GPUS.index(gpus)};"
        " e.dispatchEvent(new Event('input')); })()"
    )


def said(browser: Browser) -> str:
    return str(browser.js(f"document.querySelector('{BOX} .said').textContent"))


def gb(n_bytes: float) -> str:
    """As the page writes it: three digits, or whole GB."""
    value = n_bytes / 1e9
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 0.95 else f"{float(f'{value:.2g}'):g}"


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert said(chromium) == (
        "108 GB of states on each of 8 GPUs. No number of GPUs brings that to 80 GB: what is not cut, 16 bytes per "
        "parameter, takes 108 GB on each. To all-reduce the gradients, each sends 23.6 GB per step."
    )
    assert chromium.faults() == []


@pytest.mark.parametrize("model", SHAPES)
def test_all_numbers_are_the_predictors(chromium: Browser, site: str, model: str) -> None:
    """Every model, stage and number of GPUs: the table, the sentence, and the heights of what is drawn."""
    chromium.open(site)
    lesson, shape = load_module(SOLUTIONS / "ch14_scaling_out.py"), SHAPES[model]
    everything = {(n, stage): held_bytes(shape, n, stage) for n in GPUS for stage in STAGES}
    for (n, stage), parts in everything.items():
        total = sum(parts)
        assert abs(total - lesson.zero_bytes_per_rank(shape.n_params, n, stage)) < 4
        put(chromium, model, stage, n)
        rows, current, drawn = chromium.js(
            f"(() => {{ const box = document.querySelector('{BOX}');"
            " const rows = [...box.querySelectorAll('tbody tr')];"
            " return [rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)),"
            " rows.findIndex((row) => row.getAttribute('aria-current')),"
            " [...box.querySelectorAll('.held')].map((one) => [one.classList[1], Number(one.dataset.gpu),"
            " ...['y', 'height'].map((name) => Number(one.getAttribute(name)) - (name === 'y')"
            " * Number(one.previousSibling.getAttribute('y'))),"
            " Number(one.previousSibling.getAttribute('height'))])]; })()"
        )
        for of in STAGES:
            held = everything[n, of]
            assert rows[of] == [*(gb(b) for b in (*held, sum(held))), "✓" if sum(held) <= CARD else "✗"], (n, of)
        assert current == stage
        on = "the one GPU" if n == 1 else f"each of {n:,} GPUs"
        assert said(chromium).startswith(f"{gb(total)} GB of states on {on}. ")
        enough = [m for m in GPUS if sum(everything[m, stage]) <= CARD]
        whole = [b for _, b, cut in KINDS if stage < cut]
        if enough:
            assert f"With {enough[0]:,} GPUs or more, each holds at most 80 GB. " in said(chromium)
        else:
            floor = f"{sum(whole)} bytes per parameter, takes {gb(sum(whole) * shape.n_params)} GB on each"
            assert floor in said(chromium) or sum(whole) * shape.n_params <= CARD
        sends = f"each sends {gb(sent_bytes(shape.n_params, n, stage))} GB per step."
        assert said(chromium).endswith("It sends nothing." if n == 1 else sends)
        assert len(drawn) == 3 * min(n, 8)
        for kind, gpu, y, height, block in drawn:
            at = [name for name, _, _ in KINDS].index(kind)
            share = parts[at] / (KINDS[at][1] * shape.n_params)
            assert height == pytest.approx(max(1.5, share * block), abs=0.01)
            assert y == pytest.approx(gpu * share * block if share < 1 else 0, abs=0.01)
    assert chromium.faults() == []


def test_what_it_sends_is_what_the_lesson_says() -> None:
    """An all-reduce in stages 0 to 2, half of one more in stage 3."""
    assert [sent_bytes(1000, 4, stage) / 1500 for stage in STAGES] == [2, 2, 2, 3]


def test_the_keyboard_steers(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.js(f"document.querySelector('{BOX} input[name=gpus]').focus()")
    chromium.key("ArrowRight", 39)
    assert chromium.js("document.activeElement.getAttribute('aria-valuetext')") == "16"
    assert "on each of 16 GPUs" in said(chromium)
    chromium.key("Enter", 13)  # must not send the form
    assert chromium.js("location.search") == ""
    chromium.js("new Promise((done) => setTimeout(done, 400))")
    assert chromium.js("location.hash") == "#zero?gpus=16"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    put(chromium, "405B", 2, 1024)
    inks = {(".said", "color"): 4.5, (".plot text", "fill"): 4.5}
    inks |= {(f".held.{kind}", "fill"): 3 for kind, _, _ in KINDS}
    assert_it_fits(chromium, width, BOX, inks)
    assert_controls_fit(chromium, BOX)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


@pytest.mark.parametrize("changed", [{"model": "1T"}, {"stage": 4}, {"gpus": 3}])
def test_what_no_control_can_be_set_to_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="which is none of"):
        zero_stages(**changed)
