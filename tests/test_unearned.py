"""Answers that have the numbers without the work, or without the technique of an exercise: each earns nothing.

Each file of `unearned/` and of `without_technique/` is one way, and says in its first line how; those of `point_lost`
lose the points of what the exercise is for. One command grades them all, in one class with the solutions, with a salt.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import BACKPROP
from kept import kept

from autograder.judging.repairs import REPAIRS
from autograder.worker.landlock import landlock_abi
from course.syllabus import find_lesson

REPOSITORY = Path(__file__).resolve().parents[1]
UNEARNED = Path(__file__).with_name("unearned")
WITHOUT_TECHNIQUE = Path(__file__).with_name("without_technique")
WAYS = {
    "deep_recursion": ("ch01_computation_graph", "topological_order"),
    "solved_sweep": ("ch01_computation_graph", "reverse_sweep"),
    "sweeps_until_nothing_changes": ("ch01_computation_graph", "reverse_sweep"),
    "table_of_freezes": ("ch04_detachment", "freeze"),
    "hooked_target": ("ch04_detachment", "td_loss"),
    "answers_for_the_worker": ("ch04_detachment", "straight_through_round"),
    "gradient_of_the_caller": ("ch04_detachment", "straight_through_round"),
    "probed_gradients": ("ch05_autograd_engine", "train_digits"),
    "remembered_labels": ("ch05_autograd_engine", "train_digits"),
    "labels_in_a_grad": ("ch05_autograd_engine", "train_digits"),
    "complex_steps": ("ch06_vjps", "softmax_vjp"),
    "unit_arrays": ("ch06_vjps", "add_vjp"),
    "undone_builtins": ("ch06_vjps", "softmax_vjp"),
    "train_without_gradients": ("ch07_mlp_backprop", "train"),
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
    "gradients_by_hand": ("ch05_autograd_engine", "train_digits", "only hands on arrays that were computed without it"),
    "feedback_alignment": ("ch05_autograd_engine", "train_digits", "only hands on arrays that were computed without"),
    "padded_table_of_labels": ("ch05_autograd_engine", "train_digits", "are put into a second one, on noise"),
}
"""Ways that need what the lesson's other exercises make: file to lesson, exercise, and what is said."""
WITH_AN_ENGINE |= {
    way: ("ch05_autograd_engine", "train_digits", said)
    for said, ways in {
        "only hands on arrays that were computed without it": (
            "gradients_by_hand_and_a_decoy",
            "feedback_alignment_and_a_decoy",
            "neighbours_and_a_decoy",
            "random_features_and_a_decoy",
            "hidden_layer_by_hand",
            "hidden_layer_by_feedback",
            "layers_apart",
        ),
        "is called on something that has other gradients": ("loss_by_hand", "network_without_a_loss"),
        "With random numbers in place of the grads": ("neighbours_of_the_digits",),
    }.items()
    for way in ways
}

WITHOUT = {
    "ch08_custom_functions": ["Square", "GELU", "GELUTanh", "ISRU", "RoundSTE", "FusedCrossEntropy"],
    "ch11_checkpointing": ["checkpoint", "checkpoint_sequential", "offload_to_cpu", "reversible_block"],
    "ch12_debugging": ["fix_06", "fix_11"],
    "ch14_scaling_out": ["chunked_attention", "chunked_attention_vjp"],
}
"""Lesson to the exercises of the files in `without_technique`, all of which have right values."""
AROUND = sorted((WITHOUT_TECHNIQUE / "around").glob("*/*.py"))
POINT_LOST = sorted((WITHOUT_TECHNIQUE / "point_lost").glob("*/*.py"))
"""Answers that have right values without what the exercise is for, and keep some of its points."""
IN_A_THREAD = "ch13_beyond_first_order"

LAST = "ch14_scaling_out"
"""A lesson whose scenarios call `math.prod`."""

NO_POINTS = re.compile(r"No points(?:, even for what is right)?: ")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 1, reason="a class is graded in the sandbox, and there is no Landlock"),
]
fully_confined = pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer")

Results = dict[tuple[str, str], dict[str, Any]]
"""Student and lesson to result."""


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest) -> Iterator[Results]:
    """Grades the class, which takes some minutes of processor time; `benchmarks/spent.py` misses most of them.

    Only this class has ways to the right numbers without the work. Two thirds of its time go into calling the answers
    and importing PyTorch's compilers, which some of them use. No repair of these is looked for: it decides no points.
    """
    sources = {(way, lesson): UNEARNED / f"{way}.py" for way, (lesson, _) in WAYS.items()}
    sources |= {("honest", lesson): REPOSITORY / "solutions" / f"{lesson}.py" for lesson, _ in WAYS.values()}
    sources |= {("plain", lesson): WITHOUT_TECHNIQUE / f"{lesson}.py" for lesson in WITHOUT}
    sources |= {(file.parent.name, file.stem): file for file in (*AROUND, *POINT_LOST)}
    sources["in_a_thread", IN_A_THREAD] = WITHOUT_TECHNIQUE / "in_a_thread" / f"{IN_A_THREAD}.py"
    solutions = REPOSITORY / "solutions"
    with_engine = {(way, lesson): solutions / f"{lesson}.py" for way, (lesson, *_) in WITH_AN_ENGINE.items()}
    replaced = {("replaces prod", LAST): solutions / f"{LAST}.py"}
    with kept(request, "tests/unearned", "tests/without_technique") as (folder, graded):
        if not graded:
            for (student, lesson), source in sources.items():
                _hand_in(folder / "class" / student / f"{lesson}.py", source)
            for (way, lesson), solution in with_engine.items():
                _hand_in(folder / "class" / way / f"{lesson}.py", solution, UNEARNED / "with_an_engine" / f"{way}.py")
            cell = folder / "replaced.py"
            cell.write_text("import math\nmath.prod = lambda numbers: 1\n", encoding="utf-8")
            for (student, lesson), solution in replaced.items():
                _hand_in(folder / "class" / student / f"{lesson}.py", solution, cell)
            command = [str(BACKPROP), "grade", str(folder / "class"), "--out", str(folder / "results")]
            environment = {**os.environ, "BACKPROP_SALT": "a class", REPAIRS: "0"}
            subprocess.run(command, env=environment, check=True, capture_output=True)
        files = folder / "results" / "students"
        yield {
            (student, lesson): json.loads((files / student / f"{lesson}.json").read_text(encoding="utf-8"))
            for student, lesson in sources | with_engine | replaced
        }


def _hand_in(file: Path, *cells: Path) -> None:
    """Write what a student hands in: these files, one cell after the other."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\n\n# %%\n".join(cell.read_bytes() for cell in cells) + b"\n# as we have it\n")


def test_every_way_is_tried() -> None:
    assert {file.stem for file in UNEARNED.glob("*.py")} == set(WAYS)
    assert {file.stem for file in (UNEARNED / "with_an_engine").glob("*.py")} == set(WITH_AN_ENGINE)


@fully_confined
@pytest.mark.parametrize("way", WAYS)
def test_no_point_without_the_work(results: Results, way: str) -> None:
    lesson, name = WAYS[way]
    result = results[way, lesson]
    assert result["status"] == "graded", result["message"]
    assert {exercise["name"]: exercise["points"] for exercise in result["exercises"]}[name] == 0
    assert result["points"] == 0


@fully_confined
@pytest.mark.parametrize("way", WITH_AN_ENGINE)
def test_an_engine_alone_trains_nothing(results: Results, way: str) -> None:
    lesson, name, said = WITH_AN_ENGINE[way]
    result = results[way, lesson]
    found = {exercise["name"]: exercise for exercise in result["exercises"]}
    assert found[name]["points"] == 0
    assert said in found[name]["message"]
    assert result["points"] == result["max_points"] - found[name]["max_points"]


@fully_confined
def test_a_function_that_a_scenario_calls_by_its_module_is_watched(results: Results) -> None:
    found = {exercise["name"]: exercise for exercise in results["replaces prod", LAST]["exercises"]}
    assert "The submission replaces math.prod: what is measured" in found["chunked_attention"]["message"]
    assert found["chunked_attention"]["points"] == 0


@fully_confined
@pytest.mark.parametrize("lesson", sorted({lesson for lesson, _ in WAYS.values()}))
def test_who_does_the_work_has_the_points(results: Results, lesson: str) -> None:
    result = results["honest", lesson]
    assert (result["points"], result["message"]) == (result["max_points"], "")


def test_right_values_without_the_technique_earn_nothing(results: Results) -> None:
    for lesson, names in WITHOUT.items():
        found = {exercise["name"]: exercise for exercise in results["plain", lesson]["exercises"]}
        assert {name: found[name]["points"] for name in names} == dict.fromkeys(names, 0.0)
        for name in names:
            assert f"{name} is about how it is done" in found[name]["message"]
            assert NO_POINTS.search(found[name]["message"])
            assert any(check["passed"] for check in found[name]["checks"] if check["promise"] == "value")


def test_ways_around_earn_nothing(results: Results) -> None:
    """The work done by PyTorch's own functions: under other names, by copies, earlier, for another exercise, unseen."""
    said = {}
    for file in AROUND:
        result = results[file.parent.name, file.stem]
        written = [exercise for exercise in result["exercises"] if exercise["status"] != "missing"]
        assert len(written) >= 1, result["message"]
        for exercise in written:
            assert (file.parent.name, exercise["name"], exercise["points"]) == (file.parent.name, exercise["name"], 0)
            refused = exercise["status"] == "forbidden"
            technique = find_lesson(file.stem).exercise(exercise["name"]).technique
            right = any(check["passed"] for check in exercise["checks"] if check["promise"] == "value")
            assert refused or not (technique and right) or NO_POINTS.search(exercise["message"]), exercise["message"]
            said[file.parent.name, exercise["name"]] = exercise["message"]
    for folder in ("the_engine", "no_names"):
        assert "calls torch.autograd.backward, which does this exercise's work" in said[folder, "GELU"]
    assert "calls torch.autograd.graph.Node.__call__, which does this exercise's work" in said["by_hand", "Square"]
    assert "calls torch.nn.functional.gumbel_softmax, which does" in said["compiled_again", "gumbel_softmax_st"]
    assert "torch._C.CompilationUnit.__init__ is not run here" in said["from_text", "gumbel_softmax_st"]
    assert "a kernel for operations of aten is not run here" in said["own_kernels", "run_gradcheck"]
    assert "still alive when the next but one begins" in said["one_graph", "fix_06"]
    assert "the backward pass is to run it once more" in said["own_pass", "checkpoint"]
    for folder in ("all_but_one_node", "first_nodes"):
        assert "4 of 4 graphs were alive at once" in said[folder, "running_mean_loss"]
    followed = r"these were changed, and the (losses|steps) did not follow"
    assert re.search(followed, said["probed_weights", "fix_11"])
    replaced = said["guard_replaced", "clip_grad_norm"]
    assert "The submission replaces autograder.worker.calls.Guard._refuse" in replaced
    for name in ("offload_to_cpu", "hvp", "chunked_attention_vjp"):
        assert "so it is refused while the cells run" in said["at_import", name]
    two_faced = said["two_faced", "chunked_attention"]
    assert "No points: chunked_attention is about how it is done, and right values count only with that." in two_faced


def test_what_an_exercise_is_for_is_not_earned_without_it(results: Results) -> None:
    """Memory that ranks share in place of messages; whole copies; probes, norms and ReLUs that do not count."""
    for file in POINT_LOST:
        result = results[file.parent.name, file.stem]
        written = [exercise for exercise in result["exercises"] if exercise["status"] != "missing"]
        assert len(written) >= 1, result["message"]
        for exercise in written:
            way = file.parent.name, exercise["name"]
            failing = {check["name"] for check in exercise["checks"] if not check["passed"]}
            assert (way, failing & set(find_lesson(file.stem).exercise(exercise["name"]).point)) != (way, set())
            assert (way, exercise["points"] <= 0.65 * exercise["max_points"]) == (way, True)


def test_what_is_computed_in_a_thread_is_noticed(results: Results) -> None:
    """What a Hessian costs is measured in one thread; a number for all slopes is no tangent that goes forward."""
    found = {exercise["name"]: exercise for exercise in results["in_a_thread", IN_A_THREAD]["exercises"]}
    for name, failing in [
        ("hvp", {"test_no_hessian"}),
        ("hvp_forward_over_reverse", {"test_no_hessian", "test_tangent_goes_forward"}),
    ]:
        for visible in (True, False):
            checks = [check for check in found[name]["checks"] if check["visible"] is visible]
            assert failing <= {check["name"] for check in checks if not check["passed"]}
    assert "computed in another thread" in found["hvp"]["message"]
