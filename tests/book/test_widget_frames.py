"""Experiments that ask before they show, whose controls stay in view, and whose states have an address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from widget_pages import Browser, assert_it_fits

from course.widgets.frames import Question

pytestmark = pytest.mark.slow

PAGE_TEXT = """---
file_format: mystnb
kernelspec: {name: python3}
---
# Page

```{code-cell} python3
:tags: [remove-cell]
from course.experiments import schedules
from course.widgets import backward_sweep, checkpoint_schedule, gradient_account
from course.widgets import gradient_flow, memory_account, mlp_shapes
from course.widgets.bracket_order import bracket_order
from course.widgets.clinic import clinic
from course.widgets.cut_edges import cut_edges
from course.widgets.estimators import estimators
from course.widgets.frames import Frame, Question
from course.widgets.pipeline import pipeline
from course.widgets.step_size import step_size
from course.widgets.zero_stages import zero_stages
from course.widgets.straight_through import straight_through

def framed(name, **then):
    options = [("Yes, `a` is.", "It is `b`."), ("No.", "It takes `b`, too."), ("Never.", "With `b` it is.")]
    return Frame(f"Title of {name}", name, Question("Is `a` enough?", options, 1, then))

run = {"w": {"value": [1.0, 2.0], "gradient": [1.0, 3.0], "grad": [1.0, 4.0]}, "": {"loss": [1.0, 0.5]}}
flows = {f"{act}/he/0/{norm}/3": [0.1, 0.2, 0.3] for act in ("relu", "tanh") for norm in (0, 1)}
chain = {"2/everything/0": schedules.keep_everything(2), "2/slots/1": schedules.few_slots(2, 1, lambda n, s: n)}
chain |= {f"2/segments/{k}": schedules.segmented(2, k) for k in (1, 2)}
case = {"should": "x", "losses": [2.0, 0.5], "printed": "", "reading": "", "fewest": [["t"]]}
cases = {"a": {**case, "name": "all is well", "line": ""}, "b": {**case, "name": "a fault", "line": "y"}}
test = {"name": "A test", "asks": "Is it?", "outcomes": {"a": ["1", "yes"], "b": ["0", "no"]}}
```

```{code-cell} python3
:tags: [remove-input]
:mystnb:
:  figure:
:    name: fig-sweep
:    caption: What it shows.
backward_sweep(
    {"x": 2.0, "w": 3.0}, [("p", "mul", "x", "w"), ("q", "add", "p", "x"), ("L", "mul", "p", "q")],
    {"x": (0, 1), "w": (0, 0), "p": (1, 0), "q": (2, 1), "L": (3, 0.5)},
    {"right": ["L", "q", "p"], "wrong": ["L", "p", "q"]}, frame=framed("sweep", x=0, order=1, sent=4),
)
```

```{code-cell} python3
:tags: [remove-input]
gradient_account(run, run, frame=framed("account", zero_grad="off", step=2))
```

```{code-cell} python3
:tags: [remove-input]
mlp_shapes(32, 64, 128, 10, frame=framed("shapes", n=64, keep=0))
```

```{code-cell} python3
:tags: [remove-input]
gradient_flow(flows, frame=framed("flow", Activation="tanh", BatchNorm=1))
```

```{code-cell} python3
:tags: [remove-input]
memory_account(frame=framed("memory", model="llama-2-13b", seq=16384, recompute="full", chunks=1))
```

```{code-cell} python3
:tags: [remove-input]
checkpoint_schedule(chain, "2/segments/1", frame=framed("schedule", policy="slots", time=1))
```

```{code-cell} python3
:tags: [remove-input]
clinic(cases, {"t": test}, 2.3, frame=framed("clinic", patient=2, tests="t", named="b"))
```

```{code-cell} python3
:tags: [remove-input]
estimators(frame=framed("estimators", f="sin10", mu=-0.25, n=16, draw=3))
```

```{code-cell} python3
:tags: [remove-input]
zero_stages(frame=framed("zero", model="70B", stage=2, gpus=64))
```

```{code-cell} python3
:tags: [remove-input]
pipeline(frame=framed("pipeline", schedule="interleaved", stages=2, microbatches=16, time=5.5))
```

```{code-cell} python3
:tags: [remove-input]
straight_through(frame=framed("straight", q="sign", w=-0.5, target=2.4, rate=0.5, steps=60))
```

```{code-cell} python3
:tags: [remove-input]
cut_edges(frame=framed("cut", program="mean", cuts="m-c", run=1))
```

```{code-cell} python3
:tags: [remove-input]
step_size(frame=framed("step", dtype="float32", formula="one-sided", h=-7.125))
```

```{code-cell} python3
:tags: [remove-input]
bracket_order(frame=framed("brackets", n0=1, n2=8, n4=256, order="halves"))
```
"""
NAMES = ["sweep", "account", "shapes", "flow", "memory", "schedule", "clinic", "estimators"]
NAMES += ["zero", "pipeline", "straight", "cut", "step", "brackets"]
AFTER: dict[str, dict[str, str]] = {
    "sweep": {"x": "0", "order": "1", "sent": "4"},
    "account": {"zero_grad": "off", "step": "2"},
    "shapes": {"n": "64", "keep": "0"},
    "flow": {"Activation": "tanh", "BatchNorm": "1"},
    "memory": {"model": "llama-2-13b", "seq": "16384", "recompute": "full", "chunks": "1"},
    "schedule": {"policy": "slots", "time": "1"},
    "estimators": {"f": "sin10", "mu": "-0.25", "n": "16", "draw": "3"},
    "clinic": {"patient": "2", "tests": "t", "named": "b"},
    "zero": {"model": "70B", "stage": "2", "gpus": "64"},
    "pipeline": {"schedule": "interleaved", "stages": "2", "microbatches": "16", "time": "5.5"},
    "straight": {"q": "sign", "w": "-0.5", "target": "2.4", "rate": "0.5", "steps": "60"},
    "cut": {"program": "mean", "cuts": "m-c", "run": "1"},
    "step": {"dtype": "float32", "formula": "one-sided", "h": "-7.125"},
    "brackets": {"n0": "1", "n2": "8", "n4": "256", "order": "halves"},
}
"""What each question's `then` sets."""


def fresh(browser: Browser, address: str, width: int = 1200, theme: str = "light") -> None:
    """Open a page with no stored answers."""
    browser.open(address, width, theme, first=True)


def inside(name: str, selector: str) -> str:
    return f"document.querySelector('#{name} {selector}')"


def press(browser: Browser, name: str, words: str) -> None:
    """Click the button of the question that says `words`."""
    browser.js(
        f"[...document.querySelectorAll('#{name} .asks button')].forEach((one) =>"
        f" one.toggleAttribute('data-wanted', one.textContent === '{words}'))"
    )
    browser.click(f"#{name} .asks [data-wanted]")


def state(browser: Browser, name: str) -> dict[str, str]:
    """The settings as a reader sees them; a slider with named stops has the stop's name."""
    return dict(
        browser.js(
            f"Object.fromEntries([...{inside(name, 'form')}.elements].filter((one) => one.name && !one.disabled"
            " && (one.type !== 'radio' || one.checked)).map((one) => [one.name, one.type === 'checkbox'"
            " ? String(Number(one.checked)) : String(one.stops ? one.stops[one.value] : one.value)]))"
        )
    )


@pytest.fixture(scope="module")
def start(browsers: list[Browser], site: str) -> dict[str, dict[str, str]]:
    """What is set in each widget of a page that a reader comes to first."""
    fresh(browsers[-1], site)
    return {name: state(browsers[-1], name) for name in NAMES}


def locked(browser: Browser, name: str) -> bool:
    return bool(browser.js(inside(name, ".frame-body") + ".inert"))


def settled(browser: Browser) -> str:
    """The address's mark, when it has had the time to change."""
    browser.js("new Promise((done) => setTimeout(done, 400))")
    return str(browser.js("location.hash"))


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_with_an_answer_at_the_case_that_was_asked_about(chromium: Browser, site: str, name: str) -> None:
    """Only here an experiment stays locked until a question about it is answered, as on the book's pages.

    The first of these tests pays for the book of all widgets, and for the browser.
    """
    fresh(chromium, site)
    before = state(chromium, name)
    assert locked(chromium, name)
    assert chromium.js(inside(name, ".asks .question") + ".textContent") == "Is a enough?"
    press(chromium, name, "Yes, a is.")
    assert not locked(chromium, name)
    assert chromium.js(inside(name, ".reply") + ".textContent") == "Is a enough?You: Yes, a is. ✗ No. It is b."
    assert chromium.js("document.activeElement.className") == "reply"
    after = state(chromium, name)
    assert AFTER[name].items() <= after.items()
    assert {key for key in before if before[key] != after.get(key)} <= set(AFTER[name]) | {"time", "segments"}
    assert [one for one in NAMES if not locked(chromium, one)] == [name]

    chromium.open(site)  # what was answered is kept, and so is where it led
    assert [one for one in NAMES if not locked(chromium, one)] == [name]
    assert AFTER[name].items() <= state(chromium, name).items()
    press(chromium, name, "Ask me again")
    assert locked(chromium, name)
    assert state(chromium, name) == before
    press(chromium, name, "No.")
    assert "✓ Yes. It takes b, too." in chromium.js(inside(name, ".reply") + ".textContent")
    assert chromium.faults() == []


def test_who_only_wants_to_see_sees(chromium: Browser, site: str) -> None:
    fresh(chromium, site)
    before = state(chromium, "sweep")
    press(chromium, "sweep", "Just show me")
    assert not locked(chromium, "sweep")
    assert state(chromium, "sweep") == before
    said = chromium.js(inside("sweep", ".reply") + ".textContent")
    assert said == "To find out here: Is a enough?"
    chromium.open(site)
    assert not locked(chromium, "sweep")
    assert state(chromium, "sweep") == before


def test_the_keyboard_answers_and_meets_nothing_that_is_closed(chromium: Browser, site: str) -> None:
    fresh(chromium, site)
    chromium.js(inside("sweep", ".option") + ".focus()")
    stops = []
    for _ in range(5):
        stops.append(chromium.js("document.activeElement.textContent"))
        chromium.key("Tab", 9)
    assert stops[:4] == ["Yes, a is.", "No.", "Never.", "Just show me"]
    assert chromium.js("document.activeElement.closest('#sweep')") is None
    chromium.js(inside("sweep", ".option") + ".focus()")
    chromium.key("Enter", 13)
    assert chromium.js("document.activeElement.className") == "reply"
    chromium.key("Tab", 9)
    assert chromium.js("document.activeElement.textContent") == "Ask me again"
    chromium.key("Enter", 13)
    assert chromium.js("document.activeElement.className") == "question"
    name, role = "getAttribute('aria-label')", "getAttribute('role')"
    assert chromium.js(f"[{inside('sweep', '')}.{name}, {inside('sweep', '')}.{role}]") == ["Title of sweep", "group"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("from_disk", [False, True])
def test_a_state_has_an_address(chromium: Browser, page: Path, site: str, name: str, from_disk: bool) -> None:
    address = page.as_uri() if from_disk else site
    wanted = "&".join(f"{key}={value}" for key, value in AFTER[name].items())
    fresh(chromium, f"{address}#{name}?{wanted}")
    assert [one for one in NAMES if not locked(chromium, one)] == [name]
    assert AFTER[name].items() <= state(chromium, name).items()
    assert 0 <= chromium.js(inside(name, "") + ".getBoundingClientRect().top") < 450
    assert chromium.faults() == []


def test_steering_changes_the_address_and_its_start_has_none(chromium: Browser, site: str) -> None:
    fresh(chromium, site)
    press(chromium, "shapes", "Just show me")
    assert settled(chromium) == ""
    chromium.js(inside("shapes", "input[name=n]") + ".focus()")
    chromium.key("ArrowRight", 39)
    assert settled(chromium) == "#shapes?n=48"
    chromium.js("location.hash = '#shapes?n=8&keep=0'")  # a link on the page
    chromium.js("new Promise((done) => setTimeout(done, 100))")
    assert state(chromium, "shapes")["n"] == "8"
    chromium.click("#shapes input[name=keep]")
    assert settled(chromium) == "#shapes?n=8"
    press(chromium, "sweep", "Just show me")
    chromium.click("#sweep .buttons button:nth-child(3)")
    assert settled(chromium) == "#sweep?sent=1"
    chromium.click("#sweep .buttons button:nth-child(2)")
    assert settled(chromium) == ""
    press(chromium, "flow", "Just show me")
    chromium.click("#flow .buttons button")
    assert settled(chromium) == "#flow?pinned=relu%2Fhe%2F0%2F0%2F3"
    pinned = chromium.js(inside("flow", ".verdicts .pinned") + ".textContent")
    fresh(chromium, site + chromium.js("location.hash"))
    assert chromium.js(inside("flow", ".verdicts .pinned") + ".textContent") == pinned != ""


@pytest.mark.parametrize(
    "mark",
    [
        "#shapes?n=100&keep=perhaps",
        "#sweep?order=9&sent=many&x=&w=a",
        "#flow?Activation=gelu&pinned=none",
        "#memory?model=gpt&seq=1&recompute=",
        "#schedule?policy=luck&time=x",
        "#account?zero_grad=1&step=",
        "#estimators?f=tan&mu=9&n=2&draw=-1",
        "#clinic?patient=x&tests=luck&named=nobody",
        "#zero?model=1T&stage=4&gpus=3",
        "#pipeline?schedule=luck&stages=3&microbatches=5&time=0.3",
        "#straight?q=floor&w=9&target=0.05&rate=&steps=61",
        "#cut?program=luck&cuts=s-h.m-c&run=2&guess-s=many",
        "#step?dtype=float16&formula=both&h=-2.1",
        "#brackets?n0=3&n2=&n5=2&order=luck",
    ],
)
def test_what_no_control_can_be_set_to_changes_nothing(
    chromium: Browser, site: str, start: dict[str, dict[str, str]], mark: str
) -> None:
    name = mark[1:].split("?")[0]
    fresh(chromium, site + mark)
    assert state(chromium, name) == start[name]
    assert chromium.faults() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    fresh(chromium, site, width, theme)
    press(chromium, "account", "No.")
    press(chromium, "shapes", "Never.")
    inks = {
        (".frame-title", "color"): 4.5,
        (".option", "color"): 4.5,
        (".right", "color"): 4.5,
        (".wrong", "color"): 4.5,
    }
    assert_it_fits(chromium, width, ".experiment", inks, drawings=".asks > *")


@pytest.mark.parametrize("name", NAMES)
def test_controls_stay_in_view_on_a_phone(chromium: Browser, site: str, name: str) -> None:
    """Scrolled to the picture's lower end, the controls are still visible below the page's bar."""
    fresh(chromium, site, 390)
    chromium.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=False)
    press(chromium, name, "Just show me")
    picture = inside(name, ":is(.plot, .panels)")
    covered = chromium.js(inside(name, ".steer") + ".offsetHeight") + 56  # the page's bar is above
    chromium.js(
        f"scrollTo({{ top: {picture}.getBoundingClientRect().bottom + scrollY - {covered} - 30, behavior: 'instant' }})"
    )
    chromium.js("new Promise((done) => setTimeout(done, 100))")
    top, bottom, seen = chromium.js(
        f"(() => {{ const r = {inside(name, '.steer')}.getBoundingClientRect();"
        f" const at = document.elementFromPoint(195, r.top + 12);"
        f" return [r.top, r.bottom, {inside(name, '.steer')}.contains(at)]; }})()"
    )
    assert 0 <= top < bottom <= 0.62 * 844, name
    assert seen, name


TWO = [("One.", "It is."), ("Two.", "It is not.")]


@pytest.mark.parametrize(
    ("options", "right"),
    [
        (TWO[:1], 0),
        (TWO * 2, 0),
        (TWO, 2),
        (TWO, -1),
        ([*TWO, ("Three.", " ")], 0),
        ([(str(n), "x") for n in range(5)], 0),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(options: list[Any], right: int) -> None:
    Question("Which?", TWO, 0)
    with pytest.raises(ValueError, match=r"Which\?"):
        Question("Which?", options, right)
