"""Schedules of a pipeline that a reader scrubs: what the page shows is what the simulator computes."""

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

from course.experiments.pipeline import Run, idle_share, most_held
from course.widgets.pipeline import MICROBATCHES, SCHEDULES, STAGES, pipeline, possible, simulated

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets.pipeline import pipeline

pipeline(figure="there")
""",
)
BOX = ".pipeline"
SETTINGS = [(p, m) for p in STAGES for m in MICROBATCHES]
WORDS = {"F": "forward", "B": "backward", "W": "weights"}


def slide(browser: Browser, name: str, place: int) -> None:
    browser.js(
        f"(() => {{ const e = document.querySelector('{BOX} input[name={name}]');"
        f" e.value = {place}; e.dispatchEvent(new Event('input')); }})()"
    )


def put(browser: Browser, schedule: str, stages: int, microbatches: int) -> None:
    slide(browser, "stages", STAGES.index(stages))
    slide(browser, "microbatches", MICROBATCHES.index(microbatches))
    browser.js(f"document.querySelector('{BOX} input[name=schedule][value=\"{schedule}\"]').click()")


def text(browser: Browser, selector: str) -> str:
    return str(browser.js(f"document.querySelector('{BOX} {selector}').textContent"))


def table(browser: Browser) -> list[list[str]]:
    rows = f"[...document.querySelectorAll('{BOX} .moment tbody tr')]"
    return list(browser.js(rows + ".map((row) => [...row.children].map((cell) => cell.textContent))"))


def written(value: float) -> str:
    return f"{value:g}"


def name(run: Run) -> str:
    return f"{run.microbatch + 1}{'′' if run.chunk else ''}"


def unpacked(held: str) -> set[str]:
    """3–6, 1′ as the names of five micro-batches."""
    found = set()
    for piece in held.split(", ") if held != "–" else []:
        first, _, last = piece.partition("–")
        mark = "′" if first.endswith("′") else ""
        found |= {f"{n}{mark}" for n in range(int(first.rstrip("′")), int((last or first).rstrip("′")) + 1)}
    return found


def at(runs: list[Run], stage: int, time: float, chunks: int) -> list[Any]:
    """A row of the table, from the runs: what is held, by name."""
    own = [run for run in runs if run.stage == stage]
    last = "W" if any(run.kind == "W" for run in own) else "B"
    held = {name(run) for run in own if run.kind == "F" and run.start <= time}
    held -= {name(run) for run in own if run.kind == last and run.end <= time}
    now = [f"{WORDS[run.kind]} {name(run)}" for run in own if run.start <= time < run.end]
    worked = sum(min(run.end, time) - run.start for run in own if run.start <= time)
    return [str(stage), *(now or ["idle"]), written(len(held) / chunks), held, written(time - worked)]


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert text(chromium, ".said") == (
        "Bubble: 27.3 %, each stage idle for 9 of 33. Most held: 8 micro-batches, on every stage."
    )
    assert text(chromium, ".moment p") == "Time 7 of 33: 0 of 4 stages idle."
    assert chromium.faults() == []


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_all_numbers_are_the_simulators(chromium: Browser, site: str, schedule: str) -> None:
    """Every setting: bubble, most held, the jobs that are drawn, and the table at drawn moments and at the end."""
    chromium.open(site)
    draw, chunks = random.Random(14), SCHEDULES[schedule].chunks
    for p, m in SETTINGS:
        if not possible(schedule, p, m):
            continue
        put(chromium, schedule, p, m)
        runs = simulated(schedule, p, m)
        end, most = max(run.end for run in runs), most_held(runs)
        said = text(chromium, ".said")
        assert said.startswith(f"Bubble: {100 * idle_share(runs):.1f} %, each stage idle for "), (p, m)
        assert f"idle for {written(round(idle_share(runs) * end, 9))} of {written(end)}. " in said
        assert f"Most held: {written(max(most))} micro-batch" in said
        where = [stage for stage in range(p) if most[stage] == max(most)]
        assert said.endswith("on every stage." if len(where) == p else f"on stage {where[0]}." if len(where) == 1 else
                             f"on stages {where[0]} to {where[-1]}.")  # fmt: skip
        assert where == list(range(where[0], where[-1] + 1))

        shown, peaks = chromium.js(
            f"(() => {{ const all = (of) => [...document.querySelectorAll('{BOX} .plot ' + of)];"
            " const jobs = all('.job').map((one) => [Number(one.dataset.stage), one.classList[1], one.classList[2],"
            " ...['x', 'width'].map((name) => Number(one.getAttribute(name)))]);"
            " return [jobs, all('.most').map((one) => Number(one.textContent))]; })()"
        )
        assert peaks == [pytest.approx(value) for value in most]
        assert len(shown) == len(runs)
        left, idle_wide = chromium.js(
            f"['x', 'width'].map((name) => Number(document.querySelector('{BOX} .plot .idle').getAttribute(name)))"
        )
        expected = sorted((run.stage, run.start, run.kind, f"part{run.chunk}", run.end - run.start) for run in runs)
        for (stage, start, kind, part, long), one in zip(
            expected, sorted(shown, key=lambda s: (s[0], s[3])), strict=True
        ):
            assert one[:3] == [stage, kind, part]
            assert one[3] == pytest.approx(left + start / end * idle_wide, abs=0.02)
            assert one[4] == pytest.approx(max(0.8, long / end * idle_wide - 0.8), abs=0.02)

        tick = 1 / chunks
        ticks = round(end / tick)
        for place in {0, ticks, *(draw.randrange(ticks) for _ in range(4))}:
            slide(chromium, "time", place)
            rows = table(chromium)
            wanted = [at(runs, stage, place * tick, chunks) for stage in range(p)]
            assert [[*row[:3], unpacked(row[3]), row[4]] for row in rows] == wanted, (p, m, place)
            idle = sum(row[1] == "idle" for row in rows)
            assert (
                text(chromium, ".moment p")
                == f"Time {written(place * tick)} of {written(end)}: {idle} of {p} stages idle."
            )
    assert chromium.faults() == []


def test_what_cannot_be_interleaved_is_plain(chromium: Browser, site: str) -> None:
    """Four stages and two micro-batches: 1F1B, and the reason; with eight, interleaving is back."""
    chromium.open(site)
    put(chromium, "interleaved", 4, 8)
    slide(chromium, "microbatches", MICROBATCHES.index(2))
    checked = f"document.querySelector('{BOX} input[name=schedule]:checked').value"
    disabled = f"document.querySelector('{BOX} input[value=interleaved]').disabled"
    assert chromium.js(f"[{checked}, {disabled}]") == ["1f1b", True]
    assert text(chromium, ".said").startswith(
        "2 micro-batches cannot be dealt out in groups of 4, so this is plain 1F1B."
    )
    slide(chromium, "microbatches", MICROBATCHES.index(8))
    assert chromium.js(f"[{checked}, {disabled}]") == ["interleaved", False]


def test_the_keyboard_and_the_mouse_scrub(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.js(f"document.querySelector('{BOX} input[name=time]').focus()")
    chromium.key("ArrowRight", 39)
    assert text(chromium, ".moment p").startswith("Time 8 of 33: ")
    assert chromium.js("document.activeElement.getAttribute('aria-valuetext')") == text(chromium, ".moment p")
    chromium.key("Enter", 13)  # must not send the form
    assert chromium.js("location.search") == ""
    chromium.click(f"{BOX} .plot .idle")  # the middle of all time
    assert text(chromium, ".moment p").startswith("Time 16 of 33: ")
    chromium.js("new Promise((done) => setTimeout(done, 400))")
    assert chromium.js("location.hash") == "#pipeline?time=16"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    put(chromium, "apart", 8, 32)
    inks = {(".said", "color"): 4.5, (".plot text", "fill"): 4.5, (".job.F", "fill"): 3}
    inks |= {(".job.B", "stroke"): 3, (".job.W", "stroke"): 3}
    assert_it_fits(chromium, width, BOX, inks)
    for schedule in SCHEDULES:
        put(chromium, schedule, 8, 16)
        assert_controls_fit(chromium, BOX)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


@pytest.mark.parametrize("changed", [{"schedule": "luck"}, {"stages": 3}, {"microbatches": 5}])
def test_what_no_control_can_be_set_to_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="which is none of"):
        pipeline(**changed)


def test_what_cannot_be_interleaved_is_refused() -> None:
    with pytest.raises(ValueError, match="2 micro-batches do not come in groups of 4"):
        pipeline("interleaved", 4, 2)
