"""Modes that a call leaves switched on in PyTorch affect no other call, in submissions or in the judge."""

from __future__ import annotations

import pytest
import torch

from autograder.authoring.mistaken import solved_cells
from autograder.authoring.tree import Course
from autograder.collection import with_judge
from autograder.diagnosis.edits import Edit
from autograder.isolation import Workers
from autograder.judging.session import Judge
from autograder.submission import Submission
from autograder.worker.modes import left_as_found
from course.instruments.live import LiveStorages
from course.syllabus import find_lesson

pytestmark = pytest.mark.slow

LEFT_ON = Edit(
    "offload_to_cpu",
    "return torch.autograd.graph.saved_tensors_hooks(pack, unpack)",
    "hooks = torch.autograd.graph.saved_tensors_hooks(pack, unpack)\nhooks.__enter__()\nreturn hooks",
)


def hooks() -> object:
    return torch._C._autograd._top_saved_tensors_default_hooks(False)


def test_modes_are_restored_after_a_call() -> None:
    def same(tensor: torch.Tensor) -> torch.Tensor:
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(same, same), torch.no_grad():
        outer = hooks()
        with left_as_found():
            torch.autograd.graph.saved_tensors_hooks(same, lambda tensor: tensor).__enter__()
            LiveStorages().__enter__()
            torch.set_grad_enabled(True)
            torch.autograd.set_detect_anomaly(True)
        assert hooks() == outer
        assert not torch.is_grad_enabled()
        assert not torch.is_anomaly_enabled()
        assert torch._C._len_torch_dispatch_stack() == 0
    assert hooks() is None


def test_a_call_begins_and_ends_with_pytorchs_own_default_dtype() -> None:
    """Formerly a cell that set float64 cost points in ch09, ch10 and ch11, whose scenarios make tensors."""
    torch.set_default_dtype(torch.float64)
    with left_as_found():
        assert torch.get_default_dtype() is torch.float32
        torch.set_default_dtype(torch.float16)
    assert torch.get_default_dtype() is torch.float32


def test_a_known_mistake_that_leaves_hooks_affects_no_reference() -> None:
    """Formerly ch10's `hooks_left` did: later references saved through its hooks, and no change was noticed."""

    def use(judge: Judge) -> object:
        known = next(known for known in judge.mistakes.known if known.name == "hooks_left")
        judge.observe(judge.items_of(known.exercise), judge.reference.mistaken(known))
        return hooks()

    assert with_judge(find_lesson("ch10_activation_memory"), use) is None


def test_hooks_that_one_exercise_leaves_cost_no_other_points() -> None:
    """In any order of exercises; in the syllabus's order, none after `offload_to_cpu` would have noticed."""
    lesson = find_lesson("ch11_checkpointing")
    cells = [
        LEFT_ON.applied(cell) if "def offload_to_cpu" in cell else cell
        for cell in solved_cells(Course.at(), lesson.slug)
    ]
    submission, workers = Submission.of_cells("a test", cells), Workers(lesson, "process")

    def use(judge: Judge) -> dict[str, float]:
        found = judge.grade(submission, workers, only=["offload_to_cpu", "checkpoint"]).exercises
        return {exercise.name: exercise.points / exercise.max_points for exercise in found}

    try:
        shares = with_judge(lesson, use)
    finally:
        workers.stop()
    assert shares["offload_to_cpu"] < 1
    assert shares["checkpoint"] == 1


def test_a_call_begins_and_ends_on_the_cpu() -> None:
    """Formerly a cell that made `meta` the default device was told: Cannot copy out of meta tensor; no data!"""
    torch.set_default_device("meta")
    with left_as_found():
        assert torch.zeros(1).item() == 0
        torch.device("meta").__enter__()
    assert torch.get_default_device().type == "cpu"
    assert torch._C._len_torch_function_stack() == 0


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ('torch.set_default_device("meta")', ""),
        (
            'def straight_through_round(x):\n    return x.to("meta")',
            "straight_through_round makes or uses a tensor on the device 'meta', which has a shape and no numbers: "
            "make it on the CPU.",
        ),
    ],
)
def test_a_meta_tensor_is_described_as_having_no_data(cell: str, says: str) -> None:
    lesson = find_lesson("ch04_detachment")
    submission, workers = (
        Submission.of_cells("a test", [*solved_cells(Course.at(), lesson.slug), cell]),
        Workers(lesson, "process"),
    )
    try:
        names = ["straight_through_round"]
        (found,) = with_judge(lesson, lambda judge: judge.grade(submission, workers, only=names)).exercises
    finally:
        workers.stop()
    assert found.status == ("error" if says else "passed")
    assert (found.message.splitlines() or [""])[0] == says
