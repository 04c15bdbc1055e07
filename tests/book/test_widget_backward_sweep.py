"""The reverse sweep that a reader steers: its numbers are Python's, and an order that is wrong shows what it loses."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from widget_pages import Browser, assert_a_figure_without_scripts, assert_it_fits, page_of

from course.graph import Node, add, mul, power
from course.widgets import backward_sweep

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")

NEURON: list[tuple[str, ...]] = [
    ("m", "mul", "w", "x"),
    ("s", "add", "m", "b"),
    ("r", "sub", "s", "y"),
    ("L", "square", "r"),
]
SHARED: list[tuple[str, ...]] = [("p", "mul", "x", "w"), ("q", "add", "p", "x"), ("L", "mul", "p", "q")]
PAGE_TEXT = page_of(
    f"""
from course.widgets import backward_sweep

backward_sweep(
    {{"w": 2.0, "x": 3.0, "b": 1.0, "y": 5.0}},
    {NEURON},
    {{"w": (0, 0), "x": (0, 1), "m": (1, 0.5), "b": (1, 1.5), "s": (2, 0.5), "y": (2, 1.5), "r": (3, 0.5), "L": (4, 0.5)}},
    figure="there",
)
""",  # noqa: E501
    f"""
backward_sweep(
    {{"x": 2.0, "w": 3.0}},
    {SHARED},
    {{"x": (0, 1), "w": (0, 0), "p": (1, 0), "q": (2, 1), "L": (3, 0.5)}},
    {{"waits": ["L", "q", "p"], "too early": ["L", "p", "q"]}},
)
""",
)


# ---- what the numbers should be


def graph(inputs: dict[str, float], operations: Sequence[tuple[str, ...]]) -> dict[str, Node]:
    nodes = {name: Node(value, name=name) for name, value in inputs.items()}
    for name, kind, *parents in operations:
        p = [nodes[parent] for parent in parents]
        if kind == "sub":
            nodes[name] = Node(p[0].value - p[1].value, p, (1.0, -1.0), name)
        else:
            nodes[name] = power(p[0], 2, name) if kind == "square" else {"add": add, "mul": mul}[kind](p[0], p[1], name)
    return nodes


def swept(nodes: dict[str, Node], order: Sequence[str]) -> dict[str, float]:
    """Each node's value after every node in `order` has sent once, even before all its uses have sent."""
    held = dict.fromkeys(nodes, 0.0) | {order[0]: 1.0}
    for name in order:
        for parent, local in zip(nodes[name].parents, nodes[name].local_gradients, strict=True):
            held[parent.name] += held[name] * local
    return held


def by_torch(inputs: dict[str, float], operations: Sequence[tuple[str, ...]]) -> dict[str, float]:
    values = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in inputs.items()}
    do: dict[str, Any] = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "square": torch.square}
    for name, kind, *parents in operations:
        values[name] = do[kind](*(values[parent] for parent in parents))
        values[name].retain_grad()
    values[operations[-1][0]].backward()
    return {name: value.grad.item() for name, value in values.items()}


# ---- what the page says


def each(which: int, selector: str) -> str:
    return f"[...document.querySelectorAll('.backward-sweep')[{which}].querySelectorAll('{selector}')]"


def press(browser: Browser, which: int, button: str) -> None:
    browser.js(f"{each(which, '.buttons button')}.find((one) => one.textContent === '{button}').click()")


def figure(text: str) -> float:
    return float(text.replace("−", "-"))


def boxes(browser: Browser, which: int) -> dict[str, tuple[float, str]]:
    """Name, value and g of every node."""
    rows = browser.js(
        each(which, ".node") + ".map((one) => [...one.querySelectorAll('text')].map((t) => t.textContent))"
    )
    return {name.split(" ")[0]: (figure(value), g.removeprefix("g = ")) for name, value, g in rows}


def put(browser: Browser, which: int, values: Sequence[float]) -> None:
    browser.js(
        f"{list(values)}.forEach((value, i) => {{ const e = {each(which, 'input[type=range]')}[i];"
        " e.value = value; e.dispatchEvent(new Event('input')); })"
    )


def said(browser: Browser, which: int) -> str:
    return str(browser.js(each(which, ".said") + "[0].textContent"))


def outcome(browser: Browser) -> list[list[str]]:
    rows = each(1, ".outcome tbody tr") + ".map((row) => [...row.children].map((cell) => cell.textContent))"
    return [list(row) for row in browser.js(rows)]


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert said(chromium, 0) == "L starts with g = 1. Send the first message."
    assert boxes(chromium, 0)["m"] == (6, "…")
    labels = chromium.js(each(0, ".local") + ".map((one) => one.textContent)")
    assert labels == ["x = 3", "w = 2", "1", "1", "1", "−1", "2r = 4"]
    assert chromium.faults() == []


def test_the_numbers_are_pythons(chromium: Browser, site: str) -> None:
    """Values, local gradients and gradients of both graphs, at drawn inputs: course.graph, and PyTorch's autograd."""
    chromium.open(site)
    press(chromium, 0, "All")
    press(chromium, 1, "All")
    draw = random.Random(0)
    for trial in range(12):
        for which, (names, operations) in enumerate((("wxby", NEURON), ("xw", SHARED))):
            inputs = {name: draw.randint(-20, 20) / 2 if trial else 0.0 for name in names}
            put(chromium, which, list(inputs.values()))
            nodes, shown = graph(inputs, operations), boxes(chromium, which)
            truth = by_torch(inputs, operations)
            assert swept(nodes, [name for name, *_ in operations][::-1]) == pytest.approx(truth)
            for name, node in nodes.items():
                value, g = shown[name]
                assert value == pytest.approx(node.value, rel=1e-5), (name, inputs)
                assert figure(g) == pytest.approx(truth[name], rel=1e-5), (name, inputs)
            labels = chromium.js(each(which, ".local") + ".map((one) => one.textContent)")
            locals_ = [local for name, *_ in operations for local in nodes[name].local_gradients]
            assert [figure(label.split(" = ")[-1]) for label in labels] == pytest.approx(locals_, rel=1e-5)
            assert "−0" not in [label.split(" = ")[-1] for label in labels] + [g for _, g in shown.values()]


def test_a_wrong_order_ends_with_the_wrong_total_beside_the_right_one(chromium: Browser, site: str) -> None:
    chromium.open(site)
    press(chromium, 1, "All")
    assert outcome(chromium) == [["∂L/∂x", "48", "48", "✓ right"], ["∂L/∂w", "28", "28", "✓ right"]]
    chromium.click(".backward-sweep input[name=order][value='1']:not([hidden] *)")
    chromium.key("Enter", 13)  # must not send the form
    assert outcome(chromium) == [["∂L/∂x", "30", "48", "✗ wrong"], ["∂L/∂w", "16", "28", "✗ wrong"]]
    assert chromium.js("location.search") == ""
    draw = random.Random(1)
    for _ in range(10):
        inputs = {name: draw.randint(-20, 20) / 2 for name in "xw"}
        put(chromium, 1, list(inputs.values()))
        nodes = graph(inputs, SHARED)
        broken, right = swept(nodes, ["L", "p", "q"]), by_torch(inputs, SHARED)
        for name, (_, got, truth, verdict) in zip("xw", outcome(chromium), strict=True):
            assert (figure(got), figure(truth)) == pytest.approx((broken[name], right[name]), rel=1e-5)
            assert verdict == ("✓ right" if broken[name] == right[name] else "✗ wrong")
    assert chromium.faults() == []


def test_the_sweep_says_what_is_too_early_and_what_is_too_late(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.click(".backward-sweep input[name=order][value='1']:not([hidden] *)")
    sentences = []
    for _ in range(6):
        press(chromium, 1, "Next message")
        sentences.append(said(chromium, 1))
    assert sentences[0] == (
        "1 of 6: L sends to p. g × local gradient = 1 × 8 = 8. p holds 8; 1 more message will come."
    )
    early, late = " Too early: 1 more message will come to p.", " Too late: p has sent, so this goes no further."
    assert [early in one for one in sentences] == [False, False, True, True, False, False]
    assert [late in one for one in sentences] == [False, False, False, False, True, False]
    assert chromium.js(each(1, ".late") + ".length") == 1
    chromium.click(".backward-sweep input[name=order][value='0']:not([hidden] *)")
    for _ in range(6):
        assert "Too" not in said(chromium, 1)
        press(chromium, 1, "Back")
    assert said(chromium, 1).startswith("L starts with g = 1.")
    assert outcome(chromium)[0] == ["∂L/∂x", "0 so far", "48", ""]


def test_a_partial_sum_says_that_more_will_come(chromium: Browser, site: str) -> None:
    chromium.open(site)
    press(chromium, 1, "Next message")
    assert boxes(chromium, 1)["p"] == (6, "8 + …")
    press(chromium, 1, "Next message")
    press(chromium, 1, "Next message")
    assert boxes(chromium, 1)["p"] == (6, "14")
    rows = chromium.js(each(1, ".numbers tr") + ".map((row) => [...row.children].map((cell) => cell.textContent))")
    assert rows[1:] == [["L → p", "1", "8", "8", "8"], ["L → q", "1", "6", "6", "6"], ["q → p", "6", "1", "6", "14"]]


def test_the_keyboard_steers_it(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.js(each(0, "input[type=range]") + "[0].focus()")
    stops = []
    for _ in range(9):
        stops.append(
            chromium.js("(() => { const e = document.activeElement; return (e.closest('label') ?? e).textContent; })()")
        )
        chromium.key("Tab", 9)
    assert stops == ["w2", "x3", "b1", "y5", "Restart", "Back", "Next message", "All", "The messages as a table"]
    chromium.js(each(0, "input[type=range]") + "[3].focus()")
    for _ in range(4):
        chromium.key("ArrowRight", 39)
    for _ in range(4):
        chromium.key("Tab", 9)
    chromium.key("Enter", 13)
    assert boxes(chromium, 0)["y"] == (7, "0")
    assert {g for _, g in boxes(chromium, 0).values()} == {"0", "1"}
    chromium.key("Enter", 13)  # at the end: nothing more to send, and the focus stays
    assert chromium.js("document.activeElement.textContent") == "All"
    assert chromium.js("document.activeElement.ariaDisabled") == "true"
    assert chromium.js("location.search") == ""
    assert chromium.faults() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    """It is no wider than the screen, texts stay in their boxes, messages cause no jumps, and contrast suffices."""
    chromium.open(site, width, theme)
    chromium.click(".backward-sweep input[name=order][value='1']:not([hidden] *)")
    put(chromium, 0, [-10, 10, 9.5, -9.5])
    put(chromium, 1, [-9.5, 9.5])
    heights = set()
    for _ in range(8):
        heights.add(
            str(chromium.js(each(0, "form") + ".concat(" + each(1, "form") + ").map((one) => one.offsetHeight)"))
        )
        for which in (0, 1):
            press(chromium, which, "Next message")
            inside = """.every((one) => { const box = one.querySelector('rect').getBoundingClientRect();
              return [...one.querySelectorAll('text')].every((text) => { const r = text.getBoundingClientRect();
                return r.left >= box.left && r.right <= box.right && r.bottom <= box.bottom + 1; }); })"""
            assert chromium.js(each(which, ".node") + inside), (which, boxes(chromium, which))
    assert len(heights) == 1, heights
    assert chromium.js(f"new Set({each(0, '.buttons button')}.map((one) => one.offsetTop)).size") == 1
    inks = {
        (".plot .local", "fill"): 4.5,
        (".forward .line", "stroke"): 3.0,
        (".backward .line", "stroke"): 3.0,
        (".late .line", "stroke"): 4.5,
        (".outcome .wrong", "color"): 4.5,
    }
    assert_it_fits(chromium, width, ".backward-sweep", inks)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


PLACES = dict.fromkeys(("a", "b", "c"), (0.0, 0.0))


@pytest.mark.parametrize(
    ("operations", "changed", "fault"),
    [
        ([("c", "pow", "a", "b")], {}, "no operation 'pow' of 2"),
        ([("c", "add", "a")], {}, "no operation 'add' of 1"),
        ([("c", "add", "a", "a")], {}, "two nodes"),
        ([("c", "add", "a", "d")], {}, "two nodes"),
        ([("c", "square", "a")], {}, "to be used"),
        ([("c", "add", "a", "b")], {"places": {"a": (0.0, 0.0)}}, "places"),
        ([("c", "add", "a", "b")], {"orders": {"none": []}}, "every operation once"),
        (
            [("c", "mul", "a", "b"), ("d", "add", "c", "b"), ("e", "mul", "c", "d")],
            {"orders": {"early": ["e", "c", "d"]}, "places": dict.fromkeys("abcde", (0.0, 0.0))},
            "right one",
        ),
    ],
)
def test_a_graph_that_cannot_be_drawn_or_swept_is_refused(
    operations: list[tuple[str, ...]], changed: dict[str, Any], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        backward_sweep({"a": 1.0, "b": 2.0}, operations, **{"places": PLACES, **changed})
