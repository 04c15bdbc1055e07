"""The memory predictor, steered in a real browser: what it shows is what course.memory predicts, to the byte."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from widget_pages import Browser, assert_a_figure_without_scripts, assert_it_fits, page_of

from course.memory import (
    LOSS_ROWS,
    MODELS,
    PRECISIONS,
    RECOMPUTE,
    Memory,
    Moment,
    Shape,
    Training,
    fits,
    largest_batch,
    parse_bytes,
    predict_memory,
    remedies,
)
from course.widgets import memory_account, predictions
from course.widgets.predictions import BATCHES, CARDS, GPUS, SEQS

pytestmark = pytest.mark.slow

PAGE_TEXT = page_of(
    """
from course.widgets import memory_account

memory_account("llama-3.1-70b", gpus=32, figure="there")
""",
    """
from course.memory import Shape

mine = Shape(hidden=64, layers=3, heads=4, kv_heads=2, ffn=172, vocab=300)
memory_account("mine", seq=2048, batch=3, recompute="full", gpus=1, card="24GB", models={"mine": mine})
""",
)
START: dict[str, Any] = {
    "model": "llama-3.1-70b",
    "precision": "mixed",
    "seq": 8192,
    "batch": 1,
    "gpus": 32,
    "card": "80GB",
    "recompute": "none",
    "chunks": False,
    "composed": False,
}
STOPS = {"seq": SEQS, "batch": BATCHES, "gpus": GPUS, "card": CARDS}
PARTS = ("weights", "grads", "optimizer", "gathered", "activations", "loss_head", "transients")

STEER = """(settings, which, measured) => settings.map((setting) => {
  const root = document.querySelectorAll('.memory-account')[which];
  for (const [name, value] of Object.entries(setting)) {
    const input = root.querySelector(name === 'recompute' ? `[value=${value}]` : `[name=${name}]`);
    if (input.type === 'checkbox' ? input.checked !== value : input.type === 'radio') input.click();
    else if (input.type !== 'checkbox' && input.value !== String(value)) {
      input.value = value;
      input.dispatchEvent(new Event(input.type === 'range' ? 'input' : 'change'));
    }
  }
  const column = (table) => [...root.querySelectorAll(`${table} tbody tr`)].map((row) => row.lastChild.textContent);
  const shares = [...root.querySelectorAll('.account small')].slice(0, 3).map((e) => e.textContent);
  const said = root.querySelector('.said').textContent;
  if (!measured) return { said, bytes: column('.numbers'), sizes: column('.account'), shares };
  const box = root.querySelector('.plot').getBoundingClientRect();
  const edges = (what) => [...root.querySelectorAll(`.plot ${what}`)].map((e) => e.getBoundingClientRect());
  const ticks = edges('.tick');
  return {
    height: root.offsetHeight,
    inside: edges(':is(text, rect, .limit)').every((e) => e.left > box.left - 1 && e.right < box.right + 1),
    apart: ticks.length > 1 && ticks.slice(1).every((e, i) => e.left > ticks[i].right + 3),
  };
})"""


def steer(
    browser: Browser, settings: list[dict[str, Any]], which: int = 0, measured: bool = False
) -> list[dict[str, Any]]:
    """Move the controls to each of these settings, and read what is shown, or measure how."""
    moves = [
        {name: STOPS[name].index(value) if name in STOPS else value for name, value in setting.items()}
        for setting in settings
    ]
    shown = json.dumps(
        browser.js(f"({STEER})({json.dumps(moves)}, {which}, {json.dumps(measured)})"), ensure_ascii=False
    )
    return list(json.loads(shown.replace("\u00a0", " ")))


def training(setting: dict[str, Any]) -> Training:
    return Training(
        MODELS[setting["model"]],
        setting["seq"],
        setting["batch"],
        setting["recompute"],
        PRECISIONS[setting["precision"]],
        "composed" if setting["composed"] else "fused",
        LOSS_ROWS if setting["chunks"] else None,
        setting["gpus"],
    )


def size(n_bytes: float) -> str:
    if n_bytes >= 0.95e9:
        return f"{n_bytes / 1e9:,.1f} GB"
    return f"{n_bytes / 1e9:.2f} GB" if n_bytes >= 0.1e9 else f"{n_bytes / 1e6:.0f} MB"


def sentence(setting: dict[str, Any]) -> str:
    """The expected sentence: what fits, or the cheapest change; if that is more GPUs, both ways to need fewer."""
    step, gpu_bytes = training(setting), parse_bytes(setting["card"])
    memory = predict_memory(step)
    if fits(memory, gpu_bytes):
        free, most = gpu_bytes - memory.total, largest_batch(step, gpu_bytes)
        tight = ", less than a tenth: tight" * (free < gpu_bytes / 10)
        more = f"Up to {most:,} sequences fit at once." if most > step.batch else "Not one sequence more fits."
        return f"✓ Fits. {size(free)} of each GPU are free{tight}. {more}"
    found = remedies(step, gpu_bytes)
    short = f"✗ Does not fit: {size(memory.total - gpu_bytes)} more than each GPU has. "
    if not found:
        return short + (
            "Nothing known here makes it fit, as more GPUs do not divide activations. "
            "Shorter sequences do, or tensor, sequence or context parallelism."
        )
    shown = found[:1] if found[0].training.gpus == step.gpus else found
    texts = []
    for one in shown:
        extra = "no more" if abs(one.extra_flops) < 5e-5 else f"{100 * abs(one.extra_flops):.1f} %"
        if abs(one.extra_flops) >= 5e-5:
            extra += " more" if one.extra_flops > 0 else " fewer"
        texts.append(f"{' + '.join(one.changes)} ({size(one.memory.total)}, {extra} FLOPs)")
    return f"{short}Cheapest change: {', or '.join(texts)}."


def columns(memory: Memory) -> dict[str, list[str]]:
    parts = [getattr(memory, part) for part in PARTS]
    whole = [*parts, memory.total]
    return {
        "bytes": [f"{n:,}" for n in (*whole, memory.loss_peak, memory.layer_peak)],
        "sizes": [size(n) if n else "0" for n in whole],
    }


def assert_shown(browser: Browser, settings: list[dict[str, Any]]) -> list[str]:
    """Assert that each setting is shown as predicted; return the sentences."""
    all_shown = steer(browser, settings)
    for setting, shown in zip(settings, all_shown, strict=True):
        assert shown["said"] == sentence(setting), setting
        expected = columns(predict_memory(training(setting)))
        assert {name: shown[name] for name in expected} == expected, setting
        precision, gpus = PRECISIONS[setting["precision"]], setting["gpus"]
        shared = f" ÷ {gpus:,}" * (gpus > 1)
        each = (precision.weights, precision.grads, precision.master + 2 * precision.moment)
        assert shown["shares"] == [f"{n} bytes per parameter{shared}" for n in each], setting
    return [shown["said"] for shown in all_shown]


def drawn(seed: int, number: int) -> list[dict[str, Any]]:
    """Settings with a value for every control."""
    draw = random.Random(seed)
    choices: dict[str, Sequence[Any]] = {**STOPS, "model": list(MODELS), "recompute": list(RECOMPUTE)}
    choices |= {"precision": list(PRECISIONS), "chunks": (False, False, True), "composed": (False, False, True)}
    return [{name: draw.choice(values) for name, values in choices.items()} for _ in range(number)]


@pytest.mark.parametrize("from_disk", [False, True])
def test_it_runs_from_a_server_and_from_the_disk(chromium: Browser, page: Path, site: str, from_disk: bool) -> None:
    chromium.open(page.as_uri() if from_disk else site)
    assert steer(chromium, [{}])[0]["said"] == (
        "✗ Does not fit: 190.0 GB more than each GPU has. Cheapest change: recompute selective (74.0 GB, 20.2 % more "
        "FLOPs)."
    )
    assert chromium.faults() == []


def test_all_models_policies_and_lengths_are_as_predicted(chromium: Browser, site: str) -> None:
    chromium.open(site)
    every = product(MODELS, RECOMPUTE, (SEQS[0], 8192, SEQS[-1]))
    names = ("model", "recompute", "seq")
    assert_shown(chromium, [{**START, "gpus": 8, **dict(zip(names, values, strict=True))} for values in every])
    assert chromium.faults() == []


def test_whatever_is_chosen_is_as_predicted(chromium: Browser, site: str) -> None:
    """Every control on drawn settings; every kind of answer comes up."""
    chromium.open(site)
    said = assert_shown(chromium, drawn(17, 200))
    kinds = ("tight", "Up to", "Not one", "Nothing known", "accumulated", "loss in", "recompute", "GPUs (", ", or ")
    assert [kind for kind in kinds if not any(kind in one for one in said)] == []
    assert chromium.faults() == []


def test_less_than_a_tenth_is_tight(chromium: Browser, site: str) -> None:
    chromium.open(site)
    setting = {**START, "model": "llama-3.1-8b", "batch": 4, "recompute": "selective"}
    below, above = assert_shown(chromium, [{**setting, "gpus": 64}, {**setting, "gpus": 96}])
    assert "7.6 GB of each GPU are free, less than a tenth: tight" in below
    assert "8.3 GB of each GPU are free. " in above


def test_the_bar_is_to_scale(chromium: Browser, site: str) -> None:
    """Parts one after another as wide as their bytes, and the GPU's end among them."""
    chromium.open(site)
    boxes = (
        "[...document.querySelectorAll('.memory-account')[0].querySelectorAll('.plot rect')]"
        ".map((e) => [e.classList[e.classList.length - 1], ...['x', 'width'].map((n) => Number(e.getAttribute(n)))])"
    )
    for change in ({}, {"gpus": 1}, {"recompute": "full", "chunks": True}, {"card": "192GB", "model": "llama-2-7b"}):
        setting = {**START, **change}
        steer(chromium, [setting])
        memory, card = predict_memory(training(setting)), parse_bytes(setting["card"])
        (name, left, room), *bars = chromium.js(boxes)
        assert name == "room"
        there = [part for part in PARTS if getattr(memory, part)]
        assert [one[0] for one in bars] == there
        end = left
        for part, x, width in bars:
            assert x == pytest.approx(end)
            assert width == pytest.approx(room * getattr(memory, part) / card)
            end += width
        limit = chromium.js("document.querySelector('.memory-account .limit').getBBox().x")
        assert limit == pytest.approx(left + room, abs=0.1)


def test_the_keyboard_steers_it(chromium: Browser, site: str) -> None:
    chromium.open(site)
    first = "document.querySelector('.memory-account [name=model]').focus()"
    chromium.js(first)
    stops = []
    for _ in range(10):
        stops.append(chromium.js("document.activeElement.name || document.activeElement.textContent"))
        chromium.key("Tab", 9)
    expected = ["model", "precision", "seq", "batch", "gpus", "card", "recompute", "chunks", "composed"]
    assert stops == [*expected, "The numbers in bytes"]
    chromium.js(first)
    chromium.key("Home", 36)
    chromium.key("Tab", 9)
    for name, code in (("Tab", 9), ("Home", 36), ("ArrowRight", 39), ("Tab", 9), ("ArrowRight", 39), ("Tab", 9)):
        chromium.key(name, code)
    chromium.key("Home", 36)  # one GPU
    chromium.key("Tab", 9)
    chromium.key("End", 35)
    chromium.key("Tab", 9)
    chromium.key("ArrowLeft", 37)
    chromium.key("Enter", 13)  # must not send the form
    chromium.js("new Promise((done) => setTimeout(done, 300))")
    chromium.key("Tab", 9)
    chromium.key(" ", 32)
    chosen = {"model": "llama-2-7b", "seq": 4096, "batch": 2, "gpus": 1, "card": "192GB", "recompute": "full"}
    assert steer(chromium, [{}])[0]["said"] == sentence({**START, **chosen, "chunks": True})
    assert chromium.js("location.search") == ""
    assert chromium.js("document.activeElement.name") == "chunks"
    spoken = "document.querySelector('.memory-account [name=card]').getAttribute('aria-valuetext')"
    assert chromium.js(spoken) == "192\u00a0GB"
    assert chromium.faults() == []


def test_a_model_of_ones_own_and_two_on_a_page_do_not_mix(chromium: Browser, site: str) -> None:
    chromium.open(site)
    mine = Shape(hidden=64, layers=3, heads=4, kv_heads=2, ffn=172, vocab=300)
    for setting, step in (({}, Training(mine, 2048, 3, "full")), ({"recompute": "none"}, Training(mine, 2048, 3))):
        assert steer(chromium, [setting], 1)[0]["bytes"] == columns(predict_memory(step))["bytes"]
    assert steer(chromium, [{}])[0]["bytes"] == columns(predict_memory(training(START)))["bytes"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_and_can_be_read(chromium: Browser, site: str, width: int, theme: str) -> None:
    chromium.open(site, width, theme)
    chromium.js("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    root = "document.querySelector('.memory-account')"
    settings = drawn(5, 40)
    shown = steer(chromium, settings, measured=True)
    for setting, one in zip(settings, shown, strict=True):
        assert one["inside"], setting
        assert one["apart"], setting
    assert len({one["height"] for one in shown}) == 1  # nothing jumps
    right = "getBoundingClientRect().right"
    narrow = f"[...{root}.querySelectorAll('label, select, input, output, table, p')].every((e) => e.{right} <= "
    assert chromium.js(f"{narrow}{root}.{right} + 1)")
    inks = {
        (".plot text", "fill"): 4.5,
        (".limit", "stroke"): 4.5,
        (".room", "fill"): 4.5,
        (".part.activations", "fill"): 3.0,
        (".ground.grads", "fill"): 3.0,
        (".ground.optimizer", "fill"): 3.0,
    }
    assert_it_fits(chromium, width, ".memory-account", inks)


def test_without_scripts_the_page_names_a_figure(chromium: Browser, site: str) -> None:
    assert_a_figure_without_scripts(chromium, site)


# ---- the Python side


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"model": "llama-2-8b"}, "did you mean llama-2-7b"),
        ({"recompute": "ful"}, "did you mean full"),
        ({"seq": 1000}, "seq is 1000"),
        ({"batch": 17}, "batch is 17"),
        ({"gpus": 3}, "gpus is 3"),
        ({"card": "81GB"}, "card is 81GB"),
    ],
)
def test_what_no_control_can_show_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        memory_account(**wrong)


def test_a_table_that_is_not_what_is_predicted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {"llama-2-7b": MODELS["llama-2-7b"]}
    predictions.tables(one)

    def square(step: Training) -> Memory:
        return replace(predict_memory(step), activations=step.tokens**2)

    def rounded(step: Training) -> Memory:
        return replace(predict_memory(step), grads=predict_memory(step).grads + (step.gpus == GPUS[-1]))

    def heavier(step: Training) -> dict[str, Moment]:
        return {"loss": Moment(step.tokens, step.tokens), "layer": Moment(0, 2 * step.tokens)}

    for name, other, says in (
        ("predict_memory", square, "not in proportion"),
        ("predict_memory", rounded, "no shares of a sum at 1024 GPUs"),
        ("moments", heavier, "not in proportion"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(predictions, name, other)
            with pytest.raises(ArithmeticError, match=says):
                predictions.tables(one)


def test_lengths_are_longer_than_a_chunk() -> None:
    """All lengths exceed one chunk; with one chunk or less there would be nothing to compute in chunks."""
    assert min(SEQS) > LOSS_ROWS
