"""The arrays of a two-layer network and their bytes, steered in a real browser: the lesson's own, on drawn sizes."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from widget_pages import Browser, assert_a_figure_without_scripts, assert_it_fits, page_of

from autograder.judging.checking.reference import load_module
from course.widgets import STOPS, mlp_shapes

pytestmark = pytest.mark.slow

SOLUTIONS = Path(__file__).parents[2] / "solutions"
PAGE_TEXT = page_of(
    """
from course.widgets import mlp_shapes

mlp_shapes(32, 64, 128, 10, figure="there")
""",
    """
mlp_shapes(n=1, d=512, m=2, o=512)
""",
)
START = (
    "Kept for backward: 32 × (64 + 2 × 128 + 10) × 4 = 42,240 bytes, 1.1 times the parameters. "
    "From a batch of 30 on, it is more than the parameters."
)
PLAIN = {"W₁": "W1", "b₁": "b1", "W₂": "W2", "b₂": "b2"}


@pytest.fixture(scope="module")
def lesson() -> ModuleType:
    return load_module(SOLUTIONS / "ch07_mlp_backprop.py")


def put(browser: Browser, **sizes: int) -> None:
    for name, size in sizes.items():
        browser.js(
            f"(() => {{ const e = document.querySelector('.mlp-shapes input[name={name}]');"
            f" e.value = {STOPS.index(size)}; e.dispatchEvent(new Event('input')); }})()"
        )


def said(browser: Browser) -> str:
    return str(browser.js("document.querySelector('.mlp-shapes .verdict').textContent"))


def parts(browser: Browser) -> dict[str, int]:
    """Bytes by the class of their row in the storage."""
    rows = browser.js(
        "[...document.querySelector('.mlp-shapes .storage tbody').rows]"
        ".map((row) => [row.className, row.lastChild.textContent])"
    )
    return {name: int(text.replace(",", "")) for name, text in rows}


def table(browser: Browser) -> dict[str, list[str]]:
    rows = browser.js(
        "[...document.querySelector('.mlp-shapes .numbers tbody').rows]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    return {PLAIN.get(name, name): cells for name, *cells in rows}


def rectangles(browser: Browser) -> dict[str, tuple[float, float]]:
    """Height and width of each, in pixels."""
    rows = browser.js(
        "[...document.querySelector('.mlp-shapes').querySelectorAll('.panel rect')]"
        ".map((e) => [e.dataset.name, Number(e.getAttribute('height')), Number(e.getAttribute('width'))])"
    )
    return {name: (height, width) for name, height, width in rows}


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert said(chromium) == START
    assert len(rectangles(chromium)) == 18
    assert chromium.faults() == []


def arrays(lesson: ModuleType, n: int, d: int, m: int, o: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Each value, and each gradient that is formed, as the lesson's own float32 pass makes them."""
    rng = np.random.default_rng(0)
    shapes = {"W1": (d, m), "b1": (m,), "W2": (m, o), "b2": (o,)}
    params = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    logits, cache = lesson.forward(params, rng.normal(size=(n, d)).astype(np.float32))
    _, dlogits = lesson.cross_entropy_loss(logits, rng.integers(o, size=n))
    dH = dlogits @ params["W2"].T
    values = {**params, "X": cache["X"], "Z": cache["Z"], "H": cache["H"], "logits": logits, "p": dlogits}
    passed = {"logits": dlogits, "H": dH, "Z": dH * (cache["Z"] > 0)}
    return values, {**lesson.backward(params, cache, dlogits), **passed}


def test_shapes_and_bytes_are_the_lessons(chromium: Browser, site: str, lesson: ModuleType) -> None:
    chromium.open(site)
    draw = random.Random(7)
    for n, d, m, o in [(1, 1, 1, 1), (512, 512, 512, 512), *([draw.choice(STOPS) for _ in "ndmo"] for _ in range(12))]:
        put(chromium, n=n, d=d, m=m, o=o)
        values, gradients = arrays(lesson, n, d, m, o)
        expected = {
            name: [
                str(array.shape),
                f"{array.nbytes:,}",
                "parameter" if name[0] in "Wb" else "no" if name == "logits" else "yes",
                *(["not formed", "", ""] if name not in gradients else []),
            ]
            for name, array in values.items()
        }
        for name, array in gradients.items():
            expected[name] += ["d" + {v: k for k, v in PLAIN.items()}.get(name, name)]
            expected[name] += [str(array.shape), f"{array.nbytes:,}"]
        assert table(chromium) == expected

        parameters = sum(values[name].nbytes for name in PLAIN.values())
        kept = lesson.saved_bytes(n, d, m, o, 4)
        assert parts(chromium) == {
            "parameter": parameters,
            "gradient": sum(gradients[name].nbytes for name in PLAIN.values()),
            "kept": kept,
            "total": 2 * parameters + kept,
            "passing": sum(gradients[name].nbytes for name in ("logits", "H", "Z")),
        }
        assert f"({d} + 2 × {m} + {o}) × 4 = {kept:,} bytes, " in said(chromium)
        more = next(batch for batch in range(1, 10**6) if lesson.saved_bytes(batch, d, m, o, 4) > parameters)
        assert said(chromium).endswith(f"From a batch of {more:,} on, it is more than the parameters.")
    assert chromium.faults() == []


def test_rectangles_are_to_scale(chromium: Browser, site: str, lesson: ModuleType) -> None:
    chromium.open(site)
    draw = random.Random(3)
    for sizes in [(32, 64, 128, 10), *([draw.choice(STOPS) for _ in "ndmo"] for _ in range(8))]:
        put(chromium, **dict(zip("ndmo", sizes, strict=True)))
        values, _ = arrays(lesson, *sizes)
        drawn = rectangles(chromium)
        sides = []
        for name, array in values.items():
            shape = (1, *array.shape)[-2:]
            label = {v: k for k, v in PLAIN.items()}.get(name, name)
            assert drawn[label] == drawn["d" + label], "a gradient has the shape of its value"
            sides += list(zip(shape, drawn[label], strict=True))
        scale = max(pixels / number for number, pixels in sides if pixels > 2)
        for number, pixels in sides:
            assert pixels == pytest.approx(max(2, number * scale)), (number, pixels)


def test_nothing_lies_on_another(chromium: Browser, site: str) -> None:
    """Labels of all sizes stand apart, and inside of the picture, and so do the rectangles."""
    for width in (360, 1200):
        chromium.open(site, width)
        for sizes in ((32, 64, 128, 10), (512, 512, 512, 512), (1, 1, 1, 1), (384, 1, 384, 1), (1, 384, 1, 384)):
            put(chromium, **dict(zip("ndmo", sizes, strict=True)))
            for panel in (0, 1):
                boxes = chromium.js(
                    f"(() => {{ const s = document.querySelectorAll('.mlp-shapes .panel svg')[{panel}];"
                    " const o = s.getBoundingClientRect(); return [...s.querySelectorAll('text')].map((e) => {"
                    " const r = e.getBoundingClientRect(); return ["
                    "r.left - o.left, r.right - o.left, r.top - o.top, o.right - r.right, o.bottom - r.bottom];"
                    " }); })()"
                )
                assert len(boxes) == 16 - 2 * panel
                overlaps = chromium.js(
                    f"(() => {{ const s = document.querySelectorAll('.mlp-shapes .panel svg')[{panel}];"
                    " const all = [...s.querySelectorAll('rect')].map((e) => e.getBBox());"
                    " return all.flatMap((a, i) => all.slice(i + 1).filter((b) => a.x + a.width > b.x + 0.1"
                    " && b.x + b.width > a.x + 0.1 && a.y + a.height > b.y + 0.1 && b.y + b.height > a.y + 0.1)"
                    ").length;"
                    " })()"
                )
                assert overlaps == 0, (width, sizes)
                for left, _, top, from_right, from_bottom in boxes:
                    assert min(left, top, from_right, from_bottom) >= 0, (width, sizes)
                rows: dict[int, list[list[float]]] = {}
                for box in boxes:
                    rows.setdefault(round(box[2]), []).append(box)
                for row in rows.values():
                    assert all(one[1] <= other[0] for one, other in pairwise(sorted(row))), (width, sizes)


def test_the_keyboard_steers_it_and_nothing_jumps(chromium: Browser, site: str) -> None:
    chromium.open(site)
    place = "document.querySelector('.mlp-shapes .storage').getBoundingClientRect().top + scrollY"
    before = chromium.js(place)
    chromium.js("document.querySelector('.mlp-shapes input[name=n]').focus()")
    stops = []
    for _ in range(6):
        stops.append(chromium.js("document.activeElement.name || document.activeElement.textContent"))
        chromium.key("Tab", 9)
    assert stops == ["n", "d", "m", "o", "keep", "The numbers as a table"]
    chromium.js("document.querySelector('.mlp-shapes input[name=n]').focus()")
    thick = "document.querySelector('.mlp-shapes').querySelectorAll('.touched').length"
    assert chromium.js(thick) == 8  # X, Z, H, logits, p and dZ, dH, dlogits have n rows, and no other
    chromium.key("ArrowRight", 39)
    chromium.key("ArrowRight", 39)
    assert said(chromium).startswith("Kept for backward: 64 × (64 + 2 × 128 + 10) × 4 = 84,480 bytes, 2.2 times")
    assert chromium.js("document.activeElement.getAttribute('aria-valuetext')") == "64"
    assert parts(chromium)["parameter"] == parts(chromium)["gradient"] == 38_440
    assert chromium.js(place) == before
    chromium.key("Enter", 13)  # must not send the form
    assert chromium.js("location.search") == ""
    assert chromium.faults() == []


def test_a_click_lets_the_pre_activation_go(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.click(".mlp-shapes input[name=keep]")
    assert said(chromium).startswith(f"Kept for backward: 32 × (64 + 128 + 10) × 4 = {32 * 202 * 4:,} bytes, ")
    assert parts(chromium)["kept"] == 32 * (64 + 128 + 10) * 4
    assert table(chromium)["Z"][2] == "no"
    assert chromium.js("document.querySelector('.mlp-shapes rect[data-name=Z]').getAttribute('class')") == "gone"
    chromium.click(".mlp-shapes input[name=m]")  # in the middle of the slider
    assert table(chromium)["W1"][0] == f"(64, {STOPS[len(STOPS) // 2]})"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    put(chromium, n=512, d=512, m=512, o=512)
    inks = {(".shapes text", "fill"): 4.5, ("rect.gone", "stroke"): 3.0, ("rect.passing", "stroke"): 3.0}
    assert_it_fits(chromium, width, ".mlp-shapes", inks, drawings=".panel svg")


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


def test_sizes_between_the_stops_are_refused() -> None:
    with pytest.raises(ValueError, match="m is 100"):
        mlp_shapes(32, 64, 100, 10)
