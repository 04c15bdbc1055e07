"""Rules to derive, in a real browser: folded, with a field whose text stays in this browser."""

from __future__ import annotations

import pytest
from widget_pages import Browser

pytestmark = pytest.mark.slow

RELU = ".rule[data-exercise='ch06_vjps/relu_vjp']"
OPEN = f'document.querySelector("{RELU} .rule-answer").open'
SHOWN = f'document.querySelector("{RELU}").innerText'
NOTE = f'document.querySelector("{RELU} .rule-note").value'
TYPE = f"""(() => {{
  const field = document.querySelector("{RELU} .rule-note");
  field.value = "g where x > 0\\n<b>0</b> elsewhere";
  field.dispatchEvent(new Event("input"));
}})()"""


def test_a_rule_is_folded_and_the_readers_own_derivation_is_kept(chromium: Browser, book_site: str) -> None:
    page = f"{book_site}/ch06_vjps.html"
    chromium.open(page, first=True)
    assert chromium.js(f"{OPEN}") is False
    assert "derive it first" in chromium.js(SHOWN)
    assert "elsewhere" not in chromium.js(SHOWN)
    chromium.js(TYPE)
    chromium.open(page)
    assert chromium.js(NOTE) == "g where x > 0\n<b>0</b> elsewhere"
    chromium.click(f"{RELU} summary")
    assert "elsewhere" in chromium.js(SHOWN)
    named = "[...document.querySelectorAll('%s')].map((one) => one.dataset.exercise.split('/').pop()).sort()"
    derived, exercises = chromium.js(named % ".rule[data-exercise]"), chromium.js(named % ".exercise")
    assert set(exercises) - set(derived) == {"running_mean_vjp"}, "its rule is printed nowhere"
    assert chromium.js("document.querySelectorAll('.rule-note').length") == len(derived)
    chromium.js("localStorage.setItem('backprop:note:ch06_vjps/relu_vjp', 'x'.repeat(100000))")
    chromium.open(page)
    assert chromium.js(NOTE) == ""  # no field takes so much
    chromium.js(TYPE)
    chromium.js(TYPE.replace("g where x > 0\\n<b>0</b> elsewhere", ""))
    assert chromium.js("localStorage.getItem('backprop:note:ch06_vjps/relu_vjp')") is None


def test_no_rule_of_an_exercise_stands_open_near_its_cell(chromium: Browser, book_site: str) -> None:
    """The box "Rule for X", and a table of all rules, used to stand open above each exercise."""
    chromium.open(f"{book_site}/ch06_vjps.html", first=True)
    rows = "[...document.querySelectorAll('article table')].find((one) => one.textContent.includes('who won'))"
    assert chromium.js(f"{rows}.closest('details').open") is False
