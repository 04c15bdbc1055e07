"""The rules of a lesson stand on its page: above the first exercise, and one click from each."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
from live_pages import Reader
from page_axe import LOOKS, look

pytestmark = pytest.mark.slow

pytest.importorskip("jupyter_book", reason="the book needs the extra `book`")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
rules_of = importlib.import_module("exercise_rules").rules_of


def test_the_first_exercise_stands_below_the_rules(reader: Reader) -> None:
    reader.visit("ch06_vjps.html")
    said = reader.text(".exercise-rules")
    for words in ("and the dtype", "stay unchanged", "0-d and empty", "Points count only", "import numpy as np"):
        assert words in said
    assert "Read along" not in said
    place = "document.querySelector('.exercise-rules').compareDocumentPosition(document.querySelector('.exercise'))"
    assert reader.js(place) == 4  # the exercise follows


def test_one_click_shows_them_in_any_exercise(reader: Reader) -> None:
    reader.remain("ch06_vjps.html")
    fold = reader.exercise("softmax_vjp", ".exercise-all")
    reader.js(f"document.querySelector({fold + ' summary'!r}).click()")
    reader.until(f"document.querySelector({fold!r}).innerText.includes('and the dtype')")
    assert reader.js("document.querySelectorAll('[id=exercise-rules]').length") == 1


def test_without_a_script_the_fold_links_to_them(reader: Reader) -> None:
    reader.remain("ch06_vjps.html")
    assert (
        reader.js(f"document.querySelector({reader.exercise('add_vjp', '.exercise-all a')!r}).getAttribute('href')")
        == "#exercise-rules"
    )


def test_axe_finds_nothing_in_them(reader: Reader) -> None:
    reader.visit("ch06_vjps.html", 1440)
    reader.js(f"document.querySelector({reader.exercise('relu_vjp', '.exercise-all summary')!r}).click()")
    found = {look_at: look(reader, *look_at) for look_at in LOOKS}
    assert {look_at: told for look_at, told in found.items() if told} == {}


@pytest.mark.parametrize(
    ("slug", "words"),
    [
        ("ch02_chain_rule", "Everything is float64"),
        ("ch03_accumulation", "Arrays may be views"),
        ("ch05_autograd_engine", "No function changes its"),
        ("ch07_mlp_backprop", "float32 included"),
    ],
)
def test_each_lesson_s_rules_are_found(slug: str, words: str) -> None:
    cells = json.loads((ROOT / "exercises" / f"{slug}.ipynb").read_text(encoding="utf-8"))["cells"]
    text, given = rules_of(cells)
    assert words in text
    assert "import" in given
    assert "How an exercise works" not in text


def test_a_lesson_without_rules_has_none() -> None:
    cells = json.loads((ROOT / "exercises" / "ch01_computation_graph.ipynb").read_text(encoding="utf-8"))["cells"]
    assert rules_of(cells) == ("", "")
