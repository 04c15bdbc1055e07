"""Runs with a fault, tests that a reader chooses, and a name: what the page shows is what the experiment computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from widget_pages import Browser, assert_a_figure_without_scripts, assert_it_fits, page_of

torch = pytest.importorskip("torch")

from course.experiments import clinic as experiment  # noqa: E402
from course.experiments.clinic import FAULTS, PATIENTS, TESTS, fewest, outcome, suspects, trained  # noqa: E402
from course.widgets.clinic import clinic  # noqa: E402

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
import torch
torch.set_num_threads(1)
from course.experiments import clinic as experiment
from course.widgets.clinic import clinic

clinic(*experiment.record(), experiment.UNINFORMED, figure="there")
""",
)
BOX = ".clinic"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    """As in the page, whose numbers are compared."""
    torch.set_num_threads(1)


def text(browser: Browser, selector: str) -> str:
    return str(browser.js(f"document.querySelector('{BOX} {selector}').textContent"))


def patient(browser: Browser, key: str) -> None:
    browser.js(
        f"(() => {{ const e = document.querySelector('{BOX} input[name=patient]');"
        f" e.value = {PATIENTS.index(key) + 1}; e.dispatchEvent(new Event('input')); }})()"
    )


def choose(browser: Browser, test: str) -> None:
    browser.js(f"document.querySelector('{BOX} button[data-test={test}]').click()")


def name(browser: Browser, key: str) -> str:
    browser.js(f"document.querySelector('{BOX} button[data-case={key}]').click()")
    return text(browser, ".verdict")


def names(keys: list[str]) -> str:
    return "; ".join(sorted(FAULTS[key].name for key in keys))


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert text(chromium, ".printed") == outcome("curve", PATIENTS[0]).printed
    assert text(chromium, ".tally") == "Tests used: 0"
    assert chromium.faults() == []


@pytest.mark.parametrize("key", PATIENTS)
def test_every_outcome_is_the_experiments(chromium: Browser, site: str, key: str) -> None:
    """For each test: its output here and for the healthy program, and the faults that remain possible."""
    chromium.open(site)
    patient(chromium, key)
    assert text(chromium, ".printed") == outcome("curve", key).printed
    left = suspects(key, ())
    said = text(chromium, ".first")
    assert f"Reading: {outcome('curve', key).reading}." in said
    assert said.endswith("One suspect is left." if left == [key] else f"Not told apart: {names(left)}.")
    for n, test in enumerate(TESTS, 1):
        choose(chromium, test)
        shown = ".outcomes li:last-child"
        assert text(chromium, f"{shown} .here pre") == outcome(test, key).printed
        assert text(chromium, f"{shown} .there pre") == outcome(test, "none").printed
        before, left = left, suspects(key, tuple(TESTS)[:n])
        judged = text(chromium, f"{shown} .judged")
        assert judged.startswith(f"Reading: {outcome(test, key).reading}. ")
        gone = names([one for one in before if one not in left])
        assert ("Ruled out" in judged) == bool(gone)
        assert not gone or f"Ruled out: {gone}. " in judged
        if len(before) == 1:
            assert judged.endswith("this test was not needed.")
        elif before == left:
            assert judged.endswith(f"This test tells none of the {len(left)} suspects apart: each would read the same.")
        else:
            assert judged.endswith("One suspect is left." if left == [key] else f"Not told apart: {names(left)}.")
        assert text(chromium, ".tally") == f"Tests used: {n}"
    assert left == [key]
    assert chromium.faults() == []


def test_the_curve_is_the_runs(chromium: Browser, site: str) -> None:
    """Heights in the picture are logarithms of losses, on the scale that its ticks say."""
    chromium.open(site)
    for key in ("softmax", "none"):
        patient(chromium, key)
        path, ticks = chromium.js(
            f"(() => {{ const box = document.querySelector('{BOX} .plot');"
            " return [box.querySelector('.broken').getAttribute('d'), [...box.querySelectorAll('.grid')]"
            ".map((one) => Number(one.getAttribute('d').match(/ ([-.\\d]+)H/)[1]))]; })()"
        )
        heights = [float(pair.split()[1]) for pair in path[1:].split("L")]
        low, high = ticks[0], ticks[1]  # 0.01 and 0.1
        drawn = [10 ** (-2 + (low - height) / (low - high)) for height in heights]
        assert drawn == pytest.approx(trained(key).losses, rel=0.02)


@pytest.mark.parametrize("key", PATIENTS)
def test_a_name_is_answered(chromium: Browser, site: str, key: str) -> None:
    """Each name for each program, without tests and with the fewest: right, contradicted by a test, or neither."""
    chromium.open(site)
    for tests in ((), fewest(key)[0]):
        patient(chromium, PATIENTS[0])
        patient(chromium, key)
        for test in tests:
            choose(chromium, test)
        left = suspects(key, tests)
        for guess in FAULTS:
            said = name(chromium, guess)
            if guess == key:
                assert said.startswith(f"✓ Yes: {FAULTS[key].name}. ")
                assert FAULTS[key].line in said
                assert FAULTS[key].should in said
                assert ("You were lucky" in said) == (left != [key])
                assert left == [key] or names([one for one in left if one != key]) in said
                assert ("as few as it takes" in said) == (left == [key])
            elif guess in left:
                assert "fits all that you have seen, and so do others" in said
                wanted = next(t for t in TESTS if outcome(t, guess).reading != outcome(t, key).reading)
                assert said.endswith(f"“{TESTS[wanted].name}”.")
            else:
                against = next(t for t in ("curve", *tests) if outcome(t, guess).reading != outcome(t, key).reading)
                assert f"would read “{outcome(against, guess).reading}”" in said
                assert f"here it reads “{outcome(against, key).reading}”" in said
    assert chromium.faults() == []


def test_tests_are_counted_and_the_fewest_are_said(chromium: Browser, site: str) -> None:
    chromium.open(site)
    patient(chromium, "softmax")
    for test in ("initial", "norms", "slopes"):
        choose(chromium, test)
    said = name(chromium, "softmax")
    assert "You have used three tests. Two tests would have done: " in said
    for tests in fewest("softmax"):
        assert " with ".join(f"“{TESTS[test].name}”" for test in tests) in said
    assert chromium.js(f"document.querySelectorAll('{BOX} .repaired').length") == 2
    patient(chromium, "wide")
    assert text(chromium, ".tally") == "Tests used: 0"
    choose(chromium, "initial")
    assert "No test was needed" in name(chromium, "wide")


def test_a_state_has_an_address_and_keys_reach_all(chromium: Browser, site: str) -> None:
    chromium.open(site)
    chromium.click(f"{BOX} button[data-test=moved]")
    assert chromium.js("document.activeElement.dataset.test") == "moved"
    chromium.click(f"{BOX} button[data-case=zeros]")
    chromium.js("new Promise((done) => setTimeout(done, 400))")
    mark = chromium.js("location.hash")
    assert mark == "#clinic?tests=moved&named=zeros"
    said = text(chromium, ".verdict")
    chromium.open(site + mark, first=True)
    assert text(chromium, ".verdict") == said
    assert text(chromium, ".tally") == "Tests used: 1"
    chromium.open(site + "#clinic?patient=99&tests=luck.moved.moved&named=nobody", first=True)
    assert text(chromium, ".tally") == "Tests used: 1"
    assert chromium.faults() == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    for test in TESTS:
        choose(chromium, test)
    name(chromium, "zeros")
    inks = {(".said", "color"): 4.5, (".wrong", "color"): 4.5, (".curve.broken", "stroke"): 3}
    assert_it_fits(chromium, width, BOX, inks)
    fits = f"[...document.querySelectorAll('{BOX} pre')].every((one) => one.scrollWidth <= one.clientWidth)"
    assert chromium.js(fits)
    name(chromium, PATIENTS[0])
    assert_it_fits(chromium, width, BOX, {(".right", "color"): 4.5, (".curve.repaired", "stroke"): 3})


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


CASE = {"name": "a", "should": "x", "line": "y", "losses": [1.0, 0.5], "printed": "", "reading": "", "fewest": [["t"]]}


@pytest.mark.parametrize(
    ("cases", "outcomes", "fault"),
    [
        ({"b": {**CASE, "fewest": [["u"]]}}, ("a", "b"), "fewest"),
        ({"b": {**CASE, "fewest": []}}, ("a", "b"), "fewest"),
        ({"b": {**CASE, "line": ""}}, ("a", "b"), "one case"),
        ({"b": {**CASE, "losses": [1.0]}}, ("a", "b"), "as many steps"),
        ({"b": CASE}, ("a",), "outcomes expected"),
    ],
)
def test_cases_that_do_not_fit_are_refused(cases: dict[str, Any], outcomes: tuple[str, ...], fault: str) -> None:
    def shown(cases: dict[str, Any], outcomes: tuple[str, ...]) -> None:
        tests = {"t": {"name": "T", "asks": "?", "outcomes": {key: ["", ""] for key in outcomes}}}
        clinic({"a": {**CASE, "line": ""}, **cases}, tests, experiment.UNINFORMED)

    shown({"b": CASE}, ("a", "b"))
    with pytest.raises(ValueError, match=fault):
        shown(cases, outcomes)
