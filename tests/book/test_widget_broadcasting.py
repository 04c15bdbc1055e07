"""Shapes that a reader sets, and which entries of g add up where: what the page shows is what the lesson computes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from widget_pages import Browser, assert_a_figure_without_scripts, assert_it_fits, page_of

from autograder.judging.checking.reference import load_module
from course.widgets import ROWS, broadcasting

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets import broadcasting

broadcasting((4,), (3, 4), figure="there")
""",
)
BOX = ".broadcasting"
SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.fixture(scope="module")
def lesson() -> ModuleType:
    return load_module(SOLUTIONS / "ch06_vjps.py")


def put(browser: Browser, **values: int) -> None:
    for name, value in values.items():
        browser.js(
            f"(() => {{ const e = document.querySelector('{BOX} input[name={name}]');"
            f" e.value = {value}; e.dispatchEvent(new Event('input')); }})()"
        )


def shapes(browser: Browser, a: Sequence[int], b: Sequence[int]) -> None:
    """Set both shapes, from the right: an axis that is set makes the ones to its right."""
    for name, shape in (("a", a), ("b", b)):
        sizes = [0] * (3 - len(shape)) + list(shape)
        put(browser, **{f"{name}{axis + 1}": sizes[axis] for axis in (0, 1, 2)})


def choose(browser: Browser, name: str, value: str) -> None:
    browser.js(f"document.querySelector('{BOX} input[name={name}][value={value}]').click()")


def said(browser: Browser) -> str:
    return str(browser.js(f"document.querySelector('{BOX} .said').textContent"))


def array(browser: Browser, name: str) -> tuple[str, np.ndarray, np.ndarray]:
    """An array's title, its numbers, and which of them are marked, row by row."""
    title, cells = browser.js(
        f"(() => {{ const one = document.querySelector('{BOX} .array[data-name={name}]');"
        " return [one.querySelector('p').textContent, [...one.querySelectorAll('td')]"
        ".map((cell) => [Number(cell.textContent.replace('−', '-')), /chosen|adds/.test(cell.className)])]; })()"
    )
    return title, np.array([number for number, _ in cells]), np.array([bool(mark) for _, mark in cells])


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert said(chromium) == (
        "da[0] = g[0, 0] + g[1, 0] + g[2, 0] = 1 + 5 + 9 = 15. "
        "Forward used this entry of a 3 times. da is g summed over axis 0."
    )
    assert array(chromium, "g")[0] == "g (3, 4)"
    assert chromium.faults() == []


def drawn_shapes() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Pairs that broadcast, of every number of axes, and some that do not."""
    draw = random.Random(6)
    pairs: list[Any] = [
        ((), ()),
        ((), (2, 3, 4)),
        ((1,), (3, 1)),
        ((3,), (4,)),
        ((2, 3), (3, 2)),
        ((1, 1, 1), (4, 4, 4)),
    ]
    for _ in range(14):
        full = [draw.randint(1, 4) for _ in range(draw.randint(1, 3))]
        pair = [
            tuple(1 if draw.random() < 0.3 else size for size in full[draw.randint(0, len(full)) :]) for _ in range(2)
        ]
        pairs.append(tuple(pair))
    return pairs


def test_gradients_are_the_lessons(chromium: Browser, site: str, lesson: ModuleType) -> None:
    """Both gradients for drawn shapes, and for each of some entries the entries of g in it, by the lesson's VJP."""
    chromium.open(site)
    draw = random.Random(0)
    for a, b in drawn_shapes():
        shapes(chromium, a, b)
        try:
            y = np.broadcast_shapes(a, b)
        except ValueError:
            with pytest.raises(ValueError, match="broadcast together") as raised:
                np.zeros(a) + np.zeros(b)
            assert str(raised.value).strip() in said(chromium)
            assert chromium.js(f"document.querySelectorAll('{BOX} .array').length") == 0
            continue
        g = np.arange(1.0, np.prod(y, dtype=int) + 1).reshape(y)
        gradients = dict(zip("ab", lesson.add_vjp(g, np.zeros(a), np.zeros(b)), strict=True))
        title, numbers, _ = array(chromium, "g")
        assert title == f"g {y}"
        assert numbers.tolist() == g.ravel().tolist()
        for name, shape in (("a", a), ("b", b)):
            choose(chromium, "of", name)
            title, numbers, _ = array(chromium, f"d{name}")
            assert title == f"d{name} {shape}"
            assert numbers.tolist() == gradients[name].ravel().tolist()
            size = gradients[name].size
            for entry in {0, size - 1, draw.randrange(size)}:
                put(chromium, entry=entry)
                one = np.zeros(size)
                one[entry] = 1  # copied by forward, it says who used this entry
                used = np.broadcast_to(one.reshape(shape), y).ravel() > 0
                assert array(chromium, "g")[2].tolist() == used.tolist()
                total = f"{gradients[name].ravel()[entry]:.0f}"
                assert f"= {total}. Forward used this entry of {name} " in said(chromium)
                times = "once" if used.sum() == 1 else f"{used.sum()} times"
                assert f"of {name} {times}. " in said(chromium)
    assert chromium.faults() == []


@pytest.mark.parametrize("operation", ["softmax", "layernorm"])
def test_slopes_are_pytorchs(chromium: Browser, site: str, operation: str) -> None:
    chromium.open(site)
    choose(chromium, "operation", operation)
    x = torch.tensor(ROWS, dtype=torch.float64)

    def function(rows: torch.Tensor) -> torch.Tensor:
        return torch.softmax(rows, 1) if operation == "softmax" else torch.nn.functional.layer_norm(rows, (4,))

    jacobian = torch.autograd.functional.jacobian(function, x)
    for entry in range(x.numel()):
        put(chromium, entry=entry)
        row, column = divmod(entry, 4)
        slopes = jacobian[:, :, row, column].ravel()
        title, numbers, marked = array(chromium, "slopes")
        assert title == f"∂y/∂x[{row}, {column}] (3, 4)"
        assert numbers == pytest.approx(slopes.numpy(), abs=5.1e-4)
        assert marked.tolist() == [at // 4 == row for at in range(12)]
        assert slopes.reshape(3, 4)[[other for other in range(3) if other != row]].abs().max() == 0
        assert array(chromium, "y")[1] == pytest.approx(function(x).ravel().numpy(), abs=5.1e-4)
        falls = all(slope < 0 for at, slope in enumerate(slopes) if at // 4 == row and at != entry)
        assert ("all others fall" in said(chromium)) == falls
        assert "slopes add up to 0.000." in said(chromium)
    assert chromium.faults() == []


def test_an_axis_is_missing_from_the_left(chromium: Browser, site: str) -> None:
    chromium.open(site)
    put(chromium, a1=2)
    assert said(chromium).startswith("da[0, 0, 0] = g[0, 0, 0] + g[0, 1, 0] + g[0, 2, 0] = 1 + 5 + 9 = 15.")
    assert array(chromium, "da")[0] == "da (2, 1, 4)"
    put(chromium, a3=0)
    assert array(chromium, "da")[0] == "da ()"
    assert said(chromium).startswith("da = g[0, 0] + g[0, 1] + g[0, 2] + … + g[2, 3] = 1 + 2 + 3 + … + 12 = 78.")


def test_a_click_and_the_keyboard_choose_an_entry(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.click(f"{BOX} .array[data-name=db] tr:nth-child(2) td:nth-child(3)")
    assert said(chromium).startswith("db[1, 2] = g[1, 2] = 7. Forward used this entry of b once. db is g itself")
    chromium.js(f"document.querySelector('{BOX} input[name=operation]').focus()")
    stops = []
    for _ in range(9):
        stops.append(chromium.js("document.activeElement.name"))
        chromium.key("Tab", 9)
    assert stops == ["operation", "a1", "a2", "a3", "b1", "b2", "b3", "of", "entry"]
    chromium.js(f"document.querySelector('{BOX} input[name=entry]').focus()")
    chromium.key("ArrowRight", 39)
    assert said(chromium).startswith("db[1, 3] = g[1, 3] = 8.")
    assert chromium.js("document.activeElement.getAttribute('aria-valuetext')") == "[1, 3]"
    chromium.key("Enter", 13)  # must not send the form
    assert chromium.js("location.search") == ""
    assert chromium.faults() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    shapes(chromium, (4, 4, 4), (4, 1))
    inks = {(".slice td", "color"): 4.5, (".said", "color"): 4.5}
    assert_it_fits(chromium, width, BOX, inks, drawings=".slice")
    choose(chromium, "operation", "layernorm")
    assert_it_fits(chromium, width, BOX, inks, drawings=".slice")
    shapes(chromium, (3,), (4,))
    choose(chromium, "operation", "add")
    assert_it_fits(chromium, width, BOX, {(".fault", "color"): 4.5}, drawings=".said")


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"a": (5,)}, "a has the shape"),
        ({"b": (1, 1, 1, 1)}, "b has the shape"),
        ({"b": (0,)}, "b has the shape"),
        ({"x": []}, "matrix"),
        ({"x": [[1.0], [1.0, 2.0]]}, "matrix"),
        ({"x": [[]]}, "matrix"),
    ],
)
def test_what_cannot_be_drawn_is_refused(changed: dict[str, Any], fault: str) -> None:
    broadcasting((), (4, 4, 4))
    with pytest.raises(ValueError, match=fault):
        broadcasting(**{"a": (3,), "b": (3,), **changed})
