"""Answers that have the numbers without the work: each earned points once, and earns none.

Each file of `unearned/` is one way for one exercise, and says in its first line how. Graded by the command, beside the
solutions, with a salt.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.worker.landlock import landlock_abi

REPOSITORY = Path(__file__).resolve().parents[1]
UNEARNED = Path(__file__).with_name("unearned")
BACKPROP = Path(sys.executable).with_name("backprop")
WAYS = {
    "solved_sweep": ("ch01_computation_graph", "reverse_sweep"),
    "table_of_freezes": ("ch04_detachment", "freeze"),
    "hooked_target": ("ch04_detachment", "td_loss"),
    "answers_for_the_worker": ("ch04_detachment", "straight_through_round"),
    "gradient_of_the_caller": ("ch04_detachment", "straight_through_round"),
    "probed_gradients": ("ch05_autograd_engine", "train_digits"),
    "remembered_labels": ("ch05_autograd_engine", "train_digits"),
    "labels_in_a_grad": ("ch05_autograd_engine", "train_digits"),
    "complex_steps": ("ch06_vjps", "softmax_vjp"),
    "undone_builtins": ("ch06_vjps", "softmax_vjp"),
    "train_without_gradients": ("ch07_mlp_backprop", "train"),
    "steps_by_differences": ("ch07_mlp_backprop", "train"),
    "linear_discriminant": ("ch07_mlp_backprop", "train"),
    "undone_guard": ("ch08_custom_functions", "Square"),
    "value_errors_of_bytes": ("ch10_activation_memory", "llama_block_bytes"),
    "claimed_bytes": ("ch11_checkpointing", "measure"),
    "value_errors_of_stages": ("ch14_scaling_out", "zero_bytes_per_rank"),
    "undone_measure": ("ch14_scaling_out", "chunked_attention"),
    "undone_code": ("ch14_scaling_out", "chunked_attention"),
}
"""File to lesson and exercise."""
WITH_AN_ENGINE = {
    "digits_in_the_gradients": ("ch05_autograd_engine", "train_digits", "does not depend on the passes before"),
    "two_passes": ("ch05_autograd_engine", "train_digits", "It takes 2 backward passes for 211 images"),
    "many_passes": ("ch05_autograd_engine", "train_digits", "Only one matrix is moved by its grads"),
    "table_of_labels": ("ch05_autograd_engine", "train_digits", "has one row for each of the 211 images"),
    "padded_table_of_labels": ("ch05_autograd_engine", "train_digits", "are put into a second one, on noise"),
}
"""Ways that need what the lesson's other exercises make: file to lesson, exercise, and what is said."""

LAST = "ch14_scaling_out"
"""A lesson whose scenarios call `math.prod`."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """Student and lesson to result."""
    folder = tmp_path_factory.mktemp("unearned")
    sources = {(way, lesson): UNEARNED / f"{way}.py" for way, (lesson, _) in WAYS.items()}
    sources |= {("honest", lesson): REPOSITORY / "solutions" / f"{lesson}.py" for lesson, _ in WAYS.values()}
    for (student, lesson), source in sources.items():
        _hand_in(folder / "class" / student / f"{lesson}.py", source)
    for way, (lesson, *_) in WITH_AN_ENGINE.items():
        solution = REPOSITORY / "solutions" / f"{lesson}.py"
        sources[way, lesson] = solution
        _hand_in(folder / "class" / way / f"{lesson}.py", solution, UNEARNED / "with_an_engine" / f"{way}.py")
    cell = folder / "replaced.py"
    cell.write_text("import math\nmath.prod = lambda numbers: 1\n", encoding="utf-8")
    sources["replaces prod", LAST] = REPOSITORY / "solutions" / f"{LAST}.py"
    _hand_in(folder / "class" / "replaces prod" / f"{LAST}.py", sources["replaces prod", LAST], cell)
    command = [str(BACKPROP), "grade", str(folder / "class"), "--out", str(folder / "results")]
    subprocess.run(command, env={**os.environ, "BACKPROP_SALT": "a class"}, check=True, capture_output=True)
    return {
        (student, lesson): json.loads(
            (folder / "results" / "students" / student / f"{lesson}.json").read_text(encoding="utf-8")
        )
        for student, lesson in sources
    }


def _hand_in(file: Path, *cells: Path) -> None:
    """Write what a student hands in: these files, one cell after the other."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\n\n# %%\n".join(cell.read_bytes() for cell in cells) + b"\n# as we have it\n")


def test_every_way_is_tried() -> None:
    assert {file.stem for file in UNEARNED.glob("*.py")} == set(WAYS)
    assert {file.stem for file in (UNEARNED / "with_an_engine").glob("*.py")} == set(WITH_AN_ENGINE)


@pytest.mark.parametrize("way", WAYS)
def test_no_point_without_the_work(results: dict[tuple[str, str], dict[str, Any]], way: str) -> None:
    lesson, name = WAYS[way]
    result = results[way, lesson]
    assert result["status"] == "graded", result["message"]
    assert {exercise["name"]: exercise["points"] for exercise in result["exercises"]}[name] == 0
    assert result["points"] == 0


@pytest.mark.parametrize("way", WITH_AN_ENGINE)
def test_an_engine_alone_trains_nothing(results: dict[tuple[str, str], dict[str, Any]], way: str) -> None:
    lesson, name, said = WITH_AN_ENGINE[way]
    result = results[way, lesson]
    found = {exercise["name"]: exercise for exercise in result["exercises"]}
    assert found[name]["points"] == 0
    assert said in found[name]["message"]
    assert result["points"] == result["max_points"] - found[name]["max_points"]


def test_a_function_that_a_scenario_calls_by_its_module_is_watched(
    results: dict[tuple[str, str], dict[str, Any]],
) -> None:
    found = {exercise["name"]: exercise for exercise in results["replaces prod", LAST]["exercises"]}
    assert "The submission replaces math.prod: what is measured" in found["chunked_attention"]["message"]
    assert found["chunked_attention"]["points"] == 0


@pytest.mark.parametrize("lesson", sorted({lesson for lesson, _ in WAYS.values()}))
def test_who_does_the_work_has_the_points(results: dict[tuple[str, str], dict[str, Any]], lesson: str) -> None:
    result = results["honest", lesson]
    assert (result["points"], result["message"]) == (result["max_points"], "")
