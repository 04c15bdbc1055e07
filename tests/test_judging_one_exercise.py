"""A course with one exercise, `walk`: which mistakes are tried, what is shown first, and errors in the course."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_courses import ENVIRONMENT, LESSON, of_one, written

from autograder.classroom.class_folder import Work
from autograder.classroom.grading import grade_work
from autograder.collection import with_judge
from autograder.isolation import Workers
from autograder.judging.explaining.diagnosis import Diagnosis
from autograder.judging.explaining.known_mistakes import KnownMistakes
from autograder.judging.records.errors import CheckError
from autograder.judging.records.record import Record
from autograder.judging.records.results import ExerciseResult
from autograder.judging.session import Judge
from autograder.submission import Submission
from course.syllabus import Exercise

ORDER = {
    f"solutions/{LESSON}.py": "def walk(n):\n    return n\n",
    f"autograder/lessons/{LESSON}/checks/walk.py": """
from autograder.judging import exercise, expect_close

def compare(learner, numbers, case):
    for n in numbers:
        expect_close(learner.walk(n), n, names=("n",), case=case, rtol=0, atol=0)

@exercise("walk")
def test_small(learner):
    compare(learner, (1, 2), "small")

@exercise("walk")
def test_middling(learner):
    compare(learner, (10, 20), "middling")

@exercise("walk")
def test_large(learner):
    compare(learner, (5000,), "large")
""",
    f"autograder/lessons/{LESSON}/mistakes/walk.py": """
from autograder.diagnosis import misconception

@misconception("walk", says="It recurses.")
def recursive(n):
    return n and recursive(n - 1) + 1

@misconception("walk", says="It never ends.")
def endless(n):
    if n > 100:
        raise TimeoutError
    return n

@misconception("walk", says="It is doubled from ten on.")
def doubled(n):
    doubled.seen.append(n)
    return n if n < 10 else 2 * n

doubled.seen = []
""",
}

EDIT_OF_NOTHING = """doubled.seen = []
from autograder.diagnosis import mistake
moved = mistake("walk", {"return m": "return 2"}, says="Moved.")
"""

EDIT_TO_NOTHING = EDIT_OF_NOTHING.replace("return m", "return n").replace("return 2", "return (")


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of one exercise, `walk`, with checks on small, middling and large numbers."""
    return written(tmp_path_factory.mktemp("walks"), ORDER)


@pytest.fixture(scope="module")
def walk(walks: Path) -> Iterator[Callable[[str], ExerciseResult]]:
    """The result of a submission of `walk`."""
    lesson = of_one(Exercise(LESSON, "walk", 3, "core", ("a", "b"), ENVIRONMENT, seconds=1))
    workers = Workers(lesson, "process")

    def run(source: str) -> ExerciseResult:
        submission = Submission.of_cells("a test", [textwrap.dedent(source)])
        return with_judge(lesson, lambda judge: judge.grade(submission, workers), root=walks).exercises[0]

    yield run
    workers.stop()


def test_a_mistake_seen_in_one_check_comes_after_a_simpler_case(walk: Callable[[str], ExerciseResult]) -> None:
    found = walk("def walk(n): return 2 * n if n > 9 else [0, 1, 5, 9, 2, 7, 7, 3, 3, 1][n]")
    assert found.misconceptions == ["doubled"]
    assert found.message.startswith("n is 5; 2 expected\nwalk(n), small:\n  n = 2\n")
    assert found.message.endswith("\nAnother mistake: It is doubled from ten on.")


def test_a_change_that_leaves_a_known_mistake_is_said_with_it(walk: Callable[[str], ExerciseResult]) -> None:
    found = walk("def walk(n): return {1: 1, 2: 3}.get(n, 2 * n)")
    assert found.misconceptions == ["doubled"]
    assert found.message.startswith("Two mistakes. Cell 1, line 1, `{1: 1, 2: 3}`: with another constant, one is left.")
    assert "\nThat one: It is doubled from ten on.\nn is 3; 2 expected" in found.message


def test_a_mistake_that_some_answers_contradict_is_not_named(walk: Callable[[str], ExerciseResult]) -> None:
    assert walk("def walk(n): return 2 * n if 9 < n < 100 else n").misconceptions == [], "the large ones are right"


@pytest.mark.slow
def test_recursion_and_endless_loops_are_named(walk: Callable[[str], ExerciseResult]) -> None:
    recursive = walk("def walk(n): return n and walk(n - 1) + 1")
    assert (recursive.misconceptions, recursive.points) == (["recursive"], 2)
    twice_wrong = walk("def walk(n): return 3 if n == 2 else n and walk(n - 1) + 1")
    assert twice_wrong.misconceptions == ["recursive"]
    assert walk("def walk(n):\n    while n > 100: pass\n    return n").misconceptions == ["endless"]


def test_wrong_answers_are_shown_before_missing_ones(walk: Callable[[str], ExerciseResult]) -> None:
    half = "def walk(n):\n    if n < 10: raise NotImplementedError('walk (small): your code here')\n    return n + 1"
    message = walk(half).message
    assert message.startswith("n is 11; 10 expected")
    assert message.endswith("walk (small) is not written yet.")


@pytest.mark.parametrize(("seconds", "tried"), [(10, {5000}), (60, set())])
def test_slow_mistakes_are_tried_only_on_the_check_that_is_shown(
    walks: Path, seconds: int, tried: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mistake that passes it is not tried on other failing checks, which may take a minute each."""
    explain = KnownMistakes.explain

    def as_long_as_compared(
        mistakes: KnownMistakes, exercise: Exercise, records: list[Record], **how: Any
    ) -> Diagnosis:
        for record in records:  # mistakes are tried first on the cheapest checks, and on a busy machine that may be any
            record.seconds = len(record.comparisons)
        return explain(mistakes, exercise, records, **how)

    monkeypatch.setattr(KnownMistakes, "explain", as_long_as_compared)
    exercise = Exercise(LESSON, "walk", 3, "core", ("a", "b"), ENVIRONMENT, seconds=seconds)
    lesson = of_one(exercise)
    workers = Workers(lesson, "process")
    submission = Submission.of_cells("a test", ["def walk(n): return {1: 5, 5000: 1}.get(n, n)"])

    def use(judge: Judge) -> set[int]:
        doubled: Any = next(known.function for known in judge.mistakes.known if known.name == "doubled")
        doubled.seen.clear()
        judge.grade(submission, workers)
        return {5000} & set(doubled.seen)

    try:
        assert with_judge(lesson, use, root=walks) == tried
    finally:
        workers.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("checks", '(5000,), "large"', "(5000,), lrage", "fails on the solution, too (NameError: name 'lrage' is not"),
        ("checks", "def compare", "def compare(:\ndef compare", "checks/walk.py, line 4: SyntaxError: invalid syntax"),
        ("checks", "import exercise", "import excercise", "checks/walk.py, line 2: ImportError: cannot import name"),
        ("mistakes", "def recursive(n)", "def recursive(n", "mistakes/walk.py, line 5: SyntaxError: '('"),
        ("mistakes", "@misconception", "@misconceptoin", "mistakes/walk.py, line 4: NameError: name"),
        ("mistakes", "doubled.seen = []", EDIT_OF_NOTHING, " in mistakes/walk.py is no edit of the solution: "),
        ("mistakes", "doubled.seen = []", EDIT_TO_NOTHING, " in mistakes/walk.py is no edit of the solution: "),
    ],
)
def test_errors_in_the_course_cost_no_points(
    walks: Path, tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    """Formerly a typo in a check cost everyone points, and named a mistake for learners who had made none."""
    without_bytecode = shutil.ignore_patterns("__pycache__")  # it would pass for a changed source's
    root = Path(shutil.copytree(walks, tmp_path / "course", ignore=without_bytecode))
    path = root / f"autograder/lessons/{LESSON}/{file}/walk.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    lesson = of_one(Exercise(LESSON, "walk", 3, "core", ("a", "b"), ENVIRONMENT, seconds=10))
    (tmp_path / "walk.py").write_text("def walk(n): return 1 - n")
    work, workers = Work("ch06_vjps", "ann", tmp_path / "walk.py"), Workers(lesson, "process")
    wrong = Submission.of_cells("a test", [work.file.read_text()])
    try:
        with pytest.raises(CheckError) as alone:
            with_judge(lesson, lambda judge: judge.grade(wrong, workers), root=root)
        assert said in str(alone.value)
        assert "\n" not in str(alone.value)
        if file == "mistakes" or "lrage" in new:
            of_class = with_judge(lesson, lambda judge: grade_work(judge, workers, work), root=root)
            assert of_class.status == "killed"
            assert of_class.message.startswith("an error of the course, not of this work;")
    finally:
        workers.stop()


def test_an_exercise_without_checks_is_an_error(walks: Path) -> None:
    exercises = tuple(Exercise(LESSON, name, 3, "core", ("a", "b"), ENVIRONMENT) for name in ("walk", "run"))
    lesson = replace(of_one(exercises[0]), exercises=exercises)
    workers, submission = Workers(lesson, "process"), Submission.of_cells("a test", ["def run(): ..."])
    try:
        with pytest.raises(CheckError, match=r"^run has no checks"):
            with_judge(lesson, lambda judge: judge.grade(submission, workers), root=walks)
    finally:
        workers.stop()
