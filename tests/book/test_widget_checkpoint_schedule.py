"""Schedules of checkpointing: their counts are the lesson's formulas, and a reader steers them in a real browser."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType

import pytest
from widget_pages import Browser, assert_a_figure_without_scripts, assert_it_fits, page_of

from autograder.judging.checking.reference import load_module
from course.experiments.schedules import Event, few_slots, keep_everything, peak, runs_again, segmented
from course.widgets import checkpoint_schedule

pytestmark = pytest.mark.slow

pytest.importorskip("torch", reason="the reference of lesson 11 needs it")

SOLUTIONS = Path(__file__).parents[2] / "solutions"
LENGTHS = (2, 3, 5, 10, 32)
PAGE_TEXT = page_of(
    f"""
import sys

sys.path.insert(0, {str(SOLUTIONS)!r})
from ch11_checkpointing import minimal_forwards

from course.experiments.schedules import few_slots, keep_everything, segmented
from course.widgets import checkpoint_schedule

schedules = {{}}
for n in {LENGTHS}:
    schedules[f"{{n}}/everything/0"] = keep_everything(n)
    schedules |= {{f"{{n}}/segments/{{k}}": segmented(n, k) for k in range(1, n + 1)}}
    schedules |= {{f"{{n}}/slots/{{s}}": few_slots(n, s, minimal_forwards) for s in range(1, 11)}}
checkpoint_schedule(schedules, "32/segments/6", figure="there")
""",
)


@pytest.fixture(scope="module")
def lesson() -> ModuleType:
    return load_module(SOLUTIONS / "ch11_checkpointing.py")


# ---- the schedules


def test_peak_and_runs_are_the_lessons_formulas(lesson: ModuleType) -> None:
    for n in range(1, 33):
        assert (peak(keep_everything(n)), runs_again(keep_everything(n))) == (n, 0)
        for k in range(1, n + 1):
            assert peak(segmented(n, k)) == lesson.peak_activations(n, k)
            assert runs_again(segmented(n, k)) == n
        for s in range(1, 11):
            events = few_slots(n, s, lesson.minimal_forwards)
            assert runs_again(events) == lesson.minimal_forwards(n, s)
            assert peak(events) <= s + 1
    assert [peak(few_slots(32, s, lesson.minimal_forwards)) for s in range(1, 11)] == list(range(2, 12))


def test_a_schedule_does_only_what_it_can(lesson: ModuleType) -> None:
    """A layer runs from an input at hand, and backward takes each from its tape, last one first."""
    for n in (1, 2, 7, 32):
        for events in [keep_everything(n), segmented(n, 3 if n > 2 else 1), few_slots(n, 3, lesson.minimal_forwards)]:
            at_hand, stored, expected = 0, {0}, n - 1
            taped: set[int] = set()
            for kind, i in events:
                if kind == "store":
                    assert i == at_hand
                    stored.add(i)
                elif kind == "free":
                    stored.remove(i)
                elif kind == "back":
                    assert i == expected
                    taped.remove(i)
                    expected -= 1
                else:
                    assert i == at_hand or i in stored
                    at_hand = i + 1
                    if kind == "tape":
                        taped.add(i)
            assert (expected, taped, stored - {0}) == (-1, set(), set())


@pytest.mark.parametrize(("layers", "segments"), [(4, 0), (4, 5)])
def test_segments_that_do_not_exist_are_refused(layers: int, segments: int) -> None:
    with pytest.raises(ValueError, match=f"{segments} segments of {layers}"):
        segmented(layers, segments)


# ---- the page

ROOT = "document.querySelector('.checkpoint-schedule')"


def put(browser: Browser, name: str, place: int) -> None:
    """Set a slider to one of its stops, counted from its least."""
    browser.js(
        f"(() => {{ const e = {ROOT}.querySelector('input[name={name}]'); e.value = {place};"
        " e.dispatchEvent(new Event('input')); })()"
    )


def choose(browser: Browser, layers: int, policy: str, number: int = 0) -> None:
    browser.js(f"{ROOT}.querySelector('input[value={policy}]').click()")
    put(browser, "layers", LENGTHS.index(layers))
    if policy in ("segments", "slots"):
        put(browser, policy, number - 1)


def said(browser: Browser, what: str = "verdict") -> str:
    return str(browser.js(f"{ROOT}.querySelector('.{what}').innerText")).replace("\u00a0", " ")


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert said(chromium) == "Peak: 12 (6 inputs and 6 activations). 32 layers run again: 1.00 of a forward."
    assert said(chromium, "moment") == (
        "Step 38 of 96: layer 32 runs again and keeps its activation.\n"
        "12 held: 6 inputs (layers 1, 6, 11, 17, 22, 27) and 6 activations (layers 27–32)."
    )
    assert chromium.faults() == []


def test_what_it_says_are_the_lessons_formulas(chromium: Browser, site: str, lesson: ModuleType) -> None:
    chromium.open(site)
    draw = random.Random(11)
    for n in LENGTHS:
        cases = [("everything", 0, n, 0), ("layers", 0, lesson.peak_activations(n, n), n)]
        cases += [("segments", k, lesson.peak_activations(n, k), n) for k in {1, n, draw.randint(1, n)}]
        for s in {1, 10, draw.randint(2, 9)}:
            cases.append(("slots", s, min(s, max(1, n - 1)) + 1, lesson.minimal_forwards(n, s)))
        for policy, number, most, again in cases:
            choose(chromium, n, policy, number)
            layers = "1 layer runs" if again == 1 else f"{again} layers run"
            assert said(chromium).startswith(f"Peak: {most} ("), (n, policy, number)
            assert f"). {layers} again" in said(chromium), (n, policy, number)
            assert f" of {2 * n + again}: " in said(chromium, "moment")
        rows = chromium.js(
            f"[...{ROOT}.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((e) => e.textContent))"
        )
        assert [row[1:] for row in rows] == [
            [str(n), "0"],
            *([str(lesson.peak_activations(n, k)), str(n)] for k in range(1, n + 1)),
            *([str(min(s, max(1, n - 1)) + 1), str(lesson.minimal_forwards(n, s))] for s in range(1, 11)),
        ]
    assert chromium.faults() == []


def moments(events: list[Event]) -> list[tuple[str, int, set[int], set[int]]]:
    """Each step of time: what is done, to which layer, and the inputs and the activations held meanwhile."""
    found: list[tuple[str, int, set[int], set[int]]] = []
    inputs: set[int] = set()
    tapes: set[int] = set()
    ran: set[int] = set()
    for kind, i in events:
        if kind == "store":
            inputs.add(i)
        elif kind == "free":
            inputs.remove(i)
        else:
            tapes |= {i} if kind == "tape" else set()
            what = "back" if kind == "back" else "again" if i in ran else "forward"
            found.append((what, i, set(inputs), set(tapes)))
            ran.add(i)
            tapes -= {i} if kind == "back" else set()
    return found


def numbers(text: str) -> set[int]:
    found: set[int] = set()
    for part in text.split(", "):
        first, _, last = part.partition("–")
        found |= set(range(int(first) - 1, int(last or first)))
    return found


def test_the_scrubber_shows_every_moment(chromium: Browser, site: str, lesson: ModuleType) -> None:
    chromium.open(site)
    for n, policy, number, events in (
        (10, "slots", 3, few_slots(10, 3, lesson.minimal_forwards)),
        (10, "segments", 4, segmented(10, 4)),
        (5, "everything", 0, keep_everything(5)),
        (3, "layers", 0, segmented(3, 3)),
    ):
        choose(chromium, n, policy, number)
        for step, (what, layer, inputs, tapes) in enumerate(moments(events)):
            put(chromium, "time", step + 1)
            first, second = said(chromium, "moment").split("\n")
            does = {"forward": f"layer {layer + 1} runs", "again": f"layer {layer + 1} runs again"}
            assert does.get(what, f"backward goes through layer {layer + 1}") in first
            assert ("again" in first) == (what == "again")
            assert second.startswith(f"{len(inputs | {-1 - i for i in tapes})} held: ")
            parts = [part.split(")")[0].split("(")[1] for part in second.split(" and ")]
            found = [numbers(part.removeprefix("layers ").removeprefix("layer ")) for part in parts]
            assert found == [held for held in (inputs, tapes) if held], (step, second)
            dots = chromium.js(f"['input', 'tape'].map((kind) => {ROOT}.querySelectorAll('.dot.' + kind).length)")
            assert dots == [len(inputs), len(tapes)]
            assert chromium.js(f"{ROOT}.querySelectorAll('.ring.{what}').length") == 1
    assert chromium.faults() == []


def test_the_drawing_has_a_cell_for_each_step(chromium: Browser, site: str, lesson: ModuleType) -> None:
    chromium.open(site)
    choose(chromium, 10, "slots", 3)
    path = f"{ROOT}.querySelector('.plot .cell.' + kind).getAttribute('d')"
    cells = f"['forward', 'again', 'back'].map((kind) => {path}.split('M').length - 1)"
    assert chromium.js(cells) == [10, 15, 10]
    assert chromium.js(f"{ROOT}.querySelectorAll('.plot > .input:not(.deep)').length") == sum(
        kind == "store" for kind, _ in few_slots(10, 3, lesson.minimal_forwards)
    )


def test_the_keyboard_steers_it_and_nothing_jumps(chromium: Browser, site: str) -> None:
    chromium.open(site)
    place = f"{ROOT}.querySelector('.time').getBoundingClientRect().top + scrollY"
    before = chromium.js(place)
    chromium.js(f"{ROOT}.querySelector('input[value=segments]').focus()")
    stops = []
    for _ in range(5):
        stops.append(chromium.js("document.activeElement.name || document.activeElement.textContent"))
        chromium.key("Tab", 9)
    assert stops == ["policy", "layers", "segments", "time", "All policies at 32 layers, as a table"]
    chromium.js(f"{ROOT}.querySelector('input[value=segments]').focus()")
    chromium.key("ArrowRight", 39)
    assert said(chromium) == "Peak: 4 (3 inputs and 1 activation). 93 layers run again: 2.91 of a forward."
    for _ in range(2):
        chromium.key("Tab", 9)
    for _ in range(2):
        chromium.key("ArrowRight", 39)
    assert said(chromium) == "Peak: 6 (5 inputs and 1 activation). 68 layers run again: 2.13 of a forward."
    chromium.key("Tab", 9)
    chromium.key("Home", 36)
    assert said(chromium, "moment") == "Step 1 of 132: layer 1 runs.\n1 held: 1 input (layer 1)."
    assert chromium.js("document.activeElement.getAttribute('aria-valuetext')").startswith(
        "Step 1 of 132: layer 1 runs."
    )
    assert chromium.js(place) == before
    chromium.key("Enter", 13)  # must not send the form
    assert chromium.js("location.search") == ""
    assert chromium.faults() == []


def test_a_click_on_the_drawing_goes_to_that_moment(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.click(".checkpoint-schedule input[value=everything]")
    assert said(chromium) == "Peak: 32 (32 activations). 0 layers run again."
    put(chromium, "time", 1)
    chromium.click(".checkpoint-schedule .plot .axis")  # its middle is that of time, where the last layer is done
    assert said(chromium, "moment").startswith("Step 33 of 64: backward goes through layer 32.")
    chromium.click(".checkpoint-schedule input[name=segments]")  # has no part in it now
    assert said(chromium) == "Peak: 32 (32 activations). 0 layers run again."


def test_fewer_layers_allow_fewer_segments_and_more_bring_them_back(chromium: Browser, site: str) -> None:
    chromium.open(site)
    put(chromium, "layers", LENGTHS.index(3))
    assert said(chromium).startswith("Peak: 4 (3 inputs and 1 activation)")
    put(chromium, "layers", LENGTHS.index(32))
    assert said(chromium).startswith("Peak: 12 (6 inputs and 6 activations)")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    assert chromium.js("getComputedStyle(document.querySelector('.plot text')).fontSize") == "12px"
    inks = {
        (".plot text", "fill"): 4.5,
        (".cell.forward", "fill"): 3.0,
        (".cell.again", "fill"): 4.5,
        (".cell.back", "fill"): 3.0,
    }
    assert_it_fits(chromium, width, ".checkpoint-schedule", inks)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


# ---- the Python side

TWO: dict[str, list[Event]] = {
    "2/everything/0": keep_everything(2),
    "2/segments/1": segmented(2, 1),
    "2/segments/2": segmented(2, 2),
    "2/slots/1": [("store", 0), ("run", 0), ("tape", 1), ("back", 1), ("tape", 0), ("back", 0), ("free", 0)],
}


def test_schedules_travel_as_letters() -> None:
    assert '"2/slots/1":"s0r0t1b1t0b0f0"' in checkpoint_schedule(TWO, "2/slots/1").data


@pytest.mark.parametrize(
    ("changed", "start", "fault"),
    [
        ({"2/segments/2": None}, "2/slots/1", "2/segments/2"),
        ({"2/slots/1": None}, "2/segments/1", "and slots"),
        ({}, "2/slots/2", "2/slots/2"),
        ({"2/segments/3": []}, "2/slots/1", "2/segments/3"),
        ({"33/everything/0": []}, "2/slots/1", "33: 1 to 32"),
    ],
)
def test_schedules_that_do_not_fit_are_refused(changed: dict[str, list[Event] | None], start: str, fault: str) -> None:
    schedules = {key: events for key, events in {**TWO, **changed}.items() if events is not None}
    with pytest.raises(ValueError, match=fault):
        checkpoint_schedule(schedules, start)
