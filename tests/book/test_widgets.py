"""Widgets in a page of the book, steered in a real browser with real clicks and keys, over http and from the disk."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from widget_pages import Browser, assert_it_fits, page_of

from course.widgets import FOLDER, gradient_flow, show
from course.widgets.frames import FRAMES

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets import gradient_flow

def geometric(first, factor, depth):
    return [first / factor**layer for layer in range(depth)]

cases = {}
for depth in (10, 30):
    for act, factor in (("sigmoid", 0.14), ("relu", 0.434)):
        for init, gain in (("default", 1.0), ("he", 2.2)):
            flow = factor * gain
            cases[f"{act}/{init}/0/0/{depth}"] = geometric(5e-2 * flow ** (depth - 1), flow, depth)
            cases[f"{act}/{init}/0/1/{depth}"] = geometric(0.4 * 1.205 ** (depth - 1), 1.205, depth)
            cases[f"{act}/{init}/1/1/{depth}"] = geometric(3.67, 1.066, depth)
cases["sigmoid/he/1/0/30"] = [0.0] * 3 + geometric(1e-44, 0.02, 27)
cases["relu/default/1/0/30"] = [float("nan")] * 30
cases["relu/he/0/0/30"] = geometric(2e-5, 0.99, 30)
cases["relu/he/1/0/30"] = geometric(2e6, 0.91, 30)
gradient_flow({"sigmoid/default/0/0/30": cases.pop("sigmoid/default/0/0/30"), **cases}, figure="there")
""",
    """
gradient_flow({"tanh/xavier/0/0/3": [0.1, 0.1, 0.1], "tanh/<!--<script>/0/0/3": [1.0, 1.0, 1.0]})
""",
)


def radio(group: str, value: str | int) -> str:
    return f'.gradient-flow input[name="{group}"][value="{value}"]'


def said(browser: Browser, kind: str = "now") -> str:
    return str(browser.js(f"document.querySelector('.verdicts .{kind}').textContent")).replace("\u00a0", " ")


START = (
    "sigmoid, default init, 30 layers. Vanishes. Layer 1 has 1.7 × 10⁻²⁵ times the gradient of layer 30: "
    "a factor of 0.140 per layer."
)


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert said(chromium) == START
    assert chromium.js("document.querySelectorAll('.plot .mark.now').length") == 30 + 3
    assert chromium.faults() == []


VERDICTS: dict[tuple[str | int, ...], str] = {
    ("relu", "default", 0, 0, 30): "Vanishes. Layer 1 has 3.1 × 10⁻¹¹ times the gradient of layer 30",
    ("relu", "default", 0, 0, 10): "Vanishes. Layer 1 has 5.5 × 10⁻⁴ times",
    ("sigmoid", "default", 0, 1, 30): "Explodes. Layer 1 has 223 times",
    ("sigmoid", "default", 0, 1, 10): "Healthy. Layer 1 has 5.36 times",
    ("relu", "default", 1, 1, 30): "Healthy. Layer 1 has 6.38 times",
    ("sigmoid", "he", 1, 0, 30): "Vanishes. The gradient of 3 of 30 layers is exactly 0: too small to be stored.",
    ("relu", "default", 1, 0, 30): "Explodes. The gradient of every layer is inf or nan.",
    ("relu", "he", 1, 0, 30): "Explodes in every layer. None is below 2.0 × 10⁶. Layer 1 has 0.0649 times",
    ("relu", "he", 0, 0, 30): "Level, but tiny. The largest norm is 2.7 × 10⁻⁵. Layer 1 has 0.747 times",
    ("sigmoid", "default", 1, 0, 30): "Not measured. Choose something else.",
}
GROUPS = ("Activation", "Initialization", "Residual", "BatchNorm", "Hidden layers")


def test_a_click_on_each_switch_changes_the_verdict(chromium: Browser, site: str) -> None:
    chromium.open(site)
    for choice, verdict in VERDICTS.items():
        for group, value in zip(GROUPS, choice, strict=True):
            chromium.click(radio(group, value))
        assert verdict in said(chromium), choice
    assert chromium.faults() == []


def test_a_pinned_curve_stays_for_comparison(chromium: Browser, site: str) -> None:
    chromium.open(site)
    count = "[...document.querySelectorAll('.gradient-flow')[0].querySelectorAll('.plot .mark.{}')].length"
    chromium.click(".gradient-flow .buttons button")
    chromium.click(radio("Hidden layers", 10))
    assert said(chromium, "pinned") == "Pinned: " + START
    assert said(chromium).startswith("sigmoid, default init, 10 layers. ")
    assert [chromium.js(count.format(kind)) for kind in ("now", "pinned")] == [10, 30]
    header = "[...document.querySelectorAll('.numbers th[scope=col]')].map((cell) => cell.textContent).slice(0, 3)"
    assert chromium.js(header) == ["Layer", "sigmoid, default init, 10 layers", "sigmoid, default init, 30 layers"]
    chromium.click(".gradient-flow .buttons button:last-child")
    assert said(chromium, "pinned") == ""
    assert chromium.js(count.format("pinned")) == 0
    assert chromium.js("document.activeElement.textContent") == "Pin this curve"


def test_the_keyboard_steers_it(chromium: Browser, site: str) -> None:
    chromium.open(site)
    focus = "(() => { const e = document.activeElement; return [e.name || e.textContent, e.value || '']; })()"
    chromium.js(f"document.querySelector('{radio('Activation', 'sigmoid')}').focus()")
    stops = []
    for _ in range(7):
        stops.append(chromium.js(focus)[0])
        chromium.key("Tab", 9)
    assert stops[:-1] == [*GROUPS, "Pin this curve"]
    assert stops[-1] == "The numbers as a table"
    chromium.js(f"document.querySelector('{radio('Activation', 'sigmoid')}').focus()")
    chromium.key("ArrowRight", 39)
    assert chromium.js(focus) == ["Activation", "relu"]
    assert said(chromium).startswith("ReLU, default init, 30 layers. Vanishes.")
    chromium.key("Enter", 13)  # must not send the form
    for _ in range(5):
        chromium.key("Tab", 9)
    chromium.key("Enter", 13)
    assert said(chromium, "pinned").startswith("Pinned: ReLU, default init, 30 layers.")
    assert chromium.js("location.search") == ""
    assert chromium.faults() == []


def test_two_on_a_page_do_not_mix(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.js("document.querySelectorAll('.gradient-flow')[1].querySelectorAll('input')[2].click()")
    second = chromium.js("document.querySelectorAll('p.now')[1].textContent")
    assert second.startswith("tanh, <!--<script> init, 3 layers. Healthy. Layer 1 has 1.00 times")
    assert said(chromium) == START
    assert (
        chromium.js("document.querySelectorAll('.gradient-flow')[1].querySelectorAll('fieldset:not([hidden])').length")
        == 1
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    """No wider than the screen, letters of a fixed size, and ink and curves that stand out from the page."""
    chromium.open(site, width, theme)
    chromium.click(".gradient-flow .buttons button")
    chromium.click(radio("Activation", "relu"))
    assert chromium.js("getComputedStyle(document.querySelector('.plot text')).fontSize") == "12px"
    inks = {(".plot text", "fill"): 4.5, (".trace.now", "stroke"): 3.0, (".trace.pinned", "stroke"): 3.0}
    assert_it_fits(chromium, width, ".gradient-flow", inks)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    chromium.open(site, script=False)
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)
    assert chromium.js("document.querySelector('.widget noscript').innerText").startswith(
        "This experiment needs JavaScript."
    )
    assert chromium.js("document.querySelector('.widget noscript a').hash") == "#there"


def test_search_does_not_find_its_code(page: Path) -> None:
    assert "encodeuricompon" not in (page.parent / "searchindex.js").read_text()


# ---- the Python side


def test_what_json_cannot_say_is_null() -> None:
    shown = gradient_flow({"relu/he/1/0/3": [math.inf, math.nan, 1.23456789]})
    script = BeautifulSoup(shown.data, "html.parser").select_one("script[type='application/json']")
    assert script is not None
    assert json.loads(script.get_text())["data"] == {"relu/he/1/0/3": [None, None, 1.235]}
    program = BeautifulSoup(shown.data, "html.parser").select("script")[-1].get_text()
    assert (FOLDER / "common.js").read_text(encoding="utf-8") in program
    assert "import(" not in program  # a page's policy knows it by its hash


@pytest.mark.parametrize(
    ("data", "fault"),
    [({}, "empty"), ({"relu/30": [1.0]}, "keys are"), ({"a/b/0/0/1": []}, "norms"), ({"a/b/0/0/1": [-1.0]}, "norms")],
)
def test_data_of_another_form_is_refused(data: dict[str, list[float]], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        gradient_flow(data)


def test_what_a_widget_lacks_is_said() -> None:
    with pytest.raises(ValueError, match=r"there is no dot\.js and no dot\.css in .*widgets: a widget 'dot' has both"):
        show("dot", {})
    with pytest.raises(ValueError, match=r"'common' has no frame: add a row to FRAMES in course/widgets/frames\.py"):
        show("common", {})


def test_every_widget_has_a_frame_and_a_module_of_tests() -> None:
    names = {file.stem for file in FOLDER.glob("*.js")} - {"common"}
    assert names == set(FRAMES)
    tested = {file.stem.removeprefix("test_widget_") for file in Path(__file__).parent.glob("test_widget_*.py")}
    assert names - tested == {"gradient_flow"}  # this module's
