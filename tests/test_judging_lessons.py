"""The judge of a lesson of this course: a package that is missing, one exercise alone, notes on imports."""

from __future__ import annotations

import pytest

from autograder.collection import with_judge
from autograder.isolation import IsolationError, Workers
from autograder.judging.checking.plugin import identify
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import find_lesson


def test_a_lesson_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PyTorch its lessons ended in a traceback, and the grading of a class with them."""
    monkeypatch.setattr("autograder.collection.find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(IsolationError, match=r"^ch08_custom_functions needs torch: pip install .*torch$"):
        with_judge(find_lesson("ch08_custom_functions"), lambda judge: judge)
    with_judge(find_lesson("ch06_vjps"), lambda judge: judge)


def test_a_judge_of_one_exercise_knows_of_no_other() -> None:
    """For a contributor who writes it: its checks and its misconceptions, on the reference of the whole lesson."""

    def seen(judge: Judge) -> tuple[set[str], set[str], set[str]]:
        checks = [identify(item) for item in judge.items]
        known, references = {known.exercise for known in judge.mistakes.known}, set(judge.reference.implementations)
        return {check.exercise for check in checks if check}, known, references

    checks, known, references = with_judge(find_lesson("ch06_vjps"), seen, only="relu_vjp")
    assert checks == known == {"relu_vjp"}
    assert "add_vjp" in references


@pytest.mark.slow
def test_an_import_that_only_another_exercise_lacks_is_no_note() -> None:
    """With all points for `train` it has said that torch is not allowed, and that an earlier `train` was graded."""
    cells = [
        "import numpy as np\ndef bias_gradient(g):\n    return g.sum(axis=0)",
        "import torch\ndef train(model, batches, lr, accumulate=1):\n    return []",
    ]
    workers = Workers(find_lesson("ch03_accumulation"), "process")
    submission = Submission.of_cells("a test", cells)
    names = ["bias_gradient", "train"]
    try:
        result = with_judge(workers.lesson, lambda judge: judge.grade(submission, workers, only=names))
    finally:
        workers.stop()
    assert [exercise.points > 0 for exercise in result.exercises] == [True, False]
    assert result.message == ""
