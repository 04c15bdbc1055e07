"""The bundled sample class, graded by the real command: its table is right line by line."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import BACKPROP
from kept import kept

from autograder.authoring.sample_class import SAMPLE_CLASS, sample_files
from autograder.authoring.tree import Course
from autograder.places import ROOT
from course.syllabus import find_lesson, syllabus

pytestmark = pytest.mark.slow


CH02, CH05, CH06, CH07 = "ch02_chain_rule", "ch05_autograd_engine", "ch06_vjps", "ch07_mlp_backprop"

ALL = find_lesson(CH06).points

EXPECTED: dict[tuple[str, str], tuple[Any, str]] = {
    **{("ada-perfect", slug): (lesson.points, "graded") for slug, lesson in syllabus().items()},
    ("ben-half-done", CH06): (25, "graded"),
    ("cleo-untouched", CH06): (0, "graded"),
    ("cleo-untouched", CH07): (0, "graded"),
    ("dan-algebra-slips", CH06): (round(ALL - 14.6, 2), "graded"),
    ("emi-normalisation-slips", CH06): (round(ALL - 6.2, 2), "graded"),
    ("finn-network-slips", CH07): (19, "graded"),
    ("gus-syntax-error", CH06): (ALL - 2, "graded"),
    ("hana-endless-loop", CH06): (ALL - 2, "graded"),
    ("ivo-memory-hog", CH06): (ALL - 3, "graded"),
    ("jo-forger", CH06): (0, "graded"),
    ("kim-uses-torch", CH06): (ALL - 4, "graded"),
    ("lea-other-style", CH06): (ALL, "graded"),
    ("max-cut-off", CH06): (0, "unreadable"),
    # the salt draws the wrong VJPs, and a weak gradcheck sees more or fewer of them
    ("nina-chain-slips", CH02): (pytest.approx(find_lesson(CH02).points - 3.7, abs=0.5), "graded"),
    ("otto-engine-slips", CH05): (21.45, "graded"),
}

NAMED = {
    ("dan-algebra-slips", "add_vjp"): "add_not_summed",
    ("dan-algebra-slips", "matmul_vjp"): "matmul_not_summed",
    ("dan-algebra-slips", "relu_vjp"): "relu_one_at_zero",
    ("dan-algebra-slips", "softmax_vjp"): "softmax_diagonal_only",
    ("emi-normalisation-slips", "layernorm_vjp"): "layernorm_constant_statistics",
    ("emi-normalisation-slips", "embedding_vjp"): "embedding_assigned",
    ("finn-network-slips", "mse_loss"): "plain_mean_of_squares",
    ("finn-network-slips", "backward"): "bias_means",
    ("nina-chain-slips", "vjp_chain"): "vjp_in_forward_order",
    ("nina-chain-slips", "gradcheck"): "ones_for_g, missing_gradients_raise",
    ("otto-engine-slips", "Tensor"): "matmul_with_plain_transposes",
    ("otto-engine-slips", "Tensor.backward"): "recursive_order",
    ("otto-engine-slips", "Tensor.register_hook"): "hooks_never_called",
}

STATUS = {
    ("gus-syntax-error", "relu_vjp"): ("error", "(relu_vjp), line 1 is not Python (SyntaxError: expected ':')"),
    ("hana-endless-loop", "relu_vjp"): ("timeout", "did not return within"),
    ("ivo-memory-hog", "embedding_vjp"): ("error", "MemoryError"),
    ("kim-uses-torch", "matmul_vjp"): ("forbidden", "imports torch, which this lesson does not allow"),
}


@pytest.fixture(scope="module")
def graded(request: pytest.FixtureRequest) -> Iterator[tuple[dict[tuple[str, str], dict[str, Any]], str]]:
    """All results by student and lesson, and what the command printed. It takes more than 20 s of processor time.

    Only this class has a submission of every lesson, so only it shows that one command grades the whole course.
    """
    with kept(request) as (folder, whole):
        printed, out = folder / "printed", folder / "results"
        if not whole:
            salt = secrets.token_hex(8)  # what each earns does not depend on it
            command = [str(BACKPROP), "grade", str(ROOT / SAMPLE_CLASS), "--out", str(out), "--salt", salt]
            done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
            assert done.returncode == 0, done.stderr
            print(f"graded with --salt {salt}")  # shown where a test fails
            printed.write_text(done.stdout, encoding="utf-8")
        results = [json.loads(file.read_text()) for file in out.glob("students/*/*.json")]
        yield {(result["student"], result["lesson"]): result for result in results}, printed.read_text(encoding="utf-8")


def test_every_submission_has_exactly_its_points(graded: Any) -> None:
    results, _ = graded
    assert {key: (result["points"], result["status"]) for key, result in results.items()} == EXPECTED


def test_each_kind_of_mistake_is_named(graded: Any) -> None:
    results, _ = graded
    found = {
        (student, exercise["name"]): ", ".join(exercise["misconceptions"])
        for (student, _), result in results.items()
        for exercise in result["exercises"]
        if (student, exercise["name"]) in NAMED
    }
    assert found == NAMED


def test_each_kind_of_accident_is_said(graded: Any) -> None:
    results, _ = graded
    for (student, name), (status, says) in STATUS.items():
        exercise = next(e for e in results[student, CH06]["exercises"] if e["name"] == name)
        assert exercise["status"] == status
        assert says in exercise["message"]


def test_results_record_how_they_came_about(graded: Any) -> None:
    results, _ = graded
    for result in results.values():
        assert result["isolation"].startswith("sandbox (Landlock ABI")
        assert result["grader_version"].startswith("0.1.0+")
        assert len(result["sha256"]) == 64
        assert result["max_points"] == find_lesson(result["lesson"]).points
        promises = {check["promise"] for exercise in result["exercises"] for check in exercise["checks"]}
        assert promises <= {"value", "instrumented"}


def test_the_table_says_who_what_and_how_many(graded: Any) -> None:
    results, printed = graded
    for (student, lesson), result in results.items():
        points = result["points"]
        line = next(line for line in printed.splitlines() if line.startswith(student) and lesson in line)
        assert f"{points:g}/" in line
    assert "\x1b" not in printed


def test_the_files_on_disk_are_what_the_sources_give() -> None:
    files = sample_files(Course.at())
    folder = ROOT / SAMPLE_CLASS
    on_disk = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if "__pycache__" not in path.parts}
    assert on_disk == set(files)
    assert all((folder / name).read_text(encoding="utf-8") == text for name, text in files.items())
