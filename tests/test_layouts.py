"""Layouts in memory: every check that calls a function with arrays asks once more with another layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from small_courses import ENVIRONMENT, LESSON, of_one, written

from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.records.results import ExerciseResult
from autograder.submission import Submission
from autograder.worker import wire
from autograder.worker.layout import LAYOUTS, laid_out
from course.syllabus import Exercise

DOUBLE = {
    f"solutions/{LESSON}.py": "def double(x, times=2):\n    return times * x\n",
    f"autograder/lessons/{LESSON}/checks/double.py": """
from autograder.judging import exercise, expect_close, random

@exercise("double")
def test_matrices(learner, reference, rng):
    for shape in ((3,), (2, 3), (3, 2, 2)):
        x = random(rng, shape)
        expect_close(learner.double(x), reference.double(x), rtol=1e-9, atol=1e-12)
""",
}
FLAT = """
import numpy as np
def double(x, times=2):
    y = np.zeros_like(x)
    y.reshape(-1)[:] = times * x.reshape(-1)
    return y
"""
VIEW = """
def double(x, times=2):
    if not x.flags.c_contiguous:
        raise ValueError("not contiguous")
    return times * x
"""


@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_stay_and_memory_changes(layout: str) -> None:
    x = np.arange(12.0).reshape(3, 4)
    other = laid_out([(x, {"b": x}), 2, "text"], layout)
    assert wire.encode(other) == wire.encode([(x, {"b": x}), 2, "text"])
    assert not other[0][0].flags.c_contiguous
    strides = {"columns": (8, 24), "strided": (64, 16), "reversed": (-32, -8), "sliced": (-64, -16)}
    assert strides[layout] == other[0][0].strides


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensors(layout: str) -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0).reshape(3, 4)
    other = laid_out(x, layout)
    assert torch.equal(other, x)
    assert not other.is_contiguous()
    assert laid_out(torch.tensor(1.0), layout).shape == ()


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], ExerciseResult]]:
    """The result of a submission of `double`."""
    lesson = of_one(Exercise(LESSON, "double", 3, "core", ("a", "b"), ENVIRONMENT))
    root = written(tmp_path_factory.mktemp("double"), DOUBLE)
    workers = Workers(lesson, "process")

    def run(source: str) -> ExerciseResult:
        submission = Submission.of_cells("a test", [source])
        return with_judge(lesson, lambda judge: judge.grade(submission, workers), root=root).exercises[0]

    yield run
    workers.stop()


def test_right_answers_are_right_in_every_layout(double: Callable[[str], ExerciseResult]) -> None:
    assert double("def double(x, times=2):\n    return times * x\n").points == 3
    returned = "import numpy as np\ndef double(x, times=2):\n    return np.asfortranarray(times * x)\n"
    assert double(returned).points == 3


def test_a_copy_that_is_taken_for_a_view_is_named(double: Callable[[str], ExerciseResult]) -> None:
    found = double(FLAT)
    assert found.points == 2, "`zeros_like` keeps this layout alone"
    repair, said = found.message.split("\n")[:2]
    assert repair == "Cell 1, line 4, `np.zeros_like(x)`: with a copy every visible case passes."
    assert said == (
        "double gives another answer for the same numbers when the entries of x lie in memory column by column, as in "
        "a transpose: `reshape` and `ravel` copy such an array, and what is written into the copy is lost."
    )


def test_an_exception_is_told_with_the_layout(double: Callable[[str], ExerciseResult]) -> None:
    found = double(VIEW)
    assert found.message.startswith("double fails only when the entries of x lie in memory column by column")
    assert "row by row, it answers for the same numbers. double raised ValueError: not contiguous" in found.message


def test_hidden_inputs_come_in_other_layouts(double: Callable[[str], ExerciseResult]) -> None:
    found = double(VIEW.replace("not x.flags.c_contiguous", "not (x.flags.c_contiguous or x.flags.f_contiguous)"))
    assert [check.passed for check in found.checks] == [True, False]
