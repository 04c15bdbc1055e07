"""The error of a finite difference that a reader steers: what the page shows is what the course's code computes."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from widget_pages import Browser, assert_controls_fit, assert_it_fits, page_of

from course.experiments import step_size as curves
from course.experiments.step_size import DTYPES, FORMULAS
from course.widgets.step_size import AT, EXPONENTS, step_size

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets.step_size import step_size

step_size()
""",
)
BOX = ".step-size"
CASES = [*product(DTYPES, FORMULAS)]
DECIMALS = {"float32": 7, "float64": 15}
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def choose(browser: Browser, dtype: str, formula: str) -> None:
    for name, value in (("dtype", dtype), ("formula", formula)):
        browser.js(f"document.querySelector('{BOX} input[name={name}][value={value}]').click()")


def slide(browser: Browser, exponent: float) -> None:
    browser.js(
        f"(() => {{ const e = document.querySelector('{BOX} input[name=h]');"
        f" e.value = {EXPONENTS.index(exponent)}; e.dispatchEvent(new Event('input')); }})()"
    )


def exponent(browser: Browser) -> float:
    return EXPONENTS[browser.js(f"Number(document.querySelector('{BOX} input[name=h]').value)")]


def text(browser: Browser, selector: str) -> str:
    return str(browser.js(f"document.querySelector('{BOX} {selector}').textContent"))


def rows(browser: Browser, of: str) -> dict[str, list[str]]:
    """The cells of a table by the kind of their row."""
    return dict(
        browser.js(
            f"Object.fromEntries([...document.querySelectorAll('{BOX} tr[data-{of}]')].map((row) =>"
            f" [row.dataset.{of}, [...row.querySelectorAll('td')].map((cell) => cell.textContent)]))"
        )
    )


def power(value: float) -> str:
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}"


def share(value: float) -> str:
    return "< 0.1 %" if value < 0.001 else "> 99.9 %" if value > 0.999 else f"{100 * value:.1f} %"


def is_near(shown: str, value: float) -> bool:
    """Two digits, the last of them to one."""
    mantissa, _, raised = shown.partition(" × 10")
    back = {ord(high): low for low, high in zip("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True)}
    return math.isclose(float(mantissa) * 10.0 ** int(raised.translate(back) or 0), value, rel_tol=0.051)


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert text(chromium, ".said").startswith("Truncation rules. It is 1.5 × 10⁹ times round-off. A step ten")
    assert chromium.faults() == []


@pytest.mark.parametrize(("dtype", "formula"), CASES)
def test_all_numbers_are_the_courses(chromium: Browser, site: str, dtype: str, formula: str) -> None:
    """Both parts, their sum, what is measured, the sentence, the digits and the places in the drawing, at each step."""
    chromium.open(site)
    choose(chromium, dtype, formula)
    seen = set()
    for at in EXPONENTS:
        slide(chromium, at)
        h = 10.0**at
        truncation, round_off = curves.truncation(h, formula), curves.round_off(dtype, h, formula)
        both = truncation + round_off
        shown = rows(chromium, "part")
        terms = ["h² / 6", "u / h"] if formula == "central" else ["h / 2", "2u / h"]
        assert shown["truncation"] == [terms[0], power(truncation)]
        assert shown["roundoff"] == [terms[1], power(round_off)]
        assert shown["sum"][1] == power(both)
        assert is_near(shown["measured"][1], curves.rms_error(dtype, h, formula)), (at, shown)

        assert text(chromium, ".slider output") == (
            f"10{str(int(at)).translate(RAISED)}" if at.is_integer() else power(h)
        )
        said, kind = text(chromium, ".said"), curves.verdict(dtype, h, formula)
        seen.add(kind)
        assert said.startswith(
            {"truncation": "Truncation rules", "round-off": "Round-off rules", "neither": "Neither rules"}[kind]
        )
        if kind != "neither":
            assert is_near(
                said.split("It is ")[1].split(" times")[0], max(truncation, round_off) / min(truncation, round_off)
            )
        equal = curves.same(dtype, h, formula)
        assert (f"{'At all' if equal == curves.POINTS else f'At {equal} of'} {curves.POINTS} points" in said) == (
            equal > 0
        )

        one, places = curves.run(dtype, AT, h, formula), DECIMALS[dtype]
        lines = {name: cells[0].replace("−", "-") for name, cells in rows(chromium, "line").items()}
        assert lines == {
            "up": f"{one.up:.{places}f}",
            "down": f"{one.down:.{places}f}",
            "gap": f"{one.difference:.{places}f}",
            "slope": f"{one.slope:.{places}f}",
            "true": f"{math.exp(AT):.{places}f}",
        }
        assert [text(chromium, f".shares text{one}") for one in (":nth-of-type(1)", ":nth-of-type(2)")] == [
            f"truncation {share(truncation / both)}",
            f"round-off {share(round_off / both)}",
        ]
    assert seen == {"truncation", "round-off", "neither"}
    assert chromium.faults() == []


def test_the_drawing_is_to_scale(chromium: Browser, site: str) -> None:
    """The spots stand on the axes' decades where the numbers are, and the bar is cut where the parts meet."""
    chromium.open(site)
    for dtype, formula, at in (
        ("float32", "central", -2.0),
        ("float64", "one-sided", -8.0),
        ("float64", "central", -5.0),
    ):
        choose(chromium, dtype, formula)
        slide(chromium, at)
        grid, spots, bar = chromium.js(
            f"(() => {{ const plot = document.querySelector('{BOX} .stage .plot');"
            " const lines = [...plot.querySelectorAll('.grid')].map((one) => one.getAttribute('d'));"
            " const middle = (one) => { const b = one.getBBox(); return [b.x + b.width / 2, b.y + b.height / 2]; };"
            " return [lines, Object.fromEntries([...plot.querySelectorAll('.spot')].map((one) =>"
            " [one.classList[1], middle(one)])), [...document.querySelectorAll("
            f"'{BOX} .shares rect')].map((one) => Number(one.getAttribute('width')))]; }})()"
        )
        across = [float(line[1:].split()[0]) for line in grid if "V" in line]
        down = [float(line.split()[1].split("H")[0]) for line in grid if "H" in line]  # 10⁻¹², 10⁻¹⁰, …, 1
        assert (len(across), len(down)) == (14, 7)
        h = 10.0**at
        parts = {"truncation": curves.truncation(h, formula), "roundoff": curves.round_off(dtype, h, formula)}
        for name, error in {**parts, "measured": curves.rms_error(dtype, h, formula)}.items():
            x, y = spots[name]
            assert x == pytest.approx(across[0] + (at + 13) / 13 * (across[-1] - across[0]), abs=0.1)
            assert y == pytest.approx(down[0] + (math.log10(error) + 12) / 12 * (down[-1] - down[0]), abs=0.6), name
        assert bar[0] / sum(bar) == pytest.approx(parts["truncation"] / sum(parts.values()), abs=1e-3)


def test_the_best_step_is_one_click_away_and_dragging_moves_it(chromium: Browser, site: str) -> None:
    chromium.open(site)
    for dtype, formula in CASES:
        choose(chromium, dtype, formula)
        chromium.click(f"{BOX} .sliders button")
        assert abs(exponent(chromium) - math.log10(curves.best_step(dtype, formula))) <= 1 / 16
        assert text(chromium, ".said").startswith("Neither rules")
    box = chromium.js(
        f"(() => {{ const e = document.querySelector('{BOX} .stage .plot'); e.scrollIntoView({{ block: 'center' }});"
        " const r = e.getBoundingClientRect(); return [r.x, r.y, r.width]; })()"
    )

    def mouse(kind: str, at: float) -> None:
        x = box[0] + 40 + (at + 13) / 13 * (box[2] - 48)
        chromium.call("Input.dispatchMouseEvent", type=kind, x=x, y=box[1] + 90, button="left", clickCount=1)

    mouse("mousePressed", -9.0)
    assert exponent(chromium) == -9
    mouse("mouseMoved", -3.5)
    mouse("mouseReleased", -3.5)
    mouse("mouseMoved", -1.0)
    assert exponent(chromium) == -3.5
    chromium.js(f"document.querySelector('{BOX} input[name=h]').focus()")
    chromium.key("ArrowLeft", 37)
    assert chromium.js("document.activeElement.getAttribute('aria-valuetext')") == "2.4 × 10⁻⁴"
    chromium.key("Enter", 13)  # must not send the form
    assert chromium.js("location.search") == ""
    chromium.js("new Promise((done) => setTimeout(done, 400))")
    assert chromium.js("location.hash") == "#step?h=-3.625"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    for dtype in DTYPES:
        choose(chromium, dtype, "central")
        slide(chromium, -6.0)
        inks = {(".said", "color"): 4.5, (".plot text", "fill"): 4.5, (".name.float32", "fill"): 4.5}
        inks |= {(f".measured.chosen.{dtype}", "stroke"): 3, (".truncation", "stroke"): 3, (".roundoff", "stroke"): 3}
        inks |= {(".digits .good", "color"): 4.5, (".digits .bad", "color"): 4.5, (".part.truncation", "fill"): 3}
        assert_it_fits(chromium, width, BOX, inks)
        assert_controls_fit(chromium, BOX)


def test_without_scripts_the_page_has_a_table(chromium: Browser, site: str) -> None:
    """All four errors at each power of ten."""
    chromium.open(site, 360, script=False)
    chromium.call("Emulation.setScriptExecutionDisabled", value=False)
    assert chromium.js("document.documentElement.scrollWidth") <= 360
    cells = chromium.js(
        "[...document.querySelectorAll('.widget noscript tr')].map((row) => [...row.children].map((cell) =>"
        " cell.textContent.replaceAll('\\u00a0', ' ')))"
    )
    assert [row[0] for row in cells[1:]] == [f"1 × 10{str(-n).translate(RAISED)}" for n in range(14)]
    assert cells[0][1:] == [f"{dtype}, {formula}" for dtype, formula in CASES]
    for n, row in enumerate(cells[1:]):
        for shown, (dtype, formula) in zip(row[1:], CASES, strict=True):
            assert is_near(shown, curves.rms_error(dtype, 10.0**-n, formula))


@pytest.mark.parametrize("changed", [{"dtype": "float16"}, {"formula": "luck"}, {"h": -2.1}, {"h": 1}])
def test_what_no_control_stops_at_is_refused(changed: dict[str, Any]) -> None:
    step_size()
    with pytest.raises(ValueError, match="which is none of"):
        step_size(**changed)
