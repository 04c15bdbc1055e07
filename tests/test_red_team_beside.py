"""Hostile submissions for what runs beside them: scenarios, PyTorch, call-backs. No value can be forged.

Each file of `red_team/beside/` is one attack and says what must happen. The test appends the honest part of its
lesson, so that each has something to earn; the solutions stand beside them as honest classmates. What an instrumented
check measures can be faked, and is not tried here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import BACKPROP
from traces import look, processes_of

from autograder.worker.landlock import landlock_abi

REPOSITORY = Path(__file__).resolve().parents[1]
BESIDE = REPOSITORY / "tests" / "red_team" / "beside"
LESSONS = {
    "ch01_computation_graph": "forward",
    "ch02_chain_rule": "jvp_chain",
    "ch03_accumulation": "bias_gradient",
    "ch04_detachment": "straight_through_round",
    "ch05_autograd_engine": "unbroadcast",
    "ch11_checkpointing": "offload_to_cpu",
}
"""Lesson to the exercise of its honest part."""
HONEST_POINTS = {"forward": 1.0}
"""Where they are not 2."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(landlock_abi() < 6, reason="full confinement needs Linux 6.12 or newer"),
]


@dataclass(frozen=True)
class Outcome:
    """What an attack on a lesson must come to, beside the points of its honest part."""

    lesson: str
    statuses: dict[str, str] = field(default_factory=dict)
    """Exercise to status."""
    says: tuple[str, ...] = ()
    """What the messages of the result must contain."""
    harms_itself: bool = False
    """Whether it replaces functions of PyTorch in its own process, which every scenario refuses from then on."""


OUTCOMES = {
    "replaced_scenarios": Outcome(
        "ch01_computation_graph",
        {"topological_order": "failed", "gradient_by_paths": "failed", "reverse_sweep": "failed"},
    ),
    "lying_nodes": Outcome(
        "ch01_computation_graph",
        {"topological_order": "failed", "gradient_by_paths": "failed", "reverse_sweep": "failed"},
    ),
    "torch_elsewhere": Outcome("ch01_computation_graph", {"neuron_gradients": "error"}, ("reached: nothing",)),
    "large_call_backs": Outcome(
        "ch02_chain_rule",
        {"numerical_gradient": "failed", "gradcheck": "failed"},
    ),
    "ways_to_a_vjp": Outcome("ch02_chain_rule", {"gradcheck": "failed"}, ("accepted a wrong VJP",)),
    "time_of_vjps": Outcome("ch02_chain_rule", {"gradcheck": "failed"}),
    "slow_call_backs": Outcome("ch02_chain_rule", {"gradcheck": "error"}, ("a call-back with",)),
    "names_of_call_backs": Outcome("ch02_chain_rule", {"gradcheck": "failed"}, ("rejected a right VJP",)),
    "dtypes_of_answers": Outcome("ch02_chain_rule", {"gradcheck": "failed"}, ("rejected a right VJP",)),
    "lying_duals": Outcome("ch02_chain_rule", {"Dual": "failed"}),
    "patched_gradients": Outcome("ch03_accumulation", {"zero_grad": "failed"}),
    "hangs_when_freed": Outcome(
        "ch03_accumulation", {"tied_autoencoder_gradient": "timeout", "microbatch_gradient": "timeout"}
    ),
    "exotic_tensors": Outcome("ch04_detachment", {"freeze": "error", "predict_flow": "error"}, harms_itself=True),
    "malformed_tensors": Outcome(
        "ch04_detachment",
        dict.fromkeys(("freeze", "ema_update", "running_mean_loss", "predict_flow"), "error"),
        ("sent something that cannot be read",),
    ),
    "reaches_out_with_torch": Outcome("ch04_detachment", {"freeze": "error"}, ("reached: nothing",)),
    "tells_more_hidden_inputs": Outcome(
        "ch04_detachment", {"freeze": "missing", "ema_update": "error", "running_mean_loss": "forbidden"}
    ),
    "own_scenarios": Outcome(
        "ch05_autograd_engine", {"no_grad": "failed"}, ("The submission replaces has_its_own_tape",)
    ),
    "nearest_digits": Outcome(
        "ch05_autograd_engine", {"train_digits": "failed"}, ("no parameter is moved by its grad",)
    ),
    "polynomials_of_sizes": Outcome("ch11_checkpointing", {"measure": "failed"}, ("flops are",)),
    "hostile_class": Outcome("ch05_autograd_engine", {"Tensor.backward": "missing", "no_grad": "error"}),
}


@dataclass
class Graded:
    """What one run of the command left."""

    folder: Path
    results: dict[tuple[str, str], dict[str, Any]]
    """Student and lesson to result."""
    said: str
    returncode: int
    touched: list[Path]
    """Files and folders that changed."""
    left_running: list[str]


def make_class(folder: Path, replacements: dict[str, str]) -> Path:
    students = folder / "class"
    for attack, outcome in OUTCOMES.items():
        source = (BESIDE / f"{attack}.py").read_text(encoding="utf-8")
        for name, value in replacements.items():
            source = source.replace(f"@{name}@", value)
        honest = (BESIDE / f"honest_{outcome.lesson.partition('_')[0]}.py").read_text(encoding="utf-8")
        _write(students / attack / f"{outcome.lesson}.py", f"{source}\n\n# %%\n{honest}")
    for lesson in LESSONS:
        solution = (REPOSITORY / "solutions" / f"{lesson}.py").read_text(encoding="utf-8")
        for name in ("aa_honest", "zz_honest"):
            _write(students / name / f"{lesson}.py", f"{solution}\n# as we have it\n")
    return students


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graded]:
    """Grades the class, which takes more than 20 s of processor time.

    Only this class attacks scenarios, call-backs and lessons with PyTorch. Most of the time goes into the search for
    the names of wrong `gradcheck`s, which runs the known mistakes on all inputs, and into ch11's honest answers.
    """
    folder = Path(os.path.realpath(tmp_path_factory.mktemp("beside")))
    for name in ("tmp", "home", "outside"):
        (folder / name).mkdir()
    (folder / "outside" / "secret").write_text("something")
    replacements = {
        "OUTSIDE": str(folder / "outside"),
        "TMP": str(folder / "tmp"),
        "REPOSITORY": str(REPOSITORY),
    }
    students = make_class(folder, replacements)
    watched = [students, folder / "outside", folder / "outside" / "secret", folder / "home"]
    watched += [REPOSITORY / "solutions" / f"{lesson}.py" for lesson in LESSONS]
    before = {path: look(path) for path in watched}
    try:
        command = subprocess.run(
            [str(BACKPROP), "grade", str(students), "--out", str(folder / "results"), "--jobs", "2"],
            env={**os.environ, "TMPDIR": str(folder / "tmp"), "HOME": str(folder / "home"), "BACKPROP_SALT": "a class"},
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            timeout=500,
        )
        results = {
            (file.parent.name, file.stem): json.loads(file.read_text(encoding="utf-8"))
            for file in (folder / "results").glob("students/*/*.json")
        }
        touched = [path for path, value in before.items() if look(path) != value]
        said = command.stdout + command.stderr
        left = processes_of(folder)
        yield Graded(folder, results, said, command.returncode, touched, left)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_every_attack_has_an_outcome() -> None:
    assert {file.stem for file in BESIDE.glob("*.py") if not file.stem.startswith("honest_")} == set(OUTCOMES)


@pytest.mark.parametrize("attack", OUTCOMES)
def test_an_attack_earns_its_honest_part_only(graded: Graded, attack: str) -> None:
    wanted = OUTCOMES[attack]
    result = graded.results[attack, wanted.lesson]
    exercises = {exercise["name"]: exercise for exercise in result["exercises"]}
    honest = LESSONS[wanted.lesson]
    assert result["status"] == "graded", result["message"]
    earned = {name: e["points"] for name, e in exercises.items() if e["points"]}
    right = {honest: HONEST_POINTS.get(honest, 2.0)}
    assert earned == right or (
        wanted.harms_itself and earned.keys() == right.keys() and earned[honest] <= right[honest]
    )
    assert {name: exercises[name]["status"] for name in wanted.statuses} == wanted.statuses
    told = " ".join([result["message"], *(exercise["message"] for exercise in exercises.values())])
    for text in wanted.says:
        assert text in told
    told = re.sub(r"That line is: .*", "", told)  # the attack's own source
    assert told.count("reached: ") == told.count("reached: nothing"), told


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("student", ["aa_honest", "zz_honest"])
def test_honest_classmates_get_what_they_earned(graded: Graded, student: str, lesson: str) -> None:
    result = graded.results[student, lesson]
    assert (result["status"], result["message"]) == ("graded", "")
    assert result["points"] == result["max_points"]


def test_hidden_inputs_are_not_told(graded: Graded) -> None:
    result = graded.results["tells_more_hidden_inputs", "ch04_detachment"]
    checks = [check for exercise in result["exercises"] for check in exercise["checks"]]
    assert any("told" in check["message"] for check in checks if check["visible"])
    assert not [check for check in checks if not check["visible"] and "told" in check["message"]]


def test_results_are_short_and_printable(graded: Graded) -> None:
    for result in graded.results.values():
        assert len(json.dumps(result)) < 60_000
        texts = [result["message"]]
        for exercise in result["exercises"]:
            texts += [exercise["message"], *(check["message"] for check in exercise["checks"])]
        assert not [text for text in texts if not text.replace("\n", "").isprintable()]


def test_the_command_ends_as_always(graded: Graded) -> None:
    assert graded.returncode == 0
    assert "Traceback" not in graded.said
    assert "the grader itself failed" not in json.dumps(list(graded.results.values()))


def test_nothing_outside_was_reached_and_nothing_is_left(graded: Graded) -> None:
    assert graded.touched == []
    assert graded.left_running == []
    assert os.listdir(graded.folder / "tmp") == []
    assert os.listdir(graded.folder / "home") == []
