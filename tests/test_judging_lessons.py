"""The judge of this course's lessons: a missing package, a single exercise, notes on imports."""

from __future__ import annotations

import pytest

from autograder.collection import with_judge
from autograder.isolation import IsolationError, Workers
from autograder.judging.checking.plugin import identify
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import find_lesson


def test_a_lesson_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Formerly lessons with PyTorch ended in a traceback without it, and so did the grading of a class."""
    monkeypatch.setattr("autograder.collection.find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(IsolationError, match=r"^ch08_custom_functions needs torch: pip install .*torch$"):
        with_judge(find_lesson("ch08_custom_functions"), lambda judge: judge)
    with_judge(find_lesson("ch06_vjps"), lambda judge: judge)


def test_a_judge_of_one_exercise_has_no_other() -> None:
    """For authors of an exercise: only its checks and misconceptions run, on the reference of the whole lesson."""

    def seen(judge: Judge) -> tuple[set[str], set[str], set[str]]:
        checks = [identify(item) for item in judge.items]
        known, references = {known.exercise for known in judge.mistakes.known}, set(judge.reference.implementations)
        return {check.exercise for check in checks if check}, known, references

    checks, known, references = with_judge(find_lesson("ch06_vjps"), seen, only="relu_vjp")
    assert checks == known == {"relu_vjp"}
    assert "add_vjp" in references


@pytest.mark.slow
def test_an_import_missing_only_in_another_exercise_is_not_noted() -> None:
    """Formerly full points for `train` came with notes that torch is not allowed and an earlier `train` was graded."""
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
